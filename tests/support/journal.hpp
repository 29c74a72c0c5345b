// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmad::test {

/// An entry that rdmad wrote to the journal.
struct JournalEntry {
    std::vector<std::string> lines = {}; ///< "PRIORITY=5"

    /// Returns the values of a field, which may stand there several times.
    [[nodiscard]] std::vector<std::string> values(std::string_view field) const;
    /// Returns the value of a field that stands there once; "-" of none, and "?" of several.
    [[nodiscard]] std::string value(std::string_view field) const;
};

/// Takes what is written to the journal as long as it lives. The call of the library is defined
/// here, so that nothing of a test is in the journal of the machine.
class Journal {
public:
    Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal();

    /// Returns what came since the last call.
    [[nodiscard]] std::vector<JournalEntry> take();
    /// Returns the only one that came since the last call.
    [[nodiscard]] JournalEntry take_one();
    void add(JournalEntry entry);

private:
    std::vector<JournalEntry> entries_;
};

} // namespace rdmad::test
