// SPDX-License-Identifier: BSD-3-Clause
// launch.occupancy: the most resident warps a multiprocessor that registers, shared memory, threads and blocks allow;
// of equals the one whose last wave is fullest, then the fewest waves, then the first.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "sextant/sdk/launch.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::launch;

namespace {

struct Occupancy {
  std::int64_t warps = 0;  // resident on one multiprocessor
  double idle_tail = 0;    // share of the last wave that stays empty
  std::int64_t waves = 0;
};

Occupancy occupancy(const sxt_launch_config &config, const sxt_launch_limits &limits) {
  const std::int64_t warp = limits.warp > 0 ? limits.warp : 32;
  const std::int64_t warps = (config.threads + warp - 1) / warp, threads = warps * warp;
  std::int64_t blocks = std::numeric_limits<std::int32_t>::max();
  const auto allow = [&](std::int64_t all, std::int64_t each) {
    if (all > 0 && each > 0) blocks = std::min(blocks, all / each);
  };
  allow(limits.threads_per_unit, threads);
  allow(limits.blocks_per_unit, 1);
  allow(limits.registers_per_unit, config.registers * threads);
  allow(limits.shared_per_unit, config.shared_bytes);
  Occupancy found;
  if (blocks == 0) return found;
  found.warps = blocks * warps;
  const std::int64_t wave = blocks * std::max<std::int64_t>(1, limits.units);
  found.waves = (config.blocks + wave - 1) / wave;
  found.idle_tail = static_cast<double>(found.waves * wave - config.blocks) / static_cast<double>(wave);
  return found;
}

bool better(const Occupancy &a, const Occupancy &b) {
  if (a.warps != b.warps) return a.warps > b.warps;
  if (a.idle_tail != b.idle_tail) return a.idle_tail < b.idle_tail;
  return a.waves < b.waves;
}

std::int64_t choose(const sxt_launch_args &args) {
  std::int64_t best = -1;
  Occupancy most;
  for (std::int64_t i = 0; i < args.count; ++i) {
    if (!launchable(args.configs[i], args.limits)) continue;
    const Occupancy found = occupancy(args.configs[i], args.limits);
    if (found.warps == 0) continue;
    if (best < 0 || better(found, most)) best = i, most = found;
  }
  return best;
}

const sxt_kernel kernel = policy<choose>("launch.occupancy", "most resident warps, then the fullest last wave");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("launch-occupancy", kernels);
  return *out = &plugin, SXT_OK;
}
