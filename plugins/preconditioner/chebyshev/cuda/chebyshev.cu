// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.chebyshev.cuda: M = p(D^-1 A) D^-1 with a Chebyshev polynomial p. A step is one launch: a product with
// A's own CSR arrays, fused with the three vector operations around it; no inner product. Bound by bandwidth: a step
// streams A and seven vectors.
#include <bit>
#include <cmath>
#include <cstdint>

#include "plugins/preconditioner/shared/chebyshev.hpp"
#include "plugins/preconditioner/shared/cuda/factor.hpp"
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
  int degree, lanes;
  sxt_csr a{};                     // its arrays outlive the state
  cuda::DeviceArray inverse;       // n reals: 1 / d_i
  cuda::DeviceArray coefficients;  // reals: first, then keep and take of every step: read when a step runs, so that a
                                   // captured one sees those of new values
  cuda::DeviceArray work;          // 4 n values, for the probe
  cuda::DeviceArray found, partials;
  bool usable = false;
};

// ---- the probe -----------------------------------------------------------------------------------------------------

using device::Real;

template <class T>
struct StartProbe {
  T *v, *previous;
  Real<T> length;
  __device__ void operator()(std::int64_t i) const {
    const auto sign = static_cast<Real<T>>(methods::random_sign(0, static_cast<std::uint64_t>(i)));
    v[i] = dense::from_real<T>(sign * length);
    previous[i] = T{};
  }
};
// u = D^-1/2 v.
template <class T>
struct ScaleProbe {
  const Real<T> *inverse;
  const T *v;
  T *u;
  __device__ void operator()(std::int64_t i) const { u[i] = dense::scaled(v[i], sqrt(inverse[i])); }
};
// w = D^-1/2 w - beta previous.
template <class T>
struct FinishProduct {
  const Real<T> *inverse;
  const T *previous;
  T *w;
  Real<T> beta;
  __device__ void operator()(std::int64_t i) const {
    w[i] = dense::difference(dense::scaled(w[i], sqrt(inverse[i])), dense::scaled(previous[i], beta));
  }
};
// w = share (w - alpha v).
template <class T>
struct TakeAway {
  const T *v;
  T *w;
  Real<T> alpha, share;
  __device__ void operator()(std::int64_t i) const {
    w[i] = dense::scaled(dense::difference(w[i], dense::scaled(v[i], alpha)), share);
  }
};

// Lanczos on D^-1/2 A D^-1/2. Waits twice a step.
template <class T, class M>
methods::Lanczos probe(const State &state, const device::Rows<M> &a, const sxt_exec *exec) {
  const std::int64_t n = state.n;
  using R = Real<T>;
  const R *inverse = state.inverse.as<const R>();
  T *v = state.work.as<T>(), *previous = v + n, *w = previous + n, *const u = w + n;
  const auto dot = [&](const T *x, const T *y) { return device::dot(exec, n, x, y, state.partials.as<double>()); };
  methods::Lanczos lanczos;
  double beta = 0;
  cuda::visit_all(exec, n, StartProbe<T>{v, previous, static_cast<R>(1 / std::sqrt(static_cast<double>(n)))});
  while (lanczos.steps < std::min<std::int64_t>(methods::lanczos_steps, n)) {
    cuda::visit_all(exec, n, ScaleProbe<T>{inverse, v, u});
    device::multiply(exec, a, state.a.s.nnz, u, w);
    cuda::visit_all(exec, n, FinishProduct<T>{inverse, previous, w, static_cast<R>(beta)});
    const double alpha = dot(v, w);
    cuda::visit_all(exec, n, TakeAway<T>{v, w, static_cast<R>(alpha), R(1)});
    beta = std::sqrt(dot(w, w));
    lanczos.alpha[lanczos.steps] = alpha;
    lanczos.beta[lanczos.steps++] = beta;
    if (!(beta > 1e-6 * std::fabs(alpha))) break;  // the whole space is found
    cuda::visit_all(exec, n, TakeAway<T>{v, w, R(0), static_cast<R>(1 / beta)});
    std::swap(v, previous);  // previous = v, v = w, and the oldest is free
    std::swap(v, w);
  }
  return lanczos;
}

// ---- set-up --------------------------------------------------------------------------------------------------------

template <class R>
void write_coefficients(const State &state, const methods::Interval &interval, const sxt_exec *exec) {
  methods::ChebyshevSteps steps(interval);
  std::vector<R> values{static_cast<R>(steps.first())};
  for (int step = 1; step < state.degree; ++step) {
    const auto [keep, take] = steps.next();
    values.push_back(static_cast<R>(keep));
    values.push_back(static_cast<R>(take));
  }
  cuda::copy(exec, state.coefficients.data(), values.data(), values.size() * sizeof(R), "coefficients");
  cuda::wait(exec);  // the host's array ends here
}

// Throws cuda::Failure naming the first row without a positive diagonal, or the eigenvalues of an indefinite matrix.
// Waits.
void compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.usable = false;
  state.a = a;
  if (state.n > 0)
    device::with_rows(state.type, a, [&](auto t, const auto &rows) {
      using T = decltype(t);
      const double row_sum = device::invert_diagonal(exec, rows, state.inverse.as<Real<T>>(),
                                                     state.found.as<device::Findings>(), "Chebyshev");
      const methods::Lanczos lanczos = probe<T>(state, rows, exec);
      const methods::Interval interval = methods::chebyshev_interval(lanczos, row_sum, state.degree);
      // Written so that NaN fails.
      if (!(lanczos.eigenvalue(0) > -1e-3 * row_sum) || !(interval.low > 0))
        throw cuda::Failure(SXT_E_NOT_POSITIVE_DEFINITE,
                            "a Lanczos probe found eigenvalues from %.6g to %.6g of D^-1 A: the matrix is not positive "
                            "definite",
                            lanczos.eigenvalue(0), lanczos.eigenvalue(lanczos.steps - 1));
      write_coefficients<Real<T>>(state, interval, exec);
    });
  state.usable = true;
}

// ---- the polynomial ------------------------------------------------------------------------------------------------

// d = z = first D^-1 r, for 2^columns_log2 columns side by side.
template <class T>
__global__ void __launch_bounds__(device::threads) first_step(std::int64_t n, int columns_log2, const Real<T> *inverse,
                                                              const Real<T> *coefficients, const T *r, T *d, T *z) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x, i = at >> columns_log2;
  if (i < n) d[at] = z[at] = dense::scaled(dense::scaled(r[at], inverse[i]), coefficients[0]);
}

// The update of one element in a step, given A d of its row.
template <class T>
struct Step {
  const Real<T> *inverse, *coefficients;  // of this step: keep, take
  const T *from, *d;
  T *to, *next, *z;
  __device__ __forceinline__ void operator()(std::int64_t i, std::int64_t at, T sum) const {
    const T residual = dense::difference(from[at], sum), taken = dense::scaled(residual, inverse[i]);
    const T direction = dense::sum(dense::scaled(d[at], coefficients[0]), dense::scaled(taken, coefficients[1]));
    to[at] = residual;
    next[at] = direction;
    z[at] = dense::sum(z[at], direction);
  }
};

// to = from - A d, next = keep d + take D^-1 to, z += next; `lanes` threads a row.
template <int lanes, class T, class M>
__global__ void __launch_bounds__(device::threads) next_step(device::Rows<M> a, Step<T> step) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x) / lanes;
  const bool there = i < a.n;  // all lanes of a warp take part in the sums
  const T sum = device::row_sum<lanes>(there ? a.begin(i) : 0, there ? a.begin(i + 1) : 0, a.col, a.values, step.d);
  if (there && threadIdx.x % lanes == 0) step(i, i, sum);
}

// The same for columns side by side, a thread a column and 2^lanes_log2 of them, so that an entry of A is read once for
// all columns and its values of d are adjacent. No row has more than a warp.
template <class T, class M>
__global__ void __launch_bounds__(device::threads)
    next_columns(device::Rows<M> a, int columns_log2, int lanes_log2, Step<T> step) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x,
                     i = thread >> (columns_log2 + lanes_log2);
  const int columns = 1 << columns_log2, lanes = 1 << lanes_log2, column = static_cast<int>(thread) & (columns - 1),
            lane = static_cast<int>(thread >> columns_log2) & (lanes - 1);
  const bool there = i < a.n;
  const std::int64_t end = there ? a.begin(i + 1) : 0;
  const T *const d = step.d + column;
  T sum{};
#pragma unroll 4
  for (std::int64_t k = there ? a.begin(i) + lane : 0; k < end; k += lanes)
    sum = dense::plus_product(sum, device::convert<T>(a.values[k]),
                              cuda::read_only(d + (static_cast<std::int64_t>(a.col[k]) << columns_log2)));
  for (int apart = columns; apart < columns * lanes; apart *= 2)
    sum = dense::sum(sum, dense::from_lane_xor(0xffffffffu, sum, apart));
  if (there && lane == 0) step(i, (i << columns_log2) + column, sum);
}

constexpr int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(power)); }

// The threads for a column of a row: as for one vector, limited to the part of a warp that the columns leave.
int lanes_beside(int lanes, int columns) { return std::max(1, std::min(lanes, 32 / columns)); }

template <class T, class M>
void apply(const State &state, const device::Rows<M> &a, int columns, const T *r, T *z, const sxt_exec *exec) {
  const std::uint64_t stride = device::vector_bytes(columns * state.n, state.type);
  char *const scratch = static_cast<char *>(exec->scratch);
  T *d = reinterpret_cast<T *>(scratch), *next = reinterpret_cast<T *>(scratch + stride);
  T *const residual = reinterpret_cast<T *>(scratch + 2 * stride);
  const Real<T> *inverse = state.inverse.as<const Real<T>>(), *coefficients = state.coefficients.as<const Real<T>>();
  const auto stream = cuda::stream_of(*exec);
  first_step<<<device::row_blocks(state.n, columns), device::threads, 0, stream>>>(state.n, log2_of(columns), inverse,
                                                                                   coefficients, r, d, z);
  cuda::need_launch("a Chebyshev polynomial");
  const T *from = r;
  for (int step = 1; step < state.degree; ++step, from = residual, std::swap(d, next)) {
    const Step<T> work{inverse, coefficients + 2 * step - 1, from, d, residual, next, z};
    if (columns > 1) {
      const int lanes = lanes_beside(state.lanes, columns);
      next_columns<<<device::row_blocks(state.n, columns * lanes), device::threads, 0, stream>>>(a, log2_of(columns),
                                                                                                 log2_of(lanes), work);
    } else {
      device::with_lanes(state.lanes, [&](auto lanes) {
        next_step<lanes><<<device::row_blocks(state.n, lanes), device::threads, 0, stream>>>(a, work);
      });
    }
  }
  cuda::need_launch("a Chebyshev polynomial");
}

// ---- the kernel's functions ----------------------------------------------------------------------------------------

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const sxt_status status = device::applies(head, methods::chebyshev, reason);
  return status == SXT_OK ? methods::check_degree(as<sxt_preconditioner_query>(head), reason) : status;
}

// A row far longer than the others keeps its threads busy when all others are done: their turns in a step, and the
// seconds of one (one H200, a row of 10,001 entries among rows of seven).
constexpr double turn_s = 0.15e-6;
const char *const terms[] = {"launches", "stream_bytes", "gathers", "sectors", "flops", "latency.turns", nullptr};
const double term_defaults[] = {NAN, NAN, NAN, NAN, NAN, turn_s, NAN};
const char *const features[] = {"row_nnz_max", nullptr};

sxt_status candidates(const sxt_query *head, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz);
  const double bytes = static_cast<double>(value_bytes(type));
  const double matrix_bytes = nnz * (4 + static_cast<double>(value_bytes(query.m.matrix_type))) + 4 * n;
  // A product alone streams A and two vectors, in one launch; the rest of an iteration ten vectors in two.
  const double launch_bytes = machine->launch_s * machine->stream_rate;
  const int chosen =
      methods::choose_degree(matrix_bytes + 2 * n * bytes + launch_bytes, 10 * n * bytes + 2 * launch_bytes);
  const double degree = methods::number_or(query, methods::chebyshev, chosen), steps = degree - 1;
  const int columns = methods::columns_of(query);
  const int lanes = device::lanes_for(nnz * columns, n * columns, machine);

  cuda::CudaCost cost;
  cost.launches = device::captured(degree);
  cost.stream_bytes = steps * (matrix_bytes + 7 * n * bytes * columns) + 4 * n * bytes * columns;
  cost.sectors = steps * nnz * device::sectors_of(columns, value_bytes(type));  // d
  cost.flops = steps * nnz * columns * multiply_add_flops(type);
  cost.working_set = matrix_bytes + 7 * n * bytes * columns;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, device::row_blocks(query.m.rows, lanes), device::threads, lanes, cost);
  // NaN where it is not known.
  const double longest = feature(found, 0), beyond = longest > 0 ? std::max(0.0, longest - nnz / std::max(1.0, n)) : 0;
  candidate.n_terms = 6;
  candidate.terms[5] = steps * beyond / (columns > 1 ? lanes_beside(lanes, columns) : lanes);
  candidate.launch[3] = static_cast<std::int64_t>(degree);
  candidate.setup_s = 50e-6 + nnz * 13e-9 / std::max(1, machine->units) +
                      (methods::lanczos_steps + 1) * (2 * 18e-6 + 5 * machine->launch_s + beyond / lanes * turn_s +
                                                      (matrix_bytes + 16 * n * bytes) / machine->stream_rate);
  candidate.state_bytes = static_cast<std::uint64_t>(5 * n * bytes);
  candidate.scratch_bytes = 3 * device::vector_bytes(query.m.rows, type);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_csr *a = nullptr;
    if (const sxt_status status = methods::need_csr(*problem, -1, exec, &a); status != SXT_OK) return status;
    const double chosen = candidate && candidate->launch[3] > 0 ? static_cast<double>(candidate->launch[3]) : 5;
    state.type = problem->query->value_type;
    state.n = a->s.rows;
    state.degree =
        static_cast<int>(methods::number_or(as<sxt_preconditioner_query>(problem->query), methods::chebyshev, chosen));
    state.lanes =
        device::lanes_of(candidate, device::lanes_for(static_cast<double>(a->s.nnz), static_cast<double>(a->s.rows)));
    const std::uint64_t n = static_cast<std::uint64_t>(state.n), real = methods::real_bytes(state.type);
    state.inverse = cuda::DeviceArray(exec, n * real, "an inverse diagonal");
    state.coefficients = cuda::DeviceArray(exec, static_cast<std::uint64_t>(2 * state.degree) * real, "coefficients");
    state.work = cuda::DeviceArray(exec, 4 * n * value_bytes(state.type), "a probe");
    state.found = cuda::DeviceArray(exec, sizeof(device::Findings), "findings");
    state.partials = cuda::DeviceArray(exec, device::dot_blocks * sizeof(double), "partial sums");
    compute(state, *a, exec);
    return SXT_OK;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_preconditioner_args>(head);
  if (const auto status = methods::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  if (state.n == 0) return SXT_OK;
  const int columns = device::columns_of(args);
  const std::uint64_t needed = 3 * device::vector_bytes(columns * state.n, state.type);
  if (const auto status = device::need_scratch(exec, needed); status != SXT_OK) return status;
  return cuda::guarded(exec, [&]() -> sxt_status {
    device::with_rows(state.type, state.a, [&](auto t, const auto &rows) {
      using T = decltype(t);
      apply<T>(state, rows, columns, static_cast<const T *>(args.r), static_cast<T *>(args.z), exec);
    });
    return SXT_OK;
  });
}

// Loads the code that run launches, which a capture must not do.
sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  const State &state = *static_cast<const State *>(opaque);
  *session = nullptr;
  sxt_status status = SXT_OK;
  device::with_rows(state.type, state.a, [&](auto t, const auto &rows) {
    using T = decltype(t);
    using M = device::value_of<std::remove_cvref_t<decltype(rows)>>;
    status = cuda::load(exec, first_step<T>);
    if (status == SXT_OK) status = cuda::load(exec, next_columns<T, M>);
    if (status == SXT_OK)
      device::with_lanes(state.lanes, [&](auto lanes) { status = cuda::load(exec, next_step<lanes, T, M>); });
  });
  return status;
}

// Where launches and inner products are expensive, the chosen degree is 9, or 7, and no other is faster.
constexpr double typical_iterations = 0.14;
const sxt_preconditioner_ops ops{sizeof(sxt_preconditioner_ops), methods::chebyshev.name, nullptr, nullptr,
                                 typical_iterations};

const sxt_kernel kernel = [] {
  sxt_kernel k = device::side_by_side(methods::csr_kernel<State>(
      "preconditioner.chebyshev.cuda", "cuda", "a Chebyshev polynomial of A, scaled by its diagonal, of odd degree",
      {applicable, candidates, prepare, device::refresh<State, compute>, run, open}, &ops, terms));
  k.term_defaults = term_defaults;
  k.features = features;
  k.flags |= SXT_KERNEL_POLYNOMIAL;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("preconditioner-chebyshev-cuda", out);
}
