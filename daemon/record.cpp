// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/record.hpp"

#include "core/base/file.hpp"
#include "core/base/json_size.hpp"

#include <cerrno>
#include <sys/stat.h>

namespace rdmad {

using Json = nlohmann::json;

namespace {

// the records of all possible RDMA devices (256) have a tenth of that
constexpr size_t max_depth = 64;
constexpr size_t max_values = 200'000;

} // namespace

Result<Json> parse_versioned(std::string_view text, int version)
{
    const auto size = size_of_json(text);
    if (size.depth > max_depth || size.values > max_values)
        return fail(EBADMSG, "nested too deeply, or too many values");
    auto json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return fail(EBADMSG, "no JSON object");
    int seen = 0;
    read(json, "version", seen);
    if (seen != version)
        return fail(EBADMSG,
                    "version " + std::to_string(seen) + ", not " + std::to_string(version));
    return json;
}

std::string format_versioned(Json object, int version)
{
    object["version"] = version;
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> write_record(const std::string& directory, const std::string& name,
                          const std::string& text)
{
    if (mkdir(directory.c_str(), 0755) < 0 && errno != EEXIST)
        return fail(errno, directory);
    return replace_file(directory + "/" + name, directory + "/.new", text);
}

} // namespace rdmad
