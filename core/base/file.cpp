// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/file.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/unique_fd.hpp"

#include <cerrno>
#include <dirent.h>
#include <string_view>

namespace rdmad {

namespace {

constexpr size_t max_size = 65536;

} // namespace

Result<std::string> read_file(const std::string& path)
{
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file)
        return fail(errno, path);
    std::string text(max_size + 1, '\0');
    size_t size = 0;
    while (size < text.size()) {
        const ssize_t count = read(file.get(), text.data() + size, text.size() - size);
        if (count < 0)
            return fail(errno, path);
        if (count == 0)
            break;
        size += static_cast<size_t>(count);
    }
    if (size > max_size)
        return fail(EFBIG, path);
    text.resize(size);
    return text;
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
