// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

namespace rdmad::ctl {

namespace {

Answer<int> order(const Common& common, const std::string& device, const char* method,
                  const char* done)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    auto answer = client->call(method, {{"device", plain_guid(device)}});
    if (!answer)
        return as_told(answer);
    return common.json ? finish(to_line({{"device", device}}))
                       : finish(text::escape_terminal(device) + done +
                                "; rdmactl status shows what may not start yet, and why\n");
}

} // namespace

Answer<int> release(const Common& common, const std::string& device)
{
    return order(common, device, "io.rdmad.Lifecycle.Release", " is not held");
}

Answer<int> accept(const Common& common, const std::string& device)
{
    return order(common, device, "io.rdmad.Lifecycle.Accept", " is accepted");
}

Answer<int> resume(const Common& common, const std::string& device)
{
    return order(common, device, "io.rdmad.Lifecycle.Resume", " is not prepared for removal");
}

} // namespace rdmad::ctl
