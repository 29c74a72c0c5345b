// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/support/served_rdmad.hpp"

#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace rdmad::test {

/// Stands between the clients of an rdmad and it, and spoils one of its replies.
class SpoilingProxy {
public:
    enum class Way {
        hang_up, ///< in place of the reply
        odd,     ///< with numbers for whatever the reply tells
        refuse   ///< with an error that no client knows
    };

    /// spared: so many replies come as they are.
    SpoilingProxy(const ServedRdmad& served, size_t spared, Way way)
        : served_(served), spared_(spared), way_(way), listening_(place_.listening())
    {
        REQUIRE(fcntl(listening_.get(), F_SETFL, O_NONBLOCK) == 0);
    }

    [[nodiscard]] std::string path() const
    {
        return place_.path();
    }
    /// Returns true if so many replies came that one was spoiled.
    [[nodiscard]] bool has_spoiled() const
    {
        return replies_ > spared_;
    }
    /// Passes on what was said since the last turn.
    void turn()
    {
        for (int fd; (fd = accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
            pairs_.push_back({Client(UniqueFd(fd)), Client(served_.place.connected())});
        for (auto pair = pairs_.begin(); pair != pairs_.end();)
            pair = pass(*pair) ? pair + 1 : pairs_.erase(pair);
    }

private:
    /// Both hear that it is over when it is destroyed.
    struct Pair {
        Client client;
        Client rdmad;
    };

    /// Returns false if one of them has hung up, or is to be hung up on.
    bool pass(Pair& pair)
    {
        for (const auto& call : pair.client.replies())
            CHECK(pair.rdmad.send(call + '\0'));
        for (const auto& reply : pair.rdmad.replies())
            if (replies_++ != spared_)
                (void)pair.client.send(reply + '\0');
            else if (way_ != Way::hang_up)
                (void)pair.client.send(spoiled(reply) + '\0');
            else
                return false;
        return !pair.client.is_at_end() && !pair.rdmad.is_at_end();
    }
    [[nodiscard]] std::string spoiled(const std::string& reply) const
    {
        if (way_ == Way::refuse)
            return R"({"error":"io.rdmad.Unheard"})";
        auto json = Json::parse(reply);
        for (auto& value : json["parameters"])
            value = 7;
        return json.dump();
    }
    const ServedRdmad& served_;
    size_t spared_;
    Way way_;
    size_t replies_ = 0;
    Place place_;
    UniqueFd listening_;
    std::vector<Pair> pairs_;
};

} // namespace rdmad::test
