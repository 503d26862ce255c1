// SPDX-License-Identifier: BSD-3-Clause
// Common parts of both libraries' kernels: checks of pointers and numbers, and the limits of int.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/hermitian_query.hpp"
#include "sextant/sdk/vendor.hpp"

namespace sextant::hermitian_vendor {

using namespace sextant::plugin;

constexpr std::int64_t most_padding = 64;  // of leading dimensions, for which the spare place is large enough
constexpr int block_threads = 128;

extern const sxt_kernel cusolver_kernel, cusolver_streams_kernel, cublas_kernel;

inline std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

// SXT_OK, or the reason why neither library serves the set.
inline sxt_status fits_library(const sxt_hermitian_query &q, sxt_message *reason) {
  if (!q.may_spoil) return refuse(reason, "it overwrites the other triangle, which the caller keeps");
  if (q.orders_vary || q.leading_vary) return refuse(reason, "its batches have one order and one leading dimension");
  if (q.n_max > std::numeric_limits<int>::max() - most_padding || q.batch > std::numeric_limits<int>::max())
    return refuse(reason, "%lld systems of order %lld are beyond its integers", (long long)q.batch, (long long)q.n_max);
  return SXT_OK;
}
inline sxt_status fits_library(const sxt_hermitian_args &args, const sxt_exec *exec) {
  if (args.lda <= args.n_max + most_padding && args.ldb <= std::numeric_limits<int>::max()) return SXT_OK;
  return error(exec, SXT_E_NOT_SUPPORTED, "a leading dimension of %lld is too far above the order %lld for it",
               (long long)args.lda, (long long)args.n_max);
}

#ifdef __CUDACC__

__device__ inline bool usable(const void *memory, std::size_t value) {
  return memory && reinterpret_cast<std::uintptr_t>(memory) % value == 0;
}

template <class T>
__device__ bool is_finite(T value) {
  if constexpr (is_complex<T>)
    return value.real() - value.real() == 0 && value.imag() - value.imag() == 0;
  else
    return value - value == 0;
}

// Where system s lies; b is NULL where there are no right-hand sides.
template <class T>
struct Place {
  T *a, *b;
};
template <class T>
__device__ Place<T> place_of(const sxt_hermitian_args &args, std::int64_t s) {
  Place<T> place{args.a_array ? static_cast<T *>(args.a_array[s]) : static_cast<T *>(args.a) + s * args.stride_a,
                 nullptr};
  if (solves(args.phase))
    place.b = args.b_array ? static_cast<T *>(args.b_array[s]) : static_cast<T *>(args.b) + s * args.stride_b;
  return place;
}
template <class T>
__device__ bool is_there(const sxt_hermitian_args &args, const Place<T> &place) {
  return args.n_max == 0 || (usable(place.a, sizeof(T)) && (!solves(args.phase) || usable(place.b, sizeof(T))));
}

#endif

}  // namespace sextant::hermitian_vendor
