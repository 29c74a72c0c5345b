// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace rdmad {

/// The size of the tree that a parser would make of a text: nesting depth of objects and lists, and
/// number of values. A value takes far more memory than it has bytes, and code that copies or
/// prints a tree is recursive.
struct JsonSize {
    size_t depth = 0;
    size_t values = 0; ///< may be a few too many
};

/// Measures JSON, or what claims to be JSON.
[[nodiscard]] JsonSize size_of_json(std::string_view text);

} // namespace rdmad
