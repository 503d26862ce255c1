// SPDX-License-Identifier: BSD-3-Clause
// features.sizes.cpu, tier 0: from the numbers of rows, columns and entries. And helpers of every kernel here.
#include "features.hpp"
#include "plugins/features/shared/names.hpp"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::features_basic {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    auto *made = new State{&as<sxt_csr>(problem->a), {exec->threads, 0, 0, 0}};
    if (candidate) std::copy_n(candidate->launch, 4, made->launch);
    return give(made, state);
  });
}

sxt_kernel feature_kernel(const char *name, const char *description, const sxt_features_ops *ops,
                          decltype(sxt_kernel::candidates) candidates, decltype(sxt_kernel::run) run) {
  sxt_kernel k = new_kernel(SXT_KIND_FEATURES, name, "cpu", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cpu_terms;
  k.ops = ops;
  set_calls<State>(k, {nullptr, candidates, prepare, refresh_pointer<State>});
  return k;
}

namespace {

const char *const names[] = {SXT_FEATURES_OF_SIZES, nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 0, 0, nullptr};

sxt_status candidates(const sxt_query *, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, CpuCost{}).state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const sxt_storage &a = static_cast<const State *>(opaque)->a->s;
  const double rows = static_cast<double>(a.rows), cols = static_cast<double>(a.cols);
  const double nnz = static_cast<double>(a.nnz);
  const double values[] = {rows > 0 ? nnz / rows : 0, rows * cols > 0 ? nnz / rows / cols : 0};
  return answer(as<sxt_features_args>(head), names, values);
}

}  // namespace

const sxt_kernel sizes_kernel =
    feature_kernel("features.sizes.cpu", "features of the sizes alone", &ops, candidates, run);

}  // namespace sextant::features_basic
