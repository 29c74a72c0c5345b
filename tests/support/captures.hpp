// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

// What real kernels answered: captures/linux-VERSION.hex, made by tests/vm/capture. Numbers are
// little-endian, so tests that read them need such a machine.

namespace rdmad::test {

using Octets = std::vector<std::byte>;

/// The kernels that there are captures of: "6.1" and so on.
[[nodiscard]] const std::vector<std::string>& kernels();

/// The answers of one kernel by question: "device 0", "port 0/1".
class Capture {
public:
    /// Throws if there is no such file or it is not well-formed.
    explicit Capture(const std::string& kernel);

    /// All datagrams of an answer, in order. Throws if there is no such question.
    [[nodiscard]] const std::vector<Octets>& datagrams(const std::string& label) const;
    /// The only datagram of an answer.
    [[nodiscard]] const Octets& datagram(const std::string& label) const;
    [[nodiscard]] bool has(const std::string& label) const;
    [[nodiscard]] const std::map<std::string, std::vector<Octets>>& all() const
    {
        return answers_;
    }

private:
    std::map<std::string, std::vector<Octets>> answers_;
};

// To make a wrong answer out of a true one.

constexpr size_t header_size = 16; // struct nlmsghdr

[[nodiscard]] uint16_t get_u16(std::span<const std::byte> bytes, size_t at);
[[nodiscard]] uint32_t get_u32(std::span<const std::byte> bytes, size_t at);
void put_u16(std::span<std::byte> bytes, size_t at, uint16_t value);
void put_u32(std::span<std::byte> bytes, size_t at, uint32_t value);

/// Bytes of a text, without a NUL at the end.
[[nodiscard]] Octets octets(std::string_view text);
/// Adds an attribute to the one message of a datagram, padded, and makes the message's length fit.
void append_attribute(Octets& datagram, uint16_t type, const Octets& value);
/// Where the attribute begins in a datagram of one message without other headers. Throws if it is
/// not there.
[[nodiscard]] size_t find_attribute(const Octets& datagram, uint16_t type);

} // namespace rdmad::test
