// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/options.hpp"

#include "udev-helpers/rdma_id/log.hpp"

#include <cstdio>
#include <getopt.h>

namespace rdmad::rdma_id {

namespace {

constexpr char help[] =
    "Usage: rdma_id [OPTION]... [DEVICE]\n"
    "\n"
    "Identifies an RDMA device or port by asking the kernel.\n"
    "DEVICE is an RDMA device name (mlx5_0), a device node (/dev/infiniband/umad0) or a\n"
    "sysfs path. Without it, the udev event in the environment is meant.\n"
    "\n"
    "  -x, --export       print udev properties, KEY=VALUE\n"
    "  -j, --json         print one JSON object\n"
    "      --event        for udev rules: --export, and keep the records of /run/rdmad\n"
    "      --load-listed  load a module only if /etc/rdma/modules lists it for the link type\n"
    "      --no-load      load no module\n"
    "      --rename       with --event: give a device that was added its name\n"
    "      --test-link    tell which name the .link files would give, and why\n"
    "      --naming VERB  enable, disable: whether rdmad renames devices; status: who does\n"
    "  -h, --help         print this text\n"
    "      --version      print the version\n"
    "\n"
    "Exit code: 0 found, 1 not an RDMA device or gone, 2 usage, 3 refused by the kernel,\n"
    "4 an administrator's file is in the way.\n"
    "See rdma_id(8) for the properties, rdmad-links(7) for the links and units, and\n"
    "rdmad.link(5) for the names.\n";

enum Switch {
    option_event = 256,
    option_load_listed,
    option_no_load,
    option_rename,
    option_test_link,
    option_naming,
    option_version
};

constexpr option long_options[] = {
    {"export", no_argument, nullptr, 'x'},
    {"json", no_argument, nullptr, 'j'},
    {"event", no_argument, nullptr, option_event},
    {"load-listed", no_argument, nullptr, option_load_listed},
    {"no-load", no_argument, nullptr, option_no_load},
    {"rename", no_argument, nullptr, option_rename},
    {"test-link", no_argument, nullptr, option_test_link},
    {"naming", required_argument, nullptr, option_naming},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, option_version},
    {},
};

std::optional<NamingVerb> parse_verb(std::string_view word)
{
    if (word == "enable")
        return NamingVerb::enable;
    if (word == "disable")
        return NamingVerb::disable;
    if (word == "status")
        return NamingVerb::status;
    return std::nullopt;
}

Parsed usage_error(const std::string& what)
{
    warn(what + "; see /usr/lib/udev/rdma_id --help");
    return {.exit_code = exit_usage};
}

} // namespace

Parsed parse_options(int argc, char** argv)
{
    // getopt_long()'s own messages show the command line as it is, control characters and all
    opterr = 0;
    Options options;
    for (int c; (c = getopt_long(argc, argv, "xjh", long_options, nullptr)) >= 0;) {
        switch (c) {
        case 'x':
            options.format = Format::properties;
            break;
        case 'j':
            options.format = Format::json;
            break;
        case option_event:
            options.event = true;
            options.format = Format::properties;
            break;
        case option_load_listed:
            options.load = Load::listed;
            break;
        case option_no_load:
            options.load = Load::nothing;
            break;
        case option_rename:
            options.rename = true;
            break;
        case option_test_link:
            options.test_link = true;
            break;
        case option_naming:
            options.naming = parse_verb(optarg);
            if (!options.naming)
                return usage_error(std::string("--naming takes enable, disable or status, not '") +
                                   optarg + "'");
            break;
        case 'h':
            fputs(help, stdout);
            return {.exit_code = exit_found};
        case option_version:
            puts("rdma_id " RDMAD_VERSION);
            return {.exit_code = exit_found};
        default: {
            // a letter that is no option, or a whole word
            const bool is_letter = optopt > 0 && optopt < option_event;
            const std::string option =
                is_letter ? std::string("-") + static_cast<char>(optopt) : argv[optind - 1];
            return usage_error("unknown option '" + option +
                               "', or its value is missing or not allowed");
        }
        }
    }
    if (argc - optind > 1)
        return usage_error(std::string("rdma_id takes one DEVICE; '") + argv[optind + 1] +
                           "' is a second one");
    if (optind < argc)
        options.device = argv[optind];
    if (options.rename && !options.event)
        return usage_error("--rename needs --event");
    if (options.naming && options.device)
        return usage_error("--naming takes no DEVICE");
    if (options.test_link && !options.device)
        return usage_error("--test-link needs a DEVICE");
    return {.options = std::move(options)};
}

} // namespace rdmad::rdma_id
