// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/arguments.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace rdmad::ctl {

namespace {

bool is_option(const std::string& word)
{
    return word.size() > 1 && word.front() == '-';
}

/// Returns true if the next word is the value of this option.
bool takes_next(const CLI::App& app, const CLI::App& verb, const std::string& word)
{
    for (const auto* known : {&verb, &app})
        if (const auto* option = known->get_option_no_throw(word))
            return option->get_items_expected_max() > 0;
    return false;
}

} // namespace

Arguments split_arguments(const CLI::App& app, const std::vector<std::string>& words)
{
    const auto& inhibit = *app.get_subcommand("inhibit");
    bool has_verb = false;
    for (size_t i = 0; i < words.size(); i++) {
        const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
        if (words[i] == "--") {
            if (!has_verb)
                break;
            return {{words.begin(), at}, {at + 1, words.end()}};
        }
        if (is_option(words[i])) {
            if (takes_next(app, inhibit, words[i]))
                i++;
            continue;
        }
        if (has_verb)
            return {{words.begin(), at}, {at, words.end()}};
        if (words[i] != inhibit.get_name())
            break;
        has_verb = true;
    }
    return {words, {}};
}

std::optional<std::string> option_without_value(const std::vector<std::string>& words)
{
    const auto end = std::find(words.begin(), words.end(), "--");
    const auto found = std::find_if(words.begin(), end, [](const std::string& word) {
        return word.starts_with("--") && word.find('=') == word.size() - 1;
    });
    return found == end ? std::nullopt : std::optional(*found);
}

} // namespace rdmad::ctl
