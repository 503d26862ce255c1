// SPDX-License-Identifier: BSD-3-Clause
// Common parts, independent of the instruction set, of kernels that multiply by DIA and symmetric DIA: the call that
// the row code of plugins/formats/dia_rows.hpp takes, limits, and the numbers of their models.
#pragma once

#include <stdint.h>

#ifndef SXT_ISA  // files compiled for an instruction set see the struct only
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/type_pair.hpp"
#endif

namespace sextant::plugin {

// Rows that are computed together: y stays in the first cache over all diagonals. The order of a row's sum depends only
// on its block, so that bits do not depend on threads.
inline constexpr int64_t dia_block = 1024;
// Threads' shares of rows are multiples of this, however few rows there are.
inline constexpr int64_t dia_run = 64;

// y = alpha op(A) x + beta y. A diagonal enters as it is stored (y[i] += v[i] x[i + offset]) or mirrored
// (y[i] += v[i - offset] x[i - offset]): transposes mirror all of them, a symmetric matrix uses its upper ones twice.
struct DiaProduct {
  const void *values, *x;
  void *y;
  const int64_t *offsets;
  int64_t diagonals, ld;
  int64_t rows, cols;  // of A as stored
  int64_t results;     // elements of y
  double alpha[2], beta[2];
  bool stored, mirrored;  // which ways diagonals enter; symmetric: the main one only once
  bool conjugate_stored, conjugate_mirrored;
  bool unit_diagonal;  // ones that are not stored
};
using DiaRows = void (*)(const DiaProduct &, int64_t begin, int64_t end);

#ifndef SXT_ISA

// How A enters a product with op, without vectors and factors.
inline DiaProduct dia_ways(const sxt_dia &a, sxt_op op) {
  DiaProduct p{};
  p.values = a.values;
  p.offsets = a.host_offsets;
  p.diagonals = a.n_diagonals;
  p.ld = a.ld;
  p.rows = a.s.rows;
  p.cols = a.s.cols;
  p.results = op == SXT_NO_TRANSPOSE ? a.s.rows : a.s.cols;
  p.unit_diagonal = a.unit_diagonal;
  p.stored = a.symmetric || op == SXT_NO_TRANSPOSE;
  p.mirrored = a.symmetric || op != SXT_NO_TRANSPOSE;
  const bool conjugated = op == SXT_CONJUGATE_TRANSPOSE;
  p.conjugate_mirrored = conjugated;
  if (a.symmetric) {
    // Hermitian: A' = conj(A) and A^H = A. Complex symmetric: A' = A and A^H = conj(A).
    const bool hermitian = a.s.symmetry == SXT_HERMITIAN;
    p.conjugate_stored = hermitian ? op == SXT_TRANSPOSE : conjugated;
    p.conjugate_mirrored = p.conjugate_stored != hermitian;
  }
  return p;
}

// The same with the vectors and factors of a call on the host.
inline DiaProduct dia_product(const sxt_dia &a, const sxt_spmv_args &args, sxt_value_type vectors) {
  DiaProduct p = dia_ways(a, args.op);
  p.x = args.x;
  p.y = args.y;
  scalar_parts(args.alpha, vectors, 1, p.alpha);
  scalar_parts(args.beta, vectors, 0, p.beta);
  return p;
}

// Slots that DIA may hold for each entry. Beyond it a product costs more than in any other storage format, and memory
// explodes.
inline constexpr double dia_most_slots = 4;
// Below this many slots nothing is refused: a small matrix costs little in any storage format.
inline constexpr double dia_small = 65536;

inline bool dia_too_empty(double diagonals, double rows, double nnz) {
  return diagonals * rows > dia_small && diagonals * rows > dia_most_slots * nnz;
}

// Features that DIA kernels read: a lower bound from a sample, and the number itself.
inline constexpr const char *dia_features[] = {"diagonals_least", "diagonals", nullptr};

// The number of diagonals, or its best known bound.
inline double dia_diagonals(const sxt_matrix_query &m, const sxt_features *found) {
  const double least = feature(found, 0), exact = feature(found, 1);
  if (exact == exact) return exact;
  const double full = m.rows ? std::ceil(static_cast<double>(m.nnz) / static_cast<double>(m.rows)) : 0;
  return least == least ? std::max(least, full) : full;
}

inline sxt_status dia_refusal(const sxt_matrix_query &m, const sxt_features *found, bool symmetric,
                              sxt_message *reason) {
  if (check_matrix_types(m.q.value_type, m.matrix_type, reason) != SXT_OK) return SXT_NOT_APPLICABLE;
  if (symmetric && (m.rows != m.cols || (m.symmetry != SXT_SYMMETRIC && m.symmetry != SXT_HERMITIAN)))
    return refuse(reason, "the matrix is not known to be symmetric or Hermitian");
  const double diagonals = dia_diagonals(m, found), rows = static_cast<double>(m.rows);
  if (!dia_too_empty(diagonals, rows, static_cast<double>(m.nnz))) return SXT_OK;
  return refuse(reason, "%.0f diagonals x %lld rows for %lld entries: more than %.0f places an entry", diagonals,
                (long long)m.rows, (long long)m.nnz, dia_most_slots);
}

inline constexpr const char *dia_terms[] = {"launches", "barriers", "stream_bytes", "flops", "steps", nullptr};

// Terms of y = A x with one right-hand side; extra_* are what a fused kernel adds, `share` what its threads' shares of
// rows are multiples of.
inline sxt_candidate &fill_dia(sxt_candidate &candidate, const sxt_matrix_query &m, double diagonals, bool symmetric,
                               int threads, double n_rhs, double extra_bytes, double extra_flops,
                               std::int64_t share = dia_run) {
  const double rows = static_cast<double>(m.rows), cols = static_cast<double>(m.cols);
  const double value = static_cast<double>(value_bytes(m.q.value_type));
  const double stored = symmetric ? std::ceil((diagonals + 1) / 2) : diagonals;
  const double matrix_bytes = stored * rows * static_cast<double>(value_bytes(m.matrix_type));
  const double blocks = std::ceil(rows / static_cast<double>(dia_block));
  const double runs = std::ceil(rows / static_cast<double>(share));
  const double imbalance = runs > 0 ? std::ceil(runs / threads) * threads / runs : 1;
  // Where one beside the main diagonal begins or ends, it goes over the rows of that block alone: eight of them take
  // about a third of a step.
  const double alone = std::max(0.0, diagonals - 1) * std::min(rows, static_cast<double>(dia_block)) / 24;
  candidate.launch[0] = threads;
  candidate.model_class = threads > 1;
  candidate.n_terms = 5;
  candidate.terms[0] = 1;
  candidate.terms[1] = threads > 1 ? n_rhs : 0;
  candidate.terms[2] = imbalance * (n_rhs * (matrix_bytes + value * (cols + 2 * rows)) + extra_bytes);
  candidate.terms[3] = imbalance * (n_rhs * diagonals * rows * multiply_add_flops(m.q.value_type) + extra_flops);
  candidate.terms[4] = imbalance * n_rhs * (blocks * (diagonals + 8) + alone);
  candidate.working_set_bytes = matrix_bytes + n_rhs * value * (cols + rows) + extra_bytes;
  candidate.units = threads;
  return candidate;
}

#endif
}  // namespace sextant::plugin
