// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/bindings/bindings.hpp"
#include "daemon/inventory/model.hpp"
#include "daemon/lifecycle/history_file.hpp"
#include "daemon/prepare/preparations.hpp"
#include "daemon/recovery/target.hpp"
#include "daemon/supervisor/supervisor.hpp"

#include <nlohmann/json.hpp>

// Our structures in the words of interfaces/*.varlink. What does not exist is left out.

namespace rdmad::api {

using Json = nlohmann::json;

/// Returns JSON. units: those that are bound to it.
[[nodiscard]] Json to_json(const Port& port, const std::set<std::string>& units);
[[nodiscard]] Json to_json(const Holder& holder);
[[nodiscard]] Json to_json(const Inhibitor& inhibitor);
[[nodiscard]] Json to_json(const Progress& progress);
[[nodiscard]] Json to_json(const recovery::Report& report);
[[nodiscard]] Json to_json(const lifecycle::History& history);
/// Returns JSON. history: null if it is not followed.
[[nodiscard]] Json to_json(const Device& device, const Supervisor::UnitsByPort& units,
                           const lifecycle::History* history);
[[nodiscard]] Json to_json(const Stop& stop);
[[nodiscard]] Json to_json(const std::string& name, const BoundUnit& unit);
/// The effect of a file on the devices that are there.
struct Reach {
    std::vector<std::string> matches = {}; ///< "mlx5_0/1"
    std::vector<std::string> missing = {}; ///< GUIDs that nothing has
};
[[nodiscard]] Json to_json(const config::BindingFile& file, const Reach& reach);

} // namespace rdmad::api
