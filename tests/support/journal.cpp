// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/journal.hpp"

#include "tests/catch.hpp"

#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <utility>

namespace rdmad::test {

namespace {

Journal* current = nullptr;

} // namespace

std::vector<std::string> JournalEntry::values(std::string_view field) const
{
    std::vector<std::string> found;
    const auto start = std::string(field) + "=";
    for (const auto& line : lines)
        if (line.starts_with(start))
            found.push_back(line.substr(start.size()));
    return found;
}

std::string JournalEntry::value(std::string_view field) const
{
    const auto found = values(field);
    return found.size() == 1 ? found.front() : found.empty() ? "-" : "?";
}

Journal::Journal()
{
    current = this;
}

Journal::~Journal()
{
    current = nullptr;
}

std::vector<JournalEntry> Journal::take()
{
    return std::exchange(entries_, {});
}

JournalEntry Journal::take_one()
{
    auto taken = take();
    REQUIRE(taken.size() == 1);
    return taken.front();
}

void Journal::add(JournalEntry entry)
{
    entries_.push_back(std::move(entry));
}

} // namespace rdmad::test

// what sd_journal_sendv() stands for, in sd-journal.h
extern "C" int sd_journal_sendv_with_location(const char*, const char*, const char*,
                                              const iovec* parts, int count)
{
    // without a Journal nothing is allocated: tests of memory count that
    if (!rdmad::test::current)
        return 0;
    rdmad::test::JournalEntry entry;
    for (int i = 0; i < count; i++)
        entry.lines.emplace_back(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    rdmad::test::current->add(std::move(entry));
    return 0;
}
