// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/binding_file.hpp"
#include "ctl/client.hpp"

#include <array>

// The .binding files that rdmactl writes. Pure.

namespace rdmad::ctl {

/// The arguments of "rdmactl bind". The order of values is that of bind_keys.
struct BindRequest {
    static constexpr size_t size = 15;
    std::string unit = {};
    std::array<std::optional<std::string>, size> values = {};
};

/// A key of a .binding file, as an option and in a call.
struct BindKey {
    const char* section;
    const char* key;
    const char* option;
    const char* parameter; ///< of io.rdmad.Bindings.Add
    const char* help;
    bool is_guid = false;
};

[[nodiscard]] const std::array<BindKey, BindRequest::size>& bind_keys();

/// Returns true if it says which ports are meant: a list.
[[nodiscard]] bool is_match(const BindKey& key);

/// Returns the request as rdmad has it: the unit with a suffix, plain GUIDs with blanks between. A
/// complaint names the option.
[[nodiscard]] Answer<BindRequest> normalized(BindRequest request);

/// Returns "50-srp.service-0123456789abcdef.binding": of the unit and what is matched, so that the
/// same ports bound again, with another setting or not, are one file.
[[nodiscard]] std::string file_name_of(const BindRequest& request);

/// Returns the file; checked by rdmad's parser, which must read what was meant.
[[nodiscard]] Answer<std::string> text_of(const BindRequest& request, const std::string& path);

/// Returns true if rdmad is to leave the start of the unit to others.
[[nodiscard]] bool never_starts(const BindRequest& request);

/// Returns the parameters of io.rdmad.Bindings.Add.
[[nodiscard]] Json parameters_of(const BindRequest& request);

/// Returns true if "rdmactl bind" made a file, by its first line; with --runtime, rdmad wrote it.
[[nodiscard]] bool is_own(std::string_view text);

/// Returns what rdmad would understand of a file.
[[nodiscard]] config::BindingFile understand(const std::string& text, const std::string& path);

} // namespace rdmad::ctl
