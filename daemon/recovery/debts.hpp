// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace rdmad::recovery {

/// What was taken away and is to be put back, by target: written down before anything is taken
/// away, and crossed out after it was put back, so that a crash in between loses nothing. Beside
/// that, what was seen of targets that tell by nothing else whether they are dead.
class Debts {
public:
    /// directory: /run/rdmad/recovery. What an earlier run left is read. EBADMSG: it is no such
    /// record, or of another version, and nothing is to be done over it.
    [[nodiscard]] static Result<Debts> open(std::string directory);
    /// The same, of what the file holds.
    [[nodiscard]] static Result<Debts> parse(std::string directory, std::string_view text);
    [[nodiscard]] std::string format() const;

    /// What is owed to a target; null: nothing.
    [[nodiscard]] const nlohmann::json* find(const std::string& target) const;
    /// The targets whose names begin like that, without that.
    [[nodiscard]] std::set<std::string> owed(const std::string& prefix) const;
    /// EFBIG: all of them are more than a later run would read; then nothing more is owed.
    [[nodiscard]] Result<void> owe(const std::string& target, nlohmann::json what);
    [[nodiscard]] Result<void> cross_out(const std::string& target);

    /// Empty: never seen.
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
