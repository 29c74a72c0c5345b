// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/status_text.hpp"
#include "tests/catch.hpp"

using namespace rdmad::ctl;

TEST_CASE("a device that the kernel cannot remove is told, with who has it open", "[status]")
{
    Life life{.device = "mlx5_0", .index = 4, .state = "leaving"};
    CHECK(status_of_removing(life, {}) == "mlx5_0, index 4: being removed\n");
    life.is_blocked = true;
    life.holders = {{.pid = 7, .command = "a", .unit = "a.service"}};
    const std::string text = "mlx5_0, index 4: being removed\n"
                             "  its removal waits: it is in use by \"a\" (PID 7) of a.service\n";
    CHECK(status_of_removing(life, {}) == text);
    CHECK(status_of_all({}, {life}, {}, 0, {}) ==
          "0 devices, 0 ports, 0 usable\n"
          "0 units bound: 0 running, 0 waiting, 0 stopped by unplug, 0 left alone\n"
          "\n" +
              text);
}
