// SPDX-License-Identifier: BSD-3-Clause
// Products with DIA and symmetric DIA on CUDA devices, the host's side of plugins/formats/cuda/dia_kernels.hpp: the
// terms of a matrix and an operation, launches, and the numbers of the models. Include from .cu files.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "plugins/formats/cuda/dia_kernels.hpp"
#include "plugins/formats/dia.hpp"

namespace sextant::plugin::cuda {

// How a state's products are launched, as its candidate says. blocks 0: one a tile. planes 0: rows are not marched.
struct DiaLaunch {
  std::int64_t blocks, threads, planes;
  bool early;
};
inline DiaLaunch dia_launch_of(const sxt_candidate *candidate) {
  if (!candidate || candidate->launch[1] <= 0) return {0, 256, 0, false};
  return {candidate->launch[0], candidate->launch[1], candidate->launch[2], candidate->launch[3] != 0};
}

// A kernel's data of its matrix; new values may lie elsewhere.
struct DiaState {
  const sxt_dia *a;
  sxt_value_type type;  // of the vectors
  DiaLaunch launch;
};
inline DiaState dia_state_of(const sxt_problem &problem, const sxt_candidate *candidate) {
  return {&as<sxt_dia>(problem.a), problem.query->value_type, dia_launch_of(candidate)};
}
inline sxt_status refresh_dia(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<DiaState *>(state)->a = &as<sxt_dia>(problem->a), SXT_OK;
}

template <bool symmetric>
inline constexpr const char *dia_storages[] = {symmetric ? SXT_KIND_STORAGE_DIA_SYMMETRIC : SXT_KIND_STORAGE_DIA,
                                               nullptr};

// A kernel of a kind that multiplies by diagonals, with a DiaState; the caller sets applicable, open and run.
template <bool symmetric>
sxt_kernel new_dia_kernel(const char *kind, const char *name, const char *description, decltype(sxt_kernel::run) run) {
  sxt_kernel k = new_kernel(kind, name, "cuda", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = dia_storages<symmetric>;
  k.features = dia_features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  k.refresh = refresh_dia;
  k.release = destroy<DiaState>;
  return k;
}

// Diagonals of a symmetric matrix up to this distance are read twice within about a block: they are added in pairs,
// while L1 holds them. Those farther out come after, first all upper ones.
inline constexpr std::int64_t dia_near = 1024;

// Term t of a product, t counted as below; values points at row 0 of the result.
inline DiaTerm dia_term(const DiaProduct &p, std::int64_t d, bool mirrored, std::uint64_t size) {
  const std::int64_t offset = p.offsets[d], shift = mirrored ? -offset : offset;
  const std::int64_t at = d * p.ld + (mirrored ? shift : 0);
  return {static_cast<const char *>(p.values) + at * static_cast<std::int64_t>(size), static_cast<std::int32_t>(shift),
          mirrored ? p.conjugate_mirrored : p.conjugate_stored};
}

// Calls f(term) for all terms of a product in the order they are added.
template <class F>
void for_each_dia_term(const DiaProduct &p, sxt_value_type stored_type, F &&f) {
  const std::uint64_t size = value_bytes(stored_type);
  const bool both = p.stored && p.mirrored;
  for (std::int64_t d = 0; d < p.diagonals; ++d) {
    if (both && p.offsets[d] > dia_near) break;
    if (p.stored) f(dia_term(p, d, false, size));
    if (p.mirrored && !(both && p.offsets[d] == 0)) f(dia_term(p, d, true, size));
  }
  if (!both) return;
  for (const bool mirrored : {false, true})
    for (std::int64_t d = 0; d < p.diagonals; ++d)
      if (p.offsets[d] > dia_near) f(dia_term(p, d, mirrored, size));
}

inline std::int64_t dia_term_count(const sxt_dia &a, sxt_op op) {
  std::int64_t count = 0;
  for_each_dia_term(dia_ways(a, op), a.s.value_type, [&](const DiaTerm &) { ++count; });
  return count;
}

// Whether a matrix can be marched through: real, symmetric, a main diagonal and three upper ones.
inline bool dia_can_march(const sxt_dia &a) {
  const bool real = a.s.value_type == SXT_F32 || a.s.value_type == SXT_F64;
  if (!real || !a.symmetric || a.n_diagonals != (a.unit_diagonal ? 3 : 4)) return false;
  // Indices of 32 bits reach two planes beyond the last row.
  return (a.unit_diagonal || a.host_offsets[0] == 0) && a.host_offsets[a.n_diagonals - 1] < std::int64_t{1} << 29;
}

inline DiaMarch dia_march_of(const sxt_dia &a, const DiaLaunch &launch) {
  const int first = a.unit_diagonal ? 0 : 1;
  const auto diagonal = [&](int d) {
    return static_cast<const char *>(a.values) + d * a.ld * static_cast<std::int64_t>(value_bytes(a.s.value_type));
  };
  const auto offset = [&](int d) { return static_cast<std::uint32_t>(a.host_offsets[d]); };
  DiaMarch m{};
  m.main_values = first ? diagonal(0) : nullptr;
  m.near_values = diagonal(first), m.near = offset(first);
  m.middle_values = diagonal(first + 1), m.middle = offset(first + 1);
  m.far_values = diagonal(first + 2), m.stride = offset(first + 2);
  m.planes = static_cast<std::uint32_t>(launch.planes);
  const std::int64_t planes = divide_up<std::int64_t>(a.s.rows, m.stride);
  m.columns = static_cast<std::uint32_t>(divide_up<std::int64_t>(m.stride, launch.threads));
  m.tiles = m.columns * static_cast<std::uint32_t>(divide_up(planes, launch.planes));
  return m;
}

inline unsigned dia_blocks(const DiaLaunch &launch, std::int64_t tiles) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, launch.blocks > 0 ? std::min(launch.blocks, tiles) : tiles));
}

// One launch of consecutive rows: nine diagonals at a time, or seven where that leaves fewer places idle; four of
// complex ones, for which registers suffice.
template <class V, class M, class Extra>
sxt_status launch_dia_rows(const sxt_exec *exec, const DiaLaunch &launch, DiaTerms &terms, const DiaVectors<V> &vectors,
                           const Extra &extra) {
  for (int t = terms.count; t <= dia_most_terms; ++t) terms.term[t] = {nullptr, dia_no_shift, 0};
  const auto idle = [&](int c) { return divide_up(std::max(terms.count, 1), c) * c - terms.count; };
  const unsigned blocks = dia_blocks(launch, divide_up(vectors.results, launch.threads));
  auto *kernel = dia_rows < V, M, complex_valued<V> ? 4 : 9, Extra > ;
  if constexpr (!complex_valued<V>)
    if (idle(7) < idle(9)) kernel = dia_rows<V, M, 7, Extra>;
  return launch_chained(exec, launch.early, "a product by diagonals", kernel, blocks,
                        static_cast<unsigned>(launch.threads), 0, terms, vectors, extra);
}

// y = alpha op(A) x + beta y. More diagonals than one launch takes go in several, each adding to y: Extra is NoDots
// then.
template <class V, class M, class Extra>
sxt_status run_dia(const sxt_exec *exec, const DiaLaunch &launch, const sxt_dia &a, sxt_op op, DiaVectors<V> vectors,
                   const Extra &extra) {
  const DiaProduct ways = dia_ways(a, op);
  vectors.results = ways.results;
  vectors.inputs = op == SXT_NO_TRANSPOSE ? a.s.cols : a.s.rows;
  if (vectors.results == 0 && std::is_same_v<Extra, NoDots>) return SXT_OK;
  if constexpr (!complex_valued<V>)
    if (launch.planes > 0 && vectors.results > 0 && dia_can_march(a)) {
      const DiaMarch march = dia_march_of(a, launch);
      return launch_chained(exec, launch.early, "a march through diagonals", dia_march<V, M, Extra>,
                            dia_blocks(launch, march.tiles), static_cast<unsigned>(launch.threads), 0, march, vectors,
                            extra);
    }
  DiaTerms terms{};
  terms.unit = ways.unit_diagonal;
  sxt_status status = SXT_OK;
  for_each_dia_term(ways, a.s.value_type, [&](const DiaTerm &term) {
    if (terms.count == dia_most_terms && status == SXT_OK) {
      status = launch_dia_rows<V, M>(exec, launch, terms, vectors, extra);
      terms.count = terms.unit = 0;
      vectors.beta = {nullptr, one<V>()};
    }
    terms.term[terms.count++] = term;
  });
  return status == SXT_OK ? launch_dia_rows<V, M>(exec, launch, terms, vectors, extra) : status;
}

// Any of the kernels for these types.
template <class V, class M, class Extra>
auto dia_some_kernel() {
  return dia_rows < V, M, complex_valued<V> ? 4 : 9, Extra > ;
}

// Loads the code that products of this state will run.
template <class V, class M, class Extra>
sxt_status load_dia(const sxt_exec *exec) {
  sxt_status status = load(exec, dia_some_kernel<V, M, Extra>());
  if constexpr (!complex_valued<V>) {
    if (status == SXT_OK) status = load(exec, dia_rows<V, M, 7, Extra>);
    if (status == SXT_OK) status = load(exec, dia_march<V, M, Extra>);
  }
  return status;
}

// ---- models

// Sectors that the multiprocessors ask of the last cache beside the streamed ones: rows of other blocks read x again,
// about once for every dimension beyond the first of a stencil, and half of the mirrored diagonals. A march reads both
// again only at the borders of blocks.
inline double dia_sectors(const sxt_spmv_query &q, double diagonals, bool symmetric, bool marches) {
  const double rows = static_cast<double>(q.m.rows);
  const double others = std::max(0.0, diagonals - 1);
  const double x = std::min(2.0, others / 3), mirrored = symmetric ? others / 4 : 0;
  const double share = marches ? 0.25 : 1;
  return share * rows / 32 *
         (x * static_cast<double>(value_bytes(q.m.q.value_type)) +
          mirrored * static_cast<double>(value_bytes(q.m.matrix_type)));
}

inline constexpr int spmv_chain_term = 8;  // of spmv_terms

// One candidate. blocks 0: one a tile.
inline sxt_candidate &fill_dia_launch(sxt_candidate &candidate, const sxt_spmv_query &q, const sxt_machine &machine,
                                      double diagonals, bool symmetric, std::int64_t blocks, std::int64_t threads,
                                      std::int64_t planes, SpmvCost cost) {
  const double rows = static_cast<double>(q.m.rows);
  const double stored = symmetric ? std::ceil((diagonals + 1) / 2) : diagonals;
  cost.matrix_bytes = stored * rows * static_cast<double>(value_bytes(q.m.matrix_type));
  cost.passes = q.n_rhs;
  cost.launches = q.n_rhs * std::max(1.0, std::ceil(diagonals / dia_most_terms));
  cost.x_sectors = dia_sectors(q, diagonals, symmetric, planes > 0);
  cost.lanes = diagonals * rows;
  cost.warp_steps = std::ceil(rows / 32) * diagonals;
  // A warp's elements of x lie in a row, mostly across one line more than they fill.
  cost.x_lines = cost.warp_steps * (static_cast<double>(value_bytes(q.m.q.value_type)) / 4 + 1);
  cost.threads = static_cast<double>(threads);
  cost.chain = planes > 0 ? 1 + static_cast<double>(planes) / 2 : std::ceil(diagonals / 9);
  const double tiles = std::ceil(rows / static_cast<double>(threads * std::max<std::int64_t>(1, planes)));
  fill_spmv(candidate, q, machine, blocks > 0 ? static_cast<double>(blocks) : tiles, cost);
  candidate.launch[0] = blocks;
  candidate.launch[1] = threads;
  candidate.launch[2] = planes;
  candidate.launch[3] = may_start_early(machine);
  // Each block size and way of marching has its own coefficients.
  candidate.model_class = static_cast<std::uint32_t>(threads / 128 + 8 * std::bit_width(static_cast<unsigned>(planes)));
  return candidate;
}

}  // namespace sextant::plugin::cuda
