// SPDX-License-Identifier: BSD-3-Clause
// Inner products of one leaf with the bits of the library's summation tree; products are rounded before they are added.
#include "fused_table.hpp"
#include "sextant/sdk/cpu/vector_sums.hpp"

namespace spmv_dots_fused::SXT_ISA {

namespace isa = sextant::plugin::SXT_ISA;

// C: reals a value.
template <class R, int C>
void dots_of_leaf(const DotsCall &call, int64_t which) {
  const int64_t first = which * leaf, count = call.n - first < leaf ? call.n - first : leaf;
  for (int32_t d = 0; d < call.n_dots; ++d) {
    R *out = static_cast<R *>(call.leaves) + (d * call.stride + which) * C;
    if (d > 0 && call.u[d] == call.u[d - 1] && call.v[d] == call.v[d - 1]) {  // callers repeat a pair to fill places
      for (int c = 0; c < C; ++c) out[c] = out[c - call.stride * C];
      continue;
    }
    const R *u = static_cast<const R *>(call.u[d] ? call.u[d] : call.y);
    const R *v = static_cast<const R *>(call.v[d] ? call.v[d] : call.y);
    isa::sum_leaf<R>(first, count, isa::Products<R, C, true>{u, v}, out);
  }
}

extern const DotsTable table;
const DotsTable table = {
    {&dots_of_leaf<float, 1>, &dots_of_leaf<double, 1>, &dots_of_leaf<float, 2>, &dots_of_leaf<double, 2>}};

}  // namespace spmv_dots_fused::SXT_ISA
