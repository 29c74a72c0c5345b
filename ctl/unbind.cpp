// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "ctl/binding_store.hpp"
#include "ctl/command.hpp"
#include "ctl/image.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

#include <algorithm>
#include <cstring>

namespace rdmad::ctl {

namespace {

struct Unbound {
    std::vector<std::string> removed = {}; ///< paths
    std::vector<std::string> others = {};  ///< files that still bind the unit
};

void add_to(std::vector<std::string>& all, const std::vector<std::string>& more)
{
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

bool is_no_such_unit(const Complaint& complaint)
{
    return complaint.error == "io.rdmad.Bindings.NoSuchUnit";
}

/// Asks rdmad for the files that bind the unit: only it knows those with specifiers.
Answer<std::vector<std::string>> files_rdmad_knows(Client& client, const std::string& unit)
{
    auto bindings = ask_bindings(client, unit);
    if (!bindings && is_no_such_unit(bindings.error()))
        return std::vector<std::string>();
    if (!bindings)
        return as_told(bindings);
    std::vector<std::string> paths;
    for (const auto& binding : bindings->value.bindings)
        paths.push_back(binding.path);
    return paths;
}

Answer<void> tell_rdmad(const Common& common, const std::string& unit, Unbound& unbound)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    if (auto problems = ask_reload(*client); !problems)
        return as_told(problems);
    auto others = files_rdmad_knows(*client, unit);
    if (!others)
        return as_told(others);
    add_to(unbound.others, *others);
    return {};
}

Answer<int> tell(const Common& common, const std::string& unit, const Unbound& unbound)
{
    if (!unbound.others.empty() && !unbound.removed.empty())
        warn(unit + " is still bound by " + join(unbound.others, ", "));
    if (common.json)
        return finish(
            to_line({{"unit", unit}, {"removed", unbound.removed}, {"others", unbound.others}}));
    return finish(text::escape_terminal("removed " + join(unbound.removed, ", ") + "; if " + unit +
                                        " runs, it keeps running") +
                  "\n");
}

/// Returns why nothing was removed, and what to do.
std::string refusal(const BindingStore& store, const std::string& unit,
                    const std::vector<std::string>& others)
{
    const auto templates = store.templates_of(unit);
    if (!templates.empty() && store.files_with(unit).empty()) {
        const auto& [path, name] = templates.front();
        return "'" + unit + "' is not bound by that name, but " + path + " binds " + name +
               "; to unbind that for all its ports: rdmactl unbind " + name;
    }
    if (others.empty())
        return "'" + unit + "' is not bound";
    return "rdmactl did not bind " + unit + "; remove it from " + join(others, ", ");
}

/// Ends the slices in systemd that tie units, where there is no rdmad to do it. Those of "any of"
/// go first: systemd ends one that no other slice needs any more, and with it the unit.
Answer<void> untie_all()
{
    for (const std::string pattern : {"rdmad-*:any:*.slice", "rdmad-*.slice"}) {
        const auto child =
            spawn({"systemctl", "stop", "--job-mode=ignore-requirements", "--", pattern});
        if (!child)
            return failed("units stay tied: systemctl: " + std::string(strerror(child.error())));
        if (exit_code_of(wait_for(*child)) != 0)
            return failed("units stay tied: systemctl did not stop '" + pattern + "'");
    }
    return {};
}

/// Returns "removed a, but b; c", or "b; c" if nothing was removed.
std::string account(const std::vector<std::string>& removed,
                    const std::vector<std::string>& failures)
{
    return (removed.empty() ? "" : "removed " + join(removed, ", ") + ", but ") +
           join(failures, "; ");
}

Answer<void> have_all_untied(const Common& common)
{
    auto client = connect(common);
    auto told = client ? ask_reload(*client) : as_told(client);
    if (!told && does_not_run(told.error()) && !common.is_socket_given)
        return untie_all();
    if (!told)
        return as_told(told);
    return {};
}

} // namespace

Answer<int> unbind_all(const Common& common)
{
    if (auto checked = check_image(common.root); !checked)
        return as_told(checked);
    const BindingStore store(common.root);
    const auto removed = store.remove();
    const std::string done =
        removed.paths.empty() ? "rdmactl bound nothing" : "removed " + join(removed.paths, ", ");
    auto failures = removed.failures;
    const bool has_bound = !removed.paths.empty() || !failures.empty();
    if (common.asks_rdmad())
        if (const auto untied = have_all_untied(common); !untied)
            failures.push_back(untied.error().text);
    if (!failures.empty())
        return failed((has_bound ? "" : done + ", but ") + account(removed.paths, failures));
    const auto others = store.files_with();
    const int exit_code = others.empty() ? exit_fine : exit_failed;
    if (!others.empty())
        warn("rdmactl did not write " + join(others, ", ") + ", which still bind units");
    if (common.json)
        return finish(to_line({{"removed", removed.paths}, {"others", others}}), exit_code);
    return finish(text::escape_terminal(done) + "; units that run keep running\n", exit_code);
}

Answer<int> unbind(const Common& common, const std::string& word)
{
    if (auto checked = check_image(common.root); !checked)
        return as_told(checked);
    const auto unit = with_suffix(word);
    const BindingStore store(common.root);
    auto [removed, failures] = store.remove(unit);
    if (removed.empty() && !failures.empty())
        return failed(account({}, failures));
    Unbound unbound{.removed = std::move(removed)};
    if (common.asks_rdmad()) {
        auto told = tell_rdmad(common, unit, unbound);
        if (!told && !does_not_run(told.error()))
            failures.push_back(told.error().text);
        else if (!told)
            warn(told.error().text + "; until rdmad runs, systemd still stops " + unit +
                 " with its device");
    }
    if (!failures.empty())
        return failed(account(unbound.removed, failures));
    add_to(unbound.others, store.files_with(unit));
    if (!unbound.removed.empty())
        return tell(common, unit, unbound);
    return failed(refusal(store, unit, unbound.others));
}

} // namespace rdmad::ctl
