// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "core/nldev/kernel_transport.hpp"
#include "udev-helpers/rdma_id/claims.hpp"
#include "udev-helpers/rdma_id/exit_code.hpp"
#include "udev-helpers/rdma_id/explanation.hpp"
#include "udev-helpers/rdma_id/host_facts.hpp"
#include "udev-helpers/rdma_id/index.hpp"
#include "udev-helpers/rdma_id/known_names.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/modules.hpp"
#include "udev-helpers/rdma_id/names.hpp"
#include "udev-helpers/rdma_id/naming.hpp"
#include "udev-helpers/rdma_id/naming_switch.hpp"
#include "udev-helpers/rdma_id/net_event.hpp"
#include "udev-helpers/rdma_id/options.hpp"
#include "udev-helpers/rdma_id/rename.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"
#include "udev-helpers/rdma_id/sweep.hpp"

#include <cerrno>
#include <cstdlib>
#include <ctime>

// Standard output is for udev or the user, standard error for a person: udevd puts it into the
// journal.

namespace rdmad::rdma_id {

namespace {

const RunPaths run_paths;
constexpr char module_lists[] = "/etc/rdma/modules";
/// The event that follows tells the rest, under the new name; systemd makes no unit of this one.
constexpr char renaming[] = "ID_RENAMING=1\n";

std::string_view environment(const char* name)
{
    const char* value = getenv(name);
    return value ? value : "";
}

Result<std::optional<Subject>> subject_of(const Options& options, const sysfs::Directory& root)
{
    if (options.device)
        return find_subject(root, *options.device);
    return subject_of_event(root, environment("DEVPATH"), environment("SUBSYSTEM"));
}

void warn_of(const Result<void>& outcome)
{
    if (!outcome)
        warn(outcome.error().message());
}

/// Gives the device its name, unless a node's event has done so just before: only a user asks
/// again, with an event that has a SYNTH_UUID (kobject_synth_uevent(), lib/kobject_uevent.c). If it
/// has its name, its nodes may have come earlier.
bool is_renamed(nldev::Client& client, const sysfs::Directory& root, const Subject& subject,
                const Identity& identity)
{
    const KnownNames names(run_paths.rdmad);
    const auto appearance = appearance_of(identity);
    const bool is_asked = names.remember_first(appearance, identity.device.name) ||
                          !environment("SYNTH_UUID").empty();
    const auto known = names.find(appearance);
    if (is_asked || !known || !known->is_decided()) {
        const auto renamed = give_name(client, root, subject, identity,
                                       is_asked ? Tell::all : Tell::nothing, run_paths);
        if (!renamed)
            warn(renamed.error().message());
        else if (*renamed)
            return true;
    }
    const auto& now = identity.device.name;
    const bool is_late = known && known->state == KnownName::State::late;
    warn_of(refresh_nodes(client, root, identity,
                          known && known->original != now ? known->original : "",
                          is_late ? Unrecorded::refresh : Unrecorded::is_right, run_paths.udev));
    return false;
}

bool gives_names(const Options& options)
{
    return options.rename && environment("ACTION") == "add" && NamingSwitch().is_on();
}

/// What stdout gets, empty if the device is gone.
Result<std::string> describe(const Options& options, const sysfs::Directory& root,
                             nldev::Client& client, const Subject& subject)
{
    IndexHints hints(run_paths.rdmad, options.event);
    const auto earlier =
        options.device ? std::nullopt : text::parse_u32(environment("ID_RDMA_INDEX"));
    auto device = find_device(client, root, subject.device, subject.device_name, earlier, hints);
    if (!device)
        return tl::unexpected<Error>(std::move(device).error());
    if (!*device)
        return std::string();
    if (options.test_link)
        return explain_name(client, root, (*device)->index, run_paths);
    if (options.event && naming::is_temporary((*device)->name) && NamingSwitch().is_on())
        warn_of(leave_swap(client, root, **device, run_paths));
    const bool with_names = gives_names(options);
    if (with_names && subject.node != Node::device)
        warn_of(give_name_early(client, root, subject, **device, run_paths));
    const auto identity = identify(client, root, subject, std::move(**device));
    if (!identity)
        return tl::unexpected<Error>(identity.error());
    if (!*identity)
        return std::string();

    if (subject.node == Node::device) {
        if (options.event && environment("ACTION") == "move")
            warn_of(follow_rename(client, root, **identity, environment("DEVPATH_OLD"),
                                  KnownNames(run_paths.rdmad).find(appearance_of(**identity)),
                                  run_paths.udev));
        // nodes that a module makes come under the name that is given here
        if (with_names && is_renamed(client, root, subject, **identity))
            return renaming;
        // nodes whose first event failed
        if (options.event && !with_names && environment("ACTION") == "add")
            warn_of(
                refresh_nodes(client, root, **identity, "", Unrecorded::is_right, run_paths.udev));
        warn_of(load_modules(client, root, **identity, options.load, module_lists));
    }
    Claims claims(client, root, run_paths.rdmad, options.event);
    auto names = names_of(**identity, claims);
    if (!names)
        return tl::unexpected<Error>(std::move(names).error());
    if (options.event)
        release_past_claims(root, **identity, claims, run_paths.udev);
    // for umad 91-rdmad-units.rules adds ours to what is there
    if (options.event && subject.node != Node::umad)
        keep_foreign_aliases(*names, environment("SYSTEMD_ALIAS"));
    switch (options.format) {
    case Format::properties:
        return format_properties(**identity, *names);
    case Format::json:
        return format_json(**identity, *names);
    case Format::summary:
        break;
    }
    return format_summary(**identity, *names);
}

/// rdmad asks for the time by a directory for the device. PID 1 hears of the removal only after
/// this program has ended, so what it stops for that stops later.
void note_removal(uint32_t index)
{
    const auto directory = run_paths.rdmad + "/bound/" + std::to_string(index);
    timespec now = {};
    if (access(directory.c_str(), F_OK) < 0 || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
        return;
    const auto usec =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
    const auto node = std::string(sysfs::last_component(environment("DEVPATH")));
    (void)replace_link(std::to_string(usec), directory + "/" + node);
}

/// Forgets all devices that are gone. The kernel is asked only where that does not load ib_core.
void forget_all_gone(const sysfs::Directory& root)
{
    if (!sysfs::is_core_loaded(root)) {
        sweep(nullptr, root, run_paths.rdmad);
        return;
    }
    auto transport = nldev::KernelTransport::create();
    if (!transport) {
        warn(transport.error().message());
        return;
    }
    nldev::Client client(*transport);
    sweep(&client, root, run_paths.rdmad);
}

/// A device or node has gone: what it was is in the environment, out of udev's database.
void forget(const sysfs::Directory& root)
{
    const std::string sysname(sysfs::last_component(environment("DEVPATH")));
    const auto node = node_of(environment("SUBSYSTEM"), sysname);
    if (!node)
        return;
    const auto past =
        past_claims(*node, sysname, [](const char* key) { return std::string(environment(key)); });
    if (!past) {
        if (*node == Node::device)
            forget_all_gone(root);
        return;
    }
    note_removal(past->index);
    Claims(nullptr, root, run_paths.rdmad).release(*past);
    if (*node == Node::device)
        KnownNames(run_paths.rdmad).forget_gone(past->index, root);
}

ExitCode refused(const Error& error)
{
    warn(error.message());
    return exit_refused;
}

ExitCode not_found(const Options& options)
{
    if (options.device)
        warn("'" + *options.device +
             "' is not an RDMA device, nor a uverbs, umad or issm node, or has gone");
    return exit_not_found;
}

ExitCode print(const std::string& text)
{
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? exit_found
                                                        : refused({errno, "standard output"});
}

ExitCode switch_naming(NamingVerb verb)
{
    const NamingSwitch naming;
    if (verb == NamingVerb::status) {
        const auto problem = scheme_asked_of_kernel(host_facts().kernel_command_line).problem;
        return print(naming.status() + (problem.empty() ? "" : problem + "\n"));
    }
    const auto outcome = verb == NamingVerb::enable ? naming.enable() : naming.disable();
    if (outcome)
        return print(*outcome);
    if (outcome.error().code != EEXIST)
        return refused(outcome.error());
    warn(outcome.error().context);
    return exit_in_the_way;
}

ExitCode net_event(const Options& options, const sysfs::Directory& root)
{
    // most network devices have nothing to do with RDMA, and to ask would load ib_core
    const auto devpath = "." + std::string(environment("DEVPATH"));
    if (!options.rename || !root.contains(devpath + "/device/infiniband") ||
        !NamingSwitch().is_on())
        return exit_found;
    auto transport = nldev::KernelTransport::create();
    if (!transport)
        return refused(transport.error());
    nldev::Client client(*transport);
    IndexHints hints(run_paths.rdmad, options.event);
    const auto text = follow_net_event(client, root, environment("DEVPATH"), hints, run_paths);
    return text ? print(*text) : refused(text.error());
}

ExitCode run(const Options& options)
{
    if (options.naming)
        return switch_naming(*options.naming);
    if (!options.device && environment("DEVPATH").empty()) {
        warn("no DEVICE given, and no udev event in the environment; see rdma_id --help");
        return exit_usage;
    }
    const auto root = sysfs::Directory::open("/sys");
    if (!root || !*root)
        return refused({ENOENT, "/sys"});
    if (options.event && environment("ACTION") == "remove") {
        forget(**root);
        return exit_found;
    }
    if (options.event && environment("SUBSYSTEM") == "net")
        return net_event(options, **root);
    if (options.event && environment("ACTION") == "move")
        forget_old_name(**root, environment("DEVPATH_OLD"), run_paths.udev);
    const auto subject = subject_of(options, **root);
    if (!subject)
        return refused(subject.error());
    if (!*subject)
        return not_found(options);

    auto transport = nldev::KernelTransport::create();
    if (!transport)
        return refused(transport.error());
    nldev::Client client(*transport);
    const auto text = describe(options, **root, client, **subject);
    if (!text)
        return refused(text.error());
    return text->empty() ? not_found(options) : print(*text);
}

} // namespace

} // namespace rdmad::rdma_id

int main(int argc, char** argv)
{
    const auto parsed = rdmad::rdma_id::parse_options(argc, argv);
    if (parsed.options.event)
        rdmad::rdma_id::log_to_journal();
    return parsed.exit_code ? *parsed.exit_code : rdmad::rdma_id::run(parsed.options);
}
