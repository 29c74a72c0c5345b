// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/config/binding_file.hpp"
#include "daemon/bindings/member.hpp"
#include "daemon/inventory/model.hpp"

#include <map>
#include <vector>

namespace rdmad {

/// The files of rdmad.binding(5), in the order of their names.
class Bindings {
public:
    /// Takes the root that goes before the folders: empty, or that of a test.
    explicit Bindings(std::string root) : root_(std::move(root)) {}

    /// Reads all files anew. Returns, by name, those that were "added", "removed" or say something
    /// else, "changed".
    std::map<std::string, std::string> read();
    [[nodiscard]] const std::vector<config::BindingFile>& files() const
    {
        return files_;
    }
    [[nodiscard]] const config::BindingFile* find(const std::string& name) const;
    /// Returns the first of the stages that files say.
    [[nodiscard]] config::Stage earliest_stage() const
    {
        return earliest_stage_;
    }

    /// Writes a file for this boot that binds the unit, with keys of the file. Returns its name.
    [[nodiscard]] Result<std::string>
    add(const std::string& unit, const std::vector<std::pair<std::string, std::string>>& match,
        const std::vector<std::pair<std::string, std::string>>& binding) const;
    /// Removes the files that add() wrote for the unit. Returns their names.
    [[nodiscard]] Result<std::vector<std::string>> remove(const std::string& unit) const;

private:
    std::string root_;
    std::vector<config::BindingFile> files_; ///< ordered by name
    config::Stage earliest_stage_ = config::Stage::applications;
    std::map<std::string, uint64_t> digests_; ///< of what they say, by name
};

/// Returns true if it ends with this boot.
[[nodiscard]] bool is_runtime(const config::BindingFile& file);

/// A port of a device that a file binds a unit to.
struct Claim {
    std::string unit;
    Member member;

    friend bool operator==(const Claim&, const Claim&) = default;
};

/// Returns true unless the file asks for another port, as far as is known of one that is gone: the
/// file may have been edited since.
[[nodiscard]] bool may_match(const config::BindingFile& file, const Member& gone);

/// Returns what the files ask for of a device; host has the facts that are not of a device. Skips a
/// port without the node that the file asks for until it has it, and a foreign one: a container
/// chose what it is called and which GUID it has.
[[nodiscard]] std::vector<Claim> claims_of(const std::vector<config::BindingFile>& files,
                                           const Device& device, const config::Facts& host);

/// Returns what files can ask about a port.
[[nodiscard]] config::Facts facts_of(const Device& device, const Port& port,
                                     const config::Facts& host);
/// Returns true if the file is about the port.
[[nodiscard]] bool matches(const config::BindingFile& file, const config::Facts& port);

} // namespace rdmad
