// SPDX-License-Identifier: BSD-3-Clause
// The kernel of a state, and the small ones around iterations: a block's request, r = b - A x.
#include "launches.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels.cuh"
#include "sextant/sdk/cuda/dense.hpp"

namespace stencil {
namespace {

namespace plugin = sextant::plugin;

// Static shared memory of a block: barriers, sums, and the kilobyte of the system.
constexpr std::int64_t own_shared = 3072;

Kernel kernel_for(const State &state) {
  if (state.vectors == SXT_F32) return f32_kernel(state.form);
  return state.stored == SXT_F32 ? f64_over_f32_kernel(state.form) : f64_kernel(state.form);
}

// The shared memory of a multiprocessor, as the device reports it.
std::int64_t shared_of_unit() {
  int device = 0, bytes = 0;
  cuda::need(cudaGetDevice(&device), "ask which device is current");
  cuda::need(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device),
             "ask the device for its shared memory");
  return bytes;
}
std::int64_t units_of_device() {
  int device = 0, units = 0;
  cuda::need(cudaGetDevice(&device), "ask which device is current");
  cuda::need(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "count the multiprocessors");
  return units;
}

__global__ void configure_kernel(Control *control, Report *report, Request request) {
  Control &c = *control;
  c.x = request.x;
  c.first = request.first;
  c.last = request.last;
  c.tolerance_squared = request.tolerance_squared;
  c.replaced_from = request.replaced_from;
  c.test_first = request.test_first;
  if (request.begin == begin_step) {
    c.ended = c.pending;
  } else {
    c.begin = request.begin;
    c.k = request.first;
    c.ended = pcg::Ended::running;
  }
  *report = {c.k, c.ended, 0};
}

// Whether the main diagonal is one number everywhere: then no iteration reads it.
template <class M>
__global__ void begin_main(const M *main, Main *all) {
  *all = {main ? static_cast<double>(*main) : 1.0, 1, 0};
}
template <class M>
__global__ void __launch_bounds__(256) compare_main(const M *main, std::int64_t n, Main *all) {
  const M first = *main;
  bool equal = true;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    equal = equal && main[i] == first;
  if (!equal) all->constant = 0;
}

template <class V, class M>
__device__ V times_row(const Stencil &a, const Form &form, const V *x, int i) {
  V sum = a.main ? static_cast<V>(static_cast<const M *>(a.main)[i]) * x[i] : x[i];
  const auto add = [&](const void *diagonal, int offset) {
    const M *values = static_cast<const M *>(diagonal);
    if (i + offset < a.rows) sum = fma(static_cast<V>(values[i]), x[i + offset], sum);
    if (i >= offset) sum = fma(static_cast<V>(values[i - offset]), x[i - offset], sum);
  };
  for (int m = 0; m < form.in_plane; ++m) add(a.in_plane[m], a.in_plane_offset[m]);
  for (int m = 0; m < form.across; ++m) add(a.across[m], a.stride + a.across_offset[m]);
  return sum;
}

// r of the set that holds the present iterate.
template <class V, class M>
__global__ void __launch_bounds__(256)
    residual_kernel(const __grid_constant__ Stencil a, Form form, const __grid_constant__ Vectors v,
                    const Control *control, const V *b, const V *x) {
  V *r = static_cast<V *>(v.r[control->from]);
  const auto step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < a.rows; i += step)
    r[i] = b[i] - times_row<V, M>(a, form, x, i);
}

template <class V, class M>
void launch_residual(const State &state, const Session &session, const void *b, const void *x, const sxt_exec &exec) {
  constexpr unsigned threads = 256;
  const unsigned blocks = plugin::cuda::blocks_for(state.n, threads, 2048);
  residual_kernel<V, M><<<blocks, threads, 0, cuda::stream_of(exec)>>>(
      state.stencil, state.form, session.vectors, session.output.control, static_cast<const V *>(b),
      static_cast<const V *>(x));
  cuda::need_launch("a residual");
}

}  // namespace

void fit(State &state, const Wish &wish, const sxt_exec &exec) {
  const auto value = static_cast<std::int64_t>(plugin::value_bytes(state.vectors)),
             stored = static_cast<std::int64_t>(plugin::value_bytes(state.stored));
  // The candidate was made for the offsets of a cube: with the real ones a tile may need more memory, at the cost of
  // fewer blocks, then fewer stages, then fewer columns.
  Wish now = wish;
  now.width = std::min<std::int64_t>(wish.width, most_threads(state.form.across));
  std::int64_t blocks = 0, shared = 0, limit = 0;
  for (;;) {
    blocks = units_of_device() * now.blocks_a_unit;
    state.tiling = share_out(state.stencil, state.form, now.width, blocks, now.stages, value, stored);
    shared = shared_bytes(state.tiling, value), limit = shared_of_unit() / now.blocks_a_unit - own_shared;
    if (shared <= limit) break;
    if (now.blocks_a_unit > 1)
      now.blocks_a_unit = 1;
    else if (now.stages > 2)
      now.stages = 2;
    else if (now.width > 64)
      now.width /= 2;
    else
      throw cuda::Failure(SXT_E_NOT_SUPPORTED,
                          "a block would need %lld bytes of shared memory for %d planes of %d columns with %d beside "
                          "them, it may have %lld",
                          (long long)shared, state.tiling.stages, state.tiling.width, state.tiling.halo,
                          (long long)limit);
  }
  state.shared = static_cast<std::size_t>(shared);
  state.blocks = static_cast<std::uint32_t>(std::min<std::int64_t>(blocks, state.tiling.items));
  state.threads = static_cast<std::uint32_t>(state.tiling.width);
  const double kept = 3.0 * static_cast<double>(state.n * value);
  state.tiling.keeps = kept < kept_bytes;
  const void *kernel = reinterpret_cast<const void *>(kernel_for(state));
  if (const sxt_status status = cuda::load_with_shared(&exec, kernel, state.shared))
    throw cuda::Failure(status, "a block cannot have %lld bytes of shared memory", (long long)shared);
  cudaFuncAttributes unused;
  cuda::need(cudaFuncGetAttributes(&unused, reinterpret_cast<const void *>(configure_kernel)), "load a kernel's code");
}

template <class M>
static void look_at_main(const State &state, const sxt_exec &exec) {
  const M *main = static_cast<const M *>(state.stencil.main);
  begin_main<<<1, 1, 0, cuda::stream_of(exec)>>>(main, state.all.as<Main>());
  if (main)
    compare_main<<<cuda::blocks_for(state.n, 256, 2048), 256, 0, cuda::stream_of(exec)>>>(main, state.n,
                                                                                          state.all.as<Main>());
  cuda::need_launch("a test of the main diagonal");
}
void look_at_main(const State &state, const sxt_exec &exec) {
  state.stored == SXT_F32 ? look_at_main<float>(state, exec) : look_at_main<double>(state, exec);
}

std::uint64_t packets_bytes(const State &state) { return 2 * state.blocks * cuda::sums_packets_a_block; }

void iterate(const State &state, const Session &session, std::int64_t count, const sxt_exec &exec) {
  const cuda::SumsExchange exchange{nullptr, nullptr, static_cast<ulonglong2 *>(session.packets()),
                                    static_cast<cuda::Word *>(session.epoch())};
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = state.blocks;
  config.blockDim = state.threads;
  config.dynamicSmemBytes = state.shared;
  config.stream = cuda::stream_of(exec);
  config.attrs = &together;
  config.numAttrs = 1;
  cuda::need(cudaLaunchKernelEx(&config, kernel_for(state), state.stencil, state.tiling, session.vectors,
                                session.output, exchange, static_cast<int>(count)),
             "launch iterations");
}

void configure(const Session &session, const Request &request, const sxt_exec &exec) {
  configure_kernel<<<1, 1, 0, cuda::stream_of(exec)>>>(session.output.control, session.output.report, request);
  cuda::need_launch("a block's request");
}

void residual(const State &state, const Session &session, const void *b, const void *x, const sxt_exec &exec) {
  if (state.vectors == SXT_F32) return launch_residual<float, float>(state, session, b, x, exec);
  if (state.stored == SXT_F32) return launch_residual<double, float>(state, session, b, x, exec);
  launch_residual<double, double>(state, session, b, x, exec);
}

}  // namespace stencil
