// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/run.hpp"

#include "udev-helpers/rdma_id/events.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/naming/explanation.hpp"
#include "udev-helpers/rdma_id/naming/naming_switch.hpp"
#include "udev-helpers/rdma_id/net_event.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"
#include "udev-helpers/rdma_id/sweep.hpp"

#include <cerrno>

namespace rdmad::rdma_id {

namespace {

Answer refused(const Error& error)
{
    warn(error.message());
    return {exit_refused};
}

/// Logs an error of an event with what the event is about.
Answer failed_event(const Host& host, const Error& error)
{
    warn(host.event("DEVPATH").value_or("") + ": " + error.message());
    return {exit_refused};
}

Answer not_found(const Options& options)
{
    if (options.device)
        warn("'" + *options.device +
             "' is not an RDMA device, nor a uverbs, umad or issm node, or is gone");
    return {exit_not_found};
}

Answer switch_naming(NamingVerb verb, const NamingSwitch& naming)
{
    if (verb == NamingVerb::status)
        return {exit_found, naming.status()};
    const auto outcome = verb == NamingVerb::enable ? naming.enable() : naming.disable();
    if (outcome)
        return {exit_found, *outcome};
    if (outcome.error().code != EEXIST)
        return refused(outcome.error());
    warn(outcome.error().context);
    return {exit_in_the_way};
}

/// Removes the records of all devices that are gone. Queries the kernel only if that does not load
/// ib_core.
void sweep_gone(const Host& host, const sysfs::Directory& root)
{
    if (!sysfs::is_core_loaded(root)) {
        sweep(nullptr, root, host.paths);
        return;
    }
    const auto transport = host.open_netlink();
    if (!transport) {
        warn(transport.error().message());
        return;
    }
    nldev::Client client(**transport);
    sweep(&client, root, host.paths);
}

/// Opens RDMA netlink, and passes the context to follow.
template <typename Follow>
Result<std::string> with_kernel(const Host& host, const sysfs::Directory& root, bool is_event,
                                Follow follow)
{
    const auto transport = host.open_netlink();
    if (!transport)
        return tl::unexpected<Error>(transport.error());
    nldev::Client client(**transport);
    Finder finder(client, root, {host.paths.rdmad, is_event});
    return follow(Context{client, root, finder, host.paths, host.event});
}

Answer net_event(const Options& options, const Host& host, const sysfs::Directory& root)
{
    // most network devices have nothing to do with RDMA
    const auto devpath = host.event("DEVPATH").value_or("");
    if (!root.contains("." + devpath + "/device/infiniband"))
        return {};
    const bool gives_names = options.rename && NamingSwitch(host.paths.root).is_on();
    const auto text = with_kernel(host, root, true, [&](const Context& context) {
        return handle_net_event(context, devpath, gives_names);
    });
    return text ? Answer{exit_found, *text} : failed_event(host, text.error());
}

Result<std::string> event(const Context& context, const Options& options, const Target& target)
{
    const bool is_on = NamingSwitch(context.paths.root).is_on();
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

} // namespace

Answer run(const Options& options, const Host& host)
{
    if (options.naming)
        return switch_naming(*options.naming, NamingSwitch(host.paths.root));
    const auto devpath = host.event("DEVPATH").value_or("");
    if (!options.device && devpath.empty()) {
        warn("no DEVICE given, and no udev event in the environment; see /usr/lib/udev/rdma_id "
             "--help");
        return {exit_usage};
    }
    const auto root = sysfs::Directory::open(host.sys);
    if (!root || !*root)
        return refused({ENOENT, host.sys});
    const auto subsystem = host.event("SUBSYSTEM").value_or("");
    const auto action = options.event ? host.event("ACTION").value_or("") : "";
    if (action == "remove") {
        if (!handle_removal(**root, host.paths, host.event))
            sweep_gone(host, **root);
        return {};
    }
    if (options.event && subsystem == "net")
        return net_event(options, host, **root);
    if (action == "move")
        forget_old_name(**root, host.event("DEVPATH_OLD").value_or(""), host.paths.udev);

    const auto target = options.device ? find_target(**root, *options.device)
                                       : find_event_target(**root, devpath, subsystem);
    if (!target)
        return refused(target.error());
    if (!*target)
        return not_found(options);
    const auto text = with_kernel(host, **root, options.event, [&](const Context& context) {
        return answer(context, options, **target);
    });
    if (!text)
        return options.event ? failed_event(host, text.error()) : refused(text.error());
    return text->empty() ? not_found(options) : Answer{exit_found, *text};
}

} // namespace rdmad::rdma_id
