// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.ssor-ai.cuda and preconditioner.ssor-ai-2.cuda: SSOR with one or two terms of a Neumann series instead
// of triangular solves: two or four products with the strict triangles, kept as separate CSR. Bound by bandwidth: a
// product streams its triangle and two or three vectors. A = L + D + L', B = L D^-1, M = w (2 - w) K' D^-1 K,
// K = I - w B (order 1) or I - w B + w^2 B^2 (order 2). Order 1 is kept as M = G' G with G = (w (2 - w) / D)^1/2 K,
// whose products core may leave to other kernels.
#include <cstdint>

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
  int order;
  double omega = 0;
  device::Factor lower, upper;  // G and G' (order 1), B and B' (order 2)
  cuda::DeviceArray inverse;    // n reals: 1 / d_i
  cuda::DeviceArray scale;      // n reals: w (2 - w) / d_i
  cuda::DeviceArray found;      // device::Findings
  bool usable = false;
};

constexpr const methods::Method &method_of(int order) { return order == 1 ? methods::ssor_ai_1 : methods::ssor_ai_2; }

// Entries below and above the diagonal of a row, with that many on it; the offsets' last place gets 0, for the prefix
// sum.
template <class M>
struct CountTriangles {
  device::Rows<M> a;
  std::int32_t *lower, *upper;
  int diagonal;
  __device__ void operator()(std::int64_t i) const {
    const bool row = i < a.n;
    const std::int64_t at = row ? a.find(i, i) : 0, end = row ? a.begin(i + 1) : 0;
    lower[i] = row ? static_cast<std::int32_t>(at - a.begin(i)) + diagonal : 0;
    upper[i] = row ? static_cast<std::int32_t>(end - at - (at < end && a.col[at] == i)) + diagonal : 0;
  }
};

// A row of both triangles by eight threads: B_ij = a_ij / d_j; row i of B' is that of U divided by d_i; 0 on the
// diagonal, of which each holds that many entries.
constexpr int fill_lanes = 8;
template <class T, class M>
__global__ void __launch_bounds__(device::threads)
    fill_triangles(device::Rows<M> a, const device::Real<T> *inverse, const std::int32_t *lower_ptr,
                   std::int32_t *lower_col, T *lower_values, const std::int32_t *upper_ptr, std::int32_t *upper_col,
                   T *upper_values, int diagonal) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x) / fill_lanes;
  if (i >= a.n) return;
  const std::int64_t begin = a.begin(i), below = lower_ptr[i + 1] - lower_ptr[i] - diagonal,
                     above = upper_ptr[i + 1] - upper_ptr[i] - diagonal;
  const int lane = static_cast<int>(threadIdx.x % fill_lanes);
  for (std::int64_t k = lane; k < below; k += fill_lanes) {
    const std::int32_t j = a.col[begin + k];
    lower_col[lower_ptr[i] + k] = j;
    lower_values[lower_ptr[i] + k] = dense::scaled(device::convert<T>(a.values[begin + k]), inverse[j]);
  }
  const std::int64_t after = a.begin(i + 1) - above, to = upper_ptr[i] + diagonal;
  for (std::int64_t k = lane; k < above; k += fill_lanes) {
    upper_col[to + k] = a.col[after + k];
    upper_values[to + k] = dense::scaled(device::convert<T>(a.values[after + k]), inverse[i]);
  }
  if (lane > 0 || !diagonal) return;
  lower_col[lower_ptr[i + 1] - 1] = upper_col[upper_ptr[i]] = static_cast<std::int32_t>(i);
  lower_values[lower_ptr[i + 1] - 1] = upper_values[upper_ptr[i]] = T{};
}

// G and G' in place of B and B', rows by eight threads.
template <class T>
__global__ void __launch_bounds__(device::threads)
    form_factors(std::int64_t n, const device::Real<T> *scale, device::Real<T> w, const std::int32_t *lower_ptr,
                 T *lower_values, const std::int32_t *upper_ptr, const std::int32_t *upper_col, T *upper_values) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x) / fill_lanes;
  if (i >= n) return;
  const int lane = static_cast<int>(threadIdx.x % fill_lanes);
  const device::Real<T> root = sqrt(scale[i]);
  for (std::int64_t k = lower_ptr[i] + lane; k < lower_ptr[i + 1] - 1; k += fill_lanes)
    lower_values[k] = dense::scaled(lower_values[k], w * root);
  for (std::int64_t k = upper_ptr[i] + 1 + lane; k < upper_ptr[i + 1]; k += fill_lanes)
    upper_values[k] = dense::scaled(upper_values[k], w * sqrt(scale[upper_col[k]]));
  if (lane == 0) lower_values[lower_ptr[i + 1] - 1] = upper_values[upper_ptr[i]] = dense::from_real<T>(root);
}

template <class R>
struct Scale {
  const R *inverse;
  R *scale;
  R factor;
  __device__ void operator()(std::int64_t i) const { scale[i] = factor * inverse[i]; }
};

// p_0 of a probe: random signs over the roots of the diagonal.
template <class T>
struct StartProbe {
  using R = device::Real<T>;
  const R *inverse;
  T *p;
  std::uint64_t probe;
  __device__ void operator()(std::int64_t i) const {
    const auto sign = static_cast<R>(methods::random_sign(probe, static_cast<std::uint64_t>(i)));
    p[i] = dense::from_real<T>(sign * sqrt(inverse[i]));
  }
};

// The triangles' patterns and room for their values.
void lay_out(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.lower = device::Factor(exec, state.n);
  state.upper = device::Factor(exec, state.n);
  auto *lower = state.lower.ptr.as<std::int32_t>(), *upper = state.upper.ptr.as<std::int32_t>();
  device::with_rows(state.type, a, [&](auto, const auto &rows) {
    using M = device::value_of<std::remove_cvref_t<decltype(rows)>>;
    cuda::visit_all(exec, state.n + 1, CountTriangles<M>{rows, lower, upper, state.order == 1});
  });
  for (device::Factor *factor : {&state.lower, &state.upper}) {
    auto *ptr = factor->ptr.as<std::int32_t>();
    cuda::exclusive_scan(exec, ptr, state.n + 1);
    factor->make_room(exec, cuda::fetch(exec, ptr + state.n, "a triangle's entries"), state.type);
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(state.n) * methods::real_bytes(state.type);
  state.inverse = cuda::DeviceArray(exec, bytes, "an inverse diagonal");
  state.scale = cuda::DeviceArray(exec, bytes, "a scaled diagonal");
  state.found = cuda::DeviceArray(exec, sizeof(device::Findings), "findings");
}

// The omega with the least estimated trace. While a state is built: it takes memory.
template <class T, class M>
double estimate_omega(const State &state, const device::Rows<M> &a, std::int64_t nnz, const sxt_exec *exec) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(state.n) * sizeof(T);
  const auto vector = [&] { return cuda::DeviceArray(exec, bytes, "a probe", cuda::Life::call); };
  const cuda::DeviceArray vectors[] = {vector(), vector(), vector(), vector()};
  T *const p0 = vectors[0].as<T>(), *const p1 = vectors[1].as<T>(), *const p2 = vectors[2].as<T>();
  T *const q = vectors[3].as<T>();
  const cuda::DeviceArray partials(exec, device::dot_blocks * sizeof(double), "partial sums", cuda::Life::call);
  const auto form = [&](const T *x) { return device::dot(exec, state.n, x, q, partials.as<double>()); };
  methods::OmegaSums sums;
  for (int probe = 0; probe < methods::omega_probes; ++probe) {
    cuda::visit_all(exec, state.n,
                    StartProbe<T>{state.inverse.as<device::Real<T>>(), p0, static_cast<std::uint64_t>(probe)});
    device::apply<T>(exec, state.upper, 1, p0, nullptr, nullptr, p1);
    device::multiply(exec, a, nnz, p0, q);
    sums.g00 += form(p0);
    sums.g01 += form(p1);
    if (state.order == 2) {
      device::apply<T>(exec, state.upper, 1, p1, nullptr, nullptr, p2);
      sums.g02 += form(p2);
    }
    device::multiply(exec, a, nnz, p1, q);
    sums.g11 += form(p1);
    if (state.order == 1) continue;
    sums.g12 += form(p2);
    device::multiply(exec, a, nnz, p2, q);
    sums.g22 += form(p2);
  }
  return methods::choose_omega(sums, state.order);
}

// Throws cuda::Failure naming the first row without a positive diagonal. Waits for the answer.
void compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.usable = false;
  if (state.n > 0)
    device::with_rows(state.type, a, [&](auto t, const auto &rows) {
      using T = decltype(t);
      using R = device::Real<T>;
      auto *inverse = state.inverse.as<R>();
      device::invert_diagonal(exec, rows, inverse, state.found.as<device::Findings>(), "SSOR");
      fill_triangles<<<device::row_blocks(state.n, fill_lanes), device::threads, 0, cuda::stream_of(*exec)>>>(
          rows, static_cast<const R *>(inverse), state.lower.ptr.as<const std::int32_t>(),
          state.lower.col.as<std::int32_t>(), state.lower.values.as<T>(), state.upper.ptr.as<const std::int32_t>(),
          state.upper.col.as<std::int32_t>(), state.upper.values.as<T>(), state.order == 1);
      cuda::need_launch("the split of a matrix");
      if (state.omega == 0) state.omega = estimate_omega<T>(state, rows, a.s.nnz, exec);  // later refreshes keep it
      cuda::visit_all(exec, state.n,
                      Scale<R>{inverse, state.scale.as<R>(), static_cast<R>(state.omega * (2 - state.omega))});
      if (state.order != 1) return;
      form_factors<<<device::row_blocks(state.n, fill_lanes), device::threads, 0, cuda::stream_of(*exec)>>>(
          state.n, state.scale.as<const R>(), static_cast<R>(-state.omega), state.lower.ptr.as<const std::int32_t>(),
          state.lower.values.as<T>(), state.upper.ptr.as<const std::int32_t>(),
          state.upper.col.as<const std::int32_t>(), state.upper.values.as<T>());
      cuda::need_launch("the factors of SSOR");
    });
  state.usable = true;
}

// Order 2: t = s (r - w B (r - w B r)) and z = t - w B' (t - w B' t).
template <class T>
void apply_second(const State &state, const T *r, T *z, T *t, T *u, int columns, const sxt_exec *exec) {
  using R = device::Real<T>;
  const R w = static_cast<R>(-state.omega);
  device::apply<T>(exec, state.lower, w, r, r, nullptr, u, columns);
  device::apply<T>(exec, state.lower, w, u, r, state.scale.as<const R>(), t, columns);
  device::apply<T>(exec, state.upper, w, t, t, nullptr, u, columns);
  device::apply<T>(exec, state.upper, w, u, t, nullptr, z, columns);
}

template <int order>
sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz);
  const double bytes = static_cast<double>(value_bytes(type)),
               entries = std::max(0.0, (nnz - n) / 2) + (order == 1 ? n : 0);
  const int columns = methods::columns_of(query);
  const double products = 2 * order,
               product_bytes = device::factor_bytes(n, entries, type) + (order == 1 ? 2 : 4) * n * bytes * columns;
  const int lanes = device::lanes_for(entries, n, machine);

  cuda::CudaCost cost;
  cost.launches = device::captured(products);
  cost.stream_bytes = products * product_bytes;
  cost.sectors = products * entries * device::sectors_of(columns, value_bytes(type));  // x
  cost.flops = products * entries * columns * multiply_add_flops(type);
  cost.working_set = 2 * product_bytes;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, device::row_blocks(query.m.rows, lanes), device::threads, lanes, cost);
  const double probes = std::isnan(methods::number_or(query, method_of(order), NAN)) ? methods::omega_probes : 0;
  const double pass_s = nnz * (4 + bytes) / machine->stream_rate,
               row_pass_s = nnz * 13e-9 / std::max(1, machine->units);
  // Two prefix sums and their answers; the split; a probe waits for three sums (six for the second order).
  candidate.setup_s = 12 * machine->launch_s + 150e-6 + row_pass_s + probes * order * (3 * 25e-6 + 3 * pass_s);
  candidate.state_bytes = static_cast<std::uint64_t>(2 * device::factor_bytes(n, entries, type) + 2 * n * bytes);
  candidate.scratch_bytes = static_cast<std::uint64_t>(order) * device::vector_bytes(query.m.rows, type);
  return SXT_OK;
}

template <int order>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_csr *a = nullptr;
    if (const sxt_status status = methods::need_csr(*problem, -1, exec, &a); status != SXT_OK) return status;
    state.type = problem->query->value_type;
    state.n = a->s.rows;
    state.order = order;
    state.omega = methods::number_or(as<sxt_preconditioner_query>(problem->query), method_of(order), 0);
    lay_out(state, *a, exec);
    state.lower.lanes = state.upper.lanes = device::lanes_of(candidate, state.lower.lanes);
    compute(state, *a, exec);
    return SXT_OK;
  });
}

template <int order>
sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_preconditioner_args>(head);
  if (const auto status = methods::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  const int columns = device::columns_of(args);
  const std::uint64_t bytes = device::vector_bytes(columns * state.n, state.type);
  if (const auto status = device::need_scratch(exec, order * bytes); status != SXT_OK) return status;
  return cuda::guarded(exec, [&] {
    sxt_status status = SXT_OK;
    device::with_vectors(state.type, [&](auto tag) {
      using T = decltype(tag);
      const T *const r = static_cast<const T *>(args.r);
      T *const t = static_cast<T *>(exec->scratch), *const z = static_cast<T *>(args.z);
      if constexpr (order == 1) {
        status = device::apply_pair(state, session, r, t, z, columns, *exec);
      } else {
        apply_second<T>(state, r, z, t, reinterpret_cast<T *>(static_cast<char *>(exec->scratch) + bytes), columns,
                        exec);
      }
    });
    return status;
  });
}

template <int order>
sxt_kernel new_method(const char *name, const char *description) {
  static const sxt_preconditioner_factors_ops ops = methods::factors_ops(method_of(order), methods::factor_pair<State>);
  const methods::Functions functions{device::applicable<method_of(order)>,
                                     candidates<order>,
                                     prepare<order>,
                                     device::refresh<State, compute>,
                                     run<order>,
                                     order == 1 ? device::open_pair<State> : device::open_factors<State>};
  return device::side_by_side(
      order == 1 ? methods::factored_kernel<State>(name, "cuda", description, functions, &ops, cuda::cuda_terms)
                 : methods::csr_kernel<State>(name, "cuda", description, functions, &ops.one, cuda::cuda_terms));
}

const sxt_kernel one_term = new_method<1>("preconditioner.ssor-ai.cuda",
                                          "SSOR with one Neumann term instead of triangular solves: two products");
const sxt_kernel two_terms =
    new_method<2>("preconditioner.ssor-ai-2.cuda", "SSOR with two Neumann terms instead of triangular solves: four");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&one_term, &two_terms>("preconditioner-ssor-ai-cuda", out);
}
