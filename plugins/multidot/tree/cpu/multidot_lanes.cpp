// SPDX-License-Identifier: BSD-3-Clause
// Leaves of up to eight inner products in full-width vectors, compiled once an instruction set without fused
// multiply-adds. All pairs of one leaf are summed before the next leaf is touched: an array that occurs in several
// pairs comes from memory once and then from the first cache.
#include "multidot_table.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/sdk/cpu/vector_sums.hpp"

namespace sextant_multidot_tree::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

template <class R, int C>
void leaves(const Call &c, int64_t first, int64_t last, void *out) {
  const int64_t total = (c.n + 1023) / 1024;
  R *result = static_cast<R *>(out);
  for (int64_t leaf = first; leaf < last; ++leaf)
    for (int32_t d = 0; d < c.pairs; ++d)
      sum_product_leaf<R, C>(c.u[d], c.v[d], c.n, leaf, result + (d * total + leaf) * C);
}

extern const Table table;
constinit const Table table = {{leaves<float, 1>, leaves<double, 1>, leaves<float, 2>, leaves<double, 2>}};

}  // namespace sextant_multidot_tree::SXT_ISA
