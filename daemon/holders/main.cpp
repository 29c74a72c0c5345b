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

int write_holders()
{
    rdmad::HolderReport report = {.began = rdmad::now_usec(CLOCK_BOOTTIME)};
    report.holders =
        rdmad::resolve_stored(rdmad::scan("/proc", "/sys/dev/char", rdmad::unit_of_process));
    const auto outcome =
        rdmad::write_record("/run/rdmad", "holders", rdmad::format_holders(report));
    if (outcome)
        return 0;
    fprintf(stderr, "rdmad-holders: %s\n", outcome.error().message().c_str());
    return 1;
}

} // namespace

int main(int argc, char** argv)
{
    if (const auto code = rdmad::answer_arguments("rdmad-holders", help, argc, argv); code)
        return *code;
    return write_holders();
}
