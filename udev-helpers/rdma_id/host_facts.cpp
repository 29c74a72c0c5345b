// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/host_facts.hpp"

#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/program.hpp"

#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

constexpr char detect_virt[] = "/usr/bin/systemd-detect-virt";

std::string read_line(int fd)
{
    char text[4096];
    const ssize_t size = read(fd, text, sizeof text);
    const std::string_view whole(text, size > 0 ? static_cast<size_t>(size) : 0);
    return std::string(text::trim(whole));
}

std::string read_file(const char* path)
{
    const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
    return file ? read_line(file.get()) : "";
}

std::string host_name()
{
    char name[HOST_NAME_MAX + 1] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

/// "none" without the program, as it is not in every initrd.
std::string detect(const char* option)
{
    const auto text = output_of({detect_virt, option}).value_or("");
    return text.empty() ? "none" : text;
}

std::string virtualization()
{
    if (const auto container = detect("--container"); container != "none")
        return "container " + container;
    const auto machine = detect("--vm");
    return machine == "none" ? machine : "vm " + machine;
}

} // namespace

config::Facts host_facts()
{
    config::Facts facts;
    facts.host = host_name();
    facts.machine_id = read_file("/etc/machine-id");
    facts.kernel_command_line = read_file("/proc/cmdline");
    facts.virtualization = virtualization;
    facts.property = [](const std::string& key) {
        const char* value = getenv(key.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
    return facts;
}

std::optional<naming::Scheme> scheme_asked_of_kernel(const std::string& command_line)
{
    constexpr std::string_view key = "rdmad.naming_scheme=";
    std::optional<naming::Scheme> scheme;
    for (const auto word : text::split(command_line, ' ')) {
        if (!word.starts_with(key))
            continue;
        const auto value = word.substr(key.size());
        scheme = naming::parse_scheme(value);
        if (!scheme)
            warn("kernel command line: " + std::string(key) + ": there is no naming scheme '" +
                 text::escape_terminal(value) + "'");
    }
    return scheme;
}

} // namespace rdmad::rdma_id
