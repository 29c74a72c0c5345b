// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/program.hpp"

#include <cstdio>
#include <cstring>

namespace rdmad {

std::optional<int> answer_arguments(const char* name, const char* help, int argc, char** argv)
{
    if (argc <= 1)
        return std::nullopt;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("%s %s\n", name, RDMAD_VERSION) < 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(help, stdout) < 0;
    fprintf(stderr, "%s: it takes no arguments but --help and --version\n", name);
    return 2;
}

} // namespace rdmad
