// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"

namespace rdmad::ctl {

Answer<int> reload(const Common& common)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    auto problems = ask_reload(*client);
    if (!problems)
        return as_told(problems);
    const int exit_code = problems->empty() ? exit_fine : exit_failed;
    return common.json ? finish(to_line({{"problems", *problems}}), exit_code) : exit_code;
}

} // namespace rdmad::ctl
