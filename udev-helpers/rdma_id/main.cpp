// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/kernel_transport.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/run.hpp"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

// Standard output is for udev or the user, standard error for a person: udevd puts it into the
// journal.

namespace rdmad::rdma_id {

namespace {

std::optional<std::string> property_in_environment(const std::string& key)
{
    const char* value = getenv(key.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
}

int print(const Answer& answer)
{
    const auto& text = answer.text;
    if (text.empty() ||
        write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()))
        return answer.exit_code;
    warn(Error{errno, "standard output"}.message());
    return exit_refused;
}

} // namespace

} // namespace rdmad::rdma_id

int main(int argc, char** argv)
{
    using namespace rdmad::rdma_id;
    const auto parsed = parse_options(argc, argv);
    if (parsed.options.event)
        log_to_journal();
    if (parsed.exit_code)
        return *parsed.exit_code;
    rdmad::nldev::KernelTransport netlink;
    return print(run(parsed.options, {.event = property_in_environment, .netlink = netlink}));
}
