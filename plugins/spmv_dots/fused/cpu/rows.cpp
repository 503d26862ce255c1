// SPDX-License-Identifier: BSD-3-Clause
// spmv_dots.csr.cpu and spmv_dots.sell.cpu: fused products with compressed rows and with slices of eight rows. Threads
// take leaves with equal numbers of stored entries.
#include <cstdint>

#include "fused.hpp"
#include "sextant/sdk/describe.hpp"

namespace spmv_dots_fused {
namespace {

using namespace plugin;

struct RowsState : State {
  RowsCall call{};  // without vectors and scalars
  Rows rows_of = nullptr;
};

constexpr const char *csr_features[] = {"x_miss_unit_cache", "x_miss_cache", nullptr};
constexpr const char *sell_features[] = {"x_miss_unit_cache", "x_miss_cache", "row_nnz_sum_max_of_8", nullptr};
constexpr const char *terms[] = {"launches",       "barriers", "stream_bytes", "gathers",
                                 "cached_gathers", "flops",    "steps",        nullptr};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const sxt_status status = check_query(query, reason);
  if (status != SXT_OK) return status;
  const sxt_matrix_query &m = as<sxt_spmv_dots_query>(query).m.m;
  if (m.cols < std::int64_t{1} << 31) return SXT_OK;
  return refuse(reason, "%lld columns do not fit the 32-bit columns it reads", (long long)m.cols);
}

sxt_status sell_applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                           sxt_message *reason) {
  const sxt_value_type type = query->value_type;
  if (type == SXT_C64 || type == SXT_C128) return refuse(reason, "slices of %s are not offered", value_name(type));
  return applicable(query, found, machine, reason);
}

// Where features are unknown, x is taken to come from memory once.
void fill_rows(sxt_candidate &candidate, const sxt_spmv_dots_query &q, const sxt_features *found, double stored,
               double row_steps, int threads) {
  const sxt_matrix_query &m = q.m.m;
  const double rows = static_cast<double>(m.rows), nnz = static_cast<double>(m.nnz);
  const double value = static_cast<double>(value_bytes(m.q.value_type));
  const double matrix_bytes = stored * (static_cast<double>(value_bytes(m.matrix_type)) + 4) + 4 * rows;
  const double near = feature(found, 0), far = feature(found, 1), lines = rows * value / 64;
  // Misses beyond the first touch of each line of x are isolated accesses.
  const double from_memory = far == far ? std::max(0.0, far * nnz - lines) : 0;
  const double from_cache = near == near ? std::max(0.0, (near - (far == far ? far : 0)) * nnz - lines) : 0;
  candidate.launch[0] = threads;
  candidate.model_class = threads > 1;
  candidate.n_terms = 7;
  candidate.terms[0] = 1;
  candidate.terms[1] = threads > 1;
  candidate.terms[2] = matrix_bytes + 3 * value * rows + dots_bytes(q);
  candidate.terms[3] = from_memory;
  candidate.terms[4] = from_cache;
  candidate.terms[5] = stored * multiply_add_flops(m.q.value_type) + dots_flops(q);
  candidate.terms[6] = row_steps + dots_steps(q);
  candidate.working_set_bytes = matrix_bytes + 2 * value * rows + dots_bytes(q);
  candidate.units = threads;
  candidate.state_bytes = sizeof(RowsState);
  candidate.scratch_bytes = scratch_bytes(m.rows, q.n_dots, m.q.value_type);
}

template <bool sell>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  const double rows = static_cast<double>(q.m.m.rows), nnz = static_cast<double>(q.m.m.nnz);
  const double padded = sell ? feature(found, 2) : nnz;
  const double stored = padded == padded ? padded : nnz;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = list.add();
    // A row of CSR: a masked step and an eighth of a tree; a slice: its loop.
    fill_rows(candidate, q, found, stored, sell ? rows / 8 * 2 + stored / 8 : rows * 3 + nnz / 8, threads);
    candidate.launch[1] = machine->level;
  });
  return SXT_OK;
}

sxt_status prepare_csr(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                       const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_csr>(problem->a);
    const int pair = type_pair(problem->query->value_type, a.s.value_type);
    if (pair < 0) return error(exec, SXT_E_TYPE, "this pair of vector and matrix types is not offered");
    if (a.s.index_type != SXT_I32)
      return error(exec, SXT_E_NOT_SUPPORTED, "spmv_dots.csr.cpu reads 32-bit columns, these have 64-bit ones");
    auto state = std::make_unique<RowsState>(RowsState{make_state(*problem, candidate, a.s.rows), {}, nullptr});
    state->rows_of = rows_table(isa_level(candidate)).csr[pair][a.s.offset_type == SXT_I64];
    state->call.start = a.row_ptr;
    state->call.col = static_cast<const std::int32_t *>(a.col);
    state->call.values = a.values;
    const sxt_status status = with_index_type(a.s.offset_type, [&](auto tag) {
      const auto *row_ptr = static_cast<const typename decltype(tag)::type *>(a.row_ptr);
      // A row costs about as much as four entries.
      state->border = share_leaves(tree::leaf_count(a.s.rows), candidate ? candidate->launch[0] : exec->threads,
                                   [&](std::int64_t l) {
                                     const std::int64_t row = std::min(a.s.rows, l * leaf);
                                     return static_cast<std::int64_t>(row_ptr[row]) + 4 * row;
                                   });
      return SXT_OK;
    });
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status prepare_sell(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                        const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_sell>(problem->a);
    const int pair = type_pair(problem->query->value_type, a.s.value_type);
    const Rows rows_of = pair < 0 ? nullptr : rows_table(isa_level(candidate)).sell[pair];
    if (!rows_of) return error(exec, SXT_E_TYPE, "this pair of vector and matrix types is not offered");
    if (a.slice != 8 || a.s.index_type != SXT_I32 || a.s.offset_type != SXT_I64)
      return error(exec, SXT_NOT_APPLICABLE, "slices of %d rows; 8 with 32-bit columns and 64-bit offsets are read",
                   a.slice);
    if (a.perm && (a.sigma <= 0 || leaf % a.sigma))
      return error(exec, SXT_NOT_APPLICABLE, "rows are sorted within windows of %d, which do not divide %lld", a.sigma,
                   (long long)leaf);
    auto state = std::make_unique<RowsState>(RowsState{make_state(*problem, candidate, a.s.rows), {}, nullptr});
    state->rows_of = rows_of;
    const auto *slice_ptr = static_cast<const std::int64_t *>(a.slice_ptr);
    state->call.start = slice_ptr;
    state->call.col = static_cast<const std::int32_t *>(a.col);
    state->call.perm = static_cast<const std::int32_t *>(a.perm);
    state->call.values = a.values;
    state->border =
        share_leaves(tree::leaf_count(a.s.rows), candidate ? candidate->launch[0] : exec->threads, [&](std::int64_t l) {
          const std::int64_t slice = std::min(a.n_slices, l * leaf / 8);
          return slice_ptr[slice] + 8 * slice;
        });
    return give(state.release(), out);
  });
}

// The pattern is unchanged: only the address of the values may have changed.
sxt_status refresh_csr(void *state, const sxt_problem *problem, const sxt_exec *) {
  auto &call = static_cast<RowsState *>(state)->call;
  const auto &a = as<sxt_csr>(problem->a);
  call.start = a.row_ptr;
  call.col = static_cast<const std::int32_t *>(a.col);
  call.values = a.values;
  return SXT_OK;
}
sxt_status refresh_sell(void *state, const sxt_problem *problem, const sxt_exec *) {
  auto &call = static_cast<RowsState *>(state)->call;
  const auto &a = as<sxt_sell>(problem->a);
  call.start = a.slice_ptr;
  call.col = static_cast<const std::int32_t *>(a.col);
  call.perm = static_cast<const std::int32_t *>(a.perm);
  call.values = a.values;
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const RowsState *>(opaque);
  const auto &args = as<sxt_spmv_dots_args>(head);
  RowsCall call = state.call;
  call.x = args.m.x;
  call.y = args.m.y;
  scalar_parts(args.m.alpha, state.type, 1, call.alpha);
  scalar_parts(args.m.beta, state.type, 0, call.beta);
  return run_leaves(state, args, exec, [&](std::int64_t begin, std::int64_t end) { state.rows_of(call, begin, end); });
}

const char *const csr_storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
const char *const sell_storages[] = {SXT_KIND_STORAGE_SELL, nullptr};

sxt_kernel make_kernel(const char *name, const char *description, bool sell) {
  sxt_kernel k = fused_kernel(name, description, run);
  k.storages = sell ? sell_storages : csr_storages;
  k.features = sell ? sell_features : csr_features;
  k.term_names = terms;
  set_calls<RowsState>(k, {sell ? sell_applicable : applicable, sell ? candidates<true> : candidates<false>,
                           sell ? prepare_sell : prepare_csr, sell ? refresh_sell : refresh_csr});
  return k;
}

}  // namespace

const sxt_kernel csr_kernel =
    make_kernel("spmv_dots.csr.cpu", "compressed rows; each leaf multiplied, then summed", false);
const sxt_kernel sell_kernel =
    make_kernel("spmv_dots.sell.cpu", "slices of eight rows; each leaf multiplied, then summed", true);

}  // namespace spmv_dots_fused
