/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds "sxt.storage.<format>/1": the storage formats of sparse matrices. A storage kernel builds its format from host
 * CSR (prepare), takes new values (refresh) and publishes plain arrays that kernels of any plugin may read. A matrix
 * holds each storage once; its cost is charged once. A third party's storage format is its own kind with the same ops
 * table and a struct that begins with sxt_storage.
 * prepare: problem->a is sxt_csr on the host, canonical (zero-based, columns strictly increasing in a row, both
 * triangles); it outlives the state, so a storage on the host may point into it. refresh: problem->a has the new
 * values. problem->data: NULL, or the matrix as sxt_csr in the device's memory, for the time of the call: a storage on
 * a device may convert from it, and must where the matrix was made there and the arrays of problem->a, sizes and types
 * apart, are NULL. */
#ifndef SEXTANT_KINDS_STORAGE_H
#define SEXTANT_KINDS_STORAGE_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_STORAGE_CSR "sxt.storage.csr/1"
#define SXT_KIND_STORAGE_COO "sxt.storage.coo/1"
#define SXT_KIND_STORAGE_DIA "sxt.storage.dia/1"
#define SXT_KIND_STORAGE_DIA_SYMMETRIC "sxt.storage.dia-symmetric/1" /* sxt_dia with symmetric set */
#define SXT_KIND_STORAGE_ELL "sxt.storage.ell/1"
#define SXT_KIND_STORAGE_HYB "sxt.storage.hyb/1"
#define SXT_KIND_STORAGE_SELL "sxt.storage.sell/1"
#define SXT_KIND_STORAGE_BSR "sxt.storage.bsr/1"
#define SXT_KIND_STORAGE_STRIPS "sxt.storage.strips/1"

/* How every query about a sparse matrix begins (flag SXT_QUERY_MATRIX). A storage kernel gets exactly this. */
typedef struct {
  sxt_query q;
  int64_t rows, cols, nnz;
  sxt_value_type matrix_type; /* of the stored values: f32 with f64 vectors is allowed */
  sxt_symmetry symmetry;      /* what the numbers are known to be, not how they are stored */
  const char *storage;        /* kind id of the storage under consideration; NULL in storage queries. Core's */
  const void *matrix;         /* core's handle, for slots that ask about the same matrix; opaque to kernels */
} sxt_matrix_query;

/* How every storage struct begins. Arrays lie in `space`. */
typedef struct {
  sxt_head h;
  sxt_value_type value_type;
  sxt_index_type index_type, offset_type; /* of columns; of offsets */
  sxt_space space;
  sxt_symmetry symmetry; /* what the numbers are known to be */
  int32_t reserved0;
  int64_t rows, cols, nnz;
} sxt_storage;

typedef struct { sxt_storage s; const void *row_ptr, *col, *values; } sxt_csr; /* row_ptr: rows + 1 offsets; col and values: of each entry, row by row */
typedef struct { sxt_storage s; const void *row, *col, *values; } sxt_coo; /* row, col and values of each entry, sorted by row, then column */
/* n_diagonals of them: values[d * ld + i] multiplies x[i + offset[d]], host_offsets being the offsets in host memory; symmetric:
 * only offsets >= 0 are stored; unit_diagonal: the main diagonal is 1 and not stored. */
typedef struct {
  sxt_storage s;
  int64_t n_diagonals, ld;
  int32_t symmetric, unit_diagonal;
  const int64_t *host_offsets;
  const void *offsets, *values;
} sxt_dia;
/* Entry k < width of row i has values[k * ld + i] and col[k * ld + i]; padding has column -1. */
typedef struct { sxt_storage s; int64_t width, ld; const void *col, *values; } sxt_ell;
typedef struct { /* the first entries of each row in ell, the others in coo */ sxt_ell ell; sxt_coo coo; } sxt_hyb;
/* n_slices slices of `slice` rows sorted by length within windows of sigma; entry k of lane l of slice s lies at
 * slice_ptr[s] + k * slice + l of col and values. perm[i]: the row that slot i holds; NULL: the identity. */
typedef struct { sxt_storage s; int32_t slice, sigma; int64_t n_slices; const void *slice_ptr, *col, *values, *perm; } sxt_sell;
/* Dense blocks of `block` x `block`, column-major within a block. row_ptr: block_rows + 1 offsets, in blocks; col: the block
 * column of each block; values: block after block. */
typedef struct { sxt_storage s; int32_t block, reserved0; int64_t block_rows, blocks; const void *row_ptr, *col, *values; } sxt_bsr;
/* n_slices slices of `slice` consecutive rows. An entry lies in a strip (the part of a diagonal within a slice) or is gathered.
 * Lane l of strip k multiplies values[k * slice + l] by x[base[k] + l] where bit l of mask[k] (uint8) is set; other
 * lanes hold 0 and read nothing, so that base may be negative. strip_ptr: a slice's strips. Gathered entries follow in
 * values after all strips and lie as in sxt_sell, unsorted: entry g at values[n_strips * slice + g] with col[g], gather_ptr: a
 * slice's entries, padding has column -1. */
typedef struct {
  sxt_storage s;
  int32_t slice, reserved0;
  int64_t n_slices, n_strips;
  const void *strip_ptr, *base, *mask, *gather_ptr, *col, *values;
} sxt_strips;

/* The operations of every storage kernel (sxt_kernel.ops). */
typedef struct {
  uint64_t struct_size;
  /* The published struct; valid until release. REQUIRED. [any-thread] */
  const sxt_storage *(*view)(const void *state);
  /* Bytes held beside the source arrays. REQUIRED. [any-thread] */
  uint64_t (*bytes)(const void *state);
  /* values(i,j) *= s[i] * s[j], s in the value type's real type and the storage's space. NULL: not offered. [setup] */
  sxt_status (*scale)(void *state, const void *s, const sxt_exec *);
  /* diagonal[i] = A(i,i), 0 where absent; value type, storage's space. NULL: not offered. [exec] */
  sxt_status (*diagonal)(const void *state, void *diagonal, const sxt_exec *);
  /* A new state holding one triangle, with or without its diagonal. NULL: not offered. [setup] */
  sxt_status (*triangle)(const void *state, sxt_triangle, int32_t with_diagonal, const sxt_exec *, void **out);
} sxt_storage_ops;

SXT_STATIC_ASSERT(sizeof(sxt_matrix_query) == 80, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_storage) == 64, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_csr) == 88, "frozen");
#endif
