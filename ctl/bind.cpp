// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bind_effect.hpp"
#include "ctl/binding_store.hpp"
#include "ctl/image.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

#include <chrono>
#include <thread>

namespace rdmad::ctl {

namespace {

constexpr auto patience = std::chrono::seconds(1);
constexpr auto pause = std::chrono::milliseconds(100);

/// Asks rdmad until the units have come to rest, or a second has passed.
Answer<Effect> ask_effect(Client& client, const std::string& name)
{
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        auto bindings = ask_bindings(client);
        if (!bindings)
            return as_told(bindings);
        auto effect = effect_of(bindings->value, name);
        if (!is_under_way(effect) || std::chrono::steady_clock::now() >= deadline)
            return effect;
        std::this_thread::sleep_for(pause);
    }
}

/// Warns of GUIDs that were mistaken for others, unless rdmad cannot list the devices.
void warn_of_guids(Client& client, const BindRequest& request, const Effect& effect)
{
    if (effect.missing.empty())
        return;
    if (const auto devices = ask_devices(client))
        for (const auto& hint : mixed_up(request, devices->value))
            warn(hint);
}

Answer<int> tell(const Common& common, const Bound& bound)
{
    if (!bound.others.empty())
        warn(join(bound.others, ", ") + " also " + (bound.others.size() == 1 ? "binds " : "bind ") +
             bound.unit + ": it needs the ports of all files that bind it");
    if (!common.json)
        return finish(text_of(bound, style_of_output()));
    Json json = {{"unit", bound.unit},
                 {"name", bound.file.name},
                 {"path", bound.file.path},
                 {"isNew", bound.is_new},
                 {"others", bound.others}};
    json["matches"] = bound.effect ? Json(bound.effect->matches) : Json();
    return finish(to_line(json));
}

Bound bound_of(const BindRequest& request, Added file)
{
    return {.unit = request.unit, .file = std::move(file), .is_started = !never_starts(request)};
}

Answer<void> look_at_effect(Client& client, const BindRequest& request, Bound& bound)
{
    auto effect = ask_effect(client, bound.file.name);
    if (!effect)
        return as_told(effect);
    if (const auto problem = problem_of(*effect, bound.file.path); !problem.empty())
        return failed(problem);
    warn_of_guids(client, request, *effect);
    bound.others = effect->others;
    bound.effect = std::move(*effect);
    return {};
}

Answer<int> add(const Common& common, const BindRequest& request)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    auto answer = client->call("io.rdmad.Bindings.Add", parameters_of(request));
    if (!answer)
        return as_told(answer);
    auto added = read_added(*answer);
    if (!added)
        return as_told(added);
    auto bound = bound_of(request, std::move(*added));
    if (auto looked = look_at_effect(*client, request, bound); !looked)
        return failed(bound.file.path + " is written, but " + looked.error().text);
    return tell(common, bound);
}

/// Has rdmad read the new file.
Answer<void> announce(const Common& common, const BindRequest& request, Bound& bound)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    if (auto problems = ask_reload(*client); !problems)
        return as_told(problems);
    return look_at_effect(*client, request, bound);
}

Answer<int> write(const Common& common, const BindRequest& request, const std::string& text)
{
    const BindingStore store(common.root);
    const auto name = file_name_of(request);
    auto put = store.put(name, text);
    if (!put)
        return as_told(put);
    auto bound = bound_of(request, {name, store.path_of(name)});
    bound.is_new = *put != BindingStore::Put::same;
    if (common.asks_rdmad()) {
        auto announced = announce(common, request, bound);
        if (!announced && !does_not_run(announced.error()))
            return failed(bound.file.path + " is written, but " + announced.error().text);
        if (!announced)
            warn(announced.error().text);
    }
    if (!bound.effect) {
        bound.others = store.files_with(request.unit);
        std::erase(bound.others, bound.file.path);
    }
    return tell(common, bound);
}

} // namespace

Answer<int> bind(const Common& common, const BindOptions& options)
{
    if (options.runtime && !common.root.empty())
        return complaint(Complaint::Kind::usage, "--runtime and --root do not go together");
    auto request = normalized(options.request);
    if (!request)
        return as_told(request);
    auto text = text_of(*request, BindingStore(common.root).path_of(file_name_of(*request)));
    if (!text)
        return as_told(text);
    if (auto checked = check_image(common.root); !checked)
        return as_told(checked);
    return options.runtime ? add(common, *request) : write(common, *request, *text);
}

} // namespace rdmad::ctl
