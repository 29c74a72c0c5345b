// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/host_facts.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include <climits>
#include <unistd.h>

namespace rdmad::config {

Facts host_facts()
{
    const auto word_in = [](const char* path) {
        return std::string(text::trim(read_file(path).value_or("")));
    };
    Facts facts;
    char name[HOST_NAME_MAX + 1] = {};
    if (gethostname(name, sizeof name - 1) == 0)
        facts.host = name;
    facts.machine_id = word_in("/etc/machine-id");
    facts.kernel_command_line = word_in("/proc/cmdline");
    return facts;
}

} // namespace rdmad::config
