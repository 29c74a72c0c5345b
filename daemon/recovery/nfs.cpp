// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "daemon/record.hpp"
#include "daemon/recovery/keeper.hpp"

#include <algorithm>
#include <cerrno>

namespace rdmad::recovery {

namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr std::string_view rdma = "rdma:";
constexpr char not_running[] = "the NFS server does not run";

Words lines_of(const std::string& text)
{
    Words lines;
    for (const auto line : text::split(text, '\n'))
        if (const auto trimmed = text::trim(line); !trimmed.empty())
            lines.emplace_back(trimmed);
    return lines;
}

/// Returns the numbers behind "pool-threads:", one for each pool.
Words threads_in(const std::string& text)
{
    constexpr std::string_view key = "pool-threads:";
    Words numbers;
    for (const auto& line : lines_of(text)) {
        if (!line.starts_with(key))
            continue;
        for (const auto word : text::split(std::string_view(line).substr(key.size()), ' '))
            if (text::parse_u32(word))
                numbers.emplace_back(word);
    }
    return numbers;
}

bool are_running(const Words& threads)
{
    return std::any_of(threads.begin(), threads.end(),
                       [](const std::string& number) { return number != "0"; });
}

bool contains(const Words& words, const std::string& word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// The kernel's NFS server ignores that the device of a listener is removed, and the removal waits
/// for it (svc_rdma_listen_handler(), net/sunrpc/xprtrdma/svc_rdma_transport.c). It lets no
/// listener go while its threads run (nfsd_nl_listener_set_doit(), fs/nfsd/nfsctl.c), so they are
/// stopped for a moment.
class Nfs : public Keeper {
public:
    Nfs(Nfsdctl nfsdctl, Debts& debts) : Keeper(Kind::nfs, debts), nfsdctl_(std::move(nfsdctl)) {}

    [[nodiscard]] bool hinders_removal() const override
    {
        return true;
    }

    /// Starts the listeners that an earlier run failed to start, and the threads that it stopped.
    void finish(const Order& order) override
    {
        const auto* owed = debts_.find(restart);
        bool had_service = false;
        if (owed)
            read(*owed, "hadService", had_service);
        has_service_ = order.has_nfs_server;
        if (had_service && !has_service_)
            return forget_all();
        if (const auto listeners = owed_listeners(); !listeners.empty())
            (void)start(listeners, owed_threads());
    }

    [[nodiscard]] std::vector<Configured> targets(const Fabric& fabric) override
    {
        const auto listeners = listed();
        std::vector<Configured> found;
        if (!listeners)
            return found;
        for (const auto& listener : *listeners)
            add(found, fabric, listener, true);
        for (const auto& listener : debts_.owed(debt(""))) {
            // the server was stopped as a whole, or has it again
            if ((listeners->empty() && !debts_.find(restart)) || contains(*listeners, listener))
                (void)debts_.cross_out(debt(listener));
            else
                add(found, fabric, listener, false);
        }
        return found;
    }

    [[nodiscard]] Result<void> put_back(const Configured& target) override
    {
        auto listeners = listed();
        if (!listeners)
            return tl::unexpected<Error>(listeners.error());
        // some kernels take one more while threads run
        auto outcome = contains(*listeners, target.id) ? fail(EEXIST, target.id)
                                                       : call({"listener", "+" + target.id});
        if (!outcome) {
            if (!contains(*listeners, target.id))
                listeners->push_back(target.id);
            outcome = restart_with(*listeners);
        } else if (!are_running(threads_in(nfsdctl_({"threads"}).value_or("")))) {
            outcome = start({target.id}, owed_threads());
        }
        if (!outcome)
            return outcome;
        return debts_.cross_out(debt(target.id));
    }

    [[nodiscard]] Result<void> take_away(const Configured& target) override
    {
        auto listeners = listed();
        if (!listeners)
            return tl::unexpected<Error>(listeners.error());
        std::erase(*listeners, target.id);
        if (auto outcome = debts_.owe(debt(target.id), Json::object()); !outcome)
            return outcome;
        return restart_with(*listeners);
    }

private:
    static constexpr char restart[] = "nfs server";

    static void add(std::vector<Configured>& found, const Fabric& fabric,
                    const std::string& listener, bool is_there)
    {
        if (!listener.starts_with(rdma))
            return;
        const auto address = parse_socket_address(std::string_view(listener).substr(rdma.size()));
        if (!address || address->is_wildcard())
            return;
        found.push_back(configured_at(fabric, listener, "listener", *address, is_there));
    }

    [[nodiscard]] Result<void> call(const Words& arguments) const
    {
        return nfsdctl_(arguments).map([](const auto&) {});
    }

    [[nodiscard]] Result<Words> listed() const
    {
        return nfsdctl_({"listener"}).map(lines_of);
    }

    /// Cancels all debts: the whole server was stopped since.
    void forget_all()
    {
        forget_if([](const std::string&) { return true; });
        (void)debts_.cross_out(restart);
    }

    [[nodiscard]] Result<void> owe_restart(const Words& listeners, const Words& threads)
    {
        return debts_.owe(
            restart,
            {{"listeners", listeners}, {"threads", threads}, {"hadService", has_service_}});
    }

    /// Restarts the server. Its last thread takes all listeners with it: they are recorded first.
    [[nodiscard]] Result<void> restart_with(Words listeners)
    {
        // those that could not be opened the last time, too
        for (const auto& listener : owed_listeners())
            if (!contains(listeners, listener))
                listeners.push_back(listener);
        auto threads = threads_in(nfsdctl_({"threads"}).value_or(""));
        if (!are_running(threads))
            threads = owed_threads();
        if (!are_running(threads))
            return fail(EAGAIN, not_running);
        if (auto outcome = owe_restart(listeners, threads); !outcome)
            return outcome;
        if (auto outcome = call({"threads", "0"}); !outcome)
            return outcome;
        return start(listeners, threads);
    }

    /// Starts one listener after the other, then threads. A listener that fails stays owed and
    /// stops no other. Without any, the kernel would choose some by itself, or refuse.
    [[nodiscard]] Result<void> start(const Words& listeners, const Words& threads)
    {
        const auto present = listed();
        if (!present)
            return tl::unexpected<Error>(present.error());
        Words missing;
        Result<void> first = {};
        for (const auto& listener : listeners) {
            if (contains(*present, listener))
                continue;
            if (auto outcome = call({"listener", "+" + listener}); !outcome) {
                missing.push_back(listener);
                first = std::move(outcome);
            }
        }
        if (missing.size() == listeners.size())
            return first;
        Words words = {"threads"};
        words.insert(words.end(), threads.begin(), threads.end());
        if (!are_running(threads_in(nfsdctl_({"threads"}).value_or(""))))
            if (auto outcome = call(words); !outcome)
                return outcome;
        auto outcome = missing.empty() ? debts_.cross_out(restart) : owe_restart(missing, threads);
        return outcome ? first : outcome;
    }

    [[nodiscard]] Words owed(const char* key) const
    {
        Words words;
        if (const auto* owed = debts_.find(restart))
            read_list(*owed, key, words);
        return words;
    }

    [[nodiscard]] Words owed_threads() const
    {
        return owed("threads");
    }

    [[nodiscard]] Words owed_listeners() const
    {
        return owed("listeners");
    }

    Nfsdctl nfsdctl_;
    bool has_service_ = false; ///< nfs-server.service is up
};

} // namespace

std::unique_ptr<Keeper> nfs_keeper(Nfsdctl nfsdctl, Debts& debts)
{
    return std::make_unique<Nfs>(std::move(nfsdctl), debts);
}

} // namespace rdmad::recovery
