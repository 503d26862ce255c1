// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.block-jacobi.cpu: M = diag(A_11, A_22, ...)^-1 for the diagonal blocks of A. Each block is kept as
// W = C^-1 with A_kk = C C', so that M = W' W is positive definite in spite of rounding. An application reads W once:
// (b + 1) / 2 values a row for blocks of b.
#include <cstdint>
#include <memory>

#include "plugins/preconditioner/shared/factor.hpp"
#include "plugins/preconditioner/shared/preconditioner.hpp"

namespace {

namespace plugin = sextant::plugin;
namespace precondition = sextant::plugin::precondition;
using precondition::largest_block, precondition::triangle;

struct State {
  sxt_value_type type;
  std::int64_t n, n_blocks, threads;
  plugin::Memory first, place;  // n_blocks + 1 each: int32 first rows; int64 where a block's triangle begins
  plugin::Memory values;        // lower triangles, row by row
  precondition::Offsets offsets;
  bool usable = false;
};

// Returns -1, or the first row at which the block is not positive definite, with its pivot.
template <class T, class M>
std::int64_t factor_block(const precondition::Rows<M> &a, std::int64_t begin, std::int64_t size, T *to, double *pivot) {
  T block[largest_block * largest_block] = {};
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t k = a.find(begin + i, begin); k < a.ptr[begin + i + 1] && a.col[k] <= begin + i; ++k)
      block[i * largest_block + a.col[k] - begin] = static_cast<T>(a.values[k]);
  }
  const std::int64_t failed = precondition::factor_lower(block, size, largest_block, pivot);
  if (failed >= 0) return begin + failed;
  precondition::invert_lower(block, size, largest_block);
  for (std::int64_t i = 0; i < size; ++i) to = std::copy_n(block + i * largest_block, i + 1, to);
  return -1;
}

template <class T, class M>
sxt_status compute_typed(const State &state, const sxt_csr &csr, const sxt_exec *exec) {
  const auto a = state.offsets.rows<M>(csr);
  const auto *first = state.first.as<std::int32_t>();
  const auto *place = state.place.as<std::int64_t>();
  const int team = plugin::team_size(state.threads, *exec);
  double pivot = 0;
  const auto factor = [&](std::int64_t k, double *met) {
    return factor_block(a, first[k], first[k + 1] - first[k], state.values.as<T>() + place[k], met);
  };
  precondition::First failed;
  plugin::for_each_part(team, team, [&](int part) {
    double unused = 0;
    const auto range = plugin::part_of(state.n_blocks, team, part);
    for (std::int64_t k = range.begin; k < range.end; ++k)
      if (factor(k, &unused) >= 0) return failed.note(k);
  });
  if (failed.get() < 0) return SXT_OK;
  const std::int64_t row = factor(failed.get(), &pivot);
  return plugin::error(exec, SXT_E_NOT_POSITIVE_DEFINITE,
                       "the diagonal block around row %lld (counting from 0) is not positive definite: pivot %.6g; "
                       "block-Jacobi needs definite blocks, which every positive definite matrix has",
                       static_cast<long long>(row), pivot);
}

sxt_status compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  state.usable = false;
  const sxt_status status = plugin::with_matrix_types(
      state.type, a.s.value_type,
      [&]<class T, class M>(plugin::Tag<T>, plugin::Tag<M>) { return compute_typed<T, M>(state, a, exec); });
  state.usable = status == SXT_OK;
  return status;
}

// The blocks of a matrix and memory for them.
void lay_out(State &state, const sxt_csr &a, std::int64_t size, const sxt_exec *exec) {
  state.offsets = precondition::Offsets(exec, a);
  const auto rows = state.offsets.rows<char>(a);
  const auto *ptr = rows.ptr;
  const auto *col = rows.col;
  const auto borders = precondition::block_borders(state.n, size, [&](std::int64_t i) {
    const std::int64_t length = ptr[i + 1] - ptr[i];
    return length == ptr[i] - ptr[i - 1] && std::equal(col + ptr[i], col + ptr[i + 1], col + ptr[i - 1]);
  });
  state.n_blocks = static_cast<std::int64_t>(borders.size()) - 1;
  state.first = plugin::Memory(exec, SXT_SPACE_HOST, borders.size() * sizeof(std::int32_t));
  state.place = plugin::Memory(exec, SXT_SPACE_HOST, borders.size() * sizeof(std::int64_t));
  std::copy(borders.begin(), borders.end(), state.first.as<std::int32_t>());
  auto *place = state.place.as<std::int64_t>();
  place[0] = 0;
  for (std::int64_t k = 0; k < state.n_blocks; ++k) place[k + 1] = place[k] + triangle(borders[k + 1] - borders[k]);
  state.values = plugin::Memory(exec, SXT_SPACE_HOST,
                                static_cast<std::uint64_t>(place[state.n_blocks]) * plugin::value_bytes(state.type));
}

// z = W' (W r) on one block: W is read once, a row at a time.
template <class T>
void apply_block(const T *w, std::int64_t size, const T *r, T *z) {
  std::fill(z, z + size, T(0));
  for (std::int64_t i = 0; i < size; w += ++i) {
    T y(0);
    for (std::int64_t j = 0; j <= i; ++j) y += plugin::product(w[j], r[j]);
    for (std::int64_t j = 0; j <= i; ++j) z[j] += plugin::product(plugin::conjugate(w[j]), y);
  }
}

sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), bytes = static_cast<double>(plugin::value_bytes(type));
  const double size = precondition::number_or(query, precondition::block_jacobi, precondition::default_block);

  plugin::CpuCost cost;
  cost.stream_bytes = n * bytes * (2 + (size + 1) / 2);
  cost.flops = n * (size + 1) * plugin::multiply_add_flops(type) * plugin::scalar_slowdown(*machine, type) / 2;
  cost.working_set = cost.stream_bytes;
  plugin::CandidateList list(out, capacity, count);
  plugin::for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = plugin::fill(list.add(), threads, cost);
    candidate.launch[1] = static_cast<std::int64_t>(size);
    // Patterns are compared by one thread; then each row is searched, and size^2 / 2 multiply-adds a row.
    candidate.setup_s = static_cast<double>(query.m.nnz) * 0.5e-9 + n * (20e-9 + size * size * 1e-9) / threads;
    candidate.state_bytes = static_cast<std::uint64_t>(n * bytes * (size + 1) / 2 + 12 * n / size);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return precondition::build_state<State>(problem, candidate, exec, out, [&](State &state, const sxt_csr &a) {
    const auto &query = plugin::as<sxt_preconditioner_query>(problem->query);
    const double size = precondition::number_or(query, precondition::block_jacobi, precondition::default_block);
    state.threads = candidate ? candidate->launch[0] : exec->threads;  // nothing is laid out for each thread
    lay_out(state, a, static_cast<std::int64_t>(size), exec);
    return compute(state, a, exec);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = plugin::as<sxt_preconditioner_args>(head);
  if (const auto status = precondition::check_args(args, state.n, state.usable, exec); status != SXT_OK) return status;
  return plugin::with_value_type(state.type, [&]<class T>(plugin::Tag<T>) {
    const auto *first = state.first.as<std::int32_t>();
    const auto *place = state.place.as<std::int64_t>();
    const int team = plugin::team_size(state.threads, *exec);
    plugin::for_each_part(team, team, [&](int part) {
      const auto range = plugin::part_of(state.n_blocks, team, part);
      for (std::int64_t k = range.begin; k < range.end; ++k)
        apply_block(state.values.as<T>() + place[k], first[k + 1] - first[k], static_cast<const T *>(args.r) + first[k],
                    static_cast<T *>(args.z) + first[k]);
    });
    return static_cast<sxt_status>(SXT_OK);
  });
}

const char *const variants[] = {"block-jacobi:4", "block-jacobi:16", "block-jacobi:32", nullptr};
const sxt_preconditioner_ops ops{sizeof(sxt_preconditioner_ops), precondition::block_jacobi.name, nullptr, variants,
                                 precondition::block_jacobi.typical_iterations};

const sxt_kernel kernel = precondition::csr_kernel<State>(
    "preconditioner.block-jacobi.cpu", "cpu", "the inverses of diagonal blocks of 2 to 32 rows, as Cholesky factors",
    {precondition::applicable<precondition::block_jacobi>, candidates, prepare, precondition::refresh<State, compute>,
     run},
    &ops, plugin::cpu_terms);

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  plugin::take_team(host);
  return plugin::offer<&kernel>("preconditioner-block-jacobi", out);
}
