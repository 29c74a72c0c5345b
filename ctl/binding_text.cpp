// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/binding_text.hpp"

#include "core/base/text.hpp"
#include "core/config/folders.hpp"
#include "ctl/words.hpp"

#include <algorithm>

namespace rdmad::ctl {

namespace {

constexpr std::string_view marker = "# Written by \"rdmactl bind\"";
constexpr char advice[] = "; \"rdmactl unbind\" removes it. See rdmad.binding(5).\n";
// 255 bytes fit into a file name, and the rest of ours has 28
constexpr size_t max_unit_in_name = 200;
constexpr size_t max_file = 65536; // more read_file() does not take

constexpr std::array<BindKey, BindRequest::size> keys = {{
    {"Match", "PortGUID", "--port-guid", "portGuid", "GUID of the port, as ibstat prints it", true},
    {"Match", "NodeGUID", "--node-guid", "nodeGuid", "GUID of the device", true},
    {"Match", "LinkType", "--link-type", "linkType",
     "infiniband, opa, roce, iwarp, usnic, efa or unknown"},
    {"Match", "Driver", "--driver", "driver", "driver: mlx5_core"},
    {"Match", "Device", "--device", "device", "name of the device: mlx5_0; '*' is every one"},
    {"Match", "Path", "--path", "path", "where the device sits: pci-0000:c1:00.0"},
    {"Match", "NetDev", "--netdev", "netdev", "network device of the port"},
    {"Match", "Port", "--port", "port", "number of the port"},
    {"Binding", "Node", "--node", "node", "whose removal stops it: uverbs (default), umad or issm"},
    {"Binding", "Require", "--require", "require", "all (default) or any of the ports that match"},
    {"Binding", "WaitFor", "--wait-for", "waitFor", "present (default), active or ready"},
    {"Binding", "Restart", "--restart", "restart", "return (default) or no"},
    {"Binding", "OnReplaced", "--on-replaced", "onReplaced", "start (default) or wait"},
    {"Binding", "OnBlocked", "--on-blocked", "onBlocked", "report (default) or stop"},
    {"Binding", "Stage", "--stage", "stage", "targets, initiators or applications (default)"},
}};

std::string plain_guids(std::string value)
{
    std::replace(value.begin(), value.end(), ',', ' ');
    std::vector<std::string> words;
    for (const auto word : text::split(value, ' '))
        words.push_back(plain_guid(word));
    return join(words, " ");
}

std::vector<config::Assignment> assignments_of(const BindRequest& request)
{
    std::vector<config::Assignment> all;
    for (const auto* section : {"Match", "Binding"}) {
        if (section == std::string_view("Binding"))
            all.push_back({section, "Unit", config::quote_word(request.unit)});
        for (size_t i = 0; i < keys.size(); i++)
            if (request.values[i] && section == std::string_view(keys[i].section))
                all.push_back({section, keys[i].key, *request.values[i]});
    }
    return all;
}

std::string compose(const std::vector<config::Assignment>& assignments)
{
    auto text = std::string(marker) + advice;
    std::string section;
    for (const auto& one : assignments) {
        if (one.section != section)
            text += "[" + one.section + "]\n";
        section = one.section;
        text.append(one.key).append("=").append(one.value).append("\n");
    }
    return text;
}

/// Returns true if all is read as meant: a value could change the lines around it.
bool reads_as_meant(const config::Ini& ini, const std::vector<config::Assignment>& meant)
{
    return std::equal(ini.assignments.begin(), ini.assignments.end(), meant.begin(), meant.end(),
                      [](const config::Assignment& read, const config::Assignment& wanted) {
                          return read.section == wanted.section && read.key == wanted.key &&
                                 read.value == wanted.value;
                      });
}

/// Returns the argument of the command line for a key of the file.
std::string argument_of(const std::string& key)
{
    const auto* found = std::find_if(keys.begin(), keys.end(),
                                     [&](const BindKey& known) { return key == known.key; });
    return found == keys.end() ? "UNIT" : found->option;
}

std::string messages(const std::vector<config::Problem>& problems)
{
    std::vector<std::string> all;
    all.reserve(problems.size());
    for (const auto& problem : problems)
        all.push_back((problem.key.empty() ? "" : argument_of(problem.key) + ": ") + problem.what);
    return join(all, "; ");
}

tl::unexpected<Complaint> usage(std::string text)
{
    return complaint(Complaint::Kind::usage, std::move(text));
}

} // namespace

const std::array<BindKey, BindRequest::size>& bind_keys()
{
    return keys;
}

bool is_match(const BindKey& key)
{
    return key.section == std::string_view("Match");
}

Answer<BindRequest> normalized(BindRequest request)
{
    bool matches = false;
    for (size_t i = 0; i < keys.size(); i++) {
        auto& value = request.values[i];
        if (!value)
            continue;
        value = keys[i].is_guid ? plain_guids(*value) : std::string(text::trim(*value));
        if (value->empty())
            return usage(std::string(keys[i].option) + " is empty");
        matches = matches || is_match(keys[i]);
    }
    if (!matches)
        return usage("say which ports: --port-guid=, --node-guid=, --link-type=, --driver=, "
                     "--device=, --path=, --netdev= or --port=");
    request.unit = with_suffix(request.unit);
    return request;
}

std::string file_name_of(const BindRequest& request)
{
    std::string key = request.unit;
    for (size_t i = 0; i < keys.size(); i++)
        if (request.values[i] && is_match(keys[i]))
            key.append("\n").append(keys[i].key).append("=").append(*request.values[i]);
    std::string name = "50-" + request.unit.substr(0, max_unit_in_name);
    std::replace(name.begin(), name.end(), '/', '_');
    return name + "-" + text::format_guid(text::stable_hash(key)) + ".binding";
}

Answer<std::string> text_of(const BindRequest& request, const std::string& path)
{
    const auto meant = assignments_of(request);
    const auto text = compose(meant);
    if (text.size() > max_file)
        return usage("the values are longer than the 64 KiB that a file may have");
    const auto ini = config::parse_ini(text, path);
    if (!reads_as_meant(ini, meant))
        return usage("a value has a line break, a '\\' at its end or no UTF-8, which no file "
                     "can hold");
    const auto binding = understand(text, path);
    if (!binding.problems.empty())
        return usage(messages(binding.problems));
    return text;
}

bool never_starts(const BindRequest& request)
{
    for (size_t i = 0; i < keys.size(); i++)
        if (keys[i].key == std::string_view("Restart"))
            return request.values[i] == "no";
    return false;
}

Json parameters_of(const BindRequest& request)
{
    Json parameters = {{"unit", request.unit}};
    for (size_t i = 0; i < keys.size(); i++)
        if (request.values[i])
            parameters[keys[i].parameter] = *request.values[i];
    return parameters;
}

bool is_own(std::string_view text)
{
    return text.starts_with(marker) || text.starts_with(config::runtime_binding_mark);
}

config::BindingFile understand(const std::string& text, const std::string& path)
{
    auto ini = config::parse_ini(text, path);
    return config::parse_binding({.name = path.substr(path.rfind('/') + 1),
                                  .path = path,
                                  .assignments = std::move(ini.assignments),
                                  .problems = std::move(ini.problems)});
}

} // namespace rdmad::ctl
