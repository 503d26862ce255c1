// SPDX-License-Identifier: BSD-3-Clause
#include "fused.hpp"

#include <cstdint>

#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(spmv_dots_rows, sextant::plugin::RowsTable)
SXT_ISA_TABLE(spmv_dots_fused, DotsTable)

namespace spmv_dots_fused {

using namespace plugin;

const RowsTable &rows_table(int level) { return spmv_dots_rows::isa_table(level); }
const DotsTable &dots_table(int level) { return isa_table(level); }

sxt_status check_query(const sxt_query *query, sxt_message *reason) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  const sxt_matrix_query &m = q.m.m;
  if (m.rows != m.cols) return refuse(reason, "%lld rows, %lld columns", (long long)m.rows, (long long)m.cols);
  if (q.m.op != SXT_NO_TRANSPOSE) return refuse(reason, "a transpose is not offered together with inner products");
  if (q.m.n_rhs > 1) return refuse(reason, "%d right-hand sides, the kind takes one", q.m.n_rhs);
  if (q.n_dots < 0 || q.n_dots > SXT_MULTIDOT_MAX)
    return refuse(reason, "%d pairs; at most %d are taken", q.n_dots, SXT_MULTIDOT_MAX);
  return check_matrix_types(m.q.value_type, m.matrix_type, reason);
}

State make_state(const sxt_problem &problem, const sxt_candidate *candidate, std::int64_t rows) {
  State state;
  state.type = problem.query->value_type;
  state.rows = rows;
  state.dots = dots_table(isa_level(candidate)).leaf[state.type - 1];
  return state;
}

}  // namespace spmv_dots_fused

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  using namespace spmv_dots_fused;
  return sextant::plugin::offer<&csr_kernel, &dia_kernel, &dia_symmetric_kernel, &sell_kernel>("spmv_dots-fused", out);
}
