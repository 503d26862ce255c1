// SPDX-License-Identifier: BSD-3-Clause
// For preconditioners in CUDA: sparse factors on the device, the one product with them that all methods use, the matrix
// they are made from, and inner products for probes. All value types, and a matrix of half the vectors' precision.
// Include from .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "plugins/preconditioner/shared/factor_products.hpp"
#include "sextant/plugin/kinds/preconditioner_columns.h"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/cuda/dense.hpp"
#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::plugin::cuda::precondition {

namespace methods = sextant::plugin::precondition;
inline constexpr int threads = 256;

// ---- numbers ------------------------------------------------------------------------------------------------------

using cuda::complex_valued, cuda::convert, cuda::Real;
using methods::vector_bytes, plugin::need_scratch;

// The real part of conj(a) b.
template <class T>
__device__ __forceinline__ double real_product(T a, T b) {
  if constexpr (complex_valued<T>)
    return static_cast<double>(a.re) * b.re + static_cast<double>(a.im) * b.im;
  else
    return static_cast<double>(a) * static_cast<double>(b);
}
template <class T>
__device__ __forceinline__ double modulus(T a) {
  if constexpr (complex_valued<T>)
    return hypot(static_cast<double>(a.re), static_cast<double>(a.im));
  else
    return fabs(static_cast<double>(a));
}
template <class T>
__device__ __forceinline__ bool is_real(T a) {
  if constexpr (complex_valued<T>)
    return a.im == 0;
  else
    return true;
}

// ---- the matrix a preconditioner is made from --------------------------------------------------------------------

// CSR on the device; values of the stored type.
template <class M>
struct Rows {
  std::int64_t n;
  const void *ptr;
  bool wide;  // offsets of 64 bits
  const std::int32_t *col;
  const M *values;

  __device__ std::int64_t begin(std::int64_t i) const { return offset_at(ptr, wide, i); }
  // The first entry of row i at or behind column j. Columns are sorted.
  __device__ std::int64_t find(std::int64_t i, std::int64_t j) const {
    std::int64_t low = begin(i), high = begin(i + 1);
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (col[middle] < j)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  __device__ M at(std::int64_t i, std::int64_t j) const {
    const std::int64_t k = find(i, j);
    return k < begin(i + 1) && col[k] == j ? values[k] : M{};
  }
};
template <class M>
Rows<M> rows_of(const sxt_csr &a) {
  return {a.s.rows, a.row_ptr, a.s.offset_type == SXT_I64, static_cast<const std::int32_t *>(a.col),
          static_cast<const M *>(a.values)};
}

// f(T{}, rows) with the vectors' type and the matrix in its own.
template <class F>
void with_rows(sxt_value_type vectors, const sxt_csr &a, F &&f) {
  const sxt_value_type matrix = a.s.value_type;
  if (vectors == SXT_F32 && matrix == SXT_F32)
    f(float{}, rows_of<float>(a));
  else if (vectors == SXT_F64 && matrix == SXT_F64)
    f(double{}, rows_of<double>(a));
  else if (vectors == SXT_F64 && matrix == SXT_F32)
    f(double{}, rows_of<float>(a));
  else if (vectors == SXT_C64 && matrix == SXT_C64)
    f(Complex<float>{}, rows_of<Complex<float>>(a));
  else if (vectors == SXT_C128 && matrix == SXT_C128)
    f(Complex<double>{}, rows_of<Complex<double>>(a));
  else if (vectors == SXT_C128 && matrix == SXT_C64)
    f(Complex<double>{}, rows_of<Complex<float>>(a));
  else
    throw Failure(SXT_E_TYPE, "a matrix of type %s under vectors of type %s is not offered", value_name(matrix),
                  value_name(vectors));
}
// f(T{}) with the vectors' type.
template <class F>
void with_vectors(sxt_value_type type, F &&f) {
  switch (type) {
    case SXT_F32: return f(float{});
    case SXT_C64: return f(Complex<float>{});
    case SXT_C128: return f(Complex<double>{});
    default: return f(double{});
  }
}
// The matrix's own type of rows handed to f.
template <class R>
using value_of = std::remove_cv_t<std::remove_pointer_t<decltype(R::values)>>;

// Pairs of types that with_rows knows; methods and shapes are checked as on every device.
inline sxt_status applies(const sxt_query *head, const methods::Method &method, sxt_message *reason) {
  const auto &query = as<sxt_preconditioner_query>(head);
  const sxt_status status = check_matrix_types(query.m.q.value_type, query.m.matrix_type, reason);
  return status == SXT_OK ? methods::applies(head, method, reason) : status;
}
template <const methods::Method &method>
sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return cuda::precondition::applies(head, method, reason);
}

// ---- findings of kernels
// ---------------------------------------------------------------------------------------------

// Findings about the rows of a matrix: the first row that is refused, and the largest row sum of |D^-1 A|.
struct Findings {
  unsigned long long bad;      // all ones: none
  unsigned long long row_sum;  // the bits of a double, which are ordered as the numbers for positive ones
};

// The first row around which a kernel found a system that is not positive definite, by atomicMin.
class FailedRow {
 public:
  FailedRow() = default;
  explicit FailedRow(const sxt_exec *exec) : word_(exec, sizeof(unsigned long long), "a word") {}
  unsigned long long *clear(const sxt_exec *exec) const {
    fill_bytes(exec, word_.data(), 0xff, word_.bytes(), "clear a word");
    return word_.as<unsigned long long>();
  }
  // Throws Failure where there is one: "`what` row i is not positive definite; `advice`". Waits.
  void expect_none(const sxt_exec *exec, const char *what, const char *advice) const {
    const auto row = fetch(exec, word_.as<const unsigned long long>(), "the state of local systems");
    if (row != ~0ull)
      throw Failure(SXT_E_NOT_POSITIVE_DEFINITE, "%s row %llu (counting from 0) is not positive definite; %s", what,
                    row, advice);
  }

 private:
  DeviceArray word_;  // all ones: none
};

// 1 / a_ii for every row; a row without a positive, finite diagonal entry is noted.
template <class R, class M>
struct InvertDiagonal {
  Rows<M> a;
  R *inverse;
  Findings *found;
  __device__ void operator()(std::int64_t i) const {
    const M entry = a.at(i, i);
    const double d = static_cast<double>(dense::real_of(entry));
    const R value = static_cast<R>(1 / d);
    inverse[i] = value;
    double sum = 0;
    for (std::int64_t k = a.begin(i); k < a.begin(i + 1); ++k) sum += modulus(a.values[k]);
    // Written so that NaN fails.
    const bool fit = d > 0 && is_real(entry) && value > R(0) && value - value == R(0) && sum - sum == 0;
    if (!fit)
      atomicMin(&found->bad, static_cast<unsigned long long>(i));
    else
      atomicMax(&found->row_sum, static_cast<unsigned long long>(__double_as_longlong(sum / d)));
  }
};

// Fills inverse and returns the largest row sum of |D^-1 A|; throws Failure naming the first row that is refused.
// Waits.
template <class R, class M>
double invert_diagonal(const sxt_exec *exec, const Rows<M> &a, R *inverse, Findings *found, const char *method) {
  const Findings none{~0ull, 0};
  copy(exec, found, &none, sizeof none, "findings");
  visit_all(exec, a.n, InvertDiagonal<R, M>{a, inverse, found});
  const Findings what = fetch(exec, found, "the diagonal's state");
  if (what.bad != ~0ull)
    throw Failure(SXT_E_DIAGONAL,
                  "row %llu (counting from 0) has a diagonal entry that is missing, not positive or not finite, or an "
                  "entry that is not finite; %s needs a positive, finite, real diagonal",
                  what.bad, method);
  double sum = 0;
  static_assert(sizeof sum == sizeof what.row_sum);
  std::memcpy(&sum, &what.row_sum, sizeof sum);
  return sum;
}

// ---- products
// ----------------------------------------------------------------------------------------------------------

// Threads that share a row of this many entries: where rows fill the device, eight entries each, since the L1 cache
// keeps lines that adjacent threads share; where they do not, more threads reduce latency. machine NULL: its size is
// unknown.
inline int lanes_for(double entries, double rows, const sxt_machine *machine = nullptr) {
  const double length = rows > 0 ? entries / rows : 1;
  const double resident = machine ? static_cast<double>(machine->units * machine->threads_per_unit) : 1e5;
  int lanes = 1;
  while (lanes < 32 && (8 * lanes <= length || (2 * lanes <= length && 2 * lanes * rows <= resident))) lanes *= 2;
  return lanes;
}
// The lanes that a candidate of these kernels carries (launch[2]), or otherwise.
inline int lanes_of(const sxt_candidate *candidate, int otherwise) {
  return candidate && candidate->launch[2] > 0 ? static_cast<int>(candidate->launch[2]) : otherwise;
}
// f(lanes as a constant).
template <class F>
void with_lanes(int lanes, F &&f) {
  switch (lanes) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 8: return f(std::integral_constant<int, 8>{});
    case 16: return f(std::integral_constant<int, 16>{});
    default: return f(std::integral_constant<int, 32>{});
  }
}
// Blocks with `lanes` threads a row.
inline unsigned row_blocks(std::int64_t rows, int lanes) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, divide_up<std::int64_t>(rows * lanes, threads)));
}

// The sum over a row's entries, the same in all of its lanes. x may be changed by earlier launches only.
template <int lanes, class T, class M>
__device__ __forceinline__ T row_sum(std::int64_t begin, std::int64_t end, const std::int32_t *col, const M *values,
                                     const T *x) {
  T sum{};
  for (std::int64_t k = begin + static_cast<int>(threadIdx.x) % lanes; k < end; k += lanes)
    sum = dense::plus_product(sum, convert<T>(values[k]), read_only(x + col[k]));
#pragma unroll
  for (int step = lanes / 2; step > 0; step /= 2) sum = dense::sum(sum, dense::from_lane_xor(0xffffffffu, sum, step));
  return sum;
}

// y = s (a + alpha F x), s and a NULL: 1 and 0. F with 32-bit offsets, `lanes` threads a row.
template <int lanes, class T>
__global__ void __launch_bounds__(threads)
    factor_product(std::int64_t n, const std::int32_t *ptr, const std::int32_t *col, const T *values, Real<T> alpha,
                   const T *x, const T *a, const Real<T> *s, T *y) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / lanes;
  const bool there = i < n;  // all lanes of a warp take part in the sums
  T sum = dense::scaled(row_sum<lanes>(there ? ptr[i] : 0, there ? ptr[i + 1] : 0, col, values, x), alpha);
  if (!there || threadIdx.x % lanes != 0) return;
  if (a) sum = dense::sum(sum, a[i]);
  y[i] = s ? dense::scaled(sum, s[i]) : sum;
}

// The same for `width` columns, a power of two, whose values of a row are adjacent: a lane a column, so that an entry
// of F is read once for all of them.
template <class T>
__global__ void __launch_bounds__(threads)
    factor_columns(std::int64_t n, const std::int32_t *ptr, const std::int32_t *col, const T *values, Real<T> alpha,
                   const T *x, const T *a, const Real<T> *s, T *y, int width) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x, i = at / width;
  if (i >= n) return;
  const T *const column = x + at % width;
  T sum{};
#pragma unroll 4
  for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k)
    sum = dense::plus_product(sum, values[k], read_only(column + static_cast<std::int64_t>(col[k]) * width));
  sum = dense::scaled(sum, alpha);
  if (a) sum = dense::sum(sum, a[at]);
  y[at] = s ? dense::scaled(sum, s[i]) : sum;
}

// y = A x with the matrix itself, for probes.
template <int lanes, class T, class M>
__global__ void __launch_bounds__(threads) matrix_product(Rows<M> a, const T *x, T *y) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / lanes;
  const bool there = i < a.n;
  const T sum = row_sum<lanes>(there ? a.begin(i) : 0, there ? a.begin(i + 1) : 0, a.col, a.values, x);
  if (there && threadIdx.x % lanes == 0) y[i] = sum;
}
template <class T, class M>
void multiply(const sxt_exec *exec, const Rows<M> &a, std::int64_t nnz, const T *x, T *y) {
  if (nnz < 16 * a.n)
    matrix_product<2><<<row_blocks(a.n, 2), threads, 0, stream_of(*exec)>>>(a, x, y);
  else
    matrix_product<16><<<row_blocks(a.n, 16), threads, 0, stream_of(*exec)>>>(a, x, y);
  need_launch("a product with the matrix");
}

// A sparse matrix of the vectors' type on the device.
struct Factor {
  std::int64_t n = 0, nnz = 0;
  int lanes = 1;
  DeviceArray ptr, col, values;  // int32 n + 1, int32 nnz, T nnz

  Factor() = default;
  // ptr alone; entries follow once they are counted.
  Factor(const sxt_exec *exec, std::int64_t rows)
      : n(rows), ptr(exec, static_cast<std::uint64_t>(rows + 1) * sizeof(std::int32_t), "a factor's offsets") {}
  void make_room(const sxt_exec *exec, std::int64_t entries, sxt_value_type type) {
    if (entries >= narrow_limit)
      throw Failure(SXT_E_NOT_SUPPORTED, "a factor of %lld entries does not fit 32-bit offsets", (long long)entries);
    nnz = entries;
    lanes = lanes_for(static_cast<double>(nnz), static_cast<double>(n));
    col = DeviceArray(exec, static_cast<std::uint64_t>(nnz) * sizeof(std::int32_t), "a factor's columns");
    values = DeviceArray(exec, static_cast<std::uint64_t>(nnz) * value_bytes(type), "a factor's values");
  }
};

// The same in the form that core and kernels of other plugins read.
inline sxt_csr csr_of(const Factor &f, sxt_value_type type) {
  return methods::square_csr(type, f.n, f.nnz, SXT_I32, SXT_SPACE_DEVICE, f.ptr.data(), f.col.data(), f.values.data());
}

// y = s (a + alpha F x), for this many columns side by side.
template <class T>
void apply(const sxt_exec *exec, const Factor &f, Real<T> alpha, const T *x, const T *a, const Real<T> *s, T *y,
           int columns = 1) {
  if (f.n == 0) return;
  if (columns > 1) {
    factor_columns<<<row_blocks(f.n, columns), threads, 0, stream_of(*exec)>>>(
        f.n, f.ptr.as<const std::int32_t>(), f.col.as<const std::int32_t>(), f.values.as<const T>(), alpha, x, a, s, y,
        columns);
    return need_launch("a product with a factor");
  }
  with_lanes(f.lanes, [&](auto lanes) {
    factor_product<lanes><<<row_blocks(f.n, lanes), threads, 0, stream_of(*exec)>>>(
        f.n, f.ptr.as<const std::int32_t>(), f.col.as<const std::int32_t>(), f.values.as<const T>(), alpha, x, a, s, y);
  });
  need_launch("a product with a factor");
}
// z = G' G r for a state with lower G and upper G'. Several columns are multiplied only by this plugin's kernels.
template <class State, class T>
sxt_status apply_pair(const State &state, const void *session, const T *r, T *t, T *z, int columns,
                      const sxt_exec &exec) {
  const auto *products = columns == 1 ? static_cast<const methods::FactorProducts *>(session) : nullptr;
  const auto own = [&](const Factor &factor, const T *x, T *y) {
    apply<T>(&exec, factor, 1, x, nullptr, nullptr, y, columns);
  };
  return methods::multiply_pair(state, products, r, t, z, exec, own);
}

// Loads the code of that product, which a capture must not do.
inline sxt_status load_product(const sxt_exec *exec, const Factor &f, sxt_value_type type) {
  sxt_status status = SXT_OK;
  with_lanes(f.lanes, [&](auto lanes) {
    with_vectors(type, [&](auto t) {
      status = load(exec, factor_product<lanes, decltype(t)>);
      if (status == SXT_OK) status = load(exec, factor_columns<decltype(t)>);
    });
  });
  return status;
}

// Bytes of a factor.
inline double factor_bytes(double n, double nnz, sxt_value_type type) {
  return 4 * n + nnz * (4 + static_cast<double>(value_bytes(type)));
}

// ---- kernels of the kind
// ---------------------------------------------------------------------------------------------

// Sectors of an entry's elements of this many vectors side by side, at worst.
inline double sectors_of(int columns, std::uint64_t value_bytes) {
  return std::max(1.0, columns * static_cast<double>(value_bytes) / 32);
}
// For CudaCost.launches: kernels of a captured graph follow each other sooner than launches from the host do.
inline double captured(double launches) {
  constexpr double share = 0.65;
  return share * launches;
}
// The number of vectors in args.
inline int columns_of(const sxt_preconditioner_args &args) {
  if (!SXT_HAS(&args.h, sxt_preconditioner_columns_args, n_rhs)) return 1;
  return reinterpret_cast<const sxt_preconditioner_columns_args &>(args).n_rhs;
}

// ---- inner products of probes
// ----------------------------------------------------------------------------------------

inline constexpr int dot_blocks = 264;

template <class T>
__global__ void __launch_bounds__(threads) partial_dots(std::int64_t n, const T *x, const T *y, double *out) {
  __shared__ double sums[threads];
  double sum = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < n; i += stride)
    sum += real_product(x[i], y[i]);
  sums[threadIdx.x] = sum;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}
// The real part of x'y, the same bits always. partials: dot_blocks doubles. Waits.
template <class T>
double dot(const sxt_exec *exec, std::int64_t n, const T *x, const T *y, double *partials) {
  partial_dots<<<dot_blocks, threads, 0, stream_of(*exec)>>>(n, x, y, partials);
  need_launch("an inner product");
  double values[dot_blocks], sum = 0;
  fetch(exec, values, partials, dot_blocks, "an inner product");
  for (const double value : values) sum += value;
  return sum;
}

// ---- common parts of the methods' tables ----------------------------------------------------------------------------

// sxt_kernel.refresh: compute(state, a, exec) again from a matrix of the same state.n rows.
template <class State, auto compute>
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return guarded(exec, [&]() -> sxt_status {
    State &state = *static_cast<State *>(opaque);
    const sxt_csr *a = nullptr;
    if (const sxt_status status = methods::need_csr(*problem, state.n, exec, &a); status != SXT_OK) return status;
    compute(state, *a, exec);
    return SXT_OK;
  });
}

// A kernel whose run takes columns side by side.
inline sxt_kernel side_by_side(sxt_kernel k) {
  k.flags |= SXT_KERNEL_SIDE_BY_SIDE;
  return k;
}

// sxt_kernel.open of methods with two factors: loads the code that run launches, which a capture must not do.
template <class State>
sxt_status open_factors(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  const State &state = *static_cast<const State *>(opaque);
  *session = nullptr;
  const sxt_status status = load_product(exec, state.lower, state.type);
  return status == SXT_OK ? load_product(exec, state.upper, state.type) : status;
}
// The same where core may have chosen kernels for the two.
template <class State>
sxt_status open_pair(const void *opaque, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  const sxt_status status = open_factors<State>(opaque, slots, exec, session);
  return status == SXT_OK ? methods::open_products<2>(opaque, slots, exec, session) : status;
}

}  // namespace sextant::plugin::cuda::precondition
