// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "ctl/answers.hpp"
#include "ctl/known_devices.hpp"
#include "ctl/status_text.hpp"
#include "ctl/words.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <string>
#include <vector>

// The input is what rdmad, or who is in its place, sends to rdmactl: a message without its NUL.

namespace rdmad::fuzz {

namespace {

using namespace ctl;

constexpr int64_t now = 1'700'000'000'000'000;

/// Text without colours.
void check_printable(std::string text)
{
    std::erase(text, '\n');
    const auto characters = decode_utf8(text);
    require(characters && !has_control_character(*characters),
            "what is printed steers no terminal");
}

/// Returns the value; an empty one if the message is none, which is to have a reason.
template <typename T>
T value_of(const Answer<T>& answer)
{
    if (answer)
        return *answer;
    require(answer.error().kind == Complaint::Kind::broken, "only the message can be wrong");
    require(answer.error().text.starts_with("rdmad's answer is wrong: "), "a reason is given");
    check_printable(answer.error().text);
    return T();
}

void check_status(const ctl::Json& parameters, const Style& style)
{
    const auto devices = value_of(read_devices(parameters));
    const auto removing = value_of(read_removing(parameters));
    const auto bindings = value_of(read_bindings(parameters));
    check_printable(status_of_all(devices, removing, bindings, now, style));
    for (const auto& device : devices)
        check_printable(status_of_device(device, bindings.units, now, style));
    for (const auto& life : removing)
        check_printable(status_of_removing(life, style));
    for (const auto& unit : bindings.units)
        check_printable(status_of_unit(unit, bindings.bindings, now, style));
}

void check_event(const ctl::Json& parameters)
{
    const auto event = read_event(parameters);
    (void)value_of(event);
    if (!event)
        return;
    KnownDevices known;
    for (int i = 0; i < 2; i++) {
        const auto* before = event->device ? known.find(event->device->index) : nullptr;
        check_printable(local_time(event->timestamp) + " " +
                        text::escape_terminal(event_text(*event, before)));
        require(known.apply(*event) == 0, "the same event twice is no gap");
    }
    const auto is_known = [&](uint32_t index) { return known.find(index) != nullptr; };
    require(!event->device || is_known(event->device->index) == (event->name != "remove"),
            "a device is known until it is removed");
    auto later = *event;
    later.devices.reset();
    if (event->sequence < UINT64_MAX - 3) {
        later.sequence += 3;
        require(known.apply(later) == 2, "a gap is seen");
    }
}

void check_others(const ctl::Json& parameters)
{
    (void)value_of(read_added(parameters));
    (void)value_of(read_targets(parameters));
    (void)value_of(read_inhibitors(parameters));
    for (const auto* name : {"problems", "removed"})
        (void)value_of(read_words(parameters, name));
    const auto progress = value_of(read_progress(parameters));
    require(progress.holders.empty() || !describe_holders(progress.holders).empty(),
            "holders have words");
}

} // namespace

void run_one(std::string_view input)
{
    const auto message = parse_message(input);
    (void)value_of(message);
    if (!message)
        return;
    require(message->parameters.is_object(), "parameters are an object");
    if (!message->error.empty())
        require(!explain_error(message->error, message->parameters).empty(), "an error has words");
    for (const auto& style : {Style{}, Style{.width = 80}, Style{.width = 1, .has_legend = false}})
        check_status(message->parameters, style);
    check_event(message->parameters);
    check_others(message->parameters);
}

} // namespace rdmad::fuzz
