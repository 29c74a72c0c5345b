// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/registry.hpp"

#include <utility>

namespace rdmad::varlink {

namespace {

constexpr const char* service = "org.varlink.service";

constexpr const char* service_description =
    R"(# What a varlink service says of itself, and the errors that all services have
interface org.varlink.service

# Who made the service, and the interfaces that it has
method GetInfo() -> (
	vendor: string,
	product: string,
	version: string,
	url: string,
	interfaces: []string
)

# An interface in varlink's own language
method GetInterfaceDescription(interface: string) -> (description: string)

error InterfaceNotFound (interface: string)
error MethodNotFound (method: string)
# The method is described, but does nothing here
error MethodNotImplemented (method: string)
error InvalidParameter (parameter: string)
error PermissionDenied ()
# The method gives many replies: call it with "more"
error ExpectedMore ()
)";

Json object(const char* key, std::string_view value)
{
    auto json = Json::object();
    json[key] = value;
    return json;
}

} // namespace

Registry::Registry(Info info) : info_(std::move(info))
{
    add(service, service_description,
        {{"GetInfo", [this](const std::shared_ptr<Call>& call) { tell_info(*call); }},
         {"GetInterfaceDescription",
          [this](const std::shared_ptr<Call>& call) { tell_description(*call); }}});
}

void Registry::add(const std::string& name, std::string description,
                   std::map<std::string, Handler> methods)
{
    Interface added{.description = std::move(description), .methods = {}};
    for (auto& [method, handler] : methods)
        added.methods.emplace(method, std::move(handler));
    interfaces_.try_emplace(name, std::move(added));
}

void Registry::run(const std::shared_ptr<Call>& call) const
{
    const auto name = split_method(call->method()).value_or(MethodName{});
    const auto interface = interfaces_.find(name.interface);
    if (interface == interfaces_.end())
        return call->fail("org.varlink.service.InterfaceNotFound",
                          object("interface", name.interface));
    const auto& methods = interface->second.methods;
    const auto method = methods.find(name.method);
    if (method == methods.end())
        return call->fail("org.varlink.service.MethodNotFound", object("method", call->method()));
    if (method->second)
        method->second(call);
}

void Registry::tell_info(Call& call) const
{
    auto answer = object("vendor", info_.vendor);
    answer["product"] = info_.product;
    answer["version"] = info_.version;
    answer["url"] = info_.url;
    auto& names = answer["interfaces"] = Json::array();
    for (const auto& [name, interface] : interfaces_)
        names.push_back(name);
    call.reply(std::move(answer));
}

void Registry::tell_description(Call& call) const
{
    const auto name = call.parameters().find("interface");
    if (name == call.parameters().end() || !name->is_string())
        return call.fail_parameter("interface");
    const auto found = interfaces_.find(name->get_ref<const std::string&>());
    if (found == interfaces_.end())
        return call.fail("org.varlink.service.InterfaceNotFound",
                         object("interface", name->get_ref<const std::string&>()));
    call.reply(object("description", found->second.description));
}

} // namespace rdmad::varlink
