// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/file.hpp"
#include "daemon/recovery/configfs.hpp"
#include "daemon/recovery/keeper.hpp"

namespace rdmad::recovery {

namespace {

/// A portal of LIO's iSCSI target speaks iSER while its attribute "iser" is 1, which it stays when
/// the device has taken the listener away (isert_np_cma_handler(),
/// drivers/infiniband/ulp/isert/ib_isert.c).
class Iser : public Keeper {
public:
    Iser(const std::string& configfs, Debts& debts)
        : Keeper(Kind::iser, debts), root_(configfs + "/target/iscsi")
    {
    }

    [[nodiscard]] std::vector<Configured> targets(const Fabric& fabric) override
    {
        std::vector<Configured> found;
        for (const auto& id : portals())
            add(found, fabric, id);
        forget_if([&](const std::string& id) { return !configfs::exists(switch_of(id)); });
        return found;
    }

    /// Switches a dead portal off and on, with all others at its address: they share a listener,
    /// which goes with the last of them.
    [[nodiscard]] Result<void> put_back(const Configured& target) override
    {
        const auto together =
            target.is_up ? std::vector<std::string>{target.id} : portals_at(portal_of(target.id));
        if (!target.is_up)
            for (const auto& id : together)
                if (auto outcome = switch_off(id); !outcome)
                    return outcome;
        for (const auto& id : together) {
            if (auto outcome = configfs::write(switch_of(id), "1"); !outcome)
                return outcome;
            if (auto outcome = debts_.cross_out(debt(id)); !outcome)
                return outcome;
        }
        return {};
    }

    [[nodiscard]] Result<void> take_away(const Configured& target) override
    {
        return switch_off(target.id);
    }

private:
    /// Returns the switch of "iqn.2003-01.org.linux-iscsi.host:target/tpgt_1/np/192.0.2.1:3260".
    [[nodiscard]] std::string switch_of(const std::string& id) const
    {
        return root_ + "/" + id + "/iser";
    }

    [[nodiscard]] bool is_on(const std::string& id) const
    {
        return configfs::read(switch_of(id)) == "1";
    }

    [[nodiscard]] static std::string portal_of(const std::string& id)
    {
        return id.substr(id.rfind('/') + 1);
    }

    [[nodiscard]] std::vector<std::string> portals() const
    {
        std::vector<std::string> ids;
        for (const auto& target : names_in(root_))
            for (const auto& group : names_in(root_ + "/" + target))
                for (const auto& portal : names_in(root_ + "/" + target + "/" + group + "/np"))
                    ids.push_back(target + "/" + group + "/np/" + portal);
        return ids;
    }

    /// Returns those that speak iSER, or are to.
    [[nodiscard]] std::vector<std::string> portals_at(const std::string& portal) const
    {
        auto ids = portals();
        std::erase_if(ids, [&](const std::string& id) {
            return portal_of(id) != portal || (!is_on(id) && !owed_to(id));
        });
        return ids;
    }

    [[nodiscard]] Result<void> switch_off(const std::string& id)
    {
        if (auto outcome = debts_.owe(debt(id), nlohmann::json::object()); !outcome)
            return outcome;
        return is_on(id) ? configfs::write(switch_of(id), "0") : Result<void>();
    }

    void add(std::vector<Configured>& found, const Fabric& fabric, const std::string& id)
    {
        const auto address = parse_socket_address(portal_of(id));
        const bool is_there = is_on(id);
        if (!address || address->is_wildcard() || (!is_there && !owed_to(id)))
            return;
        found.push_back(
            configured_at(fabric, id, id.substr(0, id.rfind("/np/")), *address, is_there));
        // another one at that address may be what listens
        found.back().is_partial = !is_there;
        // it was put back, and a crash came before that was crossed out
        if (found.back().is_up && is_there)
            (void)debts_.cross_out(debt(id));
    }

    std::string root_;
};

} // namespace

std::unique_ptr<Keeper> iser_keeper(const std::string& configfs, Debts& debts)
{
    return std::make_unique<Iser>(configfs, debts);
}

} // namespace rdmad::recovery
