/* SPDX-License-Identifier: BSD-3-Clause */
/* Words shared by users of the library (sextant.h) and authors of kernels (plugin.h): status codes, value and
 * index types, symmetry, memory spaces, reasons a solve ended. All values are pinned: they never change meaning.
 * C11, also clean in C++14 to C++20. */
#ifndef SEXTANT_TYPES_H
#define SEXTANT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SXT_STATIC_ASSERT static_assert
#else
#define SXT_STATIC_ASSERT _Static_assert
#endif

/* Statuses: name, pinned value, sentence. Zero is success, negative values are errors, positive values are outcomes
 * that are not errors of the call (not applicable, not converged). */
#define SXT_STATUS_TABLE(X)                                                                                      \
  X(SXT_OK, 0, "done")                                                                                           \
  X(SXT_NOT_APPLICABLE, 1, "the kernel does not apply to this query")                                            \
  X(SXT_NOT_CONVERGED, 2, "the solve stopped before the true residual met the tolerance; see the reason")        \
  X(SXT_E_ARGUMENT, -1, "an argument is missing or has no meaning")                                              \
  X(SXT_E_MEMORY, -2, "memory could not be allocated")                                                           \
  X(SXT_E_NOT_SQUARE, -3, "the matrix is not square")                                                            \
  X(SXT_E_NOT_SYMMETRIC, -4, "the matrix is not symmetric (or Hermitian)")                                       \
  X(SXT_E_DIAGONAL, -5, "a diagonal entry is missing, zero or negative where it must be positive")               \
  X(SXT_E_NOT_FINITE, -6, "a value is NaN or infinite")                                                          \
  X(SXT_E_INDEX, -7, "an index is out of range")                                                                 \
  X(SXT_E_DUPLICATE, -8, "an entry occurs twice and duplicates were refused")                                    \
  X(SXT_E_OVERFLOW, -9, "a size does not fit the integer type that must hold it")                                \
  X(SXT_E_DIMENSION, -10, "sizes do not agree")                                                                  \
  X(SXT_E_TYPE, -11, "value or index types do not agree")                                                        \
  X(SXT_E_UNKNOWN_NAME, -12, "no such name")                                                                     \
  X(SXT_E_FILE_READ, -13, "a file could not be opened or read")                                                  \
  X(SXT_E_FILE_FORMAT, -14, "a file is not in the format it should be in")                                       \
  X(SXT_E_FILE_WRITE, -15, "a file could not be written")                                                        \
  X(SXT_E_PLUGIN, -16, "a plugin was refused")                                                                   \
  X(SXT_E_NO_KERNEL, -17, "no loaded kernel can do this")                                                        \
  X(SXT_E_NOT_SUPPORTED, -18, "this combination is not supported")                                               \
  X(SXT_E_DEVICE, -19, "the device failed or is not there")                                                      \
  X(SXT_E_PLAN, -20, "the plan does not fit this problem, library or machine")                                   \
  X(SXT_E_STATE, -21, "the object is not in a state that allows this call")                                      \
  X(SXT_E_NOT_POSITIVE_DEFINITE, -22, "the matrix is not positive definite")                                     \
  X(SXT_E_COMM, -23, "a rank did not answer in time, or the communicator failed")                                \
  X(SXT_E_INTERNAL, -99, "an internal error: please report it")

typedef int32_t sxt_status; /* one of the statuses */
enum { /* the statuses */
#define SXT_X(name, value, sentence) name = value,
  SXT_STATUS_TABLE(SXT_X)
#undef SXT_X
};

/* Value types. Complex values are (real, imaginary) pairs, as in C99 and Fortran. */
#define SXT_VALUE_TABLE(X) X(SXT_F32, 1, "f32", 4) X(SXT_F64, 2, "f64", 8) X(SXT_C64, 3, "c64", 8) X(SXT_C128, 4, "c128", 16)
typedef int32_t sxt_value_type;
enum {
#define SXT_X(name, value, text, bytes) name = value,
  SXT_VALUE_TABLE(SXT_X)
#undef SXT_X
};

/* Index types of rows, columns and offsets. */
typedef int32_t sxt_index_type;
enum { SXT_I32 = 1, SXT_I64 = 2 };

/* What the numbers of a matrix mean beside their position. */
typedef int32_t sxt_symmetry;
enum { SXT_GENERAL = 0, SXT_SYMMETRIC = 1, SXT_HERMITIAN = 2, SXT_SKEW = 3 };

/* Which part of a symmetric, Hermitian or skew matrix the caller's arrays hold. */
typedef int32_t sxt_triangle;
enum { SXT_FULL = 0, SXT_LOWER = 1, SXT_UPPER = 2 };

/* Operation on a matrix: A, its transpose, its conjugate transpose. */
typedef int32_t sxt_op;
enum { SXT_NO_TRANSPOSE = 0, SXT_TRANSPOSE = 1, SXT_CONJUGATE_TRANSPOSE = 2 };

/* Where memory lies. */
typedef int32_t sxt_space;
enum { SXT_SPACE_HOST = 0, SXT_SPACE_DEVICE = 1, SXT_SPACE_PINNED = 2, SXT_SPACE_MANAGED = 3 };

/* Log levels, most urgent first. MISBEHAVING marks a plugin that broke its contract. */
typedef int32_t sxt_log_level;
enum { SXT_LOG_SILENT = 0, SXT_LOG_ERROR = 1, SXT_LOG_MISBEHAVING = 2, SXT_LOG_WARNING = 3, SXT_LOG_INFO = 4, SXT_LOG_DEBUG = 5 };

/* Why an iterative solve ended: name, pinned value, sentence. Only CONVERGED means that the true residual
 * b - A x met the tolerance in the caller's norm. */
#define SXT_REASON_TABLE(X)                                                                                      \
  X(SXT_REASON_NONE, 0, "not run", "none")                                                                       \
  X(SXT_REASON_CONVERGED, 1, "the true residual met the tolerance", "converged")                                 \
  X(SXT_REASON_ITERATION_LIMIT, 2, "the iteration limit was reached", "iteration-limit")                         \
  X(SXT_REASON_STAGNATED, 3, "the true residual stopped falling above the tolerance", "stagnated")               \
  X(SXT_REASON_DIVERGED, 4, "the residual grew beyond the divergence limit", "diverged")                         \
  X(SXT_REASON_NOT_A_NUMBER, 5, "a NaN or infinity appeared in the iteration", "not-a-number")                   \
  X(SXT_REASON_A_INDEFINITE, 6, "the matrix is not positive definite: p'Ap <= 0", "a-indefinite")                \
  X(SXT_REASON_M_INDEFINITE, 7, "the preconditioner is not positive definite: r'Mr <= 0", "m-indefinite")        \
  X(SXT_REASON_BREAKDOWN, 8, "a division by a vanishing number stopped the recurrence", "breakdown")             \
  X(SXT_REASON_CANCELLED, 9, "the caller cancelled the solve", "cancelled")                                      \
  X(SXT_REASON_TIME_LIMIT, 10, "the time limit was reached", "time-limit")
typedef int32_t sxt_reason;
enum {
#define SXT_X(name, value, sentence, text) name = value,
  SXT_REASON_TABLE(SXT_X)
#undef SXT_X
};

/* Bits of sxt_query.flags. */
enum {
  SXT_QUERY_MATRIX = 1u << 0,        /* the query begins with sxt_matrix_query (plugin/kinds/storage.h) */
  SXT_QUERY_DETERMINISTIC = 1u << 1, /* only kernels whose bits do not depend on threads or timing */
  SXT_QUERY_CAPTURABLE = 1u << 2,    /* only kernels that may run inside a captured graph */
  SXT_QUERY_PREDICT_ONLY = 1u << 3   /* sxt_kernel_select: choose and build nothing; no kernel sees it */
};

/* How every query, storage and args struct begins: its size, and the kind id that says what follows. */
typedef struct sxt_head {
  uint64_t struct_size;
  const char *kind; /* "sxt.spmv/1"; a third party's: "com.example.fft/1" */
} sxt_head;

/* How every query begins: what a performance model may look at, never device memory. A query is plain data without
 * pointers (names are char arrays in it), so that core can copy, hash and compare it. */
typedef struct sxt_query {
  sxt_head h;
  double expected_runs;      /* N in setup + N * run; values below 1 count as 1 */
  uint32_t flags;            /* SXT_QUERY_* */
  sxt_value_type value_type; /* of the vectors and the result */
} sxt_query;

/* End of a struct's last member: sizeof would hide a member added in tail padding. */
#define SXT_END_OF(type, member) ((uint64_t)(offsetof(type, member) + sizeof(((type *)0)->member)))
/* True when the struct behind p, as its author compiled it, has this member. */
#define SXT_HAS(p, type, member) ((p)->struct_size >= SXT_END_OF(type, member))

#endif
