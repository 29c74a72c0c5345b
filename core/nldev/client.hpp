// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/model.hpp"
#include "core/nldev/transport.hpp"
#include "core/nldev/wire.hpp"

#include <initializer_list>
#include <map>
#include <vector>

namespace rdmad::nldev {

/// Requests the state of RDMA devices from the kernel. A reply counts only if the kernel sent it,
/// whole, to this very request. Errors hold the kernel's errno value, and its own words where it
/// sent some.
class Client {
public:
    /// Requires that the transport outlives the client.
    explicit Client(Transport& transport) : transport_(transport) {}

    /// Returns nullopt if no device has that index. Costs the same with any number of devices.
    [[nodiscard]] Result<std::optional<Device>> device(uint32_t index);

    /// Returns nullopt if no device has that index or the device has no such port.
    [[nodiscard]] Result<std::optional<Port>> port(uint32_t index, uint32_t port);

    /// Returns the node of type uverbs (no port) or umad (with a port; every kernel refuses issm),
    /// nullopt if that device or port has none. Loads the module that serves it, and then the node
    /// exists when the reply comes.
    [[nodiscard]] Result<std::optional<CharDevice>>
    char_device(std::string_view type, uint32_t index, std::optional<uint32_t> port = {});

    /// Dumps the devices, by index. That one is missing proves nothing: a dump that runs while any
    /// device is removed can skip others, and is not marked. From the moment that the kernel begins
    /// to remove a device, no dump has it, while device() returns it until its last user has let go
    /// (disable_device(), drivers/infiniband/core/device.c). Each device is a step that the kernel
    /// walks from the start.
    [[nodiscard]] Result<std::map<uint32_t, Device>> devices();

    /// Returns how many contexts processes have made of a device, each by an open uverbs node, and
    /// keep in whatever way; 0 if no device has that index. Whoever only opens a node has none.
    [[nodiscard]] Result<uint64_t> contexts(uint32_t index);

    /// Returns the ends of connections on a device, and its listeners, that parts of the kernel
    /// have; empty if no device has that index, or it is being removed. The time grows with the
    /// number of all, as the kernel dumps those of processes, too.
    [[nodiscard]] Result<std::vector<CmId>> cm_ids(uint32_t index);

    /// Returns true if the NOTIFY group sends messages: the kernel may since 6.12.
    [[nodiscard]] Result<bool> has_monitor();

    /// Renames a device and waits for the kernel's reply. Fails with EEXIST if another device has
    /// the name, with EINVAL if no device has that index. The kernel checks only the length.
    [[nodiscard]] Result<void> rename(uint32_t index, std::string_view name);

private:
    template <typename T>
    using Parser = Result<T> (*)(wire::Bytes);

    [[nodiscard]] Result<uint32_t> ask(const wire::Request& request);
    [[nodiscard]] Result<wire::Bytes> receive();
    /// Passes each reply to take until that returns true (returns nullopt) or the kernel sends a
    /// final status (returns it).
    template <typename Take>
    [[nodiscard]] Result<std::optional<wire::Status>> collect(const wire::Request& request,
                                                              Take take);
    /// Passes each message of a dump to take, to the end. Returns what take failed with first, or
    /// what the kernel refused with if that is no error in absent.
    template <typename Take>
    [[nodiscard]] Result<void> dump(wire::Request request, std::initializer_list<int> absent,
                                    Take take);
    /// Returns the reply to one request, nullopt if the kernel refuses it with an error in absent.
    template <typename T>
    [[nodiscard]] Result<std::optional<T>> get(const wire::Request& request, Parser<T> parse,
                                               std::initializer_list<int> absent);

    Transport& transport_;
    uint32_t sequence_ = 0;
};

} // namespace rdmad::nldev
