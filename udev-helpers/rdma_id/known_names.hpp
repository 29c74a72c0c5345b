// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace rdmad::rdma_id {

/// One appearance of a device. The kernel gives an index again after ib_core was unloaded, but then
/// not with the same inode in sysfs (sysfs::Directory::inode()).
struct Appearance {
    uint32_t index = 0;
    uint64_t inode = 0;
};

/// What a device was called before we named it, and what we called it.
struct KnownName {
    enum class State {
        undecided, ///< the first process that asks is still about it
        waiting,   ///< it keeps its name until another event decides
        decided,
        late, ///< a name that was given after events had read another one
    };
    std::string original;
    std::string given; ///< the original one as long as nothing is decided, and if it stays
    State state = State::decided;

    [[nodiscard]] bool is_decided() const
    {
        return state == State::decided || state == State::late;
    }
};

/// Remembers names that were given, below /run/rdmad: the kernel does not tell a name that it chose
/// from one that a user chose later.
class KnownNames {
public:
    explicit KnownNames(const std::string& directory) : directory_(directory + "/names") {}

    [[nodiscard]] std::optional<KnownName> find(const Appearance& device) const;
    void remember(const Appearance& device, const KnownName& name) const;
    /// Remembers what a device is called that nothing is known of, and that it is being decided
    /// upon. False if something is known: one of the processes that ask at the same time gets true.
    /// The temporary name of a swap is none to remember.
    [[nodiscard]] bool remember_first(const Appearance& device, const std::string& name) const;
    /// All that had the index and are not in sysfs any more. root is /sys.
    void forget_gone(uint32_t index, const sysfs::Directory& root) const;

private:
    [[nodiscard]] std::string path(const Appearance& device) const;

    std::string directory_;
};

/// "mlx5_0 ibp1s0"; "mlx5_0" while nothing is decided; "mlx5_0 ibp1s0 late", or "waiting". None if
/// it is nothing of the kind.
[[nodiscard]] std::optional<KnownName> parse_known_name(std::string_view text);

} // namespace rdmad::rdma_id
