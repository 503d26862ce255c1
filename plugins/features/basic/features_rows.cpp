// SPDX-License-Identifier: BSD-3-Clause
// features.basic.cpu, tier 1: statistics of the row lengths, from the row pointers alone. One pass over 4 or 8 bytes a
// row. A matrix without rows has zeros.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "features.hpp"
#include "sextant/plugin_csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new State{&as<sxt_csr>(problem->a)}, state); });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_csr>(problem->a), SXT_OK;
}

namespace {

const char *const names[] = {"row_nnz_mean", "row_nnz_max", "row_nnz_min", "row_nnz_std", "empty_rows", nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 1, 0};

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 4 * static_cast<double>(q.rows);
  cost.flops = 4 * static_cast<double>(q.rows);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const sxt_csr &a = *static_cast<const State *>(opaque)->a;
  const auto &args = as<sxt_features_args>(head);
  return with_csr_indices(a, [&](const auto *row_ptr, const auto *) {
    const double rows = static_cast<double>(a.s.rows), mean = a.s.rows ? static_cast<double>(a.s.nnz) / rows : 0;
    std::int64_t most = 0, least = a.s.rows ? a.s.nnz : 0, empty = 0;
    double squares = 0;  // of distances from the mean: no cancellation
    for (std::int64_t i = 0; i < a.s.rows; ++i) {
      const std::int64_t length = row_ptr[i + 1] - row_ptr[i];
      most = std::max(most, length);
      least = std::min(least, length);
      empty += length == 0;
      squares += (static_cast<double>(length) - mean) * (static_cast<double>(length) - mean);
    }
    const double values[] = {mean, static_cast<double>(most), static_cast<double>(least),
                             a.s.rows ? std::sqrt(squares / rows) : 0, static_cast<double>(empty)};
    std::copy_n(values, std::min<std::uint64_t>(args.count, std::size(values)), args.values);
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel rows_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_FEATURES, "features.basic.cpu", "cpu", "row lengths, from the row pointers", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cpu_terms;
  k.ops = &ops;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

}  // namespace sextant::features_basic
