// SPDX-License-Identifier: BSD-3-Clause
// The arguments of plugins/formats/ell_lanes.hpp, for ISA sources, and how the products with ELL and HYB make them from
// a call. Files compiled for an instruction set see no C++ standard header here.
#pragma once

#include <stdint.h>

#ifndef SXT_ISA
#include "plugins/formats/ell.hpp"
#include "sextant/sdk/cpu/spmv.hpp"
#endif

namespace sextant::plugin {

// ELL arrays (column -1: padding) and the vectors of one call; alpha and beta are exact in double for f32 and f64.
struct EllCall {
  const int32_t *col;
  const void *values;
  int64_t width, ld;
  const void *x;
  void *y;
  int64_t ldx, ldy;
  int32_t n_rhs;
  double alpha, beta;
};

// Coordinates sorted by row.
struct CooArrays {
  const int32_t *row, *col;
  const void *values;
};

// Pairs of vector and matrix type with code in lanes.
enum { f64_of_f64, f64_of_f32, f32_of_f32, n_lane_pairs };

#ifndef SXT_ISA

// The products refuse transposes, complex numbers and indices that do not fit.
inline sxt_status check_ell_product(const sxt_spmv_query &q, sxt_message *reason) {
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "operation %d: only op 0 (no transpose) is offered", q.op);
  if (lane_pair(q.m.q.value_type, q.m.matrix_type) < 0) return refuse_types(q.m.q.value_type, q.m.matrix_type, reason);
  return check_ell_indices(q.m.rows, q.m.cols, reason);
}

// Whether a matrix from any ELL storage can be read in lanes.
inline sxt_status check_ell_arrays(const sxt_ell &a, const char *kernel, const sxt_exec *exec) {
  if (a.s.index_type == SXT_I32 && a.ld % 8 == 0) return SXT_OK;
  return error(exec, SXT_E_NOT_SUPPORTED, "%s reads 32-bit columns in arrays of whole eights, not of %lld rows", kernel,
               (long long)a.ld);
}

// Fills call and the place of the types in a table, or says why the arguments are not served.
inline sxt_status make_ell_call(const sxt_ell &a, const sxt_spmv_args &args, sxt_value_type type, const char *kernel,
                                const sxt_exec *exec, EllCall *call, int *pair) {
  *pair = lane_pair(type, a.s.value_type);
  if (args.op != SXT_NO_TRANSPOSE || *pair < 0)
    return error(exec, SXT_E_NOT_SUPPORTED, "%s multiplies by real matrices, not transposed", kernel);
  call->col = static_cast<const std::int32_t *>(a.col);
  call->values = a.values;
  call->width = a.width;
  call->ld = a.ld;
  call->x = args.x;
  call->y = args.y;
  call->ldx = args.ldx;
  call->ldy = args.ldy;
  call->n_rhs = args.n_rhs;
  lane_scalars(args, type, &call->alpha, &call->beta);
  return SXT_OK;
}

// A kernel table with the common members of both products.
inline sxt_kernel ell_kernel(const char *name, const char *description,
                             sxt_status (*run)(const void *, void *, const sxt_head *, const sxt_exec *)) {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, name, "cpu", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F32) | type_bit(SXT_F64);
  k.term_names = spmv_terms;
  return k;
}

#endif
}  // namespace sextant::plugin
