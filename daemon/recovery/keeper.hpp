// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/recovery/debts.hpp"
#include "daemon/recovery/fabric.hpp"
#include "daemon/recovery/target.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace rdmad::recovery {

/// A target as its configuration has it.
struct Configured {
    std::string id = {};   ///< tells it from others of its kind, and in what is owed
    std::string name = {}; ///< for people
    std::string address = {};
    std::optional<uint32_t> device = {}; ///< RDMA index: that has its address
    bool is_up = false;                  ///< it waits for connections there
    /// It is in the kernel's configuration, and not only owed.
    bool is_there = true;
    /// It waits for connections, but part of it is still owed.
    bool is_partial = false;
};

/// Knows the targets of one kind. What it takes away it owes first.
class Keeper {
public:
    Keeper(Kind kind, Debts& debts) : debts_(debts), kind_(kind) {}
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    virtual ~Keeper() = default;

    [[nodiscard]] Kind kind() const
    {
        return kind_;
    }
    /// Completes what an earlier run was doing when it was killed.
    virtual void finish(const Order& /*order*/) {}
    /// Returns those on an address or port of their own: one on any address comes back by itself.
    [[nodiscard]] virtual std::vector<Configured> targets(const Fabric& fabric) = 0;
    /// Fails with EADDRNOTAVAIL or ENODEV if its address or device is not there after all.
    [[nodiscard]] virtual Result<void> put_back(const Configured& target) = 0;
    [[nodiscard]] virtual Result<void> take_away(const Configured& target) = 0;
    /// Returns true if the removal of its device waits until it is taken away.
    [[nodiscard]] virtual bool hinders_removal() const
    {
        return false;
    }

protected:
    /// Returns the target's key in debts.
    [[nodiscard]] std::string debt(const std::string& id) const;
    /// Returns what is owed to a target; null if nothing is.
    [[nodiscard]] const nlohmann::json* owed_to(const std::string& id) const
    {
        return debts_.find(debt(id));
    }
    /// Cancels the debts to what an administrator has removed.
    void forget_if(const std::function<bool(const std::string& id)>& is_removed);

    Debts& debts_;

private:
    Kind kind_;
};

/// Returns "nvmet/1", the key in debts of a target of some kind; that of all of them without an id.
[[nodiscard]] std::string debt_key(Kind kind, const std::string& id = "");

/// Returns a target on an address of its own, with what the kernel says of that address.
[[nodiscard]] Configured configured_at(const Fabric& fabric, std::string id, std::string name,
                                       const SocketAddress& address, bool is_there);

/// Returns a keeper. configfs: /sys/kernel/config
[[nodiscard]] std::unique_ptr<Keeper> nvmet_keeper(const std::string& configfs, Debts& debts);
[[nodiscard]] std::unique_ptr<Keeper> iser_keeper(const std::string& configfs, Debts& debts);
[[nodiscard]] std::unique_ptr<Keeper> srpt_keeper(const std::string& configfs, Debts& debts);

/// Runs nfsdctl(8) with arguments, and returns what it prints.
using Nfsdctl = std::function<Result<std::string>(const std::vector<std::string>& arguments)>;
[[nodiscard]] std::unique_ptr<Keeper> nfs_keeper(Nfsdctl nfsdctl, Debts& debts);

} // namespace rdmad::recovery
