// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/debts.hpp"

#include "core/base/file.hpp"
#include "daemon/record.hpp"

#include <cerrno>

namespace rdmad::recovery {

namespace {

using Json = nlohmann::json;

constexpr int version = 1;
constexpr char name[] = "debts";
// the whole configuration of many SRP ports
constexpr size_t max_size = size_t{4} << 20U;

void read_object(const Json& record, const char* key, Json& target)
{
    if (const auto found = record.find(key); found != record.end() && found->is_object())
        target = *found;
}

} // namespace

Result<Debts> Debts::open(std::string directory)
{
    const auto path = directory + "/" + name;
    const auto text = read_file(path, max_size);
    if (!text && text.error().code == ENOENT)
        return Debts(std::move(directory));
    auto debts = text ? parse(std::move(directory), *text) : tl::unexpected<Error>(text.error());
    if (!debts)
        return std::move(debts).error().while_doing(path);
    return debts;
}

Result<Debts> Debts::parse(std::string directory, std::string_view text)
{
    const auto record = parse_versioned(text, version);
    if (!record)
        return tl::unexpected<Error>(record.error());
    Debts debts(std::move(directory));
    read_object(*record, "owed", debts.owed_);
    read_object(*record, "seen", debts.seen_);
    return debts;
}

std::string Debts::format() const
{
    return format_versioned({{"owed", owed_}, {"seen", seen_}}, version);
}

const Json* Debts::find(const std::string& target) const
{
    const auto found = owed_.find(target);
    return found != owed_.end() && found->is_object() ? &*found : nullptr;
}

std::set<std::string> Debts::owed(const std::string& prefix) const
{
    std::set<std::string> targets;
    for (const auto& [target, what] : owed_.items())
        if (target.starts_with(prefix) && what.is_object())
            targets.insert(target.substr(prefix.size()));
    return targets;
}

Result<void> Debts::owe(const std::string& target, Json what)
{
    auto before = owed_;
    owed_[target] = std::move(what);
    auto outcome = write();
    if (!outcome)
        owed_ = std::move(before);
    return outcome;
}

Result<void> Debts::cross_out(const std::string& target)
{
    return owed_.erase(target) > 0 ? write() : Result<void>();
}

std::string Debts::seen(const std::string& target) const
{
    std::string what;
    read(seen_, target.c_str(), what);
    return what;
}

Result<void> Debts::see(const std::string& target, const std::string& what)
{
    if (seen(target) == what)
        return {};
    seen_[target] = what;
    return write();
}

Result<void> Debts::write() const
{
    const auto text = format();
    if (text.size() > max_size || !parse_versioned(text, version))
        return fail(EFBIG, directory_ + "/" + name);
    return write_record(directory_, name, text);
}

} // namespace rdmad::recovery
