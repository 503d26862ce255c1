// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of launch policies, free of kernels and plugins: what can be launched at all, and which of several
// configurations each policy takes. Pure functions of their arguments; -1: none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "sextant/plugin/kinds/launch.h"

namespace sextant::plugin::launch {

// Whether one block of it can exist on the device. Limits of 0 are unknown and forbid nothing.
inline bool launchable(const sxt_launch_config &config, const sxt_launch_limits &limits) {
  const auto within = [](std::int64_t value, std::int64_t limit) {
    return value >= 0 && (limit <= 0 || value <= limit);
  };
  return config.blocks > 0 && config.threads > 0 && within(config.threads, limits.threads_per_block) &&
         within(config.shared_bytes, limits.shared_per_block) &&
         within(config.registers * config.threads, limits.registers_per_unit);
}

// ---- tiered: the block size from the number of threads alone (CN104102513A)

// Tiers are 3, 4 and 6 warps a block: the smallest with which every thread is resident at once, blocks_per_unit blocks
// on each multiprocessor; beyond them 8 warps. With 16 blocks a multiprocessor and warps of 32 this is the published
// table: up to 1536 threads a multiprocessor 96, up to 2048 128, up to 3072 192, else 256.
inline std::int64_t wanted_threads(std::int64_t total, const sxt_launch_limits &limits) {
  const std::int64_t warp = limits.warp > 0 ? limits.warp : 32;
  const std::int64_t blocks = limits.blocks_per_unit > 0 ? limits.blocks_per_unit : 16;
  const std::int64_t units = limits.units > 0 ? limits.units : 1;
  for (const std::int64_t warps : {3, 4, 6})
    if (total <= warps * warp * blocks * units) return warps * warp;
  return 8 * warp;
}

// The first configuration gives the total number of threads, which is kept.
inline std::int64_t choose_tiered(const sxt_launch_args &args) {
  if (args.count == 0) return -1;
  const std::int64_t total = args.configs[0].blocks * args.configs[0].threads;
  const std::int64_t wanted = wanted_threads(total, args.limits);
  std::int64_t best = -1, best_size = 0, best_grid = 0;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const sxt_launch_config &config = args.configs[i];
    if (!launchable(config, args.limits)) continue;
    // The block size first, then the number of threads in all; the earlier configuration of equals.
    const std::int64_t size = std::llabs(config.threads - wanted);
    const std::int64_t grid = std::llabs(config.blocks * config.threads - total);
    if (best < 0 || size < best_size || (size == best_size && grid < best_grid))
      best = i, best_size = size, best_grid = grid;
  }
  return best;
}

// ---- occupancy: the most resident warps a multiprocessor that registers, shared memory, threads and blocks allow; of
// equals the one whose last wave is fullest, then the fewest waves, then the first.

struct Occupancy {
  std::int64_t warps = 0;  // resident on one multiprocessor
  double idle_tail = 0;    // share of the last wave that stays empty
  std::int64_t waves = 0;
};

inline Occupancy occupancy(const sxt_launch_config &config, const sxt_launch_limits &limits) {
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

inline bool better(const Occupancy &a, const Occupancy &b) {
  if (a.warps != b.warps) return a.warps > b.warps;
  if (a.idle_tail != b.idle_tail) return a.idle_tail < b.idle_tail;
  return a.waves < b.waves;
}

inline std::int64_t choose_occupancy(const sxt_launch_args &args) {
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

// ---- measured: the least time; configurations without one do not count.

inline std::int64_t choose_measured(const sxt_launch_args &args) {
  std::int64_t best = -1;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const sxt_launch_config &config = args.configs[i];
    if (!launchable(config, args.limits) || !std::isfinite(config.run_s) || config.run_s < 0) continue;
    if (best < 0 || config.run_s < args.configs[best].run_s) best = i;
  }
  return best;
}

}  // namespace sextant::plugin::launch
