// SPDX-License-Identifier: BSD-3-Clause
// From the caller's entries (COO, CSR or CSC arrays, or a parsed file) to the one canonical form everything else
// starts from: host CSR, zero-based, columns sorted within a row, no duplicates, both triangles present.
#pragma once

#include <cstdint>

#include "core/base/memory.hpp"
#include "core/base/types.hpp"

namespace sextant {

// Host CSR. Columns are i32 when cols < 2^31, offsets i32 when nnz < 2^31, else i64.
struct CsrArrays {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  sxt_value_type value_type = SXT_F64;
  sxt_index_type index_type = SXT_I32;   // of `col`
  sxt_index_type offset_type = SXT_I32;  // of `row_ptr`
  Buffer row_ptr;                        // rows + 1 offsets
  Buffer col;                            // nnz columns, strictly increasing within a row
  Buffer values;                         // nnz values
};

// The caller's entries, still in their types, base and order.
struct EntryArrays {
  enum class Layout { coo, csr, csc } layout = Layout::coo;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  sxt_index_type index_type = SXT_I32;   // of `row`, `col` (COO) or of the minor index array (CSR, CSC)
  sxt_index_type offset_type = SXT_I32;  // of the pointer array (CSR, CSC)
  sxt_value_type value_type = SXT_F64;
  const void *row = nullptr;     // COO: nnz rows; CSR: rows + 1 pointers; CSC: nnz rows
  const void *col = nullptr;     // COO: nnz columns; CSR: nnz columns; CSC: cols + 1 pointers
  const void *values = nullptr;  // nnz values; NULL: pattern, every value is 1
};

struct AssemblyOptions {
  int index_base = 0;  // 0 or 1
  sxt_symmetry symmetry = SXT_GENERAL;
  sxt_triangle triangle = SXT_FULL;  // which part is stored, for symmetry != general
  bool sum_duplicates = true;        // false: a duplicate is SXT_E_DUPLICATE naming row and column
  bool check_finite = true;          // NaN or infinity is SXT_E_NOT_FINITE naming the entry
  double symmetry_tolerance = 0;     // SymmetryTolerance: what diagonals of Hermitian and skew matrices may be off by
  bool keep_order = true;            // keep what update_values needs to take values in the caller's order
  int threads = 1;
};

// How the caller's values reach their places when only the values change.
struct ValueOrder {
  std::int64_t input_nnz = 0;  // how many values an update must bring
  bool kept = false;           // false: only updates in canonical CSR order are possible
  bool identity = false;       // the caller's order is the canonical one; no map is stored
  bool summed = false;         // some slots are the sum of several input entries
  sxt_index_type map_type = SXT_I32;
  Buffer slot;    // input_nnz canonical positions of each input entry
  Buffer mirror;  // position of the entry's mirror image, -1: none; empty when nothing is mirrored
  sxt_symmetry symmetry = SXT_GENERAL;  // what diagonals must be, how the mirror image follows (conjugate, negate)
  double symmetry_tolerance = 0;        // of diagonals
  bool diagonal_put_right = false;      // rounding was taken out of it
  bool mirrored = false;                // each off-diagonal entry was given once and stands for two
};

struct Assembled {
  CsrArrays csr;
  ValueOrder order;
};

// Checks every index against the sizes and the base, expands a stored triangle to both, sorts, sums or refuses
// duplicates. An entry outside the stated triangle is SXT_E_ARGUMENT naming it. A skew-symmetric diagonal entry,
// duplicates summed, must be zero, a Hermitian one real, but for rounding, which is taken out of it. Errors name the
// entry: its number, row and column, all counted from the caller's base. With triangle == SXT_FULL nothing is mirrored,
// and the two triangles are not compared here. Peak memory beside the input: the result, plus the map when
// `keep_order`, plus, while unsorted rows are sorted, scratch for the longest such row (per thread, at most half the
// result unless one row alone needs more). When duplicates are summed the entries are held once more before summing.
// Duplicates are summed in input order, the same for any thread count.
Assembled assemble(const EntryArrays &entries, const AssemblyOptions &options, const Allocator &allocator);

// The caller's arrays as the canonical form itself, after the checks that assemble makes. Nothing is copied, but for
// values whose diagonal is to be put right: they must outlive the result unchanged. SXT_E_NOT_SUPPORTED for arrays of
// other types or layout than the canonical form, SXT_E_ARGUMENT for rows whose columns do not increase.
Assembled adopt(const EntryArrays &entries, const AssemblyOptions &options, const Allocator &allocator);

// Writes new values, given in the caller's order, into an assembled matrix. `values` holds order.input_nnz values of
// csr.value_type (csr.nnz in canonical order when no order was kept). They, and the sums of duplicates, are checked
// before the first is written. Allocates nothing, but for values so large that such a sum may overflow. Entry numbers
// in errors count from zero.
void update_values(CsrArrays &csr, const ValueOrder &order, const void *values, bool check_finite, int threads,
                   const Allocator &allocator = {});

}  // namespace sextant
