// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/daemon.hpp"
#include "daemon/log.hpp"
#include "daemon/program.hpp"

#include <csignal>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace rdmad {

namespace {

constexpr char help[] = "rdmad: ties systemd units to RDMA devices\n"
                        "\n"
                        "systemd starts it, when a device appears or a client connects to\n"
                        "/run/rdmad/io.rdmad: systemctl start rdmad.socket\n"
                        "\n"
                        "  --help     this text\n"
                        "  --version  the version\n"
                        "\n"
                        "Use rdmactl(1) to inspect and control it. See rdmad.service(8).\n";

Result<void> block_signals()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&signals, number);
    return sigprocmask(SIG_BLOCK, &signals, nullptr) < 0 ? fail(errno, "signals") : Result<void>();
}

void notify_reload(Daemon& daemon)
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld",
                     static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000);
    daemon.reload();
    (void)sd_notify(0, "READY=1");
}

Result<void> serve_sockets(Daemon& daemon)
{
    const int count = sd_listen_fds(1);
    if (count < 0)
        return fail(-count, "sockets of systemd");
    if (count == 0)
        return fail(ENOTCONN, "no socket of systemd: start rdmad.socket");
    for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + count; fd++)
        if (auto outcome = daemon.serve(UniqueFd(fd)); !outcome)
            return outcome;
    return {};
}

Result<int> run()
{
    if (auto outcome = block_signals(); !outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    sd_event* raw = nullptr;
    if (const int code = sd_event_new(&raw); code < 0)
        return fail(-code, "event loop");
    const CPtr<sd_event, sd_event_unref> event(raw);
    auto root = sysfs::Directory::open("/sys");
    if (!root || !*root)
        return fail(ENOENT, "/sys");
    auto daemon = Daemon::create(event.get(), **root);
    if (!daemon)
        return tl::unexpected<Error>(std::move(daemon).error());
    if (auto outcome = serve_sockets(**daemon); !outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    const auto quit = [&] { (*daemon)->end(); };
    const auto on_term = EventSource::signal(event.get(), SIGTERM, quit);
    const auto on_interrupt = EventSource::signal(event.get(), SIGINT, quit);
    const auto on_hangup =
        EventSource::signal(event.get(), SIGHUP, [&] { notify_reload(**daemon); });
    if (!on_term || !on_interrupt || !on_hangup)
        return fail(EIO, "signals");
    (void)sd_event_set_watchdog(event.get(), 1);
    (void)sd_notify(0, "READY=1");
    const int code = sd_event_loop(event.get());
    (void)sd_notify(0, "STOPPING=1");
    // the unit removes it, too; but where the unit was masked, systemd no longer knows that
    (void)unlink("/run/rdmad/watches");
    return code;
}

} // namespace

} // namespace rdmad

int main(int argc, char** argv)
{
    if (const auto code = rdmad::answer_arguments("rdmad", rdmad::help, argc, argv); code)
        return *code;
    const auto outcome = rdmad::run();
    if (!outcome)
        rdmad::log::write(LOG_ERR, "", outcome.error().message());
    return outcome && *outcome >= 0 ? *outcome : 1;
}
