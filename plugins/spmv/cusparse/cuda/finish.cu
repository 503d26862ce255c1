// SPDX-License-Identifier: BSD-3-Clause
// Small kernels around the library's products: rows to their places, and slice pointers as 32-bit numbers.
#include "cusparse.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::spmv_cusparse {

using namespace plugin::cuda;

namespace {

constexpr int threads = 256;

template <class V>
__global__ void __launch_bounds__(threads)
    finish(std::int64_t n, const V *sum, const std::int32_t *perm, V *y, Scalar<V> alpha, Scalar<V> beta) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < n) store(y + (perm ? perm[i] : i), sum[i], alpha(), beta());
}

__global__ void __launch_bounds__(threads) narrow_all(const std::int64_t *from, std::int32_t *to, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < n) to[i] = static_cast<std::int32_t>(from[i]);
}

template <class F>
sxt_status with_type(sxt_value_type type, F &&f) {
  return with_device_pair(type, type, [&](auto v, auto) { return f(v); });
}

unsigned blocks_of(std::int64_t n) { return static_cast<unsigned>(divide_up<std::int64_t>(n, threads)); }

}  // namespace

sxt_status finish_rows(sxt_value_type type, std::int64_t n, const void *sum, const std::int32_t *perm, void *y,
                       const sxt_scalar &alpha, const sxt_scalar &beta, const sxt_exec *exec) {
  return with_type(type, [&](auto v) {
    using V = typename decltype(v)::type;
    finish<V><<<blocks_of(n), threads, 0, stream_of(*exec)>>>(n, static_cast<const V *>(sum), perm, static_cast<V *>(y),
                                                              scalar_of(alpha, one<V>()), scalar_of(beta, V{}));
    return launched(exec, "the last step of a product");
  });
}

void narrow(const std::int64_t *from, std::int32_t *to, std::int64_t n, const sxt_exec *exec) {
  narrow_all<<<blocks_of(n), threads, 0, stream_of(*exec)>>>(from, to, n);
  need_launch("a conversion of slice pointers");
}

sxt_status load_code(sxt_value_type type, const sxt_exec *exec) {
  return with_type(type, [&](auto v) { return load(exec, finish<typename decltype(v)::type>); });
}

}  // namespace sextant::spmv_cusparse
