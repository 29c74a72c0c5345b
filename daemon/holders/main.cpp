// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/clock.hpp"
#include "daemon/holders/scan.hpp"
#include "daemon/program.hpp"
#include "daemon/record.hpp"

#include <cstdio>

// rdmad has no rights over other processes; this program has, looks, and ends.

namespace {

constexpr char help[] =
    "rdmad-holders: writes down which processes have RDMA devices open\n"
    "\n"
    "rdmad has it run, as rdmad-holders.service, and reads /run/rdmad/holders.\n"
    "\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "\n"
    "Run \"rdmactl status\" to see what it found. See rdmad.service(8).\n";

// of the 20 s of rdmad-holders.service; systemd is asked after that
constexpr uint64_t patience = 10'000'000;

rdmad::Result<void> write_holders()
{
    const auto began = rdmad::now_usec(CLOCK_BOOTTIME);
    auto report = rdmad::scan({.is_time_over = [end = began + patience] {
        return rdmad::now_usec(CLOCK_BOOTTIME) >= end;
    }});
    if (!report)
        return tl::unexpected<rdmad::Error>(report.error());
    report->began = began;
    report->holders = rdmad::resolve_stored(std::move(report->holders));
    return rdmad::write_record("/run/rdmad", "holders", rdmad::format_holders(*report));
}

} // namespace

int main(int argc, char** argv)
{
    if (const auto code = rdmad::answer_arguments("rdmad-holders", help, argc, argv); code)
        return *code;
    const auto outcome = write_holders();
    if (!outcome)
        fprintf(stderr, "rdmad-holders: %s\n", outcome.error().message().c_str());
    return outcome ? 0 : 1;
}
