// SPDX-License-Identifier: LGPL-2.1-or-later
// Stands in for libFuzzer where there is no clang: gives each file of the directories, or each file
// named, to the fuzzer once.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::vector<fs::path> files_of(const fs::path& path)
{
    std::error_code error;
    if (!fs::is_directory(path, error))
        return {path};
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path, error))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

bool replay(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    if (!file) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        return false;
    }
    // a broken promise aborts: this line then is the last, and tells of which input
    printf("%s: %zu bytes\n", path.filename().c_str(), bytes.size());
    fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    size_t replayed = 0;
    for (int i = 1; i < argc; i++)
        for (const auto& file : files_of(argv[i])) {
            if (!replay(file))
                return 1;
            replayed++;
        }
    // an empty corpus would prove nothing
    return replayed > 0 ? 0 : 1;
}
