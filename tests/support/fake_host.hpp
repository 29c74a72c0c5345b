// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/support/fixture_tree.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/context.hpp"

#include <map>

namespace rdmad::test {

/// The devices 0 to 3 of a capture, in a kernel whose netlink and sysfs agree: both show a rename
/// at once. With it come the configuration and state of an image, and the udev event that is
/// running.
class FakeHost : public CapturedKernel {
public:
    /// kernel: the version of a capture, "6.1".
    explicit FakeHost(const std::string& kernel);

    Result<void> send(std::string_view message) override;

    /// Has the kernel refuse the n-th request for a rename from now on, counted from 1.
    void fail_rename(unsigned n, int error)
    {
        renames_to_failure_ = n;
        rename_error_ = error;
    }
    /// What happens when a rename is asked for, before it is done.
    std::function<void()> on_rename = [] {};
    /// Writes a .link file that matches the device with this index alone.
    void wish(uint32_t index, const std::string& link) const;
    /// Returns the inode of the device's directory in sysfs.
    [[nodiscard]] uint64_t inode(uint32_t index) const;
    /// Returns what the event of the node made udev do since the last call: "change", or nothing.
    [[nodiscard]] std::string take_trigger(const std::string& class_and_sysname) const;

    FixtureTree sys;
    FixtureTree image; ///< has etc/rdmad/link.d, run/rdmad and run/udev
    std::map<std::string, std::string> properties = {{"SUBSYSTEM", "infiniband"}};
    nldev::Client client{*this};
    sysfs::Directory root = sys.root();
    rdma_id::Paths paths = {image.path("run/rdmad"), image.path("run/udev"), image.path("dev/log"),
                            image.path()};
    Finder finder{client, root, {paths.rdmad, true}};
    rdma_id::EventProperties event = [this](const std::string& key) {
        const auto found = properties.find(key);
        return found == properties.end() ? std::nullopt : std::optional(found->second);
    };
    rdma_id::Context context = {client, root, finder, paths, event};

private:
    unsigned renames_to_failure_ = 0;
    int rename_error_ = 0;
};

} // namespace rdmad::test
