// SPDX-License-Identifier: BSD-3-Clause
// A vector of a world: this process's parts of it, one a member, and the reductions over all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/device/device.hpp"
#include "core/world/world.hpp"

namespace sextant {

struct WorldVector {
  struct Part {
    std::int64_t n = 0;
    void *data = nullptr;
    DeviceBuffer owned;
  };
  std::shared_ptr<World> world;
  sxt_value_type type = SXT_F64;
  std::vector<Part> parts;  // one a member of this process
};

// Values of the vectors' type, or its real type, or an index, as sxt_dot and the like document them. Collective; y:
// NULL for operations on one vector. call: as the caller knows it.
void reduce_world(const char *call, std::int32_t operation, const WorldVector &x, const WorldVector *y, void *result);
void multidot_world(std::int32_t count, const WorldVector *const *x, const WorldVector *const *y, void *results);

}  // namespace sextant
