// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "daemon/record.hpp"
#include "daemon/recovery/configfs.hpp"
#include "daemon/recovery/keeper.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace rdmad::recovery {

namespace {

/// Returns true for the two names of a port (srpt_refresh_port(),
/// drivers/infiniband/ulp/srpt/ib_srpt.c): its port GUID in four groups, and GID 0 as one number.
bool is_name_of(const std::string& name, const IpAddress& gid)
{
    const auto half = [&](size_t from) {
        uint64_t number = 0;
        for (size_t i = from; i < from + 8; i++)
            number = number << 8U | gid.at(i);
        return number;
    };
    const auto guid = half(8);
    return name == fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48U, guid >> 32U & 0xffffU,
                               guid >> 16U & 0xffffU, guid & 0xffffU) ||
           name == fmt::format("0x{:016x}{:016x}", half(0), guid);
}

/// A port of the SRP target belongs to the appearance of the device for which its directory was
/// made. Nothing in it shows when that is over, and the next appearance gets a directory of its own
/// only after it is gone. So the keeper records which directory it saw with which appearance; or,
/// if it first saw it when the device had gone, which devices were there: it may be one of those.
class Srpt : public Keeper {
public:
    Srpt(const std::string& configfs, Debts& debts)
        : Keeper(Kind::srpt, debts), root_(configfs + "/target/srpt")
    {
    }

    [[nodiscard]] std::vector<Configured> targets(const Fabric& fabric) override
    {
        auto names = debts_.owed(debt(""));
        for (const auto& name : names_in(root_))
            if (!enabled_groups(name).empty())
                names.insert(name);
        std::vector<Configured> found;
        for (const auto& name : names)
            if (auto target = configured(fabric, name))
                found.push_back(std::move(*target));
        return found;
    }

    [[nodiscard]] Result<void> put_back(const Configured& target) override
    {
        if (auto outcome = is_stale(target) || is_being_rebuilt(target.id) ? rebuild(target.id)
                                                                           : switch_on(target.id);
            !outcome)
            return outcome;
        if (auto outcome = debts_.see(debt(target.id), sight(target.id, target.device)); !outcome)
            return outcome;
        return debts_.cross_out(debt(target.id));
    }

    [[nodiscard]] Result<void> take_away(const Configured& target) override
    {
        const auto groups = enabled_groups(target.id);
        if (auto outcome = debts_.owe(debt(target.id), {{"groups", groups}}); !outcome)
            return outcome;
        for (const auto& group : groups)
            if (auto outcome = configfs::write(enable_of(target.id, group), "0"); !outcome)
                return outcome;
        return {};
    }

private:
    [[nodiscard]] std::string enable_of(const std::string& name, const std::string& group) const
    {
        return root_ + "/" + name + "/" + group + "/enable";
    }

    [[nodiscard]] std::set<std::string> enabled_groups(const std::string& name) const
    {
        std::set<std::string> groups;
        for (const auto& group : names_in(root_ + "/" + name))
            if (configfs::read(enable_of(name, group)) == "1")
                groups.insert(group);
        return groups;
    }

    /// Returns nullopt, and cancels the debt, if an administrator has removed it.
    [[nodiscard]] std::optional<Configured> configured(const Fabric& fabric,
                                                       const std::string& name)
    {
        if (!exists(name) && !is_being_rebuilt(name)) {
            (void)debts_.cross_out(debt(name));
            return std::nullopt;
        }
        Configured target{.id = name, .name = "port", .address = name};
        target.device = device_of(fabric, name);
        target.is_there = !enabled_groups(name).empty();
        target.is_up = target.device && target.is_there && !is_stale(target);
        // one that was made anew, or never seen, is taken to be as it should
        if (target.is_up)
            (void)debts_.see(debt(name), sight(target.id, target.device));
        else if (!target.device && target.is_there && !has_seen(name))
            (void)debts_.see(debt(name), sight_without_device(fabric, name));
        return target;
    }

    /// Prefers the one that the directory was seen with: RoCE ports of the same MAC address have
    /// the same GID, and a container may give its port ours.
    [[nodiscard]] std::optional<uint32_t> device_of(const Fabric& fabric,
                                                    const std::string& name) const
    {
        const auto seen = debts_.seen(debt(name));
        std::optional<uint32_t> last;
        for (const auto& [index, device] : fabric.devices) {
            const auto is_its_port = [&](const IpAddress& gid) { return is_name_of(name, gid); };
            if (std::none_of(device.first.begin(), device.first.end(), is_its_port))
                continue;
            last = index;
            if (sight(name, index) == seen)
                break;
        }
        return last;
    }

    [[nodiscard]] std::string inode_of(const std::string& name) const
    {
        return std::to_string(configfs::inode_of(root_ + "/" + name));
    }

    /// Returns what identifies this directory in this appearance of the device.
    [[nodiscard]] std::string sight(const std::string& name, std::optional<uint32_t> device) const
    {
        return inode_of(name) + " " + std::to_string(device.value_or(0));
    }

    /// The directory was made for a device, which has gone (srpt_make_tport(), ib_srpt.c). Devices
    /// that are there may only have lost their address for a moment.
    [[nodiscard]] std::string sight_without_device(const Fabric& fabric,
                                                   const std::string& name) const
    {
        auto sight = inode_of(name) + " " + gone;
        for (const auto& [index, device] : fabric.devices)
            sight += " " + std::to_string(index);
        return sight;
    }

    [[nodiscard]] bool has_seen(const std::string& name) const
    {
        return debts_.seen(debt(name)).starts_with(inode_of(name) + " ");
    }

    /// Returns true if this very directory was seen with an earlier appearance.
    [[nodiscard]] bool is_stale(const Configured& target) const
    {
        if (!has_seen(target.id))
            return false;
        const auto seen = debts_.seen(debt(target.id));
        const auto words = text::split(seen, ' ');
        if (words[1] != gone)
            return seen != sight(target.id, target.device);
        const auto index = std::to_string(target.device.value_or(0));
        return std::find(words.begin() + 2, words.end(), index) == words.end();
    }

    [[nodiscard]] bool exists(const std::string& name) const
    {
        return configfs::exists(root_ + "/" + name);
    }

    [[nodiscard]] bool is_being_rebuilt(const std::string& name) const
    {
        bool is_rebuilt = false;
        if (const auto* owed = owed_to(name))
            read(*owed, "isRebuilt", is_rebuilt);
        return is_rebuilt;
    }

    [[nodiscard]] std::set<std::string> owed_groups(const std::string& name) const
    {
        std::set<std::string> groups;
        if (const auto* owed = owed_to(name))
            read_list(*owed, "groups", groups);
        return groups;
    }

    [[nodiscard]] Result<void> switch_on(const std::string& name)
    {
        for (const auto& group : owed_groups(name))
            if (auto outcome = configfs::write(enable_of(name, group), "1"); !outcome)
                return outcome;
        return {};
    }

    /// Returns it as it is now, but switched on; or as it was before a rebuild that was killed.
    [[nodiscard]] Result<nlohmann::json> tree_of(const std::string& name) const
    {
        if (is_being_rebuilt(name))
            return owed_to(name)->value("tree", nlohmann::json());
        auto tree = configfs::snapshot(root_ + "/" + name);
        if (tree)
            for (const auto& group : owed_groups(name))
                (*tree)["values"][group + "/enable"] = "1";
        return tree;
    }

    [[nodiscard]] Result<void> rebuild(const std::string& name)
    {
        const auto tree = tree_of(name);
        if (!tree)
            return tl::unexpected<Error>(tree.error());
        if (auto outcome = debts_.owe(debt(name), {{"tree", *tree}, {"isRebuilt", true}}); !outcome)
            return outcome;
        const auto folder = root_ + "/" + name;
        if (exists(name))
            if (auto outcome = configfs::remove_tree(folder); !outcome)
                return outcome;
        return configfs::rebuild(folder, *tree);
    }

    static constexpr char gone[] = "gone";

    std::string root_;
};

} // namespace

std::unique_ptr<Keeper> srpt_keeper(const std::string& configfs, Debts& debts)
{
    return std::make_unique<Srpt>(configfs, debts);
}

} // namespace rdmad::recovery
