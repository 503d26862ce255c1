// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.ssor-ai.cpu and preconditioner.ssor-ai-2.cpu: the SSOR preconditioner with its triangular solves
// replaced by one or two terms of their Neumann series, so that an application is two or four sparse products.
// A = L + D + L', B = L D^-1: M = w (2 - w) K' D^-1 K, K = I - w B (order 1) or I - w B + w^2 B^2 (order 2). Order 1 is
// kept as M = G' G with G = (w (2 - w) / D)^1/2 K, whose products core may leave to other kernels.
#include <cstdint>
#include <memory>

#include "plugins/preconditioner/shared/factor.hpp"
#include "plugins/preconditioner/shared/preconditioner.hpp"

namespace {

namespace plugin = sextant::plugin;
namespace precondition = sextant::plugin::precondition;
using precondition::Factor, precondition::Rows, plugin::real_of;

struct State {
  sxt_value_type type;
  std::int64_t n, threads;
  int order;
  double omega = 0;
  Factor lower, upper;   // G and G' (order 1), B and B' (order 2)
  plugin::Memory scale;  // n reals: w (2 - w) / d_i
  precondition::Offsets offsets;
  bool usable = false;
};

constexpr const precondition::Method &method_of(int order) {
  return order == 1 ? precondition::ssor_ai_1 : precondition::ssor_ai_2;
}

// Whether both triangles hold the diagonal.
bool with_diagonal(const State &state) { return state.order == 1; }

// Row pointers and columns of both triangles.
template <class M>
void split_pattern(const State &state, const Rows<M> &a) {
  auto *lower_ptr = state.lower.ptr.template as<std::int64_t>(),
       *upper_ptr = state.upper.ptr.template as<std::int64_t>();
  auto *lower_col = state.lower.col.template as<std::int32_t>(),
       *upper_col = state.upper.col.template as<std::int32_t>();
  std::int64_t lower = 0, upper = 0;
  for (std::int64_t i = 0; i < a.n; ++i) {
    lower_ptr[i] = lower;
    upper_ptr[i] = upper;
    for (std::int64_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const bool diagonal = a.col[k] == i && with_diagonal(state);
      if (a.col[k] < i || diagonal) lower_col[lower++] = a.col[k];
      if (a.col[k] > i || diagonal) upper_col[upper++] = a.col[k];
    }
  }
  lower_ptr[a.n] = lower;
  upper_ptr[a.n] = upper;
}

// B_ij = a_ij / d_j for j < i; row i of B' is that of U divided by d_i; 0 on the diagonal. scale holds 1 / d_i while
// this runs.
template <class T, class M>
void fill_values(const State &state, const Rows<M> &a) {
  const auto *inverse = state.scale.as<real_of<T>>();
  const auto lower = precondition::rows_of<T>(state.lower), upper = precondition::rows_of<T>(state.upper);
  auto *lower_values = state.lower.values.as<T>(), *upper_values = state.upper.values.as<T>();
  precondition::for_each_row(a.ptr, a.n, static_cast<int>(state.threads), [&](std::int64_t i) {
    std::int64_t k = a.ptr[i], to = upper.ptr[i];
    const std::int64_t diagonal = with_diagonal(state);
    for (std::int64_t at = lower.ptr[i]; at < lower.ptr[i + 1] - diagonal; ++at, ++k)
      lower_values[at] = static_cast<T>(a.values[k]) * inverse[a.col[k]];
    ++k;
    if (diagonal) lower_values[lower.ptr[i + 1] - 1] = upper_values[to++] = T(0);
    for (; to < upper.ptr[i + 1]; ++to, ++k) upper_values[to] = static_cast<T>(a.values[k]) * inverse[i];
  });
}

// G and G' in place of B and B'. scale holds w (2 - w) / d_i.
template <class T>
void form_factors(const State &state) {
  using Real = real_of<T>;
  const auto *scale = state.scale.as<Real>();
  const auto w = static_cast<Real>(-state.omega);
  const auto lower = precondition::rows_of<T>(state.lower), upper = precondition::rows_of<T>(state.upper);
  auto *lower_values = state.lower.values.as<T>(), *upper_values = state.upper.values.as<T>();
  precondition::for_each_row(lower.ptr, state.n, static_cast<int>(state.threads), [&](std::int64_t i) {
    const Real root = std::sqrt(scale[i]);
    for (std::int64_t k = lower.ptr[i]; k < lower.ptr[i + 1] - 1; ++k) lower_values[k] *= w * root;
    for (std::int64_t k = upper.ptr[i] + 1; k < upper.ptr[i + 1]; ++k)
      upper_values[k] *= w * std::sqrt(scale[upper.col[k]]);
    lower_values[lower.ptr[i + 1] - 1] = upper_values[upper.ptr[i]] = root;
  });
}

// Re x' A y.
template <class T, class M>
double form(const Rows<M> &a, const std::vector<T> &x, const std::vector<T> &y) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.n; ++i)
    sum += std::real(plugin::product(plugin::conjugate(x[i]), precondition::row_product(a, i, y.data())));
  return sum;
}

// scale holds 1 / d_i.
template <class T, class M>
double estimate_omega(const State &state, const Rows<M> &a) {
  const auto *inverse = state.scale.as<real_of<T>>();
  const int team = static_cast<int>(state.threads);
  std::vector<T> p0(a.n), p1(a.n), p2(state.order == 2 ? a.n : 0);
  precondition::OmegaSums sums;
  for (int probe = 0; probe < precondition::omega_probes; ++probe) {
    for (std::int64_t i = 0; i < a.n; ++i)
      p0[i] = static_cast<T>(static_cast<real_of<T>>(precondition::random_sign(probe, i)) * std::sqrt(inverse[i]));
    precondition::apply_factor<T>(state.upper, T(1), p0.data(), nullptr, nullptr, p1.data(), team);
    sums.g00 += form(a, p0, p0);
    sums.g01 += form(a, p0, p1);
    sums.g11 += form(a, p1, p1);
    if (state.order == 1) continue;
    precondition::apply_factor<T>(state.upper, T(1), p1.data(), nullptr, nullptr, p2.data(), team);
    sums.g02 += form(a, p0, p2);
    sums.g12 += form(a, p1, p2);
    sums.g22 += form(a, p2, p2);
  }
  return precondition::choose_omega(sums, state.order);
}

template <class T, class M>
sxt_status compute_typed(State &state, const Rows<M> &a, const sxt_exec *exec) {
  using Real = real_of<T>;
  auto *scale = state.scale.as<Real>();
  for (std::int64_t i = 0; i < a.n; ++i) {
    if (const auto status = precondition::check_diagonal(a, i, "SSOR", exec); status != SXT_OK) return status;
    scale[i] = 1 / static_cast<Real>(std::real(a.template at<T>(i, i)));
    if (!std::isfinite(scale[i]) || scale[i] == 0)
      return plugin::error(exec, SXT_E_DIAGONAL,
                           "the diagonal entry of row %lld (counting from 0) has no inverse in %s",
                           static_cast<long long>(i), plugin::value_name(state.type));
  }
  fill_values<T>(state, a);
  if (state.omega == 0) state.omega = estimate_omega<T>(state, a);  // later refreshes keep it
  for (std::int64_t i = 0; i < a.n; ++i) scale[i] *= static_cast<Real>(state.omega * (2 - state.omega));
  if (state.order == 1) form_factors<T>(state);
  return SXT_OK;
}

sxt_status compute(State &state, const sxt_csr &csr, bool first, const sxt_exec *exec) {
  state.usable = false;
  const sxt_status status = plugin::with_matrix_types(
      state.type, csr.s.value_type, [&]<class T, class M>(plugin::Tag<T>, plugin::Tag<M>) -> sxt_status {
        const auto a = state.offsets.rows<M>(csr);
        if (first) split_pattern(state, a);
        return compute_typed<T, M>(state, a, exec);
      });
  state.usable = status == SXT_OK;
  return status;
}

// Order 2: t = s (r - w B (r - w B r)) and z = t - w B' (t - w B' t).
template <class T>
void apply_second(const State &state, const T *r, T *z, T *u, T *t, int team) {
  const T w = static_cast<T>(-state.omega);
  const auto *scale = state.scale.as<real_of<T>>();
  precondition::apply_factor<T>(state.lower, w, r, r, nullptr, u, team);
  precondition::apply_factor<T>(state.lower, w, u, r, scale, t, team);
  precondition::apply_factor<T>(state.upper, w, t, t, nullptr, u, team);
  precondition::apply_factor<T>(state.upper, w, u, t, nullptr, z, team);
}

template <int order>
sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), bytes = static_cast<double>(plugin::value_bytes(type));
  const double entries = std::max(0.0, (static_cast<double>(query.m.nnz) - n) / 2) + (order == 1 ? n : 0);
  const double products = 2 * order,
               product_bytes = precondition::factor_bytes(n, entries, type) + (order == 1 ? 2 : 3) * n * bytes;

  plugin::CpuCost cost;
  cost.stream_bytes = products * product_bytes;
  cost.flops = products * entries * plugin::multiply_add_flops(type) * plugin::scalar_slowdown(*machine, type);
  cost.working_set = 2 * product_bytes;
  const double probes =
      std::isnan(precondition::number_or(query, method_of(order), NAN)) ? precondition::omega_probes : 0;
  plugin::CandidateList list(out, capacity, count);
  plugin::for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = plugin::fill(list.add(), threads, cost);
    candidate.terms[1] = threads > 1 ? products : 0;
    // Both triangles written once; a probe multiplies by A on one thread, three times for each order.
    candidate.setup_s = static_cast<double>(query.m.nnz) * (4e-9 + probes * 3 * order * 1e-9) + n * 20e-9;
    candidate.state_bytes = static_cast<std::uint64_t>(2 * precondition::factor_bytes(n, entries, type) +
                                                       n * static_cast<double>(precondition::real_bytes(type)));
    candidate.scratch_bytes = static_cast<std::uint64_t>(order) * precondition::vector_bytes(query.m.rows, type);
  });
  return SXT_OK;
}

template <int order>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return precondition::build_state<State>(problem, candidate, exec, out, [&](State &state, const sxt_csr &a) {
    state.order = order;
    state.omega = precondition::number_or(plugin::as<sxt_preconditioner_query>(problem->query), method_of(order), 0);
    state.offsets = precondition::Offsets(exec, a);
    std::int64_t below = 0, above = 0;
    plugin::for_each_entry(a, {0, a.s.rows}, [&](std::int64_t i, std::int64_t, std::int64_t j) {
      below += j < i || (j == i && with_diagonal(state));
      above += j > i || (j == i && with_diagonal(state));
    });
    state.lower = Factor(exec, state.n, below, state.type);
    state.upper = Factor(exec, state.n, above, state.type);
    state.scale = plugin::Memory(exec, SXT_SPACE_HOST,
                                 static_cast<std::uint64_t>(state.n) * precondition::real_bytes(state.type));
    return compute(state, a, true, exec);
  });
}

template <int order>
sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = plugin::as<sxt_preconditioner_args>(head);
  if (const auto status = precondition::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  const std::uint64_t bytes = precondition::vector_bytes(state.n, state.type);
  if (const auto status = plugin::need_scratch(exec, order * bytes); status != SXT_OK) return status;
  const int team = plugin::team_size(state.threads, *exec);
  return plugin::with_value_type(state.type, [&]<class T>(plugin::Tag<T>) {
    const T *const r = static_cast<const T *>(args.r);
    T *const t = static_cast<T *>(exec->scratch), *const z = static_cast<T *>(args.z);
    if constexpr (order == 1) {
      return precondition::apply_pair(state, session, r, t, z, team, *exec);
    } else {
      apply_second(state, r, z, reinterpret_cast<T *>(static_cast<char *>(exec->scratch) + bytes), t, team);
      return static_cast<sxt_status>(SXT_OK);
    }
  });
}

// Omega stays that of the first values.
sxt_status compute_again(State &state, const sxt_csr &csr, const sxt_exec *exec) {
  return compute(state, csr, false, exec);
}

template <int order>
sxt_kernel new_method(const char *name, const char *description) {
  static const sxt_preconditioner_factors_ops ops =
      precondition::factors_ops(method_of(order), precondition::factor_pair<State>);
  const precondition::Functions functions{precondition::applicable<method_of(order)>,
                                          candidates<order>,
                                          prepare<order>,
                                          precondition::refresh<State, compute_again>,
                                          run<order>,
                                          order == 1 ? precondition::open_products<2> : nullptr};
  return order == 1 ? precondition::factored_kernel<State>(name, "cpu", description, functions, &ops, plugin::cpu_terms)
                    : precondition::csr_kernel<State>(name, "cpu", description, functions, &ops.one, plugin::cpu_terms);
}

const sxt_kernel one_term = new_method<1>("preconditioner.ssor-ai.cpu",
                                          "SSOR with one Neumann term instead of triangular solves: two products");
const sxt_kernel two_terms =
    new_method<2>("preconditioner.ssor-ai-2.cpu", "SSOR with two Neumann terms instead of triangular solves: four");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  plugin::take_team(host);
  return plugin::offer<&one_term, &two_terms>("preconditioner-ssor-ai", out);
}
