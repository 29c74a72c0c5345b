// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/target.hpp"
#include "core/nldev/client.hpp"
#include "udev-helpers/rdma_id/context.hpp"

#include <vector>

namespace rdmad::rdma_id {

/// A node that wants a link.
struct Claimant {
    uint32_t index; ///< of its RDMA device
    uint32_t port;  ///< 0 for a link of the whole device
    Node node;
    std::string sysname; ///< "umad0"
};

/// The rule for a link that a living node has already.
enum class Precedence {
    lowest_index, ///< the claimant, if its device came first
    owner,        ///< the node that has it, whatever the index
};

/// A node's claim to a link by GUID.
struct Claim {
    uint64_t guid;
    Claimant claimant;
    Precedence precedence = Precedence::lowest_index;
};

/// A node, or a device with all its nodes (Node::device), and the GUIDs by which it may have links.
struct PastLinks {
    uint32_t index;
    Node node;
    std::string sysname;
    std::vector<uint64_t> port_guids;
    std::optional<uint64_t> node_guid; ///< of its device
};

/// A node that does not get a link that it claims.
struct Mark {
    enum class State {
        told,
        untold, ///< when it lost, nothing read the log
        yields, ///< it had the link, and its next event gives it up
    };
    Claimant claimant;
    State state = State::told;
};

/// Records who has a link that several nodes could have, because of cloned firmware, a device split
/// in two or two network devices with one MAC address. Each link taken is a symbolic link below
/// /run/rdmad/claims that names its owner, so taking it is atomic and costs the same with any
/// number of devices; an owner is believed only if kernel and sysfs confirm it. Each link lost is
/// one below /run/rdmad/contested.
class LinkOwners {
public:
    /// writable: takes links, and triggers the node that has to give one up.
    LinkOwners(nldev::Client& client, const sysfs::Directory& root, const Paths& paths,
               bool writable = true)
        : client_(client),
          root_(root),
          directory_(paths.rdmad),
          lock_patience_(paths.lock_patience),
          writable_(writable),
          log_socket_(paths.log)
    {
    }

    /// Takes a link for the claimant, unless another node has a better claim. Returns true if the
    /// claimant has it then. Logs a loss once. If nothing can be written, logs that, and gives the
    /// link to each claimant that no record speaks against.
    [[nodiscard]] Result<bool> take(const Claim& claim);

    /// Gives the links of a node to the nodes that came next and are still there. Call it for each
    /// node as it goes, and once more for the device: systemd may hear of the next owner before it
    /// hears that the last one went, and would then ignore it. Requests nothing of the kernel, as
    /// that would load ib_core while it is unloaded. Returns true if there was something to
    /// release.
    bool release(const PastLinks& past) const;

    /// Releases the links of every node that has gone without a release. Without ib_core all have.
    /// A record that cannot be judged or removed keeps it from no other; returns the first such
    /// failure.
    [[nodiscard]] Result<void> sweep();

private:
    enum class Standing {
        gone,    ///< no such node, or it is another device's
        forfeit, ///< the node may not have the link any more
        entitled,
    };
    struct Loser {
        std::string path; ///< of its mark
        Mark mark;
    };

    [[nodiscard]] Result<UniqueFd> wait_for_lock() const;
    void stop_writing(const Error& error);
    [[nodiscard]] Result<bool> contest(const Claim& claim, const std::string& key);
    [[nodiscard]] Result<Standing> standing(uint64_t guid, const Claimant& owner);
    [[nodiscard]] Result<Standing> standing_of_port(uint64_t guid, const Claimant& owner,
                                                    const nldev::Device& device,
                                                    const sysfs::RdmaDevice& sysfs);
    [[nodiscard]] std::string path(const char* kind, const std::string& key) const;
    [[nodiscard]] std::string mark_path(const std::string& key, const std::string& sysname) const;
    [[nodiscard]] std::vector<Loser> losers_of(const std::string& key, Node node) const;
    void pass_on(const std::string& key, Node node) const;
    void note_loss(const std::string& key, const Claim& loser, const Claimant& owner) const;
    bool release_link(const std::string& key, Node node, const PastLinks& past) const;
    [[nodiscard]] Result<bool> sweep_record(const char* kind, const std::string& name);

    nldev::Client& client_;
    const sysfs::Directory& root_;
    std::string directory_;
    mutable std::chrono::milliseconds lock_patience_;
    bool writable_;
    std::string log_socket_;
};

/// Reads "17 1 umad0" of a claim, and "17 1 umad0", "17 1 umad0 untold" or "17 1 umad0 yields" of a
/// mark. Returns nullopt for other text.
[[nodiscard]] std::optional<Claimant> parse_claimant(std::string_view text, Node node);
[[nodiscard]] std::optional<Mark> parse_mark(std::string_view text, Node node);

} // namespace rdmad::rdma_id
