// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the fused kernels: leaves of 1024 rows are multiplied, then summed while they are in the first cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "fused_table.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/order.h"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/tree.hpp"
#include "sextant/sdk/type_pair.hpp"

namespace spmv_dots_fused {

namespace plugin = sextant::plugin;

extern const sxt_kernel csr_kernel, dia_kernel, dia_symmetric_kernel, sell_kernel;

const plugin::RowsTable &rows_table(int level);
const DotsTable &dots_table(int level);

static_assert(leaf == plugin::tree::leaf_size);

// The leaves of each thread: part p takes border[p] .. border[p + 1] - 1. Results of a leaf do not depend on it.
struct State {
  sxt_value_type type;
  std::int64_t rows;
  void (*dots)(const DotsCall &, std::int64_t leaf);
  std::vector<std::int64_t> border;
};

// The conditions of every fused kernel: square, not transposed, one right-hand side, at most eight pairs.
sxt_status check_query(const sxt_query *query, sxt_message *reason);

// n leaves in equal shares of work(leaf border), which ascends from work(0) to work(n).
template <class F>
std::vector<std::int64_t> share_leaves(std::int64_t n, std::int64_t parts, F &&work) {
  std::vector<std::int64_t> border(static_cast<std::size_t>(std::max<std::int64_t>(1, parts)) + 1, n);
  border[0] = 0;
  const double first = static_cast<double>(work(0)), total = static_cast<double>(work(n)) - first;
  for (std::size_t p = 1; p + 1 < border.size(); ++p) {
    const double wanted = first + total * static_cast<double>(p) / static_cast<double>(border.size() - 1);
    std::int64_t lo = border[p - 1], hi = n;
    while (lo < hi) {
      const std::int64_t middle = lo + (hi - lo) / 2;
      if (static_cast<double>(work(middle)) < wanted)
        lo = middle + 1;
      else
        hi = middle;
    }
    border[p] = lo;
  }
  return border;
}

State make_state(const sxt_problem &problem, const sxt_candidate *candidate, std::int64_t rows);

inline std::uint64_t scratch_bytes(std::int64_t rows, std::int32_t n_dots, sxt_value_type type) {
  return static_cast<std::uint64_t>(plugin::tree::leaf_count(rows) * n_dots) * plugin::value_bytes(type);
}

// Bytes and operations that the inner products add: the vectors beside x and y come from memory. The query does not
// state how many there are; the recurrences have one when they have three pairs or more.
inline double dots_bytes(const sxt_spmv_dots_query &q) {
  return q.n_dots >= 3 ? static_cast<double>(q.m.m.rows) * static_cast<double>(plugin::value_bytes(q.m.m.q.value_type))
                       : 0;
}
inline double dots_flops(const sxt_spmv_dots_query &q) {
  return static_cast<double>(q.n_dots) * static_cast<double>(q.m.m.rows) *
         plugin::multiply_add_flops(q.m.m.q.value_type);
}
// Starting a leaf and folding its lanes, for each pair: about 40 ns.
inline double dots_steps(const sxt_spmv_dots_query &q) {
  return 40.0 * q.n_dots * static_cast<double>(plugin::tree::leaf_count(q.m.m.rows));
}

// Runs rows(begin, end) and the inner products leaf by leaf, then adds the leaves.
template <class F>
sxt_status run_leaves(const State &state, const sxt_spmv_dots_args &args, const sxt_exec *exec, F &&rows) {
  const sxt_status lent = plugin::need_scratch(exec, scratch_bytes(state.rows, args.n_dots, state.type));
  if (lent != SXT_OK) return lent;
  const std::int64_t n = state.rows, n_leaves = plugin::tree::leaf_count(n);
  const DotsCall dots = {args.u, args.v, args.m.y, args.n_dots, n, n_leaves, exec->scratch};
  const int parts = static_cast<int>(state.border.size()) - 1;
  plugin::for_each_part(parts, plugin::team_size(parts, *exec), [&](int part) {
    for (std::int64_t l = state.border[part]; l < state.border[part + 1]; ++l) {
      rows(l * leaf, std::min(n, (l + 1) * leaf));
      state.dots(dots, l);
    }
  });
  return plugin::with_value_type(state.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *leaves = static_cast<T *>(exec->scratch);
    for (std::int32_t d = 0; d < args.n_dots; ++d)
      static_cast<T *>(args.dots)[d] = plugin::tree::combine(leaves + d * n_leaves, n_leaves);
    return SXT_OK;
  });
}

// A kernel table with the common members.
inline sxt_kernel fused_kernel(const char *name, const char *description,
                               sxt_status (*run)(const void *, void *, const sxt_head *, const sxt_exec *)) {
  sxt_kernel k = plugin::new_kernel(SXT_KIND_SPMV_DOTS, name, "cpu", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ONE_ORDER;
  return k;
}

}  // namespace spmv_dots_fused
