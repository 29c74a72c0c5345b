// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fixture_tree.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace rdmad::test {

namespace fs = std::filesystem;

FixtureTree::FixtureTree(Place place)
{
    constexpr char memory[] = "/dev/shm";
    const bool is_memory = place == Place::memory && access(memory, W_OK) == 0;
    root_ = (is_memory ? fs::path(memory) : fs::canonical(fs::temp_directory_path())) /
            "rdmad-test-XXXXXX";
    if (!mkdtemp(root_.data()))
        throw std::runtime_error("mkdtemp " + root_);
}

FixtureTree::~FixtureTree()
{
    std::error_code ignored;
    fs::remove_all(root_, ignored);
}

std::string FixtureTree::path(const std::string& path) const
{
    return path.empty() ? root_ : root_ + "/" + path;
}

void FixtureTree::file(const std::string& path, const std::string& content) const
{
    const fs::path where = this->path(path);
    fs::create_directories(where.parent_path());
    std::ofstream file(where, std::ios::binary);
    file << content;
    if (!file.flush())
        throw std::runtime_error("writing " + where.string());
}

void FixtureTree::directory(const std::string& path) const
{
    fs::create_directories(this->path(path));
}

void FixtureTree::link(const std::string& path, const std::string& target) const
{
    const fs::path where = this->path(path);
    fs::create_directories(where.parent_path());
    fs::create_symlink(target, where);
}

void FixtureTree::rename(const std::string& from, const std::string& to) const
{
    fs::rename(path(from), path(to));
}

void FixtureTree::remove(const std::string& path) const
{
    fs::remove_all(this->path(path));
}

void FixtureTree::rdma_device(const std::string& name, const std::string& gid) const
{
    file("class/infiniband/" + name + "/ports/1/gids/0", gid + "\n");
}

void FixtureTree::node(const std::string& subsystem, const std::string& sysname,
                       const std::string& ibdev, uint32_t port) const
{
    const std::string directory = "class/" + subsystem + "/" + sysname;
    file(directory + "/ibdev", ibdev + "\n");
    file(directory + "/port", std::to_string(port) + "\n");
    file(directory + "/uevent", "");
}

std::string FixtureTree::read(const std::string& path) const
{
    std::ostringstream content;
    content << std::ifstream(this->path(path), std::ios::binary).rdbuf();
    return content.str();
}

std::string FixtureTree::target(const std::string& path) const
{
    std::error_code missing;
    return fs::read_symlink(this->path(path), missing).string();
}

bool FixtureTree::exists(const std::string& path) const
{
    return fs::symlink_status(this->path(path)).type() != fs::file_type::not_found;
}

std::vector<std::string> FixtureTree::list(const std::string& path) const
{
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(this->path(path), missing))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

sysfs::Directory FixtureTree::root() const
{
    auto directory = sysfs::Directory::open(root_);
    if (!directory || !*directory)
        throw std::runtime_error("opening " + root_);
    return std::move(**directory);
}

} // namespace rdmad::test
