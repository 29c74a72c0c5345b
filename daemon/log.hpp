// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <syslog.h>
#include <vector>

// The journal: a sentence, and the same as fields for journalctl FIELD=VALUE. Each kind of message
// has an ID, and an entry in rdmad.catalog that explains it.

namespace rdmad::log {

struct Field {
    std::string_view name;
    std::string value;
};

namespace field {
/// "systemctl status" and "journalctl -u" of the unit show the message (add_matches_for_unit(),
/// src/shared/logs-show.c).
constexpr std::string_view unit = "OBJECT_SYSTEMD_UNIT";
/// Written beside it: the field by which PID 1 names the unit, for those who search for that.
constexpr std::string_view unit_of_pid1 = "UNIT";
constexpr std::string_view device = "RDMA_DEVICE";
constexpr std::string_view index = "RDMA_INDEX";
constexpr std::string_view port = "RDMA_PORT";
constexpr std::string_view port_guid = "RDMA_PORT_GUID";
constexpr std::string_view node_guid = "RDMA_NODE_GUID";
constexpr std::string_view cause = "RDMA_CAUSE";
constexpr std::string_view binding = "RDMA_BINDING";
constexpr std::string_view path = "RDMA_PATH";
constexpr std::string_view state = "RDMA_STATE";
constexpr std::string_view old_state = "RDMA_OLD_STATE";
constexpr std::string_view returns = "RDMA_RETURNS";
constexpr std::string_view target = "RDMA_TARGET";
constexpr std::string_view holders = "RDMA_HOLDERS";
} // namespace field

/// Message IDs. A test compares them with rdmad.catalog.
namespace id {
constexpr std::string_view stopped_by_unplug = "6d84e47e39fa42f9aacc0c55c6b19705";
constexpr std::string_view started_on_return = "f25b6f180fcc44cba9c3f994952748f0";
constexpr std::string_view start_failed = "4ade50bcd3394c3f9fa4822dbe8a2e46";
constexpr std::string_view anchor_failed = "0c9e355911894c0495f1d75f41250248";
constexpr std::string_view units_stay_tied = "21f8f9557fbe415997c5b1ab3c9db763";
constexpr std::string_view bad_binding = "49d0e5fe45784bbc8d781f66a47db313";
constexpr std::string_view events_lost = "70974a39caa44eab97b3ac032fc9f984";
constexpr std::string_view client_dropped = "73cedcd3eed84b38a8f2534b63932fbc";
constexpr std::string_view systemd_trouble = "bfba0a263a8240998a08fa2622b0aac3";
constexpr std::string_view device_trouble = "caeb97ade0984e2e969cd446ba717057";
constexpr std::string_view records_outdated = "d1ed45b5ca624725a6a77b57f73c61f6";
constexpr std::string_view device_went = "04bc7df2200948c89ebdae28268d883e";
constexpr std::string_view device_returned = "ae70c5626af046ec969eaa61add870e6";
constexpr std::string_view device_degraded = "11eb945503104e78b7f64b4b9bbaac77";
constexpr std::string_view device_blocked = "e55287ab50d345dead3e3628c4090287";
constexpr std::string_view device_held = "a7fa3571356d4b15ac8162daf8426c4b";
constexpr std::string_view device_released = "4b5813404ae04c338b51d6e4ca249c88";
constexpr std::string_view device_accepted = "8ae64764d6ce4e74864213624f510b14";
constexpr std::string_view device_holders = "8836bce35e0441e098faba9a25a74cca";
constexpr std::string_view device_lost = "2d08657cf72a48c9bf367a208e0e8e44";
constexpr std::string_view target_restored = "838f869e897e472b8a272f59fb64e367";
constexpr std::string_view target_released = "8fb19884826b489f9b5e1abeaebab78d";
constexpr std::string_view target_failed = "c3dbc381ef054ed396e4987d2d4aacb0";
constexpr std::string_view target_waits = "fce250919dc54fbcae52b2a94490d900";
} // namespace id

using Fields = std::vector<Field>;

void write(int priority, std::string_view message_id, const std::string& text,
           const Fields& fields = {});

inline void info(std::string_view message_id, const std::string& text, const Fields& fields = {})
{
    write(LOG_INFO, message_id, text, fields);
}

inline void notice(std::string_view message_id, const std::string& text, const Fields& fields = {})
{
    write(LOG_NOTICE, message_id, text, fields);
}

inline void warning(std::string_view message_id, const std::string& text, const Fields& fields = {})
{
    write(LOG_WARNING, message_id, text, fields);
}

} // namespace rdmad::log
