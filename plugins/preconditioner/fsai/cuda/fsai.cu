// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.fsai.cuda and preconditioner.fsai-2.cuda: the factorised sparse approximate inverse M = G' G, on the
// pattern of tril(A), found on the device, or of tril(A^2), found on the host; a warp solves the dense system of a row
// in shared memory. An application is two products with sparse factors: bound by bandwidth.
#include <cstdint>

#include "plugins/preconditioner/shared/cuda/factor.hpp"
#include "plugins/preconditioner/shared/fsai.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;
namespace device = sextant::plugin::cuda::precondition;
namespace methods = sextant::plugin::precondition;
namespace dense = sextant::plugin::cuda::dense;

struct State {
  sxt_value_type type;
  std::int64_t n;
  int longest = 1, warps = 1;   // order of the largest system; warps a block
  device::Factor lower, upper;  // G and G'
  cuda::DeviceArray mirror;     // int32 for each entry of G: its place in G'
  device::FailedRow bad;
  bool usable = false;
};

constexpr const methods::Method &method_of(int power) { return power == 1 ? methods::fsai_1 : methods::fsai_2; }

// Shared memory of a warp: a packed lower triangle, a row, and columns.
template <class T>
constexpr std::int64_t warp_bytes(int longest) {
  return (methods::triangle(longest) + longest) * static_cast<std::int64_t>(sizeof(T)) + (longest + longest % 2) * 4;
}
constexpr std::int64_t shared_limit = 48 * 1024;

__device__ __forceinline__ int row_begin(int i) { return i * (i + 1) / 2; }

// The lower triangle of A[J, J]: for each row, lanes take its entries up to the diagonal and search their columns in J;
// where the row is much longer than J, lanes look up J's columns in the row instead.
template <class T, class M>
__device__ void gather(const device::Rows<M> &a, const std::int32_t *columns, int m, T *triangle, int lane) {
  for (int k = lane; k < row_begin(m); k += 32) triangle[k] = T{};
  __syncwarp();
  for (int p = 0; p < m; ++p) {
    const std::int64_t i = columns[p], begin = a.begin(i), length = a.begin(i + 1) - begin;
    T *const row = triangle + row_begin(p);
    if (length > 8 * m) {
      for (int q = lane; q <= p; q += 32) row[q] = device::convert<T>(a.at(i, columns[q]));
      continue;
    }
    for (std::int64_t k = lane; k < length; k += 32) {
      const std::int32_t j = a.col[begin + k];
      int low = 0, high = p + 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        if (columns[middle] < j)
          low = middle + 1;
        else
          high = middle;
      }
      if (low <= p && columns[low] == j) row[low] = device::convert<T>(a.values[begin + k]);
    }
  }
  __syncwarp();
}

// Cholesky of a packed lower triangle by a warp. False where a pivot is not positive beyond rounding.
template <class T>
__device__ bool factor(T *c, int m, int lane) {
  using R = device::Real<T>;
  constexpr R epsilon = sizeof(R) == 4 ? R(1.1920929e-7) : R(2.220446049250313e-16);
  for (int k = 0; k < m; ++k) {
    // Row k first: the contributions of earlier columns to its pivot. Left-looking, so the original diagonal is still
    // there.
    R taken(0);
    const T *const row_k = c + row_begin(k);
    for (int j = lane; j < k; j += 32) taken += dense::squared_size(row_k[j]);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) taken += __shfl_xor_sync(0xffffffffu, taken, step);
    const R original = dense::real_of(row_k[k]), pivot = original - taken;
    // Written so that NaN and infinity fail.
    if (!(pivot > epsilon * original) || pivot - pivot != R(0) || !device::is_real(row_k[k])) return false;
    const R root = sqrt(pivot);
    __syncwarp();
    if (lane == 0) c[row_begin(k) + k] = dense::from_real<T>(root);
    for (int i = k + 1 + lane; i < m; i += 32) {
      T *const row = c + row_begin(i);
      T sum = row[k];
      for (int j = 0; j < k; ++j) sum = dense::minus_product(sum, row[j], dense::conjugate(row_k[j]));
      row[k] = dense::scaled(sum, 1 / root);
    }
    __syncwarp();
  }
  return true;
}

// A warp a row of G: the last row of C^-1 with A[J, J] = C C'.
template <class T, class M>
__global__ void solve_rows(device::Rows<M> a, const std::int32_t *ptr, const std::int32_t *col, T *values,
                           const std::int32_t *mirror, T *mirrored, int longest, unsigned long long *bad) {
  extern __shared__ double2 shared[];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + warp;
  if (i >= a.n) return;  // whole warps
  // Triangles and rows of all warps first, which need the wider alignment; then columns.
  const int triangle = row_begin(longest), warps = static_cast<int>(blockDim.x / 32);
  T *const system = reinterpret_cast<T *>(shared) + warp * (triangle + longest), *const row = system + triangle;
  auto *const columns =
      reinterpret_cast<std::int32_t *>(reinterpret_cast<T *>(shared) + warps * (triangle + longest)) + warp * longest;
  const std::int32_t begin = ptr[i];
  const int m = ptr[i + 1] - begin;
  for (int p = lane; p < m; p += 32) {
    columns[p] = col[begin + p];
    row[p] = dense::from_real<T>(p + 1 == m ? 1 : 0);
  }
  __syncwarp();
  gather(a, columns, m, system, lane);
  if (!factor(system, m, lane)) {
    if (lane == 0) atomicMin(bad, static_cast<unsigned long long>(i));
    return;
  }
  for (int p = m - 1; p >= 0; --p) {  // y C = e_last
    const T *const c = system + row_begin(p);
    const T y = dense::scaled(row[p], 1 / dense::real_of(c[p]));
    __syncwarp();
    if (lane == 0) row[p] = y;
    for (int q = lane; q < p; q += 32) row[q] = dense::minus_product(row[q], c[q], y);
    __syncwarp();
  }
  for (int p = lane; p < m; p += 32) {
    values[begin + p] = row[p];
    mirrored[mirror[begin + p]] = dense::conjugate(row[p]);
  }
}

// ---- the pattern of tril(A), on the device
// ---------------------------------------------------------------------------

// The findings of a pass over the rows: whether a row lacks its diagonal or an entry its mirror image, and the longest
// row of G.
struct PatternFindings {
  std::int32_t irregular, longest;
};

// Entries of each row up to its diagonal and from it on; the offsets' last place gets 0, for the prefix sum.
template <class M>
struct CountTriangles {
  device::Rows<M> a;
  std::int32_t *lower, *upper;
  PatternFindings *found;
  __device__ void operator()(std::int64_t i) const {
    const bool row = i < a.n;
    const std::int64_t at = row ? a.find(i, i) : 0, end = row ? a.begin(i + 1) : 0;
    lower[i] = row ? static_cast<std::int32_t>(at - a.begin(i)) + 1 : 0;
    upper[i] = row ? static_cast<std::int32_t>(end - at) : 0;
    if (row && (at == end || a.col[at] != i)) found->irregular = 1;
    if (row) atomicMax(&found->longest, lower[i]);
  }
};

// A row of G's pattern by eight threads, with each entry's place in G': the position of the mirror image in its row of
// A.
constexpr int fill_lanes = 8;
template <class M>
__global__ void __launch_bounds__(device::threads)
    fill_pattern(device::Rows<M> a, const std::int32_t *lower_ptr, std::int32_t *lower_col,
                 const std::int32_t *upper_ptr, std::int32_t *upper_col, std::int32_t *mirror, PatternFindings *found) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x) / fill_lanes;
  if (i >= a.n) return;
  const std::int32_t first = lower_ptr[i], count = lower_ptr[i + 1] - first;
  for (std::int32_t k = static_cast<int>(threadIdx.x % fill_lanes); k < count; k += fill_lanes) {
    const std::int32_t j = a.col[a.begin(i) + k];
    const std::int64_t image = a.find(j, i);
    lower_col[first + k] = j;
    if (image == a.begin(j + 1) || a.col[image] != i) {
      found->irregular = 1;
      continue;
    }
    const auto place = upper_ptr[j] + static_cast<std::int32_t>(image - a.find(j, j));
    upper_col[place] = static_cast<std::int32_t>(i);
    mirror[first + k] = place;
  }
}

// False where the host has to find the pattern: rows beyond the limit, or a pattern that is not symmetric.
bool pattern_on_device(State &state, const sxt_csr &a, const sxt_exec *exec) {
  const cuda::DeviceArray findings(exec, sizeof(PatternFindings), "findings", cuda::Life::call);
  auto *found = findings.as<PatternFindings>();
  cuda::fill_bytes(exec, found, 0, sizeof *found, "clear findings");
  state.lower = device::Factor(exec, state.n);
  state.upper = device::Factor(exec, state.n);
  auto *lower = state.lower.ptr.as<std::int32_t>(), *upper = state.upper.ptr.as<std::int32_t>();
  const auto with_matrix = [&](auto &&f) {
    device::with_rows(state.type, a, [&](auto, const auto &rows) { f(rows); });
  };
  with_matrix([&](const auto &rows) {
    using M = device::value_of<std::remove_cvref_t<decltype(rows)>>;
    cuda::visit_all(exec, state.n + 1, CountTriangles<M>{rows, lower, upper, found});
  });
  const PatternFindings counted = cuda::fetch(exec, found, "the rows' state");
  if (counted.irregular || counted.longest > methods::fsai_row_limit) return false;
  cuda::exclusive_scan(exec, lower, state.n + 1);
  cuda::exclusive_scan(exec, upper, state.n + 1);
  const auto entries = cuda::fetch(exec, lower + state.n, "a factor's entries");
  if (cuda::fetch(exec, upper + state.n, "a factor's entries") != entries) return false;
  state.lower.make_room(exec, entries, state.type);
  state.upper.make_room(exec, entries, state.type);
  state.mirror = cuda::DeviceArray(exec, static_cast<std::uint64_t>(entries) * sizeof(std::int32_t), "a transposition");
  with_matrix([&](const auto &rows) {
    fill_pattern<<<device::row_blocks(state.n, fill_lanes), device::threads, 0, cuda::stream_of(*exec)>>>(
        rows, lower, state.lower.col.as<std::int32_t>(), upper, state.upper.col.as<std::int32_t>(),
        state.mirror.as<std::int32_t>(), found);
  });
  cuda::need_launch("the pattern of FSAI");
  state.longest = std::max(1, counted.longest);
  return cuda::fetch(exec, found, "the pattern's state").irregular == 0;
}

// ---- patterns on the host
// --------------------------------------------------------------------------------------------

template <class M>
double size_on_host(M value) {
  if constexpr (device::complex_valued<M>)
    return std::hypot(static_cast<double>(value.re), static_cast<double>(value.im));
  else
    return std::fabs(static_cast<double>(value));
}

// The matrix on the host, in the form for the pattern.
template <class M>
methods::LowerPattern find_pattern(const device::Rows<M> &a, std::int64_t nnz, int power, const sxt_exec *exec) {
  const auto n = static_cast<std::size_t>(a.n), count = static_cast<std::size_t>(nnz);
  std::vector<std::int64_t> ptr(n + 1);
  std::vector<std::int32_t> narrow(a.wide ? 0 : n + 1), col(count);
  std::vector<M> values(count);
  if (a.wide)
    cuda::copy(exec, ptr.data(), a.ptr, (n + 1) * sizeof(std::int64_t), "offsets");
  else
    cuda::copy(exec, narrow.data(), a.ptr, (n + 1) * sizeof(std::int32_t), "offsets");
  cuda::copy(exec, col.data(), a.col, count * sizeof(std::int32_t), "columns");
  cuda::copy(exec, values.data(), a.values, count * sizeof(M), "values");
  cuda::wait(exec);
  std::copy(narrow.begin(), narrow.end(), ptr.begin());

  std::vector<double> root(n, 1);  // 1 / sqrt(|a_ii|)
  for (std::size_t i = 0; i < n; ++i)
    for (std::int64_t k = ptr[i]; k < ptr[i + 1]; ++k)
      if (const double size = size_on_host(values[k]); col[k] == static_cast<std::int32_t>(i) && size != 0)
        root[i] = 1 / std::sqrt(size);
  std::vector<float> strength(count);
  for (std::size_t i = 0; i < n; ++i)
    for (std::int64_t k = ptr[i]; k < ptr[i + 1]; ++k)
      strength[k] = static_cast<float>(size_on_host(values[k]) * root[i] * root[col[k]]);
  return methods::fsai_pattern(a.n, ptr.data(), col.data(), power, 1,
                               [&](std::int64_t k) { return static_cast<double>(strength[k]); });
}

// Offsets and columns of G', and the place of each entry of G in it.
struct Transposed {
  std::vector<std::int32_t> ptr, col, mirror;
  explicit Transposed(const methods::LowerPattern &g) : ptr(g.ptr.size(), 0), col(g.col.size()), mirror(g.col.size()) {
    for (const std::int32_t j : g.col) ++ptr[j + 1];
    for (std::size_t i = 1; i < ptr.size(); ++i) ptr[i] += ptr[i - 1];
    std::vector<std::int32_t> next(ptr.begin(), ptr.end() - 1);
    for (std::size_t i = 0; i + 1 < g.ptr.size(); ++i)
      for (std::int64_t k = g.ptr[i]; k < g.ptr[i + 1]; ++k) {
        mirror[k] = next[g.col[k]]++;
        col[mirror[k]] = static_cast<std::int32_t>(i);
      }
  }
};

void pattern_on_host(State &state, const sxt_csr &a, int power, const sxt_exec *exec) {
  methods::LowerPattern pattern;
  device::with_rows(state.type, a, [&](auto, const auto &rows) { pattern = find_pattern(rows, a.s.nnz, power, exec); });
  const auto entries = static_cast<std::int64_t>(pattern.col.size());
  for (device::Factor *factor : {&state.lower, &state.upper}) {
    *factor = device::Factor(exec, state.n);
    factor->make_room(exec, entries, state.type);
  }
  state.longest = static_cast<int>(std::max<std::int64_t>(1, pattern.longest));
  state.mirror = cuda::DeviceArray(exec, static_cast<std::uint64_t>(entries) * sizeof(std::int32_t), "a transposition");
  const Transposed transposed(pattern);
  const std::vector<std::int32_t> ptr(pattern.ptr.begin(), pattern.ptr.end());
  cuda::copy(exec, state.lower.ptr.data(), ptr.data(), state.lower.ptr.bytes(), "a factor's offsets");
  cuda::copy(exec, state.lower.col.data(), pattern.col.data(), state.lower.col.bytes(), "a factor's columns");
  cuda::copy(exec, state.upper.ptr.data(), transposed.ptr.data(), state.upper.ptr.bytes(), "a factor's offsets");
  cuda::copy(exec, state.upper.col.data(), transposed.col.data(), state.upper.col.bytes(), "a factor's columns");
  cuda::copy(exec, state.mirror.data(), transposed.mirror.data(), state.mirror.bytes(), "a transposition");
  cuda::wait(exec);  // the host's arrays end here
}

void lay_out(State &state, const sxt_csr &a, int power, const sxt_candidate *candidate, const sxt_exec *exec) {
  if (power == 2 || state.n == 0 || !pattern_on_device(state, a, exec)) pattern_on_host(state, a, power, exec);
  std::int64_t bytes = 0;
  device::with_vectors(state.type, [&](auto t) { bytes = warp_bytes<decltype(t)>(state.longest); });
  state.warps = static_cast<int>(std::clamp<std::int64_t>(shared_limit / bytes, 1, 4));
  state.bad = device::FailedRow(exec);
  state.lower.lanes = state.upper.lanes = device::lanes_of(candidate, state.lower.lanes);
}

// Throws cuda::Failure naming the first row whose system is not positive definite. Waits for the answer.
void compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.usable = false;
  unsigned long long *const bad = state.bad.clear(exec);
  if (state.n > 0)
    device::with_rows(state.type, a, [&](auto t, const auto &rows) {
      using T = decltype(t);
      const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(state.n, state.warps));
      const auto shared = static_cast<std::uint64_t>(state.warps * warp_bytes<T>(state.longest));
      solve_rows<<<blocks, 32 * state.warps, shared, cuda::stream_of(*exec)>>>(
          rows, state.lower.ptr.as<const std::int32_t>(), state.lower.col.as<const std::int32_t>(),
          state.lower.values.as<T>(), state.mirror.as<const std::int32_t>(), state.upper.values.as<T>(), state.longest,
          bad);
      cuda::need_launch("the local systems of FSAI");
    });
  state.bad.expect_none(exec, "the local system of",
                        "FSAI needs definite ones, which every positive definite matrix has");
  state.usable = true;
}

template <int power>
sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz);
  const double bytes = static_cast<double>(value_bytes(type)), row = n > 0 ? nnz / n : 0;
  const double entries = methods::fsai_entries(n, nnz, power), own = n > 0 ? entries / n : 0;
  const int columns = methods::columns_of(query);
  const double product_bytes = device::factor_bytes(n, entries, type) + 2 * n * bytes * columns;
  const int lanes = device::lanes_for(entries, n, machine);

  cuda::CudaCost cost;
  cost.launches = device::captured(2);
  cost.stream_bytes = cost.working_set = 2 * product_bytes;
  cost.sectors = 2 * entries * device::sectors_of(columns, value_bytes(type));  // x
  cost.flops = 2 * entries * columns * multiply_add_flops(type);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, device::row_blocks(query.m.rows, lanes), device::threads, lanes, cost);
  // For A^2 the matrix comes to the host, where one thread finds pattern and transpose, and G's pattern goes back; that
  // of A is found on the device. Then a warp gathers `own` rows of A and factors.
  const double moved = nnz * (4 + bytes) + entries * 12, paths = nnz * row / 2;
  const double host_s = 100e-6 + moved / machine->copy_rate + paths * 6e-9 + (2 * nnz + 4 * entries) * 5e-9;
  const double device_s = 200e-6 + nnz * 26e-9 / std::max(1, machine->units);
  const double row_s = own * (1 + row / 32) * 0.3e-6 + own * own * (own / 96 + 1) * 10e-9;
  candidate.setup_s =
      4 * machine->launch_s + (power == 1 ? device_s : host_s) + n * row_s / (8.0 * std::max(1, machine->units));
  candidate.state_bytes = static_cast<std::uint64_t>(2 * device::factor_bytes(n, entries, type) + 4 * entries);
  candidate.scratch_bytes = device::vector_bytes(query.m.rows, type);
  return SXT_OK;
}

template <int power>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_csr *a = nullptr;
    if (const sxt_status status = methods::need_csr(*problem, -1, exec, &a); status != SXT_OK) return status;
    state.type = problem->query->value_type;
    state.n = a->s.rows;
    lay_out(state, *a, power, candidate, exec);
    compute(state, *a, exec);
    return SXT_OK;
  });
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_preconditioner_args>(head);
  if (const auto status = methods::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  const int columns = device::columns_of(args);
  const std::uint64_t needed = device::vector_bytes(columns * state.n, state.type);
  if (const auto status = device::need_scratch(exec, needed); status != SXT_OK) return status;
  return cuda::guarded(exec, [&] {
    sxt_status status = SXT_OK;
    device::with_vectors(state.type, [&](auto tag) {
      using T = decltype(tag);
      status = device::apply_pair(state, session, static_cast<const T *>(args.r), static_cast<T *>(exec->scratch),
                                  static_cast<T *>(args.z), columns, *exec);
    });
    return status;
  });
}

template <int power>
sxt_kernel new_method(const char *name, const char *description) {
  static const sxt_preconditioner_factors_ops ops = methods::factors_ops(method_of(power), methods::factor_pair<State>);
  return device::side_by_side(
      methods::factored_kernel<State>(name, "cuda", description,
                                      {device::applicable<method_of(power)>, candidates<power>, prepare<power>,
                                       device::refresh<State, compute>, run, device::open_pair<State>},
                                      &ops, cuda::cuda_terms));
}

const sxt_kernel of_matrix =
    new_method<1>("preconditioner.fsai.cuda", "factorised sparse approximate inverse on the pattern of tril(A)");
const sxt_kernel of_square =
    new_method<2>("preconditioner.fsai-2.cuda", "factorised sparse approximate inverse on the pattern of tril(A^2)");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&of_matrix, &of_square>("preconditioner-fsai-cuda", out);
}
