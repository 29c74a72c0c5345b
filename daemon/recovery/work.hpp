// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace rdmad::recovery {

/// Returns true if rdmad-recovery may find something to do when devices have become ready: there is
/// a kind of target in the kernel, or a host to connect. Most machines have neither, and start no
/// program for each adapter that appears. rdmad-recovery says who uses a device in the kernel, too:
/// who asks for that runs it in any case. root: before each path; empty but in tests.
[[nodiscard]] bool may_have_work(const std::string& root);

} // namespace rdmad::recovery
