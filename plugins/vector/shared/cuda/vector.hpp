// SPDX-License-Identifier: BSD-3-Clause
// Common parts of CUDA kernels of kind sxt.vector/1: one element of every operation, for real and complex values;
// groups of 16 bytes for aligned arrays; the arrays that an operation reads and writes; and the cost of a run. Include
// from .cu files.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/numbers.hpp"

namespace sextant::plugin::cuda::vectors {

// Which operands an operation reads: nothing (fill), x (copy), y (scale), both, or y and a real x.
enum class Reads { nothing, x, y, both, real };

// The new value of an element. x of the two operations with a real one is `real`.
template <Reads reads, class T>
__device__ T result(std::int32_t operation, T alpha, T beta, T x, Real<T> real, T y) {
  if constexpr (reads == Reads::nothing)
    return alpha;
  else if constexpr (reads == Reads::x)
    return x;
  else if constexpr (reads == Reads::y)
    return times(alpha, y);
  else if constexpr (reads == Reads::real)
    return operation == SXT_VECTOR_REAL_MULTIPLY ? times(y, real) : quotient(y, real);
  else if (operation == SXT_VECTOR_MULTIPLY)
    return times(x, y);
  else
    return plus(times(alpha, x), operation == SXT_VECTOR_AXPY ? y : times(beta, y));
}

// The arrays an operation reads, and where it writes.
struct Operands {
  const void *x, *y;  // NULL: not read
  const void *real;   // x of the operations that take a real one
  void *out;
};

// Elements side by side that move as one access; the compiler knows it by the alignment.
template <class T, int width>
struct alignas(width * sizeof(T) > 16 ? 16 : width * sizeof(T)) Group {
  T v[width];
};

// How groups of 16 bytes use the caches: as usual, without staying in the first one, or also written with early
// eviction from the last one.
enum class Passing { usual, unkept, streamed };

template <Passing passing, class G>
__device__ __forceinline__ G load(const G *from) {
  if constexpr (passing == Passing::usual || sizeof(G) != 16) {
    return *from;
  } else {
    uint4 bits;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
                 : "l"(from));
    return reinterpret_cast<const G &>(bits);
  }
}
template <Passing passing, class G>
__device__ __forceinline__ void store(G *to, const G &group) {
  if constexpr (passing != Passing::streamed || sizeof(G) != 16) {
    *to = group;
  } else {
    const auto &bits = reinterpret_cast<const uint4 &>(group);
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(bits.x), "r"(bits.y), "r"(bits.z),
                 "r"(bits.w)
                 : "memory");
  }
}

// `flight` groups that lie `apart` from each other, the first at g: all are loaded before the first is used.
template <Reads reads, Passing passing, class T, int width, int flight>
__device__ __forceinline__ void take_groups(std::int32_t operation, T alpha, T beta, const Operands &operands,
                                            std::int64_t g, std::int64_t apart, std::int64_t groups) {
  using Numbers = Group<T, width>;
  using Reals = Group<Real<T>, width>;
  const auto *x = static_cast<const Numbers *>(operands.x), *y = static_cast<const Numbers *>(operands.y);
  const auto *real = static_cast<const Reals *>(operands.real);
  Numbers a[flight], b[flight];
  Reals r[flight];
#pragma unroll
  for (int f = 0; f < flight; ++f) {
    if (g + f * apart >= groups) continue;
    if constexpr (reads == Reads::x || reads == Reads::both) a[f] = load<passing>(x + g + f * apart);
    if constexpr (reads != Reads::x && reads != Reads::nothing) b[f] = load<passing>(y + g + f * apart);
    if constexpr (reads == Reads::real) r[f] = load<passing>(real + g + f * apart);
  }
#pragma unroll
  for (int f = 0; f < flight; ++f) {
    if (g + f * apart >= groups) continue;
    Numbers c;
#pragma unroll
    for (int k = 0; k < width; ++k) c.v[k] = result<reads>(operation, alpha, beta, a[f].v[k], r[f].v[k], b[f].v[k]);
    store<passing>(static_cast<Numbers *>(operands.out) + g + f * apart, c);
  }
}

// The elements after the last group, fewer than a group: element i, one thread each.
template <Reads reads, class T>
__device__ __forceinline__ void take_last(std::int32_t operation, T alpha, T beta, const Operands &operands,
                                          std::int64_t i, std::int64_t n) {
  if (i < n) take_groups<reads, Passing::usual, T, 1, 1>(operation, alpha, beta, operands, i, 1, n);
}

// ---- host side

inline constexpr std::int64_t group_bytes = 16;

inline bool indexed(std::int32_t operation) {
  return operation == SXT_VECTOR_GATHER || operation == SXT_VECTOR_SCATTER;
}
inline bool real_x(std::int32_t operation) {
  return operation == SXT_VECTOR_REAL_MULTIPLY || operation == SXT_VECTOR_REAL_DIVIDE;
}

// Which arrays of the call an operation reads and writes.
inline Operands operands_of(const sxt_vector_args &args) {
  const std::int32_t operation = args.operation;
  const bool to_z = operation == SXT_VECTOR_WAXPBY || operation == SXT_VECTOR_MULTIPLY || real_x(operation);
  const bool reads_x = operation != SXT_VECTOR_FILL && operation != SXT_VECTOR_SCALE && !real_x(operation);
  const bool reads_y = operation != SXT_VECTOR_COPY && operation != SXT_VECTOR_FILL;
  return {reads_x ? args.x : nullptr, reads_y ? args.y : nullptr, real_x(operation) ? args.x : nullptr,
          to_z ? args.z : args.y};
}

// Calls f(Reads as a constant).
template <class F>
auto with_reads(std::int32_t operation, F &&f) {
  switch (operation) {
    case SXT_VECTOR_FILL: return f(std::integral_constant<Reads, Reads::nothing>{});
    case SXT_VECTOR_COPY: return f(std::integral_constant<Reads, Reads::x>{});
    case SXT_VECTOR_SCALE: return f(std::integral_constant<Reads, Reads::y>{});
    case SXT_VECTOR_REAL_MULTIPLY:
    case SXT_VECTOR_REAL_DIVIDE: return f(std::integral_constant<Reads, Reads::real>{});
    default: return f(std::integral_constant<Reads, Reads::both>{});
  }
}

inline bool aligned(const Operands &operands) {
  const auto bits = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p); };
  return (bits(operands.x) | bits(operands.y) | bits(operands.real) | bits(operands.out)) % group_bytes == 0;
}

// Elements read and written for each element, from the kind's table; operations with a real x read half of a complex.
inline double bytes_moved(const sxt_vector_query &q) {
  const double element = static_cast<double>(value_bytes(q.q.value_type));
  const bool complex = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128;
  double moved = 3;
  switch (q.operation) {
#define SXT_X(suffix, value, name, formula, reads, writes) \
  case value: moved = reads + writes; break;
    SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
    default: break;
  }
  if (indexed(q.operation)) return element + static_cast<double>(index_bytes(q.index_type));
  return element * (moved - (real_x(q.operation) && complex ? 0.5 : 0));
}

inline sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (q.operation >= SXT_VECTOR_COPY && q.operation <= SXT_VECTOR_REAL_DIVIDE) return SXT_OK;
  return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_VECTOR_COPY, SXT_VECTOR_REAL_DIVIDE);
}

// Operations that read and write alike are fitted together: the speed of memory depends on the mixture.
inline std::uint32_t traffic_class(std::int32_t operation) {
  switch (operation) {
    case SXT_VECTOR_FILL: return 0;
    case SXT_VECTOR_COPY: return 1;
    case SXT_VECTOR_SCALE: return 2;
    case SXT_VECTOR_AXPY:
    case SXT_VECTOR_AXPBY: return 3;
    case SXT_VECTOR_GATHER: return 4;
    case SXT_VECTOR_SCATTER: return 5;
    default: return 6;
  }
}

// The cost of a run without the configuration's own part.
inline CudaCost cost_of(const sxt_vector_query &q, const sxt_machine &machine) {
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  CudaCost cost;
  cost.stream_bytes = n * bytes_moved(q);
  cost.working_set = cost.stream_bytes + (indexed(q.operation) ? n * element : 0);
  if (indexed(q.operation)) {
    // Indices may be arbitrary: a sector each, and a miss for elements outside the last cache.
    const double vector_bytes = n * element, cache = static_cast<double>(machine.cache_bytes);
    cost.sectors = n * (element > 32 ? element / 32 : 1);
    cost.gathers = vector_bytes > cache ? n * (1 - cache / vector_bytes) : 0;
  }
  cost.flops = n * (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128 ? 8 : 2);
  return cost;
}

// How a kernel walks a vector. launch: blocks, threads, elements a thread takes at once, and the other two as one
// number.
struct Way {
  std::int64_t threads, flight;  // groups of 16 bytes that a thread has in flight
  bool early;                    // begun while the operation before it ends (sdk/cuda/chain.hpp)
  Passing passing;
};

inline sxt_candidate &fill_way(sxt_candidate &candidate, const sxt_machine &machine, std::int64_t blocks,
                               const Way &way, std::int64_t width, const CudaCost &cost) {
  fill(candidate, machine, blocks, way.threads, width * way.flight, cost);
  candidate.launch[3] = static_cast<std::int64_t>(way.passing) * 2 + way.early;
  return candidate;
}

// A state's data of a candidate: its type, the way, and the most blocks.
struct VectorState {
  sxt_value_type type;
  std::int64_t blocks;
  Way way;
};
inline VectorState state_of(sxt_value_type type, const sxt_candidate &candidate) {
  const std::int64_t *launch = candidate.launch, width = group_bytes / static_cast<std::int64_t>(value_bytes(type));
  return {type, launch[0], {launch[1], launch[2] / width, launch[3] % 2 != 0, static_cast<Passing>(launch[3] / 2)}};
}

inline sxt_status vector_launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                                       sxt_launch_config *out) {
  return plain_launch_config(*candidate, 48, out), SXT_OK;
}

}  // namespace sextant::plugin::cuda::vectors
