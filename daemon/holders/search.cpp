// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/holders/search.hpp"

#include <cerrno>
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
    is_repeated_ = false;
    begun_ = clock_(CLOCK_BOOTTIME);
    run();
}

void HolderSearch::run()
{
    errand_.begin([this](const Result<std::string>& text) {
        end(text ? parse_holders(*text) : tl::unexpected<Error>(text.error()));
    });
}

void HolderSearch::end(const Result<HolderReport>& report)
{
    // systemd does not start a service that runs: it may be for a rdmad that was killed
    const bool is_earlier = report && report->began < begun_;
    if (is_earlier && !std::exchange(is_repeated_, true))
        return run();
    Result<std::vector<Holder>> found;
    if (is_earlier)
        found = fail(EBADMSG, "no report is about this look");
    else if (report)
        found = report->holders;
    else
        found = tl::unexpected<Error>(report.error());
    for (const auto& on_found : std::exchange(asking_, {}))
        on_found(found);
    if (!next_.empty() && asking_.empty())
        begin();
}

} // namespace rdmad
