// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: the feature "@SYMBOL@_mean_distance", the mean of |i - j| over the entries of a matrix. A kernel whose
// model needs it lists its name among its features.
#include <cmath>
#include <cstdint>
#include <limits>

#include "sextant/plugin/kinds/features.h"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

namespace {

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
const char *const names[] = {"@SYMBOL@_mean_distance", nullptr};
constexpr std::int32_t reads_everything = 3;
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, reads_everything, 0, nullptr};

// Read-only while anything runs. The matrix outlives it.
struct State {
  const sxt_csr *a;
};

// Features are charged to the set-up of the kernel that asks for them: this reads every column once, on one thread.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 4.0 * static_cast<double>(q.nnz + q.rows);
  cost.flops = 4.0 * static_cast<double>(q.nnz);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new State{&as<sxt_csr>(problem->a)}, state); });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_csr>(problem->a), SXT_OK;
}

// Names of other kernels may be among those asked for: they get NaN. The library computes features once and keeps them,
// without opening sessions.
sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const sxt_csr &a = *static_cast<const State *>(opaque)->a;
  const auto &args = as<sxt_features_args>(head);
  double sum = 0;
  const sxt_status status = for_each_entry(a, {0, a.s.rows}, [&](std::int64_t i, std::int64_t, std::int64_t j) {
    sum += static_cast<double>(i < j ? j - i : i - j);
  });
  const double mean = a.s.nnz > 0 ? sum / static_cast<double>(a.s.nnz) : 0;
  for (std::uint64_t f = 0; f < args.count; ++f)
    args.values[f] = std::strcmp(args.names[f], names[0]) == 0 ? mean : std::numeric_limits<double>::quiet_NaN();
  return status;
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_FEATURES, "@KERNEL@", "cpu", "the mean distance of entries from the diagonal", run);
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

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
