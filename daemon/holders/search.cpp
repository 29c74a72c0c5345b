// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/holders/search.hpp"

#include <utility>

namespace rdmad {

namespace {

// some processes for each of hundreds of nodes
constexpr size_t max_record = size_t{4} << 20U;

} // namespace

HolderSearch::HolderSearch(std::string record, Clock clock)
    : errand_("rdmad-holders.service", std::move(record), max_record), clock_(std::move(clock))
{
}

void HolderSearch::look(OnFound on_found)
{
    next_.push_back(std::move(on_found));
    if (asking_.empty())
        begin();
}

void HolderSearch::begin()
{
    asking_ = std::exchange(next_, {});
    const auto is_earlier = [began = clock_(CLOCK_BOOTTIME)](const std::string& text) {
        const auto report = parse_holders(text);
        return report && report->began < began;
    };
    errand_.begin(is_earlier, [this](const Result<std::string>& text) {
        end(text ? parse_holders(*text) : tl::unexpected<Error>(text.error()));
    });
}

void HolderSearch::end(const Result<HolderReport>& report)
{
    for (const auto& on_found : std::exchange(asking_, {}))
        on_found(report);
    if (!next_.empty() && asking_.empty())
        begin();
}

} // namespace rdmad
