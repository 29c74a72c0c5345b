// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/json_size.hpp"

#include <algorithm>

namespace rdmad {

namespace {

class Measure {
public:
    void step(char c)
    {
        if (is_in_string_)
            step_in_string(c);
        else
            step_outside(c);
    }

    [[nodiscard]] JsonSize size() const
    {
        return size_;
    }

private:
    void step_in_string(char c)
    {
        if (is_escaped_)
            is_escaped_ = false;
        else if (c == '\\')
            is_escaped_ = true;
        else if (c == '"')
            is_in_string_ = false;
    }

    void step_outside(char c)
    {
        if (c == '"')
            is_in_string_ = true;
        else if (c == '{' || c == '[')
            size_.depth = std::max(size_.depth, ++depth_);
        else if ((c == '}' || c == ']') && depth_ > 0)
            depth_--;
        // no value but the first of a list or an object comes without a comma
        if (c == '{' || c == '[' || c == ',')
            size_.values++;
    }

    JsonSize size_;
    size_t depth_ = 0;
    bool is_in_string_ = false;
    bool is_escaped_ = false;
};

} // namespace

JsonSize size_of_json(std::string_view text)
{
    Measure measure;
    for (const char c : text)
        measure.step(c);
    return measure.size();
}

} // namespace rdmad
