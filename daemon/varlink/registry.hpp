// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/varlink/server.hpp"

#include <map>
#include <memory>
#include <string>

namespace rdmad::varlink {

/// The interfaces of a server, and org.varlink.service, which describes them.
class Registry {
public:
    explicit Registry(Info info);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    /// Adds an interface; the first of a name stays.
    void add(const std::string& name, std::string description,
             std::map<std::string, Handler> methods);

    /// Passes the call to its handler, or fails it if there is none.
    void run(const std::shared_ptr<Call>& call) const;

private:
    struct Interface {
        std::string description;
        std::map<std::string, Handler, std::less<>> methods;
    };

    void tell_info(Call& call) const;
    void tell_description(Call& call) const;

    Info info_;
    std::map<std::string, Interface, std::less<>> interfaces_;
};

} // namespace rdmad::varlink
