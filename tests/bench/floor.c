// SPDX-License-Identifier: LGPL-2.1-or-later
// The least that any helper costs: start, one RDMA netlink round trip, end. What tests/bench/rdma_id compares with.
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	struct {
		struct nlmsghdr header;
		struct nlattr attribute;
		uint32_t index;
	} request = {
		{ sizeof(request), RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), NLM_F_REQUEST, 1, 0 },
		{ 8, RDMA_NLDEV_ATTR_DEV_INDEX },
		0,
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	char answer[8192];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (sendto(fd, &request, sizeof(request), 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return 1;
	return recv(fd, answer, sizeof(answer), 0) > 0 ? 0 : 1;
}
