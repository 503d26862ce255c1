// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-coo-cuda: products on coordinates on a CUDA device. The model and the tables that its kernels share.
#include <algorithm>

#include "coo_state.cuh"
#include "plugins/formats/cuda/entry_tiles.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace sextant::spmv_coo_cuda {

namespace {

const char *const storages[] = {SXT_KIND_STORAGE_COO, nullptr};
const char *const features[] = {
    "x_sector_miss_unit", "x_sector_miss_cache", "x_sectors_32",          "x_tags_32", "row_nnz_max", "empty_rows",
    "row_run_32",         SXT_TILE_CUTS,         "transpose_row_nnz_max", nullptr};

}  // namespace

const sxt_coo &storage_of(const sxt_problem &problem) {
  const auto &a = as<sxt_coo>(problem.a);
  if (a.s.index_type != SXT_I32 || a.s.space == SXT_SPACE_HOST)
    throw Failure(SXT_E_NOT_SUPPORTED, "it reads coordinates with 32-bit indices in device memory");
  return a;
}

sxt_kernel coo_kernel(const char *name, const char *description, decltype(sxt_kernel::applicable) applicable,
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

SpmvCost cost_of(const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine) {
  const double nnz = static_cast<double>(q.m.nnz), element = static_cast<double>(value_bytes(q.m.q.value_type));
  const double x_bytes = element * static_cast<double>(q.m.cols), cache = static_cast<double>(machine.cache_bytes);
  SpmvCost cost;
  cost.matrix_bytes = nnz * static_cast<double>(value_bytes(q.m.matrix_type) + 8);
  const bool fits = cost.matrix_bytes + x_bytes + element * static_cast<double>(q.m.rows) <= 0.8 * cache;
  cost.x_sectors = nnz * std::min(feature_or(found, feature_miss_unit, 0.4), feature_or(found, feature_sectors, 0.6));
  cost.x_misses = fits ? 0 : nnz * feature_or(found, feature_miss_cache, x_bytes > cache ? 0.2 : 0);
  cost.x_lines = nnz * feature_or(found, feature_tags, 0.3);
  cost.lanes = nnz;
  return cost;
}

}  // namespace sextant::spmv_coo_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_coo_cuda;
  return offer<&segmented_kernel, &atomic_kernel>("spmv-coo-cuda", out);
}
