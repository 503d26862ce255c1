// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.balanced.cpu: every thread takes an equal share of rows + entries (Merrill and Garland 2016: the merge path
// of row ends and entry numbers), for single rows of any length. A row cut by a border is finished by its last thread;
// the threads before pass on their sums, and these carries are added in order afterwards. Transposed, every part adds
// to its own copy of y in scratch (sdk/cpu/spmv.hpp).
// Bits depend only on the number of parts, which the plan fixes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "csr_model.hpp"
#include "csr_product.hpp"
#include "csr_table.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_csr {
namespace {

using namespace plugin;

// Where a part begins on the merge path: in this row, at this entry of it.
struct Border {
  std::int64_t row, entry;
};

struct State {
  const sxt_csr *a;
  sxt_value_type type;
  int parts;
  const Table *table;  // SIMD code for real numbers
  Memory borders;      // parts + 1 Border
};

// One part's carry: up to four sums, on its own cache line.
constexpr std::uint64_t carry_bytes = 64;

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const bool transposed = q.op != SXT_NO_TRANSPOSE;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost = cost_of(q, *machine, transposed || lane_pair(q.m.q.value_type, q.m.matrix_type) < 0);
    cost.passes = q.n_rhs / rhs_block + q.n_rhs % rhs_block;
    cost.mispredictions = row_mispredictions(q, found, threads, cost.slowdown <= 8);
    std::uint64_t scratch = threads * carry_bytes;
    if (transposed) {
      scratch = scatter_bytes(q.m.cols, threads, q.n_rhs, value_bytes(q.m.q.value_type));
      // Copies of y larger than A are never faster.
      if (static_cast<double>(scratch) > cost.matrix_bytes + 1e6) return;
      cost.extra_bytes = cost.passes * 2 * static_cast<double>(scratch);
      cost.extra_forks = 2 * cost.passes - 1;
    } else {
      if (cost.slowdown <= 8) cost.lanes = lanes_of(q, found);
      cost.extra_forks = cost.passes - 1;
    }
    sxt_candidate &candidate = fill_spmv(list.add(), q, found, *machine, threads, cost);
    candidate.terms[0] = 1 + threads / 64.0;  // one thread adds all the carries
    candidate.state_bytes = sizeof(State) + (threads + 1) * sizeof(Border);
    candidate.scratch_bytes = scratch;
    candidate.setup_s = 1e-6 + threads * 2e-7 * std::log2(2.0 + static_cast<double>(q.m.rows));
  });
  return SXT_OK;
}

// The point of the merge path after `steps` steps: its row, and the entries before it.
template <class Offset>
Border path_point(const Offset *row_ptr, std::int64_t rows, std::int64_t nnz, std::int64_t steps) {
  std::int64_t low = std::max<std::int64_t>(0, steps - nnz), high = std::min(rows, steps);
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (row_ptr[middle + 1] <= steps - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return {low, steps - low};
}

void find_borders(State &state, const sxt_exec *exec) {
  const sxt_csr &a = *state.a;
  state.borders = Memory(exec, SXT_SPACE_HOST, (state.parts + 1) * sizeof(Border));
  with_index_type(a.s.offset_type, [&](auto tag) {
    const auto *row_ptr = static_cast<const typename decltype(tag)::type *>(a.row_ptr);
    for (int p = 0; p <= state.parts; ++p)
      state.borders.as<Border>()[p] =
          path_point(row_ptr, a.s.rows, a.s.nnz, part_of(a.s.rows + a.s.nnz, state.parts, p).begin);
    return SXT_OK;
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    auto state = std::make_unique<State>();
    state->a = &as<sxt_csr>(problem->a);
    const sxt_status status = check_columns(*state->a, balanced_kernel.name, exec);
    if (status != SXT_OK) return status;
    state->type = problem->query->value_type;
    state->parts = static_cast<int>(std::max<std::int64_t>(1, candidate ? candidate->launch[0] : exec->threads));
    state->table = &isa_table(isa_level(candidate));
    find_borders(*state, exec);
    return give(state.release(), out);
  });
}

// Entries begin .. end-1 times R columns of x, and whole rows; real numbers in lanes, complex ones one by one.
template <int R, class V, class M, class Offset>
void run_sum(const State &state, const Csr<M, Offset> &a, std::int64_t begin, std::int64_t end, const Vectors<V> &v,
             V (&sum)[R]) {
  if constexpr (is_complex<V>)
    add_run<R>(a, static_cast<Offset>(begin), static_cast<Offset>(end), v.x, v.ldx, sum);
  else
    state.table->run[lane_pair(state.type, state.a->s.value_type)](rows_call(*state.a, v, R), begin, end, sum);
}
template <int R, class V, class M, class Offset>
void whole_rows(const State &state, const Csr<M, Offset> &a, Range rows, const Vectors<V> &v) {
  if constexpr (is_complex<V>)
    multiply_rows<R>(a, rows, v);
  else
    state.table->rows[lane_pair(state.type, state.a->s.value_type)][sizeof(Offset) == 8](rows_call(*state.a, v, R),
                                                                                         rows.begin, rows.end);
}

// The rows that end in this part, then the beginning of the row that does not: its sums go to carry.
template <int R, class V, class M, class Offset>
void multiply_part(const State &state, const Csr<M, Offset> &a, Border from, Border to, const Vectors<V> &v, V *carry) {
  if (from.row < to.row) {
    if (from.entry > static_cast<std::int64_t>(a.row_ptr[from.row])) {  // the first row began in an earlier part
      V sum[R] = {};
      run_sum<R>(state, a, from.entry, a.row_ptr[from.row + 1], v, sum);
      for (int r = 0; r < R; ++r) store(v.y[from.row + r * v.ldy], sum[r], v.alpha, v.beta);
      ++from.row;
    }
    whole_rows<R>(state, a, {from.row, to.row}, v);
    from.entry = a.row_ptr[to.row];
  }
  V sum[R] = {};
  if (from.entry < to.entry) run_sum<R>(state, a, from.entry, to.entry, v, sum);
  std::copy_n(sum, R, carry);
}

// Transposed: the entries of a part, row by row.
template <int R, bool conjugated, class V, class M, class Offset>
void scatter_part(const Csr<M, Offset> &a, Border from, Border to, const Vectors<V> &v, V *sums, std::int64_t ld) {
  auto entry = static_cast<Offset>(from.entry);
  for (std::int64_t i = from.row; i < to.row; ++i) {
    scatter_run<R, conjugated>(a, i, entry, a.row_ptr[i + 1], v, sums, ld);
    entry = a.row_ptr[i + 1];
  }
  if (entry < to.entry) scatter_run<R, conjugated>(a, to.row, entry, static_cast<Offset>(to.entry), v, sums, ld);
}

template <int R, class V, class M, class Offset>
void multiply(const State &state, const Csr<M, Offset> &a, const Vectors<V> &v, const sxt_exec &exec, int team) {
  const Border *border = state.borders.as<Border>();
  const auto carry = [&](int part) {
    return reinterpret_cast<V *>(static_cast<char *>(exec.scratch) + part * carry_bytes);
  };
  for_each_part(state.parts, team,
                [&](int part) { multiply_part<R>(state, a, border[part], border[part + 1], v, carry(part)); });
  // Every row has been written by the part that ends it; the last part ends the last row, so it carries nothing.
  for (int part = 0; part + 1 < state.parts; ++part) {
    const std::int64_t row = border[part + 1].row;
    if (row < a.rows)
      for (int r = 0; r < R; ++r) v.y[row + r * v.ldy] += product(v.alpha, carry(part)[r]);
  }
}

template <int R, class V, class M, class Offset>
void multiply_transposed(const State &state, const Csr<M, Offset> &a, sxt_op op, const Vectors<V> &v,
                         const sxt_exec &exec, int team) {
  const Border *border = state.borders.as<Border>();
  scattered<R>(v, a.cols, state.parts, team, exec.scratch, [&](int part, V *sums, std::int64_t ld) {
    if (op == SXT_TRANSPOSE || !is_complex<V>)
      scatter_part<R, false>(a, border[part], border[part + 1], v, sums, ld);
    else
      scatter_part<R, true>(a, border[part], border[part + 1], v, sums, ld);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const int team = team_size(state.parts, *exec);
  const bool transposed = args.op != SXT_NO_TRANSPOSE;
  const sxt_status status =
      need_scratch(exec, transposed ? scatter_bytes(state.a->s.cols, state.parts, args.n_rhs, value_bytes(state.type))
                                    : state.parts * carry_bytes);
  if (status != SXT_OK) return status;
  return with_csr(*state.a, state.type, [&](const auto &a, auto tag) {
    using V = typename decltype(tag)::type;
    static_assert(rhs_block * sizeof(V) <= carry_bytes);
    for_each_block<V>(args, [&](const Vectors<V> &v, auto width) {
      if (transposed)
        multiply_transposed<width>(state, a, args.op, v, *exec, team);
      else
        multiply<width>(state, a, v, *exec, team);
    });
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel balanced_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.balanced.cpu", "cpu",
                            "CSR, threads share rows and entries equally by the merge path", run);
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace sextant::spmv_csr
