// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.chebyshev.cpu: M = p(D^-1 A) D^-1 with the Chebyshev polynomial p of a part of the spectrum that a
// Lanczos probe found. A step is one pass over A, fused with the vector operations around it, and needs no inner
// product. A's own arrays are read: the state is the diagonal and an interval.
#include <cstdint>
#include <memory>

#include "plugins/preconditioner/shared/chebyshev.hpp"
#include "plugins/preconditioner/shared/factor.hpp"

namespace {

namespace plugin = sextant::plugin;
namespace precondition = sextant::plugin::precondition;
using precondition::Rows, plugin::real_of;

struct State {
  sxt_value_type type;
  std::int64_t n, threads;
  int degree;
  precondition::Interval interval{};
  sxt_csr a{};  // its arrays outlive the state
  precondition::Offsets offsets;
  plugin::Memory inverse;  // n reals: 1 / d_i
  plugin::Memory work;     // 3 n values, for the probe
  bool usable = false;
};

// The inverse diagonal and the largest row sum of |D^-1 A|.
template <class T, class M>
sxt_status read_diagonal(const State &state, const Rows<M> &a, double *row_sum, const sxt_exec *exec) {
  auto *inverse = state.inverse.as<real_of<T>>();
  *row_sum = 0;
  for (std::int64_t i = 0; i < a.n; ++i) {
    if (const auto status = precondition::check_diagonal(a, i, "Chebyshev", exec); status != SXT_OK) return status;
    const double d = static_cast<double>(std::real(a.template at<T>(i, i)));
    inverse[i] = static_cast<real_of<T>>(1 / d);
    double sum = 0;
    for (std::int64_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) sum += static_cast<double>(std::abs(a.values[k]));
    if (!std::isfinite(inverse[i]) || inverse[i] == 0 || !std::isfinite(sum))
      return plugin::error(exec, SXT_E_NOT_FINITE,
                           "row %lld (counting from 0) has the diagonal entry %.9g and entries of the sum %.9g: "
                           "beyond the range of %s",
                           static_cast<long long>(i), d, sum, plugin::value_name(state.type));
    *row_sum = std::max(*row_sum, sum / d);
  }
  return SXT_OK;
}

// Lanczos on D^-1/2 A D^-1/2 from a vector of random signs. Inner products are summed by one thread.
template <class T, class M>
precondition::Lanczos probe(const State &state, const Rows<M> &a) {
  const auto *inverse = state.inverse.as<real_of<T>>();
  T *v = state.work.as<T>(), *previous = v + a.n, *w = previous + a.n;
  precondition::Lanczos lanczos;
  for (std::int64_t i = 0; i < a.n; ++i) {
    v[i] =
        static_cast<T>(static_cast<real_of<T>>(precondition::random_sign(0, i) / std::sqrt(static_cast<double>(a.n))));
    previous[i] = T(0);
  }
  double beta = 0;
  const auto half = [inverse](std::int64_t i) { return std::sqrt(inverse[i]); };
  while (lanczos.steps < std::min<std::int64_t>(precondition::lanczos_steps, a.n)) {
    precondition::for_each_row(a.ptr, a.n, static_cast<int>(state.threads), [&](std::int64_t i) {
      T sum(0);
      for (std::int64_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
        sum += plugin::product(static_cast<T>(a.values[k]), v[a.col[k]]) * half(a.col[k]);
      w[i] = half(i) * sum - static_cast<real_of<T>>(beta) * previous[i];
    });
    double alpha = 0, square = 0;
    for (std::int64_t i = 0; i < a.n; ++i)
      alpha += static_cast<double>(std::real(plugin::product(plugin::conjugate(v[i]), w[i])));
    for (std::int64_t i = 0; i < a.n; ++i) {
      w[i] -= static_cast<real_of<T>>(alpha) * v[i];
      square += static_cast<double>(std::norm(w[i]));
    }
    beta = std::sqrt(square);
    lanczos.alpha[lanczos.steps] = alpha;
    lanczos.beta[lanczos.steps++] = beta;
    if (!(beta > 1e-6 * std::abs(alpha))) break;  // the whole space is found
    const auto inverse_norm = static_cast<real_of<T>>(1 / beta);
    for (std::int64_t i = 0; i < a.n; ++i) w[i] *= inverse_norm;
    std::swap(v, previous);  // previous = v, v = w, and the oldest is free
    std::swap(v, w);
  }
  return lanczos;
}

template <class T, class M>
sxt_status compute_typed(State &state, const sxt_exec *exec) {
  const Rows<M> a = state.offsets.rows<M>(state.a);
  double row_sum = 0;
  if (const auto status = read_diagonal<T>(state, a, &row_sum, exec); status != SXT_OK) return status;
  if (a.n == 0) return SXT_OK;
  const precondition::Lanczos lanczos = probe<T>(state, a);
  state.interval = precondition::chebyshev_interval(lanczos, row_sum, state.degree);
  // Written so that NaN fails.
  if (!(lanczos.eigenvalue(0) > -1e-3 * row_sum) || !(state.interval.low > 0))
    return plugin::error(exec, SXT_E_NOT_POSITIVE_DEFINITE,
                         "a Lanczos probe found eigenvalues from %.6g to %.6g of D^-1 A: the matrix is not positive "
                         "definite",
                         lanczos.eigenvalue(0), lanczos.eigenvalue(lanczos.steps - 1));
  return SXT_OK;
}

sxt_status compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.usable = false;
  state.a = a;
  const sxt_status status = plugin::with_matrix_types(
      state.type, a.s.value_type,
      [&]<class T, class M>(plugin::Tag<T>, plugin::Tag<M>) { return compute_typed<T, M>(state, exec); });
  state.usable = status == SXT_OK;
  return status;
}

// Two directions, since a step reads the old one while it writes the new one, and the residual.
template <class T, class M>
void apply(const State &state, const T *r, T *z, char *scratch, std::uint64_t stride, int team) {
  using Real = real_of<T>;
  const Rows<M> a = state.offsets.rows<M>(state.a);
  const auto *inverse = state.inverse.as<Real>();
  T *d = reinterpret_cast<T *>(scratch), *next = reinterpret_cast<T *>(scratch + stride);
  T *const residual = reinterpret_cast<T *>(scratch + 2 * stride);
  precondition::ChebyshevSteps steps(state.interval);
  const Real first = static_cast<Real>(steps.first());
  precondition::for_each_row(a.ptr, a.n, team, [&](std::int64_t i) { d[i] = z[i] = first * (inverse[i] * r[i]); });
  const T *from = r;
  for (int step = 1; step < state.degree; ++step, from = residual, std::swap(d, next)) {
    const auto [keep, take] = steps.next();
    const Real old_share = static_cast<Real>(keep), new_share = static_cast<Real>(take);
    precondition::for_each_row(a.ptr, a.n, team, [&](std::int64_t i) {
      residual[i] = from[i] - precondition::row_product(a, i, d);
      next[i] = old_share * d[i] + new_share * (inverse[i] * residual[i]);
      z[i] += next[i];
    });
  }
}

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const sxt_status status = precondition::applies(head, precondition::chebyshev, reason);
  return status == SXT_OK ? precondition::check_degree(plugin::as<sxt_preconditioner_query>(head), reason) : status;
}

sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz);
  const double bytes = static_cast<double>(plugin::value_bytes(type));
  const double matrix_bytes = nnz * (4 + static_cast<double>(plugin::value_bytes(query.m.matrix_type))) + 8 * n;
  // A product alone streams A and two vectors; the rest of an iteration about ten more.
  const int chosen = precondition::choose_degree(matrix_bytes + 2 * n * bytes, 10 * n * bytes);
  const double degree = precondition::number_or(query, precondition::chebyshev, chosen);

  plugin::CpuCost cost;
  cost.stream_bytes = (degree - 1) * (matrix_bytes + 7 * n * bytes) + 4 * n * bytes;
  cost.flops = (degree - 1) * nnz * plugin::multiply_add_flops(type) * plugin::scalar_slowdown(*machine, type);
  cost.working_set = matrix_bytes + 7 * n * bytes;
  plugin::CandidateList list(out, capacity, count);
  plugin::for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = plugin::fill(list.add(), threads, cost);
    candidate.launch[1] = static_cast<std::int64_t>(degree);
    candidate.terms[1] = threads > 1 ? degree : 0;
    candidate.setup_s = precondition::lanczos_steps * (nnz / threads + 4 * n) * 1.5e-9 + n * 20e-9;
    candidate.state_bytes =
        static_cast<std::uint64_t>(n * (3 * bytes + 8 + static_cast<double>(precondition::real_bytes(type))));
    candidate.scratch_bytes = 3 * precondition::vector_bytes(query.m.rows, type);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return precondition::build_state<State>(problem, candidate, exec, out, [&](State &state, const sxt_csr &a) {
    const double chosen = candidate && candidate->launch[1] > 0 ? static_cast<double>(candidate->launch[1]) : 5;
    const auto &query = plugin::as<sxt_preconditioner_query>(problem->query);
    state.degree = static_cast<int>(precondition::number_or(query, precondition::chebyshev, chosen));
    const auto rows = static_cast<std::uint64_t>(state.n);
    state.offsets = precondition::Offsets(exec, a);
    state.inverse = plugin::Memory(exec, SXT_SPACE_HOST, rows * precondition::real_bytes(state.type));
    state.work = plugin::Memory(exec, SXT_SPACE_HOST, 3 * rows * plugin::value_bytes(state.type));
    return compute(state, a, exec);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = plugin::as<sxt_preconditioner_args>(head);
  if (const auto status = precondition::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  const std::uint64_t bytes = precondition::vector_bytes(state.n, state.type);
  if (const auto status = plugin::need_scratch(exec, 3 * bytes); status != SXT_OK) return status;
  return plugin::with_matrix_types(
      state.type, state.a.s.value_type, [&]<class T, class M>(plugin::Tag<T>, plugin::Tag<M>) {
        apply<T, M>(state, static_cast<const T *>(args.r), static_cast<T *>(args.z), static_cast<char *>(exec->scratch),
                    bytes, plugin::team_size(state.threads, *exec));
        return static_cast<sxt_status>(SXT_OK);
      });
}

const char *const variants[] = {"chebyshev:3", "chebyshev:7", nullptr};
const sxt_preconditioner_ops ops{sizeof(sxt_preconditioner_ops), precondition::chebyshev.name, nullptr, variants,
                                 precondition::chebyshev.typical_iterations};

const sxt_kernel kernel = precondition::csr_kernel<State>(
    "preconditioner.chebyshev.cpu", "cpu", "a Chebyshev polynomial of A, scaled by its diagonal, of odd degree",
    {applicable, candidates, prepare, precondition::refresh<State, compute>, run}, &ops, plugin::cpu_terms);

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  plugin::take_team(host);
  return plugin::offer<&kernel>("preconditioner-chebyshev", out);
}
