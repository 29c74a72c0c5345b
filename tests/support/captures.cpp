// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/captures.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace rdmad::test {

namespace {

Octets from_hex(const std::string& text)
{
    if (text.empty() || text.size() % 2 != 0)
        throw std::runtime_error("capture: not pairs of hexadecimal digits: " + text);
    Octets bytes;
    for (size_t i = 0; i < text.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
    return bytes;
}

template <typename T>
T get(std::span<const std::byte> bytes, size_t at)
{
    if (at + sizeof(T) > bytes.size())
        throw std::out_of_range("capture: beyond the bytes");
    T value;
    memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <typename T>
void put(std::span<std::byte> bytes, size_t at, T value)
{
    if (at + sizeof(T) > bytes.size())
        throw std::out_of_range("capture: beyond the bytes");
    memcpy(bytes.data() + at, &value, sizeof value);
}

size_t aligned(size_t length)
{
    return (length + 3) / 4 * 4;
}

} // namespace

const std::vector<std::string>& kernels()
{
    static const std::vector<std::string> list = {"6.1", "6.12", "7.2"};
    return list;
}

Capture::Capture(const std::string& kernel)
{
    const std::string path = std::string(RDMAD_CAPTURES) + "/linux-" + kernel + ".hex";
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        const auto colon = line.rfind(": ");
        if (colon == std::string::npos)
            throw std::runtime_error(path + ": no label in " + line);
        answers_[line.substr(0, colon)].push_back(from_hex(line.substr(colon + 2)));
    }
    if (answers_.empty())
        throw std::runtime_error(path + ": no captures");
}

const std::vector<Octets>& Capture::datagrams(const std::string& label) const
{
    return answers_.at(label);
}

const Octets& Capture::datagram(const std::string& label) const
{
    const auto& all = datagrams(label);
    if (all.size() != 1)
        throw std::logic_error(label + ": more than one datagram");
    return all[0];
}

bool Capture::has(const std::string& label) const
{
    return answers_.contains(label);
}

uint16_t get_u16(std::span<const std::byte> bytes, size_t at)
{
    return get<uint16_t>(bytes, at);
}

uint32_t get_u32(std::span<const std::byte> bytes, size_t at)
{
    return get<uint32_t>(bytes, at);
}

void put_u16(std::span<std::byte> bytes, size_t at, uint16_t value)
{
    put(bytes, at, value);
}

void put_u32(std::span<std::byte> bytes, size_t at, uint32_t value)
{
    put(bytes, at, value);
}

Octets octets(std::string_view text)
{
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return Octets(bytes, bytes + text.size());
}

void append_attribute(Octets& datagram, uint16_t type, const Octets& value)
{
    datagram.resize(aligned(datagram.size()));
    const size_t at = datagram.size();
    datagram.resize(at + 4);
    put_u16(datagram, at, static_cast<uint16_t>(4 + value.size()));
    put_u16(datagram, at + 2, type);
    datagram.insert(datagram.end(), value.begin(), value.end());
    datagram.resize(aligned(datagram.size()));
    put_u32(datagram, 0, static_cast<uint32_t>(datagram.size()));
}

size_t find_attribute(const Octets& datagram, uint16_t type)
{
    for (size_t at = header_size; at < datagram.size(); at += aligned(get_u16(datagram, at)))
        if (get_u16(datagram, at + 2) == type)
            return at;
    throw std::out_of_range("capture: no attribute " + std::to_string(type));
}

} // namespace rdmad::test
