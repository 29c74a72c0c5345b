// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/file.hpp"
#include "core/nldev/kernel_transport.hpp"
#include "daemon/program.hpp"
#include "daemon/record.hpp"
#include "daemon/recovery/carry_out.hpp"
#include "daemon/recovery/command.hpp"
#include "daemon/recovery/configfs.hpp"
#include "daemon/recovery/nvme_host.hpp"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

// rdmad may change nothing in the kernel; this program may, does what is ordered, and ends.

namespace {

using namespace rdmad;
using namespace rdmad::recovery;

constexpr char help[] =
    "rdmad-recovery: puts back targets in the kernel that waited for connections over RDMA\n"
    "\n"
    "rdmad has it run, as rdmad-recovery.service, with an order in /run/rdmad/recovery.\n"
    "\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "\n"
    "Run \"rdmactl recover --dry-run\" to see what it would do. See rdmad-recovery(7).\n";

constexpr char directory[] = "/run/rdmad/recovery";
constexpr char configfs_root[] = "/sys/kernel/config";
constexpr char nfsd_module[] = "/sys/module/nfsd";
constexpr char nfsdctl_path[] = "/usr/sbin/nfsdctl";

Result<std::string> nfsdctl(const std::vector<std::string>& arguments)
{
    // a call would load the module; and without nfsdctl no listener has an address of its own
    if (!configfs::exists(nfsd_module) || access(nfsdctl_path, X_OK) < 0)
        return std::string();
    return run(nfsdctl_path, arguments);
}

Result<Fabric> look(const std::set<uint32_t>& ready)
{
    auto root = sysfs::Directory::open("/sys");
    if (!root)
        return tl::unexpected<Error>(std::move(root).error());
    if (!*root)
        return fail(ENOENT, "/sys");
    nldev::KernelTransport transport;
    nldev::Client client(transport);
    return look_at_fabric(client, **root).map([&](Fabric&& fabric) {
        fabric.ready = ready;
        return std::move(fabric);
    });
}

/// Returns which parts of the kernel, but those in without, have connections over the devices.
std::set<std::string> users_of(const Fabric& fabric, const std::set<uint32_t>& devices,
                               const std::set<std::string>& without = {})
{
    std::set<std::string> users;
    for (const auto index : devices)
        if (const auto device = fabric.devices.find(index); device != fabric.devices.end())
            users.insert(device->second.users.begin(), device->second.users.end());
    std::erase_if(users, [&](const std::string& user) { return without.contains(user); });
    return users;
}

/// Takes targets away, unless others are connected: then it only reports these.
Result<Report> release(const Order& order, const Look& look, const Keepers& keepers)
{
    // those of targets
    const std::set<std::string> own = {"nvmet_rdma", "ib_isert", "ib_srpt", "rpcrdma"};
    const auto before = look();
    if (!before)
        return tl::unexpected<Error>(before.error());
    Report report{.users = users_of(*before, order.devices, own)};
    if (!report.users.empty())
        return report;
    auto targets = carry_out(order, look, keepers);
    const auto after = look();
    if (!targets)
        return tl::unexpected<Error>(std::move(targets).error());
    if (!after)
        return tl::unexpected<Error>(after.error());
    report.targets = std::move(*targets);
    report.users = users_of(*after, order.devices);
    return report;
}

Result<Report> restore(const Order& order, const Look& look, const Keepers& keepers)
{
    return carry_out(order, look, keepers).map([](std::vector<Target>&& targets) {
        return Report{.targets = std::move(targets), .connects_nvme = connects_nvme("")};
    });
}

/// Returns the keepers of what is there, or is owed: each looks at all devices of the machine.
Keepers keepers_for(Debts& debts)
{
    Keepers keepers;
    const auto is_kept = [&](Kind kind, const std::string& path) {
        return configfs::exists(path) || !debts.owed(debt_key(kind)).empty();
    };
    const std::string root = configfs_root;
    if (is_kept(Kind::nvmet, root + "/nvmet"))
        keepers.push_back(nvmet_keeper(root, debts));
    if (is_kept(Kind::iser, root + "/target/iscsi"))
        keepers.push_back(iser_keeper(root, debts));
    if (is_kept(Kind::srpt, root + "/target/srpt"))
        keepers.push_back(srpt_keeper(root, debts));
    if (is_kept(Kind::nfs, nfsd_module))
        keepers.push_back(nfs_keeper(nfsdctl, debts));
    return keepers;
}

Result<void> obey()
{
    const auto text = read_file(std::string(directory) + "/orders/last");
    const auto order = text ? parse_order(*text) : tl::unexpected<Error>(text.error());
    if (!order)
        return tl::unexpected<Error>(order.error());
    auto debts = Debts::open(directory);
    if (!debts)
        return tl::unexpected<Error>(std::move(debts).error());
    const auto keepers = keepers_for(*debts);
    const auto look_now = [&] { return look(order->devices); };
    auto report = order->mode == Order::Mode::release ? release(*order, look_now, keepers)
                                                      : restore(*order, look_now, keepers);
    if (!report)
        return tl::unexpected<Error>(std::move(report).error());
    report->order = order->number;
    return write_record(directory, "report", format_report(*report));
}

} // namespace

int main(int argc, char** argv)
{
    if (const auto code = answer_arguments("rdmad-recovery", help, argc, argv); code)
        return *code;
    if (const auto outcome = obey(); !outcome) {
        fprintf(stderr, "rdmad-recovery: %s\n", outcome.error().message().c_str());
        return 1;
    }
    return 0;
}
