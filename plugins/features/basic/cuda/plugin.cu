// SPDX-License-Identifier: BSD-3-Clause
// Plugin features-cuda: features of sparse matrices on a CUDA device, in tiers, from sizes to every column. The first
// tier, which needs no device, and shared parts of all kernels' tables.
#include <algorithm>

#include "features.cuh"
#include "plugins/features/shared/names.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace sextant::features_cuda {

const char *const csr_storage[] = {SXT_KIND_STORAGE_CSR, nullptr};

namespace {

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    auto *made = new State{problem->a ? &as<sxt_csr>(problem->a) : nullptr, {}, false, {}, {}};
    if (candidate) std::copy_n(candidate->launch, 4, made->launch);
    return give(made, state);
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = problem->a ? &as<sxt_csr>(problem->a) : nullptr, SXT_OK;
}

// features.sizes.cuda reads no matrix: the query suffices.
struct Sizes {
  double rows, cols, nnz;
};

sxt_status prepare_sizes(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                         void **state) {
  return guard(exec, [&] {
    const auto &q = as<sxt_matrix_query>(problem->query);
    return give(new Sizes{static_cast<double>(q.rows), static_cast<double>(q.cols), static_cast<double>(q.nnz)}, state);
  });
}

const char *const names[] = {SXT_FEATURES_OF_SIZES, nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 0, 0, nullptr};

sxt_status candidates(const sxt_query *, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  cuda::CudaCost cost;
  cost.launches = 0;
  CandidateList list(out, capacity, count);
  cuda::fill(list.add(), *machine, 1, 1, 0, cost).state_bytes = sizeof(Sizes);
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const auto &s = *static_cast<const Sizes *>(opaque);
  const double values[] = {s.rows > 0 ? s.nnz / s.rows : 0, s.rows * s.cols > 0 ? s.nnz / s.rows / s.cols : 0};
  static const Names own(names);
  return Asked(as<sxt_features_args>(head), own).answer(values);
}

}  // namespace

sxt_kernel feature_kernel(const char *name, const char *description, const sxt_features_ops *ops,
                          const char *const *storages, decltype(sxt_kernel::candidates) candidates,
                          decltype(sxt_kernel::run) run) {
  sxt_kernel k = new_kernel(SXT_KIND_FEATURES, name, "cuda", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cuda::cuda_terms;
  k.ops = ops;
  set_calls<State>(k, {nullptr, candidates, prepare, refresh});
  return k;
}

const sxt_kernel sizes_kernel = [] {
  sxt_kernel k = feature_kernel("features.sizes.cuda", "features of the sizes alone", &ops, nullptr, candidates, run);
  k.prepare = prepare_sizes;
  k.refresh = nullptr;
  k.release = destroy<Sizes>;
  return k;
}();

}  // namespace sextant::features_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::features_cuda;
  return offer<&sizes_kernel, &rows_kernel, &sample_kernel, &columns_kernel, &transpose_kernel>("features-cuda", out);
}
