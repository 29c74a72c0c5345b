// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/keeper.hpp"

namespace rdmad::recovery {

Configured configured_at(const Fabric& fabric, std::string id, std::string name,
                         const SocketAddress& address, bool is_there)
{
    Configured configured{.id = std::move(id),
                          .name = std::move(name),
                          .address = format_socket_address(address),
                          .device = fabric.device_with(address.ip),
                          .is_there = is_there};
    const auto listening = fabric.listening.find(address);
    configured.is_up = listening != fabric.listening.end();
    if (configured.is_up)
        configured.device = listening->second;
    return configured;
}

std::string debt_key(Kind kind, const std::string& id)
{
    return std::string(to_string(kind)) + "/" + id;
}

std::string Keeper::debt(const std::string& id) const
{
    return debt_key(kind_, id);
}

void Keeper::forget_if(const std::function<bool(const std::string& id)>& is_removed)
{
    for (const auto& id : debts_.owed(debt("")))
        if (is_removed(id))
            (void)debts_.cross_out(debt(id));
}

} // namespace rdmad::recovery
