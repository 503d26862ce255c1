// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-sell-cuda: products on SELL-C-sigma on a CUDA device. States and the model that its kernels share.
#include <algorithm>

#include "sell_state.cuh"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace sextant::spmv_sell_cuda {

namespace {

const char *const storages[] = {SXT_KIND_STORAGE_SELL, nullptr};
const char *const features[] = {"row_nnz_sum_max_of_32_sorted", "row_nnz_max", "x_sector_miss_unit",
                                "x_sector_miss_cache",          "x_sectors_1", "x_tags_1",
                                "transpose_row_nnz_max",        nullptr};

}  // namespace

sxt_status keep(const sxt_problem &problem, const sxt_candidate *candidate, const sxt_exec *exec, void **state) {
  const auto &a = as<sxt_sell>(problem.a);
  if (a.slice != slice_rows || a.s.index_type != SXT_I32 || a.s.space == SXT_SPACE_HOST)
    return error(exec, SXT_E_NOT_SUPPORTED,
                 "it reads SELL with slices of %d rows and 32-bit columns on the device, not of %d", slice_rows,
                 a.slice);
  auto *made = new State{&a, problem.query->value_type, 128, 1, false};
  if (candidate && candidate->launch[1] > 0) {
    made->threads = static_cast<int>(candidate->launch[1]);
    made->sharing = static_cast<int>(candidate->launch[2]);
    made->early = candidate->launch[3] != 0;
  }
  return give(made, state);
}

sxt_kernel sell_kernel(const char *name, const char *description, decltype(sxt_kernel::applicable) applicable,
                       decltype(sxt_kernel::candidates) candidates, decltype(sxt_kernel::prepare) prepare,
                       decltype(sxt_kernel::run) run) {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, name, "cuda", description, run);
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}

double stored_entries(const sxt_spmv_query &q, const sxt_features *found) {
  const double nnz = static_cast<double>(q.m.nnz);
  return std::max(nnz, feature_or(found, feature_sorted, 1.2 * nnz));
}

plugin::cuda::SpmvCost cost_of(const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine) {
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows),
               stored = stored_entries(q, found);
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  const double x_bytes = element * static_cast<double>(q.m.cols);
  plugin::cuda::SpmvCost cost;
  // Slice pointers, and four bytes a row for its place, as if all windows were sorted.
  cost.matrix_bytes = stored * static_cast<double>(value_bytes(q.m.matrix_type) + 4) + 4.25 * rows;
  const double cache = static_cast<double>(machine.cache_bytes);
  const bool fits = cost.matrix_bytes + x_bytes + element * rows <= 0.8 * cache;
  // The L1's hits between requests, and lanes of one request with a common sector, each bound the requested sectors.
  cost.x_sectors = nnz * std::min(feature_or(found, feature_miss_unit, 0.4), feature_or(found, feature_sectors, 0.6));
  cost.x_misses = fits ? 0 : nnz * feature_or(found, feature_miss_cache, x_bytes > cache ? 0.2 : 0);
  cost.x_lines = nnz * feature_or(found, feature_tags, 0.3);
  cost.lanes = stored;
  cost.warp_steps = stored / slice_rows;
  return cost;
}

}  // namespace sextant::spmv_sell_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_sell_cuda;
  return offer<&slices_kernel, &atomic_kernel>("spmv-sell-cuda", out);
}
