// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/file.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <string_view>
#include <sys/stat.h>

namespace rdmad {

namespace {

constexpr size_t chunk_bytes = 16 * 1024;

/// Returns 0 or an errno value.
int write_all(const std::string& path, const std::string& text, Durable durable)
{
    // nobody may read a FIFO that somebody put there
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const UniqueFd file(open(path.c_str(), flags, 0644));
    if (!file)
        return errno;
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size()))
        return written < 0 ? errno : ENOSPC;
    const bool is_done =
        fchmod(file.get(), 0644) == 0 && (durable == Durable::no || fsync(file.get()) == 0);
    return is_done ? 0 : errno;
}

} // namespace

Result<std::string> read_file(const std::string& path, size_t max_size)
{
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file)
        return fail(errno, path);
    std::string text;
    // the limit may be a thousand times what most files have
    for (size_t size = 0; size <= max_size;) {
        text.resize(std::min(max_size + 1, size + chunk_bytes));
        const ssize_t count = read(file.get(), text.data() + size, text.size() - size);
        if (count < 0)
            return fail(errno, path);
        size += static_cast<size_t>(count);
        text.resize(size);
        if (count == 0)
            return text;
    }
    return fail(EFBIG, path);
}

Result<void> replace_file(const std::string& path, const std::string& temporary,
                          const std::string& text, Durable durable, Existing existing)
{
    int error = write_all(temporary, text, durable);
    const unsigned flags = existing == Existing::kept ? RENAME_NOREPLACE : 0;
    if (error == 0 && renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), flags) < 0)
        error = errno;
    if (error != 0) {
        unlink(temporary.c_str());
        return fail(error, path);
    }
    if (durable == Durable::yes)
        sync_directory(path.substr(0, path.rfind('/')));
    return {};
}

void sync_directory(const std::string& path)
{
    const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory)
        (void)fsync(directory.get());
}

std::vector<std::string> names_in(const std::string& path, int parent)
{
    std::vector<std::string> names;
    UniqueFd fd(openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const CPtr<DIR, closedir> entries(fd ? fdopendir(fd.get()) : nullptr);
    // the stream closes it
    if (entries)
        (void)fd.release();
    while (const dirent* entry = entries ? readdir(entries.get()) : nullptr)
        if (const std::string_view name = entry->d_name; name != "." && name != "..")
            names.emplace_back(name);
    return names;
}

} // namespace rdmad
