// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rdmad::varlink {

/// Bytes that wait to be written.
class Output {
public:
    void push(std::string_view bytes)
    {
        bytes_.append(bytes);
    }

    [[nodiscard]] std::string_view rest() const
    {
        return std::string_view(bytes_).substr(written_);
    }

    [[nodiscard]] size_t size() const
    {
        return bytes_.size() - written_;
    }

    /// Drops so many bytes of rest(), which were written.
    void drop(size_t bytes)
    {
        written_ += bytes;
        if (size() > written_)
            return;
        bytes_.erase(0, written_);
        written_ = 0;
        // one large reply is no reason to keep its memory
        if (bytes_.empty())
            std::string().swap(bytes_); // an assignment keeps it
    }

    void clear()
    {
        drop(size());
    }

private:
    std::string bytes_;
    size_t written_ = 0;
};

} // namespace rdmad::varlink
