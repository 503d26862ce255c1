// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.scalar.cuda and spmv.csr.vector.cuda: rows_kernel (csr_rows.cuh) with one thread a row, and with 2 to 32.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "csr_state.cuh"
#include "sextant/plugin/order.h"

namespace sextant::spmv_csr_cuda {

using namespace plugin;

namespace {

constexpr int block_columns = 4;     // right-hand sides that one pass over A serves
constexpr double early_blocks = 12;  // a multiprocessor, beyond which an early start costs more than it saves

// Entries that a thread has in flight, as measured: one where adjacent threads have separate rows (more would evict the
// caches) or rows end early, four where a pair shares a row.
constexpr int flight_of(int width, int columns) {
  return columns > 1 ? 2 : width == 1 || width == 4 ? 1 : width == 2 ? 4 : 2;
}
constexpr int deep_width = 8, deep_flight = 4;  // offered as well, for rows of more than 16 entries

template <int G, int R, int flight, class V, class M, class Offset>
sxt_status launch(const State &state, const Csr<M, Offset> &a, const cuda::Product<V> &p, const sxt_exec *exec) {
  return cuda::launch_chained(exec, state.early, "spmv.csr.vector.cuda", rows_kernel<G, R, flight, V, M, Offset>,
                              blocks_of(a.rows * state.width, state.threads), state.threads, 0, a, p, state.width,
                              state.early);
}

// f(G, flight) as constants for the kernel that serves one column: with 32-bit offsets, the usual case, the width is
// known to the compiler.
template <class Offset, class F>
sxt_status with_width(const State &state, F &&f) {
  const auto call = [&](auto width) { return f(width, std::integral_constant<int, flight_of(width, 1)>{}); };
  if constexpr (sizeof(Offset) == 8) return call(std::integral_constant<int, 0>{});
  switch (state.width) {
    case 1: return call(std::integral_constant<int, 1>{});
    case 2: return call(std::integral_constant<int, 2>{});
    case 4: return call(std::integral_constant<int, 4>{});
    case deep_width:
      if (state.flight == deep_flight)
        return f(std::integral_constant<int, deep_width>{}, std::integral_constant<int, deep_flight>{});
      return call(std::integral_constant<int, deep_width>{});
    case 16: return call(std::integral_constant<int, 16>{});
    default: return call(std::integral_constant<int, 32>{});
  }
}

// The code that runs of this state need.
template <class V, class M, class Offset>
sxt_status load_code(const State &state, const Csr<M, Offset> &, Tag<V>, const sxt_exec *exec) {
  constexpr int flight = flight_of(0, block_columns);
  const sxt_status status = cuda::load(exec, rows_kernel<0, block_columns, flight, V, M, Offset>);
  if (status != SXT_OK) return status;
  return with_width<Offset>(
      state, [&](auto width, auto flight) { return cuda::load(exec, rows_kernel<width, 1, flight, V, M, Offset>); });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    begin(state, *problem, candidate, exec);
    return with_csr(state, [&](auto a, auto v) { return load_code(state, a, v, exec); });
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  if (const sxt_status status = check_args(state, args, exec); status != SXT_OK) return status;
  if (state.read.s.rows == 0) return SXT_OK;
  return with_csr(state, [&](const auto &a, auto v) -> sxt_status {
    using V = typename decltype(v)::type;
    const auto p = cuda::product_of<V>(args);
    if (args.n_rhs == 1)
      return with_width<std::remove_cvref_t<decltype(*a.row_ptr)>>(
          state, [&](auto width, auto flight) { return launch<width, 1, flight>(state, a, p, exec); });
    sxt_status status = SXT_OK;
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; r += block_columns)
      status = launch<0, block_columns, flight_of(0, block_columns)>(
          state, a, cuda::columns_from(p, r, std::min(block_columns, args.n_rhs - r)), exec);
    return status;
  });
}

// The candidate for this many threads a row, with this many entries of each in flight.
void add_width(CandidateList &list, const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine,
               int width, int flight) {
  constexpr int threads = 128;
  const Outlook o = outlook_of(q, found, machine);
  const int which = std::countr_zero(static_cast<unsigned>(width));
  cuda::SpmvCost cost = cost_of(q, found, machine, o, which);
  cost.passes = cost.launches = cuda::divide_up<std::int32_t>(q.n_rhs, q.n_rhs > 1 ? block_columns : 1);
  cost.threads = threads;
  cost.resident = 2048;
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = width;
  candidate.launch[1] = threads;
  candidate.launch[2] = flight;
  candidate.model_class = static_cast<std::uint32_t>(q.n_rhs > 1                                    ? 8 + which
                                                     : width == deep_width && flight == deep_flight ? 6
                                                                                                    : which);
  const double blocks = std::ceil(o.rows * width / threads);
  fill(candidate, q, found, machine, o, which, blocks, cost.passes * std::ceil(o.longest / (flight * width)), cost);
  // An early start saves a launch, and its cost grows with the warps: as measured, it is faster for small grids.
  if (blocks > early_blocks * static_cast<double>(machine.units)) candidate.launch[3] = 0;
}

sxt_status scalar_candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                             const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  CandidateList list(out, capacity, count);
  add_width(list, q, found, *machine, 1, flight_of(1, q.n_rhs));
  return SXT_OK;
}

// Widths near the mean length of a row; at least one.
sxt_status vector_candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                             const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double mean = outlook_of(q, found, *machine).mean;
  CandidateList list(out, capacity, count);
  for (const int width : {2, 4, 8, 16, 32}) {
    if (width == 2 ? mean > 32 : width > 4 * mean) continue;
    add_width(list, q, found, *machine, width, flight_of(width, q.n_rhs));
    if (width == deep_width && q.n_rhs == 1 && mean > 2 * deep_width)
      add_width(list, q, found, *machine, width, deep_flight);
  }
  return SXT_OK;
}

sxt_kernel new_rows_kernel(const char *name, const char *description) {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, name, "cuda", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  k.applicable = applicable;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}

}  // namespace

const sxt_kernel scalar_kernel = [] {
  sxt_kernel k = new_rows_kernel("spmv.csr.scalar.cuda", "CSR, a thread a row");
  k.flags |= SXT_KERNEL_ONE_ORDER;
  k.candidates = scalar_candidates;
  return k;
}();
const sxt_kernel vector_kernel = [] {
  sxt_kernel k = new_rows_kernel("spmv.csr.vector.cuda", "CSR, 2 to 32 threads a row");
  k.candidates = vector_candidates;
  return k;
}();

}  // namespace sextant::spmv_csr_cuda
