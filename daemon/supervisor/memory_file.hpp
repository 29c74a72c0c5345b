// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "daemon/supervisor/verdict.hpp"

#include <string_view>
#include <vector>

// The record of a unit, as a file below /run/rdmad/units: JSON, replaced in one step, with a
// version. Format and parse are pure.

namespace rdmad {

struct UnitRecord {
    Memory memory = {};
    std::vector<Member> members = {}; ///< the ports that the unit ran with, or would have

    friend bool operator==(const UnitRecord&, const UnitRecord&) = default;
};

[[nodiscard]] std::string format_record(const std::string& unit, const UnitRecord& record);
/// Fails with EBADMSG if it is none, or of another version.
[[nodiscard]] Result<UnitRecord> parse_record(std::string_view text);

/// The files. directory: /run/rdmad/units.
class UnitRecords {
public:
    explicit UnitRecords(std::string directory) : directory_(std::move(directory)) {}

    /// Returns an empty record if there is none.
    [[nodiscard]] Result<UnitRecord> read(const std::string& unit) const;
    /// Returns the units that have a record.
    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] Result<void> write(const std::string& unit, const UnitRecord& record) const;
    void remove(const std::string& unit) const;

private:
    [[nodiscard]] std::string path(const std::string& unit) const;

    std::string directory_;
};

} // namespace rdmad
