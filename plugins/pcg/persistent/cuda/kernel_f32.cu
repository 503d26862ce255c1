// SPDX-License-Identifier: BSD-3-Clause
// The kernels for f32, and the placing of values for all types.
#include "kernels.cuh"
#include "state.hpp"

namespace persistent {

namespace plugin = sextant::plugin;

const void *f32_kernel(std::int32_t passes, bool clustered) {
  return clustered ? cluster_kernel_of<float, float>(passes) : kernel_of<float, float>(passes);
}

const void *kernel_for(sxt_value_type vectors, sxt_value_type stored, std::int32_t passes, bool clustered) {
  if (vectors == SXT_F32) return f32_kernel(passes, clustered);
  return stored == SXT_F32 ? f64_over_f32_kernel(passes, clustered) : f64_kernel(passes, clustered);
}

namespace {

// to[i] = from[entry[i]], 0 where there is none.
template <class T>
__global__ void place(std::int64_t n, const std::int32_t *entry, const T *from, T *to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = entry[i] < 0 ? T(0) : from[entry[i]];
}

template <class T>
void place_all(std::int64_t n, const DeviceArray &entries, const void *from, const DeviceArray &to,
               const sxt_exec *exec) {
  if (n == 0) return;
  constexpr unsigned threads = 256;
  place<<<static_cast<unsigned>(cuda::divide_up<std::int64_t>(n, threads)), threads, 0, cuda::stream_of(*exec)>>>(
      n, entries.as<std::int32_t>(), static_cast<const T *>(from), to.as<T>());
  cuda::need_launch("the placing of values");
}

template <class T>
__global__ void begin_uniform(const T *first, Uniform *uniform) {
  *uniform = {first ? static_cast<double>(*first) : 0, first != nullptr, 0};
}
template <class T>
__global__ void compare_uniform(std::int64_t n, const std::int32_t *entry, const T *values, Uniform *uniform) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n && entry[i] >= 0 && !(static_cast<double>(values[i]) == uniform->value)) uniform->holds = 0;
}

// Whether the entries beside the diagonal are one number.
template <class T>
void look_at_values(const State &state, const sxt_exec *exec) {
  const std::int64_t n = state.places;
  const T *values = state.values.as<T>();
  begin_uniform<<<1, 1, 0, cuda::stream_of(*exec)>>>(state.first_entry < 0 ? nullptr : values + state.first_entry,
                                                     state.uniform.as<Uniform>());
  cuda::need_launch("a test of the values");
  if (state.first_entry < 0) return;
  constexpr unsigned threads = 256;
  compare_uniform<<<static_cast<unsigned>(cuda::divide_up<std::int64_t>(n, threads)), threads, 0,
                    cuda::stream_of(*exec)>>>(n, state.entry_of.as<std::int32_t>(), values,
                                              state.uniform.as<Uniform>());
  cuda::need_launch("a test of the values");
}

}  // namespace

void place_values(const State &state, const sxt_csr &a, const sxt_exec *exec) {
  const auto place = [&](std::int64_t n, const DeviceArray &entries, const DeviceArray &to) {
    if (state.stored == SXT_F32)
      place_all<float>(n, entries, a.values, to, exec);
    else
      place_all<double>(n, entries, a.values, to, exec);
  };
  place(state.places, state.entry_of, state.values);
  place(state.n, state.diagonal_entry, state.diagonal);
  if (state.stored == SXT_F32)
    look_at_values<float>(state, exec);
  else
    look_at_values<double>(state, exec);
}

}  // namespace persistent
