// SPDX-License-Identifier: BSD-3-Clause
// The functions of hermitian_panel.hpp for one value type; each panel_<type>.cu instantiates them.
#pragma once

#include "copied.cuh"
#include "hermitian_panel.hpp"

namespace sextant::hermitian_panel {

template <class T>
std::int64_t shared_bytes() {
  return static_cast<std::int64_t>(sizeof(Shared<T>));
}

template <class T>
sxt_status load_panel(const sxt_exec *exec) {
  for (const auto kernel : {sweep_systems<T, Form::any>, sweep_systems<T, Form::whole_tiles>,
                            sweep_systems<T, Form::whole_tiles_with_vector>, sweep_systems<T, Form::signed_any>})
    if (const sxt_status failed = load_with_shared(exec, kernel, sizeof(Shared<T>))) return failed;
  if constexpr (complex_valued<T>)
    for (const auto kernel : {sweep_by_copies<T, Form::columns>, sweep_by_copies<T, Form::columns_with_vector>,
                              sweep_systems<T, Form::any_with_vector>, sweep_by_copies<T, Form::signed_columns>,
                              sweep_by_copies<T, Form::signed_columns_with_vector>})
      if (const sxt_status failed = load_with_shared(exec, kernel, sizeof(Shared<T>))) return failed;
  return SXT_OK;
}

// Whether columns of panels are copied in bulk, which takes multiples of 16 bytes. Real numbers gain nothing by it.
template <class T>
bool columns_aligned(const Set &set) {
  if constexpr (!complex_valued<T>) return false;
  if (sizeof(T) == 16) return true;  // systems that are not aligned to a number are left out
  const auto even = [](auto... numbers) { return ((numbers % 2 == 0) && ...); };
  const auto aligned = [](const void *at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
  if (set.a_array || set.lda_each || set.orders) return false;
  if (!even(set.n_max, set.lda, set.stride_a) || !aligned(set.a)) return false;
  return set.n_rhs == 0 || (!set.b_array && even(set.stride_b) && aligned(set.b));
}
template <class T>
Form form_for(const Set &set, std::int32_t phase, bool with_signs) {
  const bool whole = !set.orders && (set.n_max + inner - 1) / inner * inner % tile == 0;
  const bool carries = phase == SXT_HERMITIAN_FACTOR_SOLVE && set.n_rhs == 1;
  const bool copied = lies_in_columns(set.upper, phase, set.n_rhs) && columns_aligned<T>(set);
  if (with_signs) return !copied ? Form::signed_any : carries ? Form::signed_columns_with_vector : Form::signed_columns;
  if (copied) return carries ? Form::columns_with_vector : Form::columns;
  // Of real numbers, a row of the first tile costs as much as a vector or less.
  if (complex_valued<T> && carries && !whole) return Form::any_with_vector;
  return !whole ? Form::any : carries ? Form::whole_tiles_with_vector : Form::whole_tiles;
}
template <class T>
auto kernel_of(Form form) {
  if constexpr (complex_valued<T>) {
    if (form == Form::columns) return sweep_by_copies<T, Form::columns>;
    if (form == Form::columns_with_vector) return sweep_by_copies<T, Form::columns_with_vector>;
    if (form == Form::any_with_vector) return sweep_systems<T, Form::any_with_vector>;
    if (form == Form::signed_columns) return sweep_by_copies<T, Form::signed_columns>;
    if (form == Form::signed_columns_with_vector) return sweep_by_copies<T, Form::signed_columns_with_vector>;
  }
  if (form == Form::signed_any) return sweep_systems<T, Form::signed_any>;
  return form == Form::any           ? sweep_systems<T, Form::any>
         : form == Form::whole_tiles ? sweep_systems<T, Form::whole_tiles>
                                     : sweep_systems<T, Form::whole_tiles_with_vector>;
}

template <class T>
sxt_status enqueue_panel(const Set &set, const std::int32_t *turn, std::int32_t phase, bool with_signs, int peers,
                         const sxt_exec *exec) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(peers);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  const Form form = form_for<T>(set, phase, with_signs);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(set.batch * peers));
  config.blockDim = dim3(static_cast<unsigned>(threads_of(form)));
  config.dynamicSmemBytes = sizeof(Shared<T>);
  config.stream = plugin::cuda::stream_of(*exec);
  config.attrs = &cluster;
  config.numAttrs = peers > 1 ? 1 : 0;
  return plugin::cuda::check(exec, cudaLaunchKernelEx(&config, kernel_of<T>(form), set, turn, phase),
                             "launch hermitian.panel.cuda");
}

}  // namespace sextant::hermitian_panel
