// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fake_host.hpp"

#include "core/base/text.hpp"
#include "core/sysfs/rdma_device.hpp"
#include "tests/support/must.hpp"

#include <rdma/rdma_netlink.h>

namespace rdmad::test {

FakeHost::FakeHost(const std::string& kernel) : CapturedKernel(kernel)
{
    image.directory("run/rdmad");
    image.file("dev/log", "");
    for (const auto* name : {"mixed", "opa", "rxe", "siw"})
        sys.rdma_device(name, "fe80:0000:0000:0000:0002:c903:0000:0a01");
}

Result<void> FakeHost::send(std::string_view message)
{
    const auto request = decode(message);
    if (request.command != RDMA_NLDEV_CMD_SET || !request.index)
        return CapturedKernel::send(message);
    on_rename();
    if (renames_to_failure_ > 0 && --renames_to_failure_ == 0)
        return fail(rename_error_, "scripted");
    const auto before = name_of(*request.index);
    auto sent = CapturedKernel::send(message);
    const auto now = name_of(*request.index);
    if (now == before)
        return sent;
    sys.rename("class/infiniband/" + before, "class/infiniband/" + now);
    for (const std::string kind : {"infiniband_verbs", "infiniband_mad"})
        for (const auto& node : sys.list("class/" + kind)) {
            const auto ibdev = "class/" + kind + "/" + node + "/ibdev";
            if (text::trim(sys.read(ibdev)) == before)
                sys.file(ibdev, now + "\n");
        }
    return sent;
}

void FakeHost::wish(uint32_t index, const std::string& link) const
{
    CapturedKernel kernel("6.1");
    nldev::Client other(kernel);
    const auto guid = text::format_guid(must_find(other.device(index)).node_guid);
    image.file("etc/rdmad/link.d/" + std::to_string(index) + ".link",
               "[Match]\nNodeGUID=" + guid + "\n[Link]\n" + link);
}

uint64_t FakeHost::inode(uint32_t index) const
{
    return sysfs::RdmaDevice::inode(root, name_of(index)).value_or(0);
}

std::string FakeHost::take_trigger(const std::string& class_and_sysname) const
{
    const auto path = "class/" + class_and_sysname + "/uevent";
    auto text = sys.read(path);
    sys.file(path, "");
    return text;
}

} // namespace rdmad::test
