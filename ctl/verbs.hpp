// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/binding_text.hpp"
#include "ctl/questions.hpp"
#include "ctl/wait_condition.hpp"

// The verbs of rdmactl, each in a file of its name; release, accept and resume in device_orders.
// They print, and return the exit code.

namespace rdmad::ctl {

struct WaitOptions {
    std::vector<std::string> targets = {};
    WaitGoal goal = WaitGoal::active;
    double timeout = 90; ///< seconds; 0: for ever
};

struct PrepareOptions {
    std::string device = {};
    bool ignores_inhibitors = false;
    bool removes = false; ///< the PCI device, when it is safe
};

struct InhibitOptions {
    std::optional<std::string> device = {}; ///< none: any
    std::string who = {};                   ///< empty: the command
    std::string why = {};
    std::string mode = "block";
    std::vector<std::string> command = {}; ///< empty: list the inhibitors that are there
};

struct BindOptions {
    BindRequest request = {};
    bool runtime = false;
};

[[nodiscard]] Answer<int> list(const Common& common);
[[nodiscard]] Answer<int> status(const Common& common, const std::optional<std::string>& what);
[[nodiscard]] Answer<int> bindings(const Common& common);
[[nodiscard]] Answer<int> bind(const Common& common, const BindOptions& options);
[[nodiscard]] Answer<int> unbind(const Common& common, const std::string& unit);
[[nodiscard]] Answer<int> unbind_all(const Common& common);
[[nodiscard]] Answer<int> monitor(const Common& common, bool poll_ports);
[[nodiscard]] Answer<int> wait(const Common& common, const WaitOptions& options);
[[nodiscard]] Answer<int> release(const Common& common, const std::string& device);
[[nodiscard]] Answer<int> accept(const Common& common, const std::string& device);
[[nodiscard]] Answer<int> prepare(const Common& common, const PrepareOptions& options);
[[nodiscard]] Answer<int> resume(const Common& common, const std::string& device);
[[nodiscard]] Answer<int> inhibit(const Common& common, const InhibitOptions& options);
[[nodiscard]] Answer<int> recover(const Common& common, bool is_dry);
[[nodiscard]] Answer<int> reload(const Common& common);
[[nodiscard]] Answer<int> verify(const Common& common, const std::vector<std::string>& files);

} // namespace rdmad::ctl
