// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/host_facts.hpp"

#include "core/base/text.hpp"
#include "core/config/host_facts.hpp"
#include "udev-helpers/rdma_id/naming/program.hpp"

#include <memory>

namespace rdmad::rdma_id {

namespace {

constexpr char detect_virt[] = "/usr/bin/systemd-detect-virt";

/// Returns "none" if there is no such program: not every initrd has it.
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

config::Facts host_facts(const std::string& root)
{
    auto facts = config::host_facts(root);
    // many files ask, and each answer costs two programs
    facts.virtualization = [answer = std::make_shared<std::string>()] {
        if (answer->empty())
            *answer = virtualization();
        return *answer;
    };
    return facts;
}

KernelOptions parse_kernel_options(std::string_view command_line)
{
    KernelOptions options;
    for (const auto word : text::split(command_line, ' ')) {
        const auto key = word.substr(0, word.find('=') + 1);
        const auto value = word.substr(key.size());
        std::string what;
        if (key == "rdmad.names=") {
            const auto given = config::parse_boolean(value);
            options.gives_names = given.value_or(options.gives_names);
            if (!given)
                what = "'" + text::escape_terminal(value) + "' is neither yes nor no";
        } else if (key == "rdmad.naming_scheme=") {
            const auto scheme = naming::parse_scheme(value);
            options.scheme = scheme ? scheme : options.scheme;
            if (!scheme)
                what = "unknown naming scheme '" + text::escape_terminal(value) + "'";
        }
        if (!what.empty())
            options.problems.push_back("kernel command line: " + std::string(key) + ": " + what);
    }
    return options;
}

} // namespace rdmad::rdma_id
