// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rdmad::rdma_id {

/// What a device was called before we named it, and what we called it.
struct KnownName {
    std::string original;
    std::string given; ///< the original one as long as nothing is decided, and if it stays

    /// False while the first process that asks is still about it.
    bool is_decided = true;
};

/// Remembers names that were given, below /run/rdmad: the kernel does not tell a name that it chose
/// from one that a user chose later. By index, which no other device gets before the next boot.
class KnownNames {
public:
    explicit KnownNames(const std::string& directory) : directory_(directory + "/names") {}

    [[nodiscard]] std::optional<KnownName> find(uint32_t index) const;
    void remember(uint32_t index, const KnownName& name) const;
    /// Remembers what a device is called that nothing is known of, and that it is being decided
    /// upon. False if something is known: one of the processes that ask at the same time gets true.
    [[nodiscard]] bool remember_first(uint32_t index, const std::string& name) const;
    void forget(uint32_t index) const;

private:
    [[nodiscard]] std::string path(uint32_t index) const;

    std::string directory_;
};

/// "mlx5_0 ibp1s0"; "mlx5_0" while nothing is decided. None if it is nothing of the kind.
[[nodiscard]] std::optional<KnownName> parse_known_name(std::string_view text);

} // namespace rdmad::rdma_id
