// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/output.hpp"

#include <cstdio>
#include <string>

using namespace rdmad;
using namespace rdmad::rdma_id;

// print_json HEX PORTS: format_json() of a device with that many ports, whose every text is those
// bytes.

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    const std::string hex = argv[1];
    std::string text;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));

    DeviceInfo info;
    info.node = Node::uverbs;
    info.sysname = text;
    info.device.name = text;
    info.device.protocol = text;
    info.device.fw_version = text;
    info.driver = text;
    for (int i = 1; i <= std::stoi(argv[2]); i++)
        info.ports.push_back({.port = static_cast<uint32_t>(i), .netdev = text});
    const auto json = format_json(info, {{text, text}, {text}});
    return fwrite(json.data(), 1, json.size(), stdout) == json.size() ? 0 : 1;
}
