// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.block-jacobi.cuda: M = diag(A_11, A_22, ...)^-1. Each block is kept as W = C^-1 with A_kk = C C', and
// M = W' W. An application gives a block to 2 to 32 lanes, a row of W each, in registers: W is read once, (b + 1) / 2
// values a row. Bound by bandwidth. Blocks are factored by a warp each.
#include <cstdint>

#include "plugins/preconditioner/shared/cuda/factor.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;
namespace device = sextant::plugin::cuda::precondition;
namespace methods = sextant::plugin::precondition;
namespace dense = sextant::plugin::cuda::dense;
using methods::largest_block, methods::triangle;

struct State {
  sxt_value_type type;
  std::int64_t n, n_blocks;
  int lanes;                       // threads a block of rows: a power of two that holds the largest
  cuda::DeviceArray first, place;  // n_blocks + 1 each: int32 first rows; int64 where a block's triangle begins
  cuda::DeviceArray values;        // lower triangles, column by column
  device::FailedRow bad;
  bool usable = false;
};

// Warps a block of the set-up, whose shared memory holds a whole block of rows for each.
template <class T>
constexpr int set_up_warps = sizeof(T) > 8 ? 2 : 4;

// Whether row i has the pattern of row i - 1.
template <class M>
struct ComparePatterns {
  device::Rows<M> a;
  unsigned char *same;
  __device__ void operator()(std::int64_t i) const {
    bool equal = false;
    if (i > 0) {
      const std::int64_t begin = a.begin(i), before = a.begin(i - 1), length = a.begin(i + 1) - begin;
      equal = begin - before == length;
      for (std::int64_t k = 0; k < length && equal; ++k) equal = a.col[begin + k] == a.col[before + k];
    }
    same[i] = equal;
  }
};

// Where column j of a packed lower triangle begins.
__host__ __device__ constexpr int column_begin(int size, int j) { return j * size - j * (j - 1) / 2; }

// A warp a block: gather, Cholesky, inverse of the factor.
template <class T, class M>
__global__ void __launch_bounds__(32 * set_up_warps<T>)
    factor_blocks(device::Rows<M> a, std::int64_t n_blocks, const std::int32_t *first, const std::int64_t *place,
                  T *values, unsigned long long *bad) {
  __shared__ T all[set_up_warps<T>][largest_block][largest_block + 1];
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * set_up_warps<T> + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (k >= n_blocks) return;  // whole warps
  T(&c)[largest_block][largest_block + 1] = all[threadIdx.x / 32];
  const std::int64_t begin = first[k];
  const int size = static_cast<int>(first[k + 1] - begin);

  for (int j = 0; j < largest_block; ++j) c[lane][j] = T{};
  if (lane < size) {
    const std::int64_t end = a.begin(begin + lane + 1);
    for (std::int64_t e = a.find(begin + lane, begin); e < end && a.col[e] <= begin + lane; ++e)
      c[lane][a.col[e] - begin] = device::convert<T>(a.values[e]);
  }
  __syncwarp();
  using R = device::Real<T>;
  // A diagonal that is not real fails as NaN does.
  const R diagonal = device::is_real(c[lane][lane]) ? dense::real_of(c[lane][lane]) : R(NAN);
  constexpr R epsilon = sizeof(R) == 4 ? R(1.1920929e-7) : R(2.220446049250313e-16);
  for (int j = 0; j < size; ++j) {
    const R pivot = dense::real_of(c[j][j]), least = epsilon * __shfl_sync(0xffffffffu, diagonal, j);
    // Written so that NaN and infinity fail.
    if (!(pivot > least) || pivot - pivot != R(0)) {
      if (lane == 0) atomicMin(bad, static_cast<unsigned long long>(begin + j));
      return;
    }
    const R root = sqrt(pivot);
    const T mine = lane > j ? dense::scaled(c[lane][j], 1 / root) : dense::from_real<T>(root);
    __syncwarp();
    if (lane >= j && lane < size) c[lane][j] = mine;
    __syncwarp();
    if (lane < size)
      for (int m = j + 1; m <= lane; ++m)
        c[lane][m] = dense::minus_product(c[lane][m], mine, dense::conjugate(c[m][j]));
    __syncwarp();
  }
  // Column `lane` of the inverse, read back from where it is written.
  if (lane >= size) return;
  T *const column = values + place[k] + column_begin(size, lane);
  column[0] = dense::from_real<T>(1 / dense::real_of(c[lane][lane]));
  for (int i = lane + 1; i < size; ++i) {
    T sum{};
    for (int m = lane; m < i; ++m) sum = dense::plus_product(sum, c[i][m], column[m - lane]);
    column[i - lane] = dense::scaled(sum, -1 / dense::real_of(c[i][i]));
  }
}

// Sums w[j] over the lanes, for every j, and leaves the sum of j in w[0] of lane j: each exchange halves what a lane
// has.
template <int lanes, int step, class T>
__device__ __forceinline__ void sum_columns(T (&w)[lanes], int lane) {
  if constexpr (step > 0) {
    const bool upper = lane & step;
#pragma unroll
    for (int j = 0; j < step; ++j) {
      const T sent = upper ? w[j] : w[j + step], kept = upper ? w[j + step] : w[j];
      w[j] = dense::sum(kept, dense::from_lane_xor(0xffffffffu, sent, step));
    }
    sum_columns<lanes, step / 2>(w, lane);
  }
}

// z = W' (W r), `lanes` threads a block of rows; for this many columns side by side, one after the other.
template <int lanes, class T>
__global__ void __launch_bounds__(device::threads)
    apply_blocks(std::int64_t n_blocks, const std::int32_t *first, const std::int64_t *place, const T *values,
                 const T *r, T *z, int columns) {
  const std::int64_t k = (static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x % lanes);
  const bool there = k < n_blocks;  // all lanes of a warp take part in the exchanges
  const std::int64_t begin = there ? first[k] : 0;
  const int size = there ? static_cast<int>(first[k + 1] - begin) : 0;
  const T *triangle = values + (there ? place[k] : 0);
  T w[lanes];
#pragma unroll
  for (int j = 0; j < lanes; ++j) w[j] = j <= lane && lane < size ? triangle[column_begin(size, j) + lane - j] : T{};

  const int lane_0 = static_cast<int>(threadIdx.x % 32) - lane;  // of these lanes, in the warp
  for (int c = 0; c < columns; ++c) {
    const std::int64_t at = (begin + lane) * columns + c;
    const T mine = lane < size ? r[at] : T{};
    T y{}, sums[lanes];
#pragma unroll
    for (int j = 0; j < lanes; ++j) y = dense::plus_product(y, w[j], dense::from_lane(0xffffffffu, mine, lane_0 + j));
#pragma unroll
    for (int j = 0; j < lanes; ++j) sums[j] = dense::product(dense::conjugate(w[j]), y);
    sum_columns<lanes, lanes / 2>(sums, lane);
    if (lane < size) z[at] = sums[0];
  }
}

// The blocks of a matrix and room for them. The borders are found on the host from a byte a row.
void lay_out(State &state, const sxt_csr &a, std::int64_t size, const sxt_exec *exec) {
  const auto n = static_cast<std::uint64_t>(state.n);
  const cuda::DeviceArray same(exec, n, "flags of rows", cuda::Life::call);
  device::with_rows(state.type, a, [&](auto, const auto &rows) {
    using M = device::value_of<std::remove_cvref_t<decltype(rows)>>;
    cuda::visit_all(exec, state.n, ComparePatterns<M>{rows, same.as<unsigned char>()});
  });
  std::vector<unsigned char> flags(n);
  if (n) cuda::fetch(exec, flags.data(), same.as<const unsigned char>(), n, "flags of rows");
  const auto borders = methods::block_borders(state.n, size, [&](std::int64_t i) { return flags[i] != 0; });
  state.n_blocks = static_cast<std::int64_t>(borders.size()) - 1;
  std::vector<std::int64_t> place{0};
  int largest = 2;
  for (std::int64_t k = 0; k < state.n_blocks; ++k) {
    largest = std::max(largest, borders[k + 1] - borders[k]);
    place.push_back(place.back() + triangle(borders[k + 1] - borders[k]));
  }
  for (state.lanes = 2; state.lanes < largest;) state.lanes *= 2;
  state.first = cuda::DeviceArray(exec, borders.size() * sizeof(std::int32_t), "block borders");
  state.place = cuda::DeviceArray(exec, place.size() * sizeof(std::int64_t), "block places");
  state.values = cuda::DeviceArray(exec, static_cast<std::uint64_t>(place.back()) * value_bytes(state.type), "blocks");
  state.bad = device::FailedRow(exec);
  cuda::copy(exec, state.first.data(), borders.data(), state.first.bytes(), "block borders");
  cuda::copy(exec, state.place.data(), place.data(), state.place.bytes(), "block places");
  cuda::wait(exec);  // the host's arrays end here
}

// Throws cuda::Failure naming the first row whose pivot is not positive. Waits for the answer.
void compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.usable = false;
  unsigned long long *const bad = state.bad.clear(exec);
  if (state.n_blocks > 0)
    device::with_rows(state.type, a, [&](auto t, const auto &rows) {
      using T = decltype(t);
      const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(state.n_blocks, set_up_warps<T>));
      factor_blocks<<<blocks, 32 * set_up_warps<T>, 0, cuda::stream_of(*exec)>>>(
          rows, state.n_blocks, state.first.as<const std::int32_t>(), state.place.as<const std::int64_t>(),
          state.values.as<T>(), bad);
      cuda::need_launch("the factorisation of blocks");
    });
  state.bad.expect_none(exec, "the diagonal block around",
                        "block-Jacobi needs definite blocks, which every positive definite matrix has");
  state.usable = true;
}

sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = as<sxt_preconditioner_query>(head);
  const double n = static_cast<double>(query.m.rows), bytes = static_cast<double>(value_bytes(query.m.q.value_type));
  const double size = methods::number_or(query, methods::block_jacobi, methods::default_block);
  const double columns = methods::columns_of(query);
  cuda::CudaCost cost;
  cost.launches = device::captured(1);
  cost.stream_bytes = cost.working_set = n * (bytes * (2 * columns + (size + 1) / 2) + 12 / size);
  // A lane has a row: its columns lie side by side, those of the next lane a row further.
  cost.sectors = columns > 1 ? 2 * n * columns : 0;
  // A shuffle of eight bytes holds a multiprocessor as long as four multiplications with addition.
  const double exchange_flops = 8 * std::max(1.0, bytes / 8);
  cost.flops = 2 * n * size * columns * (multiply_add_flops(query.m.q.value_type) + exchange_flops);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, cuda::divide_up<std::int64_t>(query.m.rows, device::threads), device::threads,
                 static_cast<std::int64_t>(size), cost);
  // Patterns are compared and flags fetched, the borders go back; then a warp factors a block in about size^2 / 4
  // steps.
  candidate.setup_s = 4 * machine->launch_s + 60e-6 + n * (1 + 12 / size) / machine->copy_rate + n * 2e-9 +
                      static_cast<double>(query.m.nnz) * (4 + bytes) / machine->stream_rate +
                      n * size * 20e-9 / machine->units;
  candidate.state_bytes = static_cast<std::uint64_t>(n * (bytes * (size + 1) / 2 + 12 / size));
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_csr *a = nullptr;
    if (const sxt_status status = methods::need_csr(*problem, -1, exec, &a); status != SXT_OK) return status;
    const auto &query = as<sxt_preconditioner_query>(problem->query);
    state.type = problem->query->value_type;
    state.n = a->s.rows;
    lay_out(state, *a,
            static_cast<std::int64_t>(methods::number_or(query, methods::block_jacobi, methods::default_block)), exec);
    compute(state, *a, exec);
    return SXT_OK;
  });
}

// f(kernel) with the one that serves a state.
template <class F>
void with_kernel(const State &state, F &&f) {
  device::with_vectors(state.type, [&](auto t) {
    using T = decltype(t);
    switch (state.lanes) {
      case 2: return f(apply_blocks<2, T>, t);
      case 4: return f(apply_blocks<4, T>, t);
      case 8: return f(apply_blocks<8, T>, t);
      case 16: return f(apply_blocks<16, T>, t);
      default: return f(apply_blocks<32, T>, t);
    }
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_preconditioner_args>(head);
  if (const auto status = methods::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  if (state.n == 0) return SXT_OK;
  return cuda::guarded(exec, [&]() -> sxt_status {
    with_kernel(state, [&](auto kernel, auto t) {
      using T = decltype(t);
      kernel<<<device::row_blocks(state.n_blocks, state.lanes), device::threads, 0, cuda::stream_of(*exec)>>>(
          state.n_blocks, state.first.as<const std::int32_t>(), state.place.as<const std::int64_t>(),
          state.values.as<const T>(), static_cast<const T *>(args.r), static_cast<T *>(args.z),
          device::columns_of(args));
    });
    cuda::need_launch("block-Jacobi");
    return SXT_OK;
  });
}

// Loads the code that run launches, which a capture must not do.
sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  *session = nullptr;
  sxt_status status = SXT_OK;
  with_kernel(*static_cast<const State *>(opaque), [&](auto kernel, auto) { status = cuda::load(exec, kernel); });
  return status;
}

const char *const variants[] = {"block-jacobi:4", "block-jacobi:16", "block-jacobi:32", nullptr};
const sxt_preconditioner_ops ops{sizeof(sxt_preconditioner_ops), methods::block_jacobi.name, nullptr, variants,
                                 methods::block_jacobi.typical_iterations};

const sxt_kernel kernel = device::side_by_side(methods::csr_kernel<State>(
    "preconditioner.block-jacobi.cuda", "cuda", "the inverses of diagonal blocks of 2 to 32 rows, as Cholesky factors",
    {device::applicable<methods::block_jacobi>, candidates, prepare, device::refresh<State, compute>, run, open}, &ops,
    cuda::cuda_terms));

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("preconditioner-block-jacobi-cuda", out);
}
