// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace rdmad::ctl {

namespace {

std::string describe_inhibitors(const std::vector<Inhibitor>& inhibitors)
{
    std::vector<std::string> words;
    for (const auto& inhibitor : inhibitors)
        words.push_back(inhibitor.who + " (" + inhibitor.why + ")");
    return join(words, ", ");
}

/// Returns what the preparation waits for.
std::string describe(const Progress& progress)
{
    if (progress.stage == "inhibited")
        return "waits for " + describe_inhibitors(progress.inhibitors);
    if (progress.stage == "stopping")
        return "stops " + join(progress.units, ", ");
    return "waits for " + describe_holders(progress.holders);
}

std::string refusal(const std::string& device, const Progress& progress)
{
    if (!progress.inhibitors.empty())
        return device + " is inhibited by " + describe_inhibitors(progress.inhibitors) +
               "; --ignore-inhibitors goes on all the same";
    const auto undo = "; what was stopped stays so until rdmactl resume " + device;
    if (progress.reason && !progress.units.empty())
        return join(progress.units, ", ") + " cannot be stopped: " + *progress.reason + undo;
    if (progress.reason)
        return "who has " + device + " open is not known: " + *progress.reason + undo;
    return device + " is in use by " + describe_holders(progress.holders) +
           "; end that, and run rdmactl prepare " + device + " again" + undo;
}

/// Reports a refused preparation if rdmad said why; else fails with the complaint.
Answer<int> refuse(const Common& common, const std::string& device, Complaint why)
{
    const bool is_inhibited = why.error == "io.rdmad.Lifecycle.Inhibited";
    if (!is_inhibited && why.error != "io.rdmad.Lifecycle.InUse")
        return tl::unexpected<Complaint>(std::move(why));
    const auto progress = read_progress(why.parameters);
    if (!progress)
        return tl::unexpected<Complaint>(progress.error());
    const int exit_code = is_inhibited ? exit_inhibited : exit_in_use;
    if (!common.json) {
        warn(refusal(device, *progress));
        return exit_code;
    }
    auto json = why.parameters;
    json["device"] = device;
    json["refused"] = is_inhibited ? "Inhibited" : "InUse";
    return finish(to_line(json), exit_code);
}

/// Removes the PCI device that the RDMA device hangs on.
Answer<void> remove(const std::string& device)
{
    const auto folder = "/sys/class/infiniband/" + device + "/device";
    std::error_code error;
    const auto kind = std::filesystem::read_symlink(folder + "/subsystem", error).filename();
    if (error)
        return failed(device + " hangs on no device that could be removed");
    if (kind != "pci")
        return failed(device + " hangs on no PCI device: what it hangs on is for you to remove");
    const UniqueFd file(open((folder + "/remove").c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || write(file.get(), "1", 1) != 1)
        return failed(folder + "/remove: " + strerror(errno));
    return {};
}

Answer<void> follow(Client& client, const Common& common, const std::string& device)
{
    for (;;) {
        auto answer = client.next({});
        if (!answer)
            return as_told(answer);
        const auto progress = read_progress(**answer);
        if (!progress)
            return tl::unexpected<Complaint>(progress.error());
        if (progress->stage == "safe")
            return {};
        if (!common.json)
            warn(device + " " + describe(*progress));
    }
}

/// Returns what a device is called now: it may have been renamed while it was prepared.
Answer<std::string> ask_name(Client& client, const Device& prepared)
{
    const auto devices = ask_devices(client);
    if (!devices)
        return failed(prepared.name +
                      " stays prepared until rdmactl resume, but what it is "
                      "called now is not known: " +
                      devices.error().text);
    for (const auto& device : devices->value)
        if (device.index == prepared.index)
            return device.name;
    return failed(prepared.name + " was prepared, and is gone now");
}

std::string names_of(const std::vector<Device>& devices)
{
    std::vector<std::string> names;
    for (const auto& device : devices)
        names.push_back(device.name);
    return join(names, ", ");
}

} // namespace

Answer<int> prepare(const Common& common, const PrepareOptions& options)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    const auto asked = plain_guid(options.device);
    auto devices = ask_devices(*client, asked);
    if (!devices)
        return as_told(devices);
    if (devices->value.size() != 1)
        return failed(devices->value.empty()
                          ? options.device + " is being removed already"
                          : "several devices are called '" + options.device +
                                "': give a name, of " + names_of(devices->value));
    const auto& device = devices->value.front();
    const Json parameters = {{"device", device.name},
                             {"ignoreInhibitors", options.ignores_inhibitors}};
    if (auto called = client->call_more("io.rdmad.Lifecycle.Prepare", parameters); !called)
        return as_told(called);
    if (auto outcome = follow(*client, common, device.name); !outcome)
        return refuse(common, device.name, std::move(outcome.error()));
    auto name = ask_name(*client, device);
    if (!name)
        return as_told(name);
    if (options.removes)
        if (auto outcome = remove(*name); !outcome)
            return failed(outcome.error().text + "; it stays prepared until rdmactl resume " +
                          *name);
    if (common.json)
        return finish(
            to_line({{"device", *name}, {"stage", "safe"}, {"removed", options.removes}}));
    return finish(text::escape_terminal(options.removes
                                            ? *name + " is removed"
                                            : *name + " can be removed; rdmactl resume " + *name +
                                                  " undoes this") +
                  "\n");
}

} // namespace rdmad::ctl
