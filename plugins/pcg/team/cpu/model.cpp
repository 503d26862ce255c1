// SPDX-License-Identifier: BSD-3-Clause
// The model: an iteration moves A and ten vectors, multiplies, gathers, and has two or three barriers. A solve is the
// sum of its iterations.
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "plugins/formats/dia.hpp"
#include "plugins/pcg/shared/parts.hpp"
#include "state.hpp"

namespace team {

const char *const storages[] = {SXT_KIND_STORAGE_CSR, SXT_KIND_STORAGE_SELL, SXT_KIND_STORAGE_DIA,
                                SXT_KIND_STORAGE_DIA_SYMMETRIC, nullptr};
const char *const features[] = {"diagonals_least",   "diagonals",  // the first two as dia_features
                                "x_miss_unit_cache", "x_miss_cache", "row_nnz_sum_max_of_8",
                                "column_span_mean",  nullptr};
const char *const terms[] = {"launches", "latency.meetings", "latency.lines", "stream_bytes",
                             "gathers",  "cached_gathers",   "flops",         "steps",
                             nullptr};
// A barrier of two members, and a cache line of p that one has written and another reads, take this long where nothing
// was measured; other coefficients are the machine's.
constexpr double by_machine = std::numeric_limits<double>::quiet_NaN();
const double term_defaults[] = {by_machine, 2.5e-7, 3e-8, by_machine, by_machine, by_machine, by_machine, by_machine};

namespace {

enum class Form { csr, sell, dia, dia_symmetric };

Form form_of(const sxt_matrix_query &m) {
  const auto is = [&](const char *kind) { return m.storage && std::strcmp(m.storage, kind) == 0; };
  return is(SXT_KIND_STORAGE_SELL)            ? Form::sell
         : is(SXT_KIND_STORAGE_DIA)           ? Form::dia
         : is(SXT_KIND_STORAGE_DIA_SYMMETRIC) ? Form::dia_symmetric
                                              : Form::csr;
}
bool is_diagonal(Form form) { return form == Form::dia || form == Form::dia_symmetric; }

// The traffic and flops of one iteration.
struct Iteration {
  double matrix_bytes, from_memory, from_cache, flops, steps;
};

Iteration diagonal_iteration(const sxt_matrix_query &m, const sxt_features *found, bool symmetric) {
  const double rows = static_cast<double>(m.rows), diagonals = plugin::dia_diagonals(m, found);
  const double stored = symmetric ? std::ceil((diagonals + 1) / 2) : diagonals;
  return {stored * rows * static_cast<double>(plugin::value_bytes(m.matrix_type)), 0, 0,
          diagonals * rows * plugin::multiply_add_flops(m.q.value_type),
          std::ceil(rows / static_cast<double>(plugin::dia_block)) * (diagonals + 8)};
}

// Where features are unknown, x is taken to come from memory once.
Iteration compressed_iteration(const sxt_matrix_query &m, const sxt_features *found, bool sell) {
  const double rows = static_cast<double>(m.rows), nnz = static_cast<double>(m.nnz);
  const double near = plugin::feature(found, 2), far = plugin::feature(found, 3), padded = plugin::feature(found, 4);
  const double stored = sell && padded == padded ? padded : nnz;
  const double lines = rows * static_cast<double>(plugin::value_bytes(m.q.value_type)) / 64;
  // Misses beyond the first touch of each line of x are isolated accesses.
  const double from_memory = far == far ? std::max(0.0, far * nnz - lines) : 0;
  const double from_cache = near == near ? std::max(0.0, (near - (far == far ? far : 0)) * nnz - lines) : 0;
  // A row of CSR: a masked step and an eighth of a tree; a slice: its loop.
  return {stored * (static_cast<double>(plugin::value_bytes(m.matrix_type)) + 4) + 4 * rows, from_memory, from_cache,
          stored * plugin::multiply_add_flops(m.q.value_type), sell ? rows / 8 * 2 + stored / 8 : rows * 3 + nnz / 8};
}

// Lines of p that a member reads from others in an iteration, estimated from the reach of the mean row over its
// borders, and at most all that others own.
double lines_handed(const sxt_matrix_query &m, const sxt_features *found, int threads) {
  const double others = static_cast<double>(m.rows) * (threads - 1) / threads, span = plugin::feature(found, 5);
  return std::min(others, span == span ? span : others) * static_cast<double>(plugin::value_bytes(m.q.value_type)) / 64;
}

}  // namespace

sxt_status applicable(bool predicting, const sxt_pcg_query &query, const sxt_features *found, sxt_message *reason) {
  namespace pcg = plugin::pcg;
  const auto &recurrence = pcg::recurrence<0>(predicting ? SXT_RECURRENCE_PREDICT_RECOMPUTE : SXT_RECURRENCE_CLASSICAL);
  if (const sxt_status status = pcg::check_query(recurrence, query, reason); status != SXT_OK) return status;
  const sxt_matrix_query &m = query.m;
  if (query.preconditioned)
    return plugin::refuse(reason,
                          "it is for M = identity (a matrix scaled beforehand), the query has preconditioned = 1");
  if (m.q.flags & SXT_QUERY_MATRIX)
    if (const sxt_status status = plugin::check_matrix_types(m.q.value_type, m.matrix_type, reason); status != SXT_OK)
      return status;
  const Form form = form_of(m);
  if (is_diagonal(form)) return plugin::dia_refusal(m, found, form == Form::dia_symmetric, reason);
  if (form == Form::sell && (m.q.value_type == SXT_C64 || m.q.value_type == SXT_C128))
    return plugin::refuse(reason, "slices of %s are not offered", plugin::value_name(m.q.value_type));
  if (m.cols < std::int64_t{1} << 31) return SXT_OK;
  return plugin::refuse(reason, "%lld columns do not fit the 32-bit columns it reads", (long long)m.cols);
}

sxt_status candidates(bool predicting, const sxt_pcg_query &query, const sxt_features *found,
                      const sxt_machine &machine, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const sxt_matrix_query &m = query.m;
  const Form form = form_of(m);
  const Iteration one = is_diagonal(form) ? diagonal_iteration(m, found, form == Form::dia_symmetric)
                                          : compressed_iteration(m, found, form == Form::sell);
  const double rows = static_cast<double>(m.rows), value = static_cast<double>(plugin::value_bytes(m.q.value_type));
  const double iterations = plugin::pcg::iterations_of(query),
               blocks = std::ceil(rows / static_cast<double>(block_rows(query)));
  const double sums = predicting ? 4 : 2;
  plugin::CandidateList list(out, capacity, count);
  plugin::for_thread_counts(machine, [&](int threads) {
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = threads;
    candidate.launch[1] = machine.level;
    candidate.model_class = static_cast<std::uint32_t>(2 * static_cast<int>(form) + (threads > 1));
    candidate.n_terms = 8;
    candidate.terms[0] = iterations;
    // A barrier goes up a tree and back.
    candidate.terms[1] = threads > 1 ? iterations * (predicting ? 2 : 3) * (1 + std::log2(threads / 2.0)) : 0;
    candidate.terms[2] = iterations * lines_handed(m, found, threads);
    candidate.terms[3] = iterations * (one.matrix_bytes + (predicting ? 10 : 11) * value * rows);
    candidate.terms[4] = iterations * one.from_memory;
    candidate.terms[5] = iterations * one.from_cache;
    candidate.terms[6] = iterations * (one.flops + (sums + 3) * rows * plugin::multiply_add_flops(m.q.value_type));
    candidate.terms[7] = iterations * (one.steps + 40 * sums * blocks);
    candidate.working_set_bytes = one.matrix_bytes + 4 * value * rows;
    candidate.units = threads;
    candidate.state_bytes = session_bytes(m.rows, static_cast<std::int64_t>(blocks), m.q.value_type);
  });
  return SXT_OK;
}

}  // namespace team
