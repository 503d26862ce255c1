// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.balanced.cpu: every thread takes an equal share of rows + entries (Merrill and Garland 2016: the merge path
// of row ends and entry numbers), however long single rows are. A row cut by a border is finished by its last thread;
// the threads before hand over what they summed, and these carries are added in order afterwards.
// Bits depend on the number of parts, which the plan fixes, and on nothing else at run time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "csr_model.hpp"
#include "csr_product.hpp"

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
  Memory borders;         // parts + 1 Border
  Memory column_borders;  // parts + 1 columns of equal entries, for transposed products; empty when not asked for
};

// One part's carry: up to four sums, on a cache line of its own.
constexpr std::uint64_t carry_bytes = 64;

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const bool transposed = q.op != SXT_NO_TRANSPOSE;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = fill(list.add(), threads, cost_of(q, *machine, threads));
    candidate.terms[0] = 1 + threads / 64.0;  // one thread adds all the carries
    candidate.state_bytes = sizeof(State) + (threads + 1) * (sizeof(Border) + (transposed ? 8 : 0));
    candidate.scratch_bytes = threads * carry_bytes;
    // A binary search a border; counting columns reads them all.
    candidate.setup_s = 1e-6 + threads * 2e-7 * std::log2(2.0 + static_cast<double>(q.m.rows));
    if (transposed) candidate.setup_s += static_cast<double>(q.m.nnz) * 2e-9;
  });
  return SXT_OK;
}

// The point of the merge path after `steps` steps: the row it stands in, entries before it.
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

// Columns are cut where the entries before them reach the next equal share.
void find_column_borders(State &state, const sxt_exec *exec) {
  const sxt_csr &a = *state.a;
  state.column_borders = Memory(exec, SXT_SPACE_HOST, (state.parts + 1) * sizeof(std::int64_t));
  Memory counts(exec, SXT_SPACE_HOST, a.s.cols * sizeof(std::int64_t));
  std::int64_t *count = counts.as<std::int64_t>(), *border = state.column_borders.as<std::int64_t>();
  const auto *col = static_cast<const std::int32_t *>(a.col);
  std::fill_n(count, a.s.cols, std::int64_t{0});
  for (std::int64_t k = 0; k < a.s.nnz; ++k) ++count[col[k]];
  std::int64_t before = 0, j = 0;
  for (int p = 0; p < state.parts; ++p) {
    const std::int64_t share = part_of(a.s.nnz, state.parts, p).begin;
    for (; j < a.s.cols && before < share; ++j) before += count[j];
    border[p] = p == 0 ? 0 : j;
  }
  border[state.parts] = a.s.cols;
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
    find_borders(*state, exec);
    if (as<sxt_spmv_query>(problem->query).op != SXT_NO_TRANSPOSE) find_column_borders(*state, exec);
    return give(state.release(), out);
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_csr>(problem->a), SXT_OK;
}

// The rows that end in this part, then the beginning of the row that does not: its sums go to carry.
template <int R, class V, class M, class Offset>
void multiply_part(const Csr<M, Offset> &a, Border from, Border to, const Vectors<V> &v, V *carry) {
  std::int64_t i = from.row;
  if (i < to.row) {  // the first row may have begun in an earlier part
    V sum[R] = {};
    add_run<R>(a, static_cast<Offset>(from.entry), a.row_ptr[i + 1], v.x, v.ldx, sum);
    for (int r = 0; r < R; ++r) store(v.y[i + r * v.ldy], sum[r], v.alpha, v.beta);
    multiply_rows<R>(a, {i + 1, to.row}, v);
    from.entry = a.row_ptr[to.row];
  }
  V sum[R] = {};
  add_run<R>(a, static_cast<Offset>(from.entry), static_cast<Offset>(to.entry), v.x, v.ldx, sum);
  std::copy_n(sum, R, carry);
}

template <int R, class V, class M, class Offset>
void multiply(const State &state, const Csr<M, Offset> &a, const Vectors<V> &v, const sxt_exec &exec, int team) {
  const Border *border = state.borders.as<Border>();
  const auto carry = [&](int part) {
    return reinterpret_cast<V *>(static_cast<char *>(exec.scratch) + part * carry_bytes);
  };
  for_each_part(state.parts, team,
                [&](int part) { multiply_part<R>(a, border[part], border[part + 1], v, carry(part)); });
  // Every row has been written by the part that ends it; the last part ends the last row, so it carries nothing.
  for (int part = 0; part + 1 < state.parts; ++part) {
    const std::int64_t row = border[part + 1].row;
    if (row < a.rows)
      for (int r = 0; r < R; ++r) v.y[row + r * v.ldy] += product(v.alpha, carry(part)[r]);
  }
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const int team = team_size(state.parts, *exec);
  const sxt_status status = need_scratch(exec, state.parts * carry_bytes);
  if (status != SXT_OK) return status;
  return with_csr(*state.a, state.type, [&](const auto &a, auto tag) {
    using V = typename decltype(tag)::type;
    static_assert(rhs_block * sizeof(V) <= carry_bytes);
    const auto *borders = state.column_borders.template as<std::int64_t>();
    for_each_block<V>(args, [&](const Vectors<V> &v, auto width) {
      if (args.op == SXT_NO_TRANSPOSE) return multiply<width>(state, a, v, *exec, team);
      for_each_part(state.parts, team, [&](int part) {
        const Range columns =
            borders ? Range{borders[part], borders[part + 1]} : part_of(a.cols, state.parts, part, 16);
        multiply_transposed<width>(a, args.op, columns, v);
      });
    });
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel balanced_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.balanced.cpu", "cpu",
                            "CSR, threads share rows and entries equally by the merge path", run);
  k.storages = storages;
  k.term_names = cpu_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

}  // namespace sextant::spmv_csr
