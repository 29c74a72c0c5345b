// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/model.hpp"
#include "core/nldev/transport.hpp"
#include "core/nldev/wire.hpp"

#include <initializer_list>
#include <set>
#include <vector>

namespace rdmad::nldev {

/// Asks the kernel about RDMA devices. An answer counts only if it is the kernel's, whole and to
/// this very question. Errors hold the kernel's errno value, and its own words where it sent some.
class Client {
public:
    /// The transport must outlive the client.
    explicit Client(Transport& transport) : transport_(transport) {}

    /// None if no device has that index. Costs the same with any number of devices.
    [[nodiscard]] Result<std::optional<Device>> device(uint32_t index);

    /// None if no device has that index or the device no such port.
    [[nodiscard]] Result<std::optional<Port>> port(uint32_t index, uint32_t port);

    /// type is uverbs (no port) or umad (with a port; issm is refused by every kernel). Loads the
    /// module that serves it, and then the node exists when the answer comes. None if that device
    /// or port has no such node.
    [[nodiscard]] Result<std::optional<CharDevice>>
    char_device(std::string_view type, uint32_t index, std::optional<uint32_t> port = {});

    /// Dumps devices until one has that name. The cost grows with the number of devices before it,
    /// each a step that the kernel walks from the start. None is no proof that there is none: a
    /// dump that runs while any device is removed can skip others, and is not marked.
    [[nodiscard]] Result<std::optional<Device>> find_device(std::string_view name);

    /// Whether a dump has a device. From the moment that the kernel begins to remove one, no dump
    /// has it, while device() answers until whoever holds it has let go (disable_device(),
    /// drivers/infiniband/core/device.c). As above, false alone is no proof.
    [[nodiscard]] Result<bool> is_listed(uint32_t index);

    /// Indexes of all that a dump has; as above, what is not among them may be there.
    [[nodiscard]] Result<std::set<uint32_t>> listed();

    /// Ends of connections on a device, and what waits for some. None if no device has that index,
    /// or it is being removed. Costs the more, the more connections there are.
    [[nodiscard]] Result<std::vector<CmId>> cm_ids(uint32_t index);

    [[nodiscard]] Result<System> system();

    /// Gives a device a name, and waits for the kernel's answer. EEXIST: another device has it;
    /// EINVAL: no device has that index. The kernel checks nothing but the length.
    [[nodiscard]] Result<void> rename(uint32_t index, std::string_view name);

private:
    /// The first device of a dump for which is_wanted holds.
    template <typename IsWanted>
    [[nodiscard]] Result<std::optional<Device>> find_in_dump(IsWanted is_wanted);
    template <typename T>
    using Parser = Result<T> (*)(wire::Bytes);

    [[nodiscard]] Result<uint32_t> ask(const wire::Request& request);
    [[nodiscard]] Result<wire::Bytes> receive();
    /// Hands each answer to take until that returns true, then the status is none; or until the
    /// kernel closes with one.
    template <typename Take>
    [[nodiscard]] Result<std::optional<wire::Status>> collect(const wire::Request& request,
                                                              Take take);
    /// The answer to one question, none if the kernel says with one of these errors that there is
    /// nothing to tell of.
    template <typename T>
    [[nodiscard]] Result<std::optional<T>> get(const wire::Request& request, Parser<T> parse,
                                               std::initializer_list<int> absent);

    Transport& transport_;
    uint32_t sequence_ = 0;
};

} // namespace rdmad::nldev
