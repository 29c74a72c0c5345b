// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/file.hpp"
#include "daemon/record.hpp"
#include "daemon/recovery/configfs.hpp"
#include "daemon/recovery/keeper.hpp"

namespace rdmad::recovery {

namespace {

/// A port waits for connections from the first link to a subsystem on, until the last is gone
/// (nvmet_port_subsys_allow_link(), drivers/nvme/target/configfs.c). The removal of its device ends
/// that, and leaves the links.
class Nvmet : public Keeper {
public:
    Nvmet(const std::string& configfs, Debts& debts)
        : Keeper(Kind::nvmet, debts), root_(configfs + "/nvmet")
    {
    }

    [[nodiscard]] std::vector<Configured> targets(const Fabric& fabric) override
    {
        std::vector<Configured> found;
        for (const auto& port : names_in(root_ + "/ports")) {
            const auto address = address_of(port);
            forget_if_changed(port);
            const bool is_there = !names_in(links(port)).empty();
            if (!address || (!is_there && !owed_to(port)))
                continue;
            found.push_back(configured_at(fabric, port, "ports/" + port, *address, is_there));
            found.back().is_partial = owed_to(port) != nullptr;
        }
        forget_if([&](const std::string& port) { return !configfs::exists(folder_of(port)); });
        return found;
    }

    [[nodiscard]] Result<void> put_back(const Configured& target) override
    {
        const auto subsystems = wanted(target.id);
        if (!target.is_up)
            if (auto outcome = take_away(target); !outcome)
                return outcome;
        for (const auto& subsystem : subsystems) {
            const auto whole = root_ + "/subsystems/" + subsystem;
            // an administrator has removed it since
            if (!configfs::exists(whole))
                continue;
            if (auto outcome = configfs::link(whole, links(target.id) + "/" + subsystem); !outcome)
                return outcome;
        }
        return debts_.cross_out(debt(target.id));
    }

    [[nodiscard]] Result<void> take_away(const Configured& target) override
    {
        const auto subsystems = wanted(target.id);
        if (auto outcome = debts_.owe(debt(target.id),
                                      {{"subsystems", subsystems}, {"port", sight(target.id)}});
            !outcome)
            return outcome;
        for (const auto& subsystem : names_in(links(target.id)))
            if (auto outcome = configfs::unlink(links(target.id) + "/" + subsystem); !outcome)
                return outcome;
        return {};
    }

private:
    [[nodiscard]] std::string folder_of(const std::string& port) const
    {
        return root_ + "/ports/" + port;
    }

    [[nodiscard]] std::string links(const std::string& port) const
    {
        return folder_of(port) + "/subsystems";
    }

    /// Returns nullopt if it has another transport, any address or none set.
    [[nodiscard]] std::optional<SocketAddress> address_of(const std::string& port) const
    {
        const auto folder = folder_of(port);
        if (configfs::read(folder + "/addr_trtype") != "rdma")
            return std::nullopt;
        const auto ip = configfs::read(folder + "/addr_traddr");
        const bool is_v6 = ip.find(':') != std::string::npos;
        auto address = parse_socket_address((is_v6 ? "[" + ip + "]" : ip) + ":" +
                                            configfs::read(folder + "/addr_trsvcid"));
        return address && !address->is_wildcard() ? address : std::nullopt;
    }

    /// Returns what identifies this very directory at this address.
    [[nodiscard]] std::string sight(const std::string& port) const
    {
        const auto address = address_of(port);
        return std::to_string(configfs::inode_of(folder_of(port))) + " " +
               (address ? format_socket_address(*address) : "");
    }

    /// Cancels the debt to a port that an administrator made anew, or gave another address.
    void forget_if_changed(const std::string& port)
    {
        std::string then;
        if (const auto* owed = owed_to(port))
            read(*owed, "port", then);
        if (!then.empty() && then != sight(port))
            (void)debts_.cross_out(debt(port));
    }

    /// Returns the subsystems that are linked, or were before a crash.
    [[nodiscard]] std::set<std::string> wanted(const std::string& port) const
    {
        std::set<std::string> subsystems;
        if (const auto* owed = owed_to(port))
            read_list(*owed, "subsystems", subsystems);
        for (const auto& name : names_in(links(port)))
            subsystems.insert(name);
        return subsystems;
    }

    std::string root_;
};

} // namespace

std::unique_ptr<Keeper> nvmet_keeper(const std::string& configfs, Debts& debts)
{
    return std::make_unique<Nvmet>(configfs, debts);
}

} // namespace rdmad::recovery
