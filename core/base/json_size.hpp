// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace rdmad {

/// How large a tree a parser would make of a text: how deep objects and lists are nested, and how
/// many values there are. A value takes far more memory than it has bytes, and what copies or
/// prints a tree is recursive.
struct JsonSize {
    size_t depth = 0;
    size_t values = 0; ///< or a few more
};

/// Of JSON, or what claims to be some.
[[nodiscard]] JsonSize size_of_json(std::string_view text);

} // namespace rdmad
