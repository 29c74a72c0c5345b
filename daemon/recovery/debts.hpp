// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace rdmad::recovery {

/// The record of what was taken away and must be put back, by target. It is written before anything
/// is taken away, and crossed out after it was put back, so that a crash in between loses nothing.
/// It also holds what was seen of targets that show by nothing else that they are dead.
class Debts {
public:
    /// Reads what an earlier run left in directory, /run/rdmad/recovery. Fails with EBADMSG if it
    /// is no such record, or of another version: it must not be overwritten then.
    [[nodiscard]] static Result<Debts> open(std::string directory);
    /// Does the same with the text of the file.
    [[nodiscard]] static Result<Debts> parse(std::string directory, std::string_view text);
    [[nodiscard]] std::string format() const;

    /// Returns what is owed to a target; null if nothing is.
    [[nodiscard]] const nlohmann::json* find(const std::string& target) const;
    /// Returns the targets whose names begin with the prefix, without it.
    [[nodiscard]] std::set<std::string> owed(const std::string& prefix) const;
    /// Records a debt. Fails with EFBIG, and owes nothing more, if a later run could not read all.
    [[nodiscard]] Result<void> owe(const std::string& target, nlohmann::json what);
    [[nodiscard]] Result<void> cross_out(const std::string& target);

    /// Returns what was seen; empty: never.
    [[nodiscard]] std::string seen(const std::string& target) const;
    [[nodiscard]] Result<void> see(const std::string& target, const std::string& what);

private:
    explicit Debts(std::string directory) : directory_(std::move(directory)) {}
    [[nodiscard]] Result<void> write() const;

    std::string directory_;
    nlohmann::json owed_ = nlohmann::json::object();
    nlohmann::json seen_ = nlohmann::json::object();
};

} // namespace rdmad::recovery
