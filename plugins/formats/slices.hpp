// SPDX-License-Identifier: BSD-3-Clause
// Common parts of CPU products of matrices in slices of rows: their state, and slices dealt out to threads.
// Header-only, no part of the ABI.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "plugins/formats/slice_fill.hpp"
#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/spmv.hpp"

namespace sextant::plugin {

// What the products refuse: indices that do not fit, and what the storage would refuse to build.
inline sxt_status check_slices(const sxt_matrix_query &m, double stored, sxt_message *reason) {
  const std::int64_t most = std::max(m.rows, m.cols);
  if (most >= std::int64_t{1} << 31)
    return refuse(reason, "%lld rows or columns do not fit the 32-bit indices it reads", (long long)most);
  const double nnz = static_cast<double>(m.nnz);
  if (!slices_fill_too_much(stored, nnz)) return SXT_OK;
  return refuse(reason, "about %.0f entries would be stored for %.0f nonzeros, %.1f times as many; the limit is %g",
                stored, nnz, stored / nnz, slice_fill_limit);
}

template <class Matrix, class Table>
struct SharedSlices {
  const Matrix *a;
  sxt_value_type type;
  int parts;
  const Table *table;  // of the instruction set
  Memory borders;      // parts + 1 slices
};

// border(a, parts, p): the first slice of part p. slice: the rows of one that the kernel called `name` reads.
template <class Matrix, class Table, class Border>
sxt_status prepare_slices(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_exec *exec,
                          const char *name, int slice, const Table &(*isa_table)(int), Border &&border, void **out) {
  return guard(exec, [&] {
    const auto &a = as<Matrix>(problem->a);
    if (a.slice != slice || a.s.index_type != SXT_I32 || a.s.offset_type != SXT_I64)
      return error(exec, SXT_E_NOT_SUPPORTED,
                   "%s reads slices of %d rows with 32-bit columns and 64-bit offsets, not slices of %d", name, slice,
                   a.slice);
    auto state = std::make_unique<SharedSlices<Matrix, Table>>();
    state->a = &a;
    state->type = problem->query->value_type;
    state->parts = static_cast<int>(std::max<std::int64_t>(1, candidate ? candidate->launch[0] : exec->threads));
    state->table = &isa_table(isa_level(candidate));
    state->borders = Memory(exec, SXT_SPACE_HOST, (state->parts + 1) * sizeof(std::int64_t));
    for (int p = 0; p <= state->parts; ++p) state->borders.template as<std::int64_t>()[p] = border(a, state->parts, p);
    return give(state.release(), out);
  });
}

template <class Matrix, class Table>
sxt_status refresh_slices(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<SharedSlices<Matrix, Table> *>(state)->a = &as<Matrix>(problem->a), SXT_OK;
}

// The data that prepare_slices takes and keeps.
inline void fill_slices_setup(sxt_candidate &candidate, std::uint64_t state_bytes, int threads) {
  candidate.state_bytes = state_bytes + (threads + 1) * sizeof(std::int64_t);
  candidate.setup_s = 1e-6 + threads * 1e-7;
}

}  // namespace sextant::plugin
