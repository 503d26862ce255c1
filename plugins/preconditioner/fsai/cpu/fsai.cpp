// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.fsai.cpu and preconditioner.fsai-2.cpu: the factorised sparse approximate inverse M = G' G of
// Kolotilina and Yeremin (1993). Row i of G solves a dense system with the rows and columns of A that its pattern
// names, so rows are independent, and an application is two sparse products. The pattern: tril(A), or tril(A^2).
#include <cstdint>
#include <memory>

#include "plugins/preconditioner/shared/factor.hpp"
#include "plugins/preconditioner/shared/fsai.hpp"

namespace {

namespace plugin = sextant::plugin;
namespace precondition = sextant::plugin::precondition;
using precondition::Factor, precondition::Rows;

struct State {
  sxt_value_type type;
  std::int64_t n, threads;
  Factor lower, upper;       // G and G'
  plugin::Memory cursor;     // n int64, for transposing
  plugin::Memory work;       // for each thread a dense system and its right-hand side
  std::int64_t longest = 0;  // order of the largest system
  precondition::Offsets offsets;
  bool usable = false;
};

// The lower triangle of A[J, J] for the columns J of a row. A row of A much longer than J is searched, not walked.
template <class T, class M>
void gather(const Rows<M> &a, const std::int32_t *columns, std::int64_t m, T *dense) {
  for (std::int64_t p = 0; p < m; ++p) {
    T *row = dense + p * m;
    std::fill(row, row + p + 1, T(0));
    const std::int64_t i = columns[p], end = a.ptr[i + 1];
    if (end - a.ptr[i] > 8 * m) {
      for (std::int64_t q = 0; q <= p; ++q) row[q] = a.template at<T>(i, columns[q]);
      continue;
    }
    std::int64_t q = 0;
    for (std::int64_t k = a.find(i, columns[0]); k < end && a.col[k] <= i; ++k) {  // both lists ascend
      while (q < p && columns[q] < a.col[k]) ++q;
      if (columns[q] == a.col[k]) row[q] = static_cast<T>(a.values[k]);
    }
  }
}

// Row i of G: the last row of the local system's inverse Cholesky factor. False where the system is not positive
// definite, with the pivot. dense: room for the largest system and a row.
template <class T, class M>
bool solve_row(const State &state, const Rows<M> &a, std::int64_t i, T *dense, double *pivot) {
  const auto g = precondition::rows_of<T>(state.lower);
  const std::int64_t m = g.ptr[i + 1] - g.ptr[i];
  T *const row = dense + state.longest * state.longest;
  gather(a, g.col + g.ptr[i], m, dense);
  if (precondition::factor_lower(dense, m, m, pivot) >= 0) return false;
  precondition::last_row_of_inverse(dense, m, m, row);
  std::copy_n(row, m, state.lower.values.as<T>() + g.ptr[i]);
  return true;
}

template <class T, class M>
sxt_status compute_typed(const State &state, const sxt_csr &csr, const sxt_exec *exec) {
  const auto a = state.offsets.rows<M>(csr);
  const int team = static_cast<int>(state.threads);
  const auto *ptr = state.lower.ptr.as<std::int64_t>();
  precondition::First failed;
  plugin::for_each_part(team, plugin::team_size(team, *exec), [&](int part) {
    T *dense = state.work.as<T>() + part * state.longest * (state.longest + 1);
    double unused = 0;
    const plugin::Range rows = precondition::even_rows(ptr, state.n, team, part);
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      if (!solve_row(state, a, i, dense, &unused)) return failed.note(i);
  });
  if (const std::int64_t row = failed.get(); row >= 0) {
    double pivot = 0;
    solve_row(state, a, row, state.work.as<T>(), &pivot);
    return plugin::error(exec, SXT_E_NOT_POSITIVE_DEFINITE,
                         "the local system of row %lld (counting from 0) is not positive definite: pivot %.6g; FSAI "
                         "needs definite ones, which every positive definite matrix has",
                         static_cast<long long>(row), pivot);
  }
  precondition::transpose_values<T>(state.lower, state.upper, state.cursor.as<std::int64_t>());
  return SXT_OK;
}

sxt_status compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.usable = false;
  const sxt_status status = plugin::with_matrix_types(
      state.type, a.s.value_type,
      [&]<class T, class M>(plugin::Tag<T>, plugin::Tag<M>) { return compute_typed<T, M>(state, a, exec); });
  state.usable = status == SXT_OK;
  return status;
}

// The pattern of a matrix. Its strengths only matter for rows beyond the limit.
precondition::LowerPattern find_pattern(const State &state, const sxt_csr &csr, int power, int team) {
  precondition::LowerPattern pattern;
  plugin::with_matrix_types(state.type, csr.s.value_type, [&]<class T, class M>(plugin::Tag<T>, plugin::Tag<M>) {
    const auto a = state.offsets.rows<M>(csr);
    std::vector<double> scale(static_cast<std::size_t>(a.n));
    for (std::int64_t i = 0; i < a.n; ++i)
      scale[i] = 1 / std::sqrt(std::max(1e-300, std::abs(static_cast<double>(std::real(a.template at<T>(i, i))))));
    std::vector<float> strength(static_cast<std::size_t>(csr.s.nnz));
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
        strength[k] = static_cast<float>(static_cast<double>(std::abs(a.values[k])) * scale[i] * scale[a.col[k]]);
    pattern = precondition::fsai_pattern(a.n, a.ptr, a.col, power, team,
                                         [&](std::int64_t k) { return static_cast<double>(strength[k]); });
    return static_cast<sxt_status>(SXT_OK);
  });
  return pattern;
}

void lay_out(State &state, const sxt_csr &a, int power, const sxt_exec *exec) {
  state.offsets = precondition::Offsets(exec, a);
  const auto pattern = find_pattern(state, a, power, plugin::team_size(state.threads, *exec));
  const auto entries = static_cast<std::int64_t>(pattern.col.size());
  const auto bytes = plugin::value_bytes(state.type);
  state.longest = std::max<std::int64_t>(1, pattern.longest);
  state.lower = Factor(exec, state.n, entries, state.type);
  state.upper = Factor(exec, state.n, entries, state.type);
  state.cursor = plugin::Memory(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(state.n) * sizeof(std::int64_t));
  state.work = plugin::Memory(exec, SXT_SPACE_HOST,
                              static_cast<std::uint64_t>(state.threads * state.longest * (state.longest + 1)) * bytes);
  std::copy(pattern.ptr.begin(), pattern.ptr.end(), state.lower.ptr.as<std::int64_t>());
  std::copy(pattern.col.begin(), pattern.col.end(), state.lower.col.as<std::int32_t>());
  precondition::transpose_pattern(state.lower, state.upper, state.cursor.as<std::int64_t>());
}

constexpr const precondition::Method &method_of(int power) {
  return power == 1 ? precondition::fsai_1 : precondition::fsai_2;
}

template <int power>
sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz);
  const double entries = precondition::fsai_entries(n, nnz, power), row = n > 0 ? entries / n : 0;
  const double product_bytes =
      precondition::factor_bytes(n, entries, type) + 2 * n * static_cast<double>(plugin::value_bytes(type));

  plugin::CpuCost cost;
  cost.stream_bytes = cost.working_set = 2 * product_bytes;
  cost.flops = 2 * entries * plugin::multiply_add_flops(type) * plugin::scalar_slowdown(*machine, type);
  plugin::CandidateList list(out, capacity, count);
  plugin::for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = plugin::fill(list.add(), threads, cost);
    candidate.terms[1] = threads > 1 ? 2 : 0;
    // A row gathers its system (a pass over the rows it names) and factors it; patterns and transposes beside that.
    const double gathers = entries * (n > 0 ? nnz / n : 0) * 1e-9, solves = n * row * row * (row / 3 + 1) * 0.5e-9;
    const double paths = power == 1 ? nnz : nnz * (n > 0 ? nnz / n : 0) / 2;
    candidate.setup_s = (gathers + solves + paths * 2e-9) / threads + (nnz + 3 * entries) * 2e-9;
    candidate.state_bytes = static_cast<std::uint64_t>(2 * precondition::factor_bytes(n, entries, type) + 8 * n);
    candidate.scratch_bytes = static_cast<std::uint64_t>(query.m.rows) * plugin::value_bytes(type);
  });
  return SXT_OK;
}

template <int power>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return precondition::build_state<State>(problem, candidate, exec, out, [&](State &state, const sxt_csr &a) {
    lay_out(state, a, power, exec);
    return compute(state, a, exec);
  });
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = plugin::as<sxt_preconditioner_args>(head);
  if (const auto status = precondition::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  const std::uint64_t bytes = static_cast<std::uint64_t>(state.n) * plugin::value_bytes(state.type);
  if (const auto status = plugin::need_scratch(exec, bytes); status != SXT_OK) return status;
  return plugin::with_value_type(state.type, [&]<class T>(plugin::Tag<T>) {
    return precondition::apply_pair(state, session, static_cast<const T *>(args.r), static_cast<T *>(exec->scratch),
                                    static_cast<T *>(args.z), plugin::team_size(state.threads, *exec), *exec);
  });
}

template <int power>
sxt_kernel new_method(const char *name, const char *description) {
  static const sxt_preconditioner_factors_ops ops =
      precondition::factors_ops(method_of(power), precondition::factor_pair<State>);
  return precondition::factored_kernel<State>(
      name, "cpu", description,
      {precondition::applicable<method_of(power)>, candidates<power>, prepare<power>,
       precondition::refresh<State, compute>, run, precondition::open_products<2>},
      &ops, plugin::cpu_terms);
}

const sxt_kernel of_matrix =
    new_method<1>("preconditioner.fsai.cpu", "factorised sparse approximate inverse on the pattern of tril(A)");
const sxt_kernel of_square =
    new_method<2>("preconditioner.fsai-2.cpu", "factorised sparse approximate inverse on the pattern of tril(A^2)");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  plugin::take_team(host);
  return plugin::offer<&of_matrix, &of_square>("preconditioner-fsai", out);
}
