// SPDX-License-Identifier: BSD-3-Clause
// What a launch policy of this tree chooses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/launch.h"
#include "tests/plugins/support.hpp"

namespace plugin_test {

// The place of the configuration that launch.<policy> takes; -1: none.
inline std::int64_t choose_launch(const std::string &policy, const sxt_launch_limits &limits,
                                  const std::vector<sxt_launch_config> &configs) {
  const sxt_kernel &kernel = find_kernel(load_own("launch-" + policy), "launch." + policy);
  sxt_launch_args args{};
  args.h = {sizeof args, SXT_KIND_LAUNCH};
  args.limits = limits;
  args.count = static_cast<std::int64_t>(configs.size());
  args.configs = configs.data();
  const sxt_exec exec = make_exec();
  EXPECT_EQ(kernel.run(nullptr, nullptr, &args.h, &exec), SXT_OK);
  return args.chosen;
}

}  // namespace plugin_test
