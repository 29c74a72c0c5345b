// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/host_facts.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include <climits>
#include <unistd.h>

namespace rdmad::config {

namespace {

/// Returns the word in a file, empty if there is no such file.
std::string word_in(const std::string& path)
{
    return std::string(text::trim(read_file(path).value_or("")));
}

/// Returns the kernel's host name or, if it has none yet, as in an initrd, the one it will get.
std::string host_name(const std::string& root)
{
    char name[HOST_NAME_MAX + 1] = {};
    if (gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' &&
        std::string_view(name) != "(none)")
        return name;
    return word_in(root + "/etc/hostname");
}

} // namespace

Facts host_facts(const std::string& root)
{
    Facts facts;
    facts.host = host_name(root);
    facts.machine_id = word_in(root + "/etc/machine-id");
    facts.kernel_command_line = word_in(root + "/proc/cmdline");
    return facts;
}

} // namespace rdmad::config
