// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/transport.hpp"
#include "tests/support/captures.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rdmad::test {

/// One datagram to be received, or the error that receiving it gives.
struct Reply {
    Octets bytes = {};
    uint32_t sender = 0;
    bool truncated = false;
    std::optional<uint32_t> sequence = {}; ///< none: that of the request
    int error = 0;                         ///< an errno value instead of a datagram
};

/// A request as the kernel would read it.
struct SentRequest {
    uint16_t command = 0;
    uint16_t flags = 0;
    uint32_t sequence = 0;
    std::optional<uint32_t> index = {};
    std::optional<uint32_t> port = {};
    std::string char_device = {};
    std::string name = {};
};

/// Answers from a script. As with a real socket, what is not read stays in front of later answers,
/// and the number of an answer is that of its request.
class ReplayTransport : public nldev::Transport {
public:
    /// What the next request without a script is answered with; nothing is ENODATA.
    void answer(std::vector<Reply> replies);
    void answer(const std::vector<Octets>& datagrams);
    void answer(const Octets& datagram);
    /// after: how many get there before.
    void fail_next_send(int error, unsigned after = 0);

    [[nodiscard]] const std::vector<SentRequest>& sent() const
    {
        return sent_;
    }
    /// Datagrams that nobody has read.
    [[nodiscard]] size_t unread() const
    {
        return pending_.size();
    }

    Result<void> send(std::string_view message) override;
    Result<nldev::Datagram> receive() override;

protected:
    [[nodiscard]] bool fails_next_send() const
    {
        return send_error_ != 0 && sends_before_error_ == 0;
    }
    [[nodiscard]] static SentRequest decode(std::string_view message);

private:
    std::deque<std::vector<Reply>> script_;
    std::deque<Reply> pending_;
    Octets current_;
    std::vector<SentRequest> sent_;
    int send_error_ = 0;
    unsigned sends_before_error_ = 0;
};

/// A kernel with the devices of a capture, which can be renamed. It refuses questions that were not
/// captured as it refuses an unknown device.
class CapturedKernel : public ReplayTransport {
public:
    explicit CapturedKernel(const std::string& kernel) : capture_(kernel) {}

    /// The device has gone.
    void remove(uint32_t index);
    void put_back(uint32_t index)
    {
        removed_.erase(index);
    }
    /// The driver cannot tell of the port now.
    void refuse_port(uint32_t index, uint32_t port)
    {
        refused_ports_.emplace(index, port);
    }
    /// The network device of the port is in another network namespace.
    void hide_netdev(uint32_t index, uint32_t port)
    {
        hidden_netdevs_.emplace(index, port);
    }
    void show_netdev(uint32_t index, uint32_t port)
    {
        hidden_netdevs_.erase({index, port});
    }
    void allow_ports()
    {
        refused_ports_.clear();
    }
    /// The kernel removes the device, and waits for who holds it.
    void leave(uint32_t index);
    /// The device has come back, as another one: with a new index.
    void return_as(uint32_t index, uint32_t new_index);
    /// There is another one that is just like it.
    void copy(uint32_t index, uint32_t new_index);
    /// What it would tell the name of device 0 to 3 is.
    [[nodiscard]] std::string name_of(uint32_t index) const;
    Result<void> send(std::string_view message) override;

    [[nodiscard]] size_t count(uint16_t command) const;
    [[nodiscard]] size_t dumps() const;

private:
    [[nodiscard]] std::vector<Octets> dump() const;
    [[nodiscard]] std::string label_of(const SentRequest& request, bool is_returned = false) const;
    [[nodiscard]] std::vector<Octets> returned(SentRequest request) const;
    [[nodiscard]] std::string rename(const SentRequest& request);
    [[nodiscard]] std::vector<Octets> renamed(std::vector<Octets> datagrams) const;
    [[nodiscard]] std::vector<Octets> answers(const SentRequest& request) const;

    Capture capture_;
    std::map<uint32_t, std::string> names_; ///< those that were given
    std::set<uint32_t> removed_;
    std::set<std::pair<uint32_t, uint32_t>> refused_ports_;
    std::set<std::pair<uint32_t, uint32_t>> hidden_netdevs_;
    std::set<uint32_t> leaving_;
    std::map<uint32_t, uint32_t> returned_; ///< captured index, by the new one
};

} // namespace rdmad::test
