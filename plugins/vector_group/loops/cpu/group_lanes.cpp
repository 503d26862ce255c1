// SPDX-License-Identifier: BSD-3-Clause
// The fused groups and their inner products, compiled once an instruction set without fused multiply-adds, so that bits
// do not depend on it.
#include "group_table.hpp"
#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/sdk/cpu/group_steps.hpp"
#include "sextant/sdk/cpu/type_table.hpp"
#include "sextant/sdk/cpu/vector_sums.hpp"

namespace sextant_vector_group_cpu::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

template <class R, int C, class Group>
void update(const Call &call, int64_t begin, int64_t end) {
  sweep<R, C>(begin * C, end * C, Group(call));
}

// Inner products of a leaf follow its update at once: they read the results from the first caches.
template <class R, int C, class Group>
void update_leaves(const DotsCall &call, int64_t first, int64_t last, void *out) {
  const Group group(call.group);
  const int64_t total = (call.n + 1023) / 1024;
  for (int64_t leaf = first; leaf < last; ++leaf) {
    const int64_t begin = leaf * 1024, end = call.n - begin < 1024 ? call.n : begin + 1024;
    sweep<R, C>(begin * C, end * C, group);
    for (int32_t d = 0; d < call.pairs; ++d)
      sum_product_leaf<R, C>(call.group.vectors[call.a[d]], call.group.vectors[call.b[d]], call.n, leaf,
                             static_cast<R *>(out) + (d * total + leaf) * C);
  }
}

template <class R, int C>
constexpr void fill_type(Table &table, int type) {
  table.update[type][SXT_GROUP_CLASSICAL_XR] = update<R, C, ClassicalXr<R, C>>;
  table.update[type][SXT_GROUP_CHRONOPOULOS_GEAR] = update<R, C, ChronopoulosGear<R, C>>;
  table.update[type][SXT_GROUP_PREDICT_RECOMPUTE] = update<R, C, PredictRecompute<R, C>>;
  table.update_leaves[type][SXT_GROUP_CLASSICAL_XR] = update_leaves<R, C, ClassicalXr<R, C>>;
  table.update_leaves[type][SXT_GROUP_CHRONOPOULOS_GEAR] = update_leaves<R, C, ChronopoulosGear<R, C>>;
  table.update_leaves[type][SXT_GROUP_PREDICT_RECOMPUTE] = update_leaves<R, C, PredictRecompute<R, C>>;
}

extern const Table table;
constinit const Table table =
    table_of_types<Table>([]<class R, int C>(Number<R, C>, Table &table, int type) { fill_type<R, C>(table, type); });

}  // namespace sextant_vector_group_cpu::SXT_ISA
