// SPDX-License-Identifier: BSD-3-Clause
#include "policy/policy.hpp"

#include <array>
#include <bit>
#include <limits>

namespace sextant::retune {
namespace {

// Whole warps. The published four are 96, 128, 192 and 256.
constexpr std::array<std::uint32_t, 13> sizes = {32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024};
constexpr std::array<const char *, 4> names = {"published", "tiered", "occupancy", "measured"};
// The published table counts threads a multiprocessor with these: CN104102513A.
constexpr std::int64_t published_blocks = 16, published_warp = 32;

sxt_launch_args arguments(const std::vector<sxt_launch_config> &configs, const sxt_launch_limits &limits) {
  sxt_launch_args args{};
  args.h = {sizeof args, SXT_KIND_LAUNCH};
  args.limits = limits;
  args.count = static_cast<std::int64_t>(configs.size());
  args.configs = configs.data();
  return args;
}

Shape published(const Shape &original, const Facts &facts, const sxt_launch_limits &limits) {
  sxt_launch_limits table = limits;
  table.blocks_per_unit = published_blocks;
  table.warp = published_warp;
  const std::int64_t wanted = sextant::plugin::launch::wanted_threads(original.threads(), table);
  return reshaped(original, static_cast<std::uint32_t>(wanted), facts, limits).value_or(original);
}

}  // namespace

std::optional<Policy> policy_of(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<Policy>(i);
  return std::nullopt;
}
const char *name_of(Policy policy) { return names[static_cast<std::size_t>(policy)]; }

std::optional<Shape> reshaped(const Shape &original, std::uint32_t block, const Facts &facts,
                              const sxt_launch_limits &limits) {
  const std::int64_t threads = original.threads();
  if (block == 0 || threads % block != 0 || static_cast<int>(block) > facts.most_threads) return std::nullopt;
  const std::int64_t grid = threads / block;
  const std::int64_t shared = std::int64_t{original.shared} * original.grid;
  if (grid > std::numeric_limits<std::int32_t>::max() || shared % grid != 0) return std::nullopt;
  const std::int64_t each = shared / grid;
  const std::int64_t room = limits.shared_per_block > 0 ? limits.shared_per_block : 49152;
  if (each > 0 && each + facts.static_shared > room) return std::nullopt;
  return Shape{static_cast<std::uint32_t>(grid), block, static_cast<std::uint32_t>(each)};
}

std::vector<Shape> candidates(const Shape &original, const Facts &facts, const sxt_launch_limits &limits) {
  std::vector<Shape> all = {original};
  for (const std::uint32_t size : sizes) {
    if (size == original.block) continue;
    if (const auto shape = reshaped(original, size, facts, limits)) all.push_back(*shape);
  }
  return all;
}

Shape choose(Policy policy, const Shape &original, const Facts &facts, const sxt_launch_limits &limits) {
  if (policy == Policy::published) return published(original, facts, limits);
  if (policy == Policy::measured) return original;
  const std::vector<Shape> shapes = candidates(original, facts, limits);
  std::vector<sxt_launch_config> configs;
  for (const Shape &shape : shapes)
    configs.push_back({shape.grid, shape.block, std::int64_t{shape.shared} + facts.static_shared, facts.registers, 0});
  const sxt_launch_args args = arguments(configs, limits);
  const std::int64_t chosen = policy == Policy::tiered ? sextant::plugin::launch::choose_tiered(args)
                                                       : sextant::plugin::launch::choose_occupancy(args);
  return chosen < 0 ? original : shapes[static_cast<std::size_t>(chosen)];
}

int class_of(std::int64_t threads) {
  return threads <= 0 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(threads))) - 1;
}

}  // namespace sextant::retune
