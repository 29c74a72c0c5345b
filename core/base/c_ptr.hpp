// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

namespace rdmad {

template <auto Free>
struct CDelete {
    template <typename T>
    void operator()(T* object) const
    {
        Free(object);
    }
};

/// Owns an object of a C library: CPtr<nl_msg, nlmsg_free>.
template <typename T, auto Free>
using CPtr = std::unique_ptr<T, CDelete<Free>>;

} // namespace rdmad
