// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace rdmad::test {

/// A temporary directory that looks like /sys or /run as far as the test needs it, and goes with
/// the object. Paths are relative to it; directories on the way are made.
class FixtureTree {
public:
    /// memory: for a test that makes very many files, as /run is.
    enum class Place { disk, memory };
    explicit FixtureTree(Place place = Place::disk);
    FixtureTree(const FixtureTree&) = delete;
    FixtureTree& operator=(const FixtureTree&) = delete;
    ~FixtureTree();

    /// A file that is there already gets the new content and stays the same file.
    void file(const std::string& path, const std::string& content) const;
    void directory(const std::string& path) const;
    void link(const std::string& path, const std::string& target) const;
    void rename(const std::string& from, const std::string& to) const;
    void remove(const std::string& path) const;

    /// An RDMA device in class/infiniband, with GID 0 of port 1.
    void rdma_device(const std::string& name, const std::string& gid) const;
    /// A node in its class, with its ibdev, port and uevent attributes.
    void node(const std::string& subsystem, const std::string& sysname, const std::string& ibdev,
              uint32_t port) const;

    [[nodiscard]] std::string path(const std::string& path = "") const;
    /// What a file holds; empty if there is none.
    [[nodiscard]] std::string read(const std::string& path) const;
    /// Where a symbolic link points to; empty if there is none.
    [[nodiscard]] std::string target(const std::string& path) const;
    [[nodiscard]] bool exists(const std::string& path) const;
    /// Sorted names; none if there is no such directory.
    [[nodiscard]] std::vector<std::string> list(const std::string& path) const;
    /// The directory, opened.
    [[nodiscard]] sysfs::Directory root() const;

private:
    std::string root_;
};

} // namespace rdmad::test
