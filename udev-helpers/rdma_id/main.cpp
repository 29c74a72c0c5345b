// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/device_name.hpp"
#include "core/nldev/kernel_transport.hpp"
#include "udev-helpers/rdma_id/events.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/naming/explanation.hpp"
#include "udev-helpers/rdma_id/naming/naming_switch.hpp"
#include "udev-helpers/rdma_id/net_event.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"
#include "udev-helpers/rdma_id/sweep.hpp"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

// Standard output is for udev or the user, standard error for a person: udevd puts it into the
// journal.

namespace rdmad::rdma_id {

namespace {

const Paths paths;

const EventProperties environment = [](const std::string& key) {
    const char* value = getenv(key.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
};

/// Forgets all devices that are gone. Asks the kernel only where that does not load ib_core.
void sweep_gone(const sysfs::Directory& root)
{
    if (!sysfs::is_core_loaded(root)) {
        sweep(nullptr, root, paths);
        return;
    }
    auto transport = nldev::KernelTransport::create();
    if (!transport) {
        warn(transport.error().message());
        return;
    }
    nldev::Client client(*transport);
    sweep(&client, root, paths);
}

ExitCode refused(const Error& error)
{
    warn(error.message());
    return exit_refused;
}

ExitCode print(const std::string& text)
{
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? exit_found
                                                        : refused({errno, "standard output"});
}

ExitCode not_found(const Options& options)
{
    if (options.device)
        warn("'" + *options.device +
             "' is not an RDMA device, nor a uverbs, umad or issm node, or is gone");
    return exit_not_found;
}

ExitCode switch_naming(NamingVerb verb)
{
    const NamingSwitch naming;
    if (verb == NamingVerb::status)
        return print(naming.status());
    const auto outcome = verb == NamingVerb::enable ? naming.enable() : naming.disable();
    if (outcome)
        return print(*outcome);
    if (outcome.error().code != EEXIST)
        return refused(outcome.error());
    warn(outcome.error().context);
    return exit_in_the_way;
}

/// Opens RDMA netlink, which loads ib_core, and hands the context to follow.
template <typename Follow>
Result<std::string> with_kernel(const sysfs::Directory& root, bool is_event, Follow follow)
{
    auto transport = nldev::KernelTransport::create();
    if (!transport)
        return tl::unexpected<Error>(std::move(transport).error());
    nldev::Client client(*transport);
    Finder finder(client, root, {paths.rdmad, is_event});
    return follow(Context{client, root, finder, paths, environment});
}

ExitCode net_event(const Options& options, const sysfs::Directory& root)
{
    // most network devices have nothing to do with RDMA
    const auto devpath = environment("DEVPATH").value_or("");
    if (!root.contains("." + devpath + "/device/infiniband"))
        return exit_found;
    const bool gives_names = options.rename && NamingSwitch().is_on();
    const auto text = with_kernel(root, true, [&](const Context& context) {
        return handle_net_event(context, devpath, gives_names);
    });
    return text ? print(*text) : refused(text.error());
}

Result<std::string> event(const Context& context, const Options& options, const Target& target)
{
    const bool is_on = NamingSwitch().is_on();
    const NamingMode naming{.gives_names =
                                is_on && options.rename && context.property("ACTION") == "add",
                            .ends_swaps = is_on};
    return target.node == Node::device ? handle_device_event(context, target, naming, options.load)
                                       : handle_node_event(context, target, naming);
}

Result<std::string> answer(const Context& context, const Options& options, const Target& target)
{
    if (options.event)
        return event(context, options, target);
    return options.test_link ? explain_name(context, target)
                             : describe_target(context, options, target);
}

ExitCode run(const Options& options)
{
    if (options.naming)
        return switch_naming(*options.naming);
    const auto devpath = environment("DEVPATH").value_or("");
    if (!options.device && devpath.empty()) {
        warn("no DEVICE given, and no udev event in the environment; see /usr/lib/udev/rdma_id "
             "--help");
        return exit_usage;
    }
    const auto root = sysfs::Directory::open("/sys");
    if (!root || !*root)
        return refused({ENOENT, "/sys"});
    const auto subsystem = environment("SUBSYSTEM").value_or("");
    const auto action = options.event ? environment("ACTION").value_or("") : "";
    if (action == "remove") {
        if (!handle_removal(**root, paths, environment))
            sweep_gone(**root);
        return exit_found;
    }
    if (options.event && subsystem == "net")
        return net_event(options, **root);
    if (action == "move")
        forget_old_name(**root, environment("DEVPATH_OLD").value_or(""), paths.udev);

    const auto target = options.device ? find_target(**root, *options.device)
                                       : find_event_target(**root, devpath, subsystem);
    if (!target)
        return refused(target.error());
    if (!*target)
        return not_found(options);
    const auto text = with_kernel(**root, options.event, [&](const Context& context) {
        return answer(context, options, **target);
    });
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
