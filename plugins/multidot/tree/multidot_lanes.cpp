// SPDX-License-Identifier: BSD-3-Clause
// Leaves of up to eight inner products in full-width vectors, compiled once an instruction set without fused
// multiply-adds. All pairs of one leaf are summed before the next leaf is touched: an array that stands in several
// pairs comes from memory once and then from the first cache.
#include "multidot_table.hpp"
#include "sextant/kinds/multidot.h"
#include "sextant/plugin_vector_sums.hpp"

namespace sextant_multidot_tree::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

template <class R, int C>
void leaves(const Call &c, int64_t first, int64_t last, void *out) {
  const int64_t total = (c.n + 1023) / 1024;
  R *result = static_cast<R *>(out);
  for (int64_t leaf = first; leaf < last; ++leaf) {
    const int64_t begin = leaf * 1024;
    for (int32_t d = 0; d < c.pairs; ++d) {
      const Products<R, C, C == 2> terms{static_cast<const R *>(c.u[d]), static_cast<const R *>(c.v[d])};
      R *sum = result + (d * total + leaf) * C;
      if (c.n - begin >= 1024)
        sum_leaf<R>(begin, 1024, terms, sum);  // the usual count as a constant
      else
        sum_leaf<R>(begin, c.n - begin, terms, sum);
    }
  }
}

extern const Table table;
constinit const Table table = {{leaves<float, 1>, leaves<double, 1>, leaves<float, 2>, leaves<double, 2>}};

}  // namespace sextant_multidot_tree::SXT_ISA
