// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/questions.hpp"

#include "ctl/terminal.hpp"

namespace rdmad::ctl {

namespace {

/// Returns parameters with one member, or without.
Json only(const char* name, const std::optional<std::string>& value)
{
    auto parameters = Json::object();
    if (value)
        parameters[name] = *value;
    return parameters;
}

template <typename T>
Answer<Asked<T>> ask(Client& client, const char* method, const Json& parameters,
                     Answer<T> (*read)(const Json&))
{
    auto raw = client.call(method, parameters);
    if (!raw)
        return as_told(raw);
    auto value = read(*raw);
    if (!value)
        return as_told(value);
    return Asked<T>{std::move(*raw), std::move(*value)};
}

} // namespace

Answer<Client> connect(const Common& common)
{
    return Client::connect(common.socket, answer_deadline());
}

Answer<Asked<std::vector<Device>>> ask_devices(Client& client,
                                               const std::optional<std::string>& device)
{
    return ask(client, "io.rdmad.Devices.List", only("device", device), read_devices);
}

Answer<Asked<Bindings>> ask_bindings(Client& client, const std::optional<std::string>& unit)
{
    return ask(client, "io.rdmad.Bindings.List", only("unit", unit), read_bindings);
}

Answer<std::vector<std::string>> ask_reload(Client& client)
{
    auto answer = client.call("io.rdmad.Bindings.Reload", Json::object());
    if (!answer)
        return as_told(answer);
    auto problems = read_words(*answer, "problems");
    if (problems)
        for (const auto& problem : *problems)
            warn(problem);
    return problems;
}

std::string to_line(const Json& json)
{
    return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

} // namespace rdmad::ctl
