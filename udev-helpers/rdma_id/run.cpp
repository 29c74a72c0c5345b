// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/run.hpp"

#include "udev-helpers/rdma_id/events.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/naming/explanation.hpp"
#include "udev-helpers/rdma_id/naming/naming_switch.hpp"
#include "udev-helpers/rdma_id/net_event.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <cerrno>

namespace rdmad::rdma_id {

namespace {

Answer refused(const Error& error)
{
    warn(error.message());
    return {exit_refused};
}

/// Logs an error of an event with what the event is about.
Answer failed_event(const Context& context, const Error& error)
{
    warn(context.property("DEVPATH") + ": " + error.message());
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

Answer net_event(const Context& context, const Options& options)
{
    // most network devices have nothing to do with RDMA
    const auto devpath = context.property("DEVPATH");
    if (!context.root.contains("." + devpath + "/device/infiniband"))
        return {};
    const bool gives_names = options.rename && NamingSwitch(context.paths.root).is_on();
    const auto text = handle_net_event(context, devpath, gives_names);
    return text ? Answer{exit_found, *text} : failed_event(context, text.error());
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
    nldev::Client client(host.netlink);
    Finder finder(client, **root, {host.paths.rdmad, options.event});
    const Context context{client, **root, finder, host.paths, host.event};
    const auto subsystem = context.property("SUBSYSTEM");
    const auto action = options.event ? context.property("ACTION") : "";
    if (action == "remove") {
        handle_removal(context);
        return {};
    }
    if (options.event && subsystem == "net")
        return net_event(context, options);
    if (action == "move")
        forget_old_name(context.root, context.property("DEVPATH_OLD"), context.paths.udev);

    const auto target = options.device ? find_target(context.root, *options.device)
                                       : find_event_target(context.root, devpath, subsystem);
    if (!target)
        return refused(target.error());
    if (!*target)
        return not_found(options);
    const auto text = answer(context, options, **target);
    if (!text)
        return options.event ? failed_event(context, text.error()) : refused(text.error());
    return text->empty() ? not_found(options) : Answer{exit_found, *text};
}

} // namespace rdmad::rdma_id
