/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.cholesky/1": schedulers of a supernodal sparse Cholesky factorisation, A = P^H L L^H P or P^H L D L^H P.
 * The order and the symbolic structure are core's and reach a scheduler as plain host arrays (problem->data is a
 * sxt_symbolic that outlives the state), so a scheduler only schedules; dense work goes through slots of kind
 * sxt.dense/1. The factor itself is memory of core: args->factor. prepare builds what every factor of one analysis
 * shares (maps, task lists); open allocates what one caller works in; run allocates nothing. A scheduler that says
 * SXT_KERNEL_COMMON_FACTOR may be asked to solve with a factor that another such scheduler of its device made. */
#ifndef SEXTANT_KINDS_CHOLESKY_H
#define SEXTANT_KINDS_CHOLESKY_H
#include "sextant/plugin/kinds/dense.h"
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_CHOLESKY "sxt.cholesky/1"
#define SXT_KIND_SYMBOLIC "sxt.symbolic/1" /* the head of sxt_symbolic */

/* Columns are in the order of elimination; supernodes are numbered in postorder, so a child comes before its parent.
 * Supernode s owns columns super_ptr[s] .. super_ptr[s+1]-1 and rows rows[row_ptr[s]] .. rows[row_ptr[s+1]-1],
 * ascending, its own columns first. Its values are a dense column-major block at value_ptr[s] with leading dimension
 * row_ptr[s+1] - row_ptr[s]; what stands above its diagonal means nothing. A wide supernode is cut into block columns.
 * Where n_factored < n, the columns from there on are those of a Schur complement: the last supernode owns exactly
 * these; it is assembled and takes updates, but is not factored. Host arrays; counts and offsets are 64-bit. */
typedef struct {
  sxt_head h;
  int64_t n, n_factored;     /* columns; those that are factored, n without a Schur complement */
  int64_t n_super, n_blocks; /* supernodes; block columns */
  int64_t nnz_l;             /* entries of L on and below the diagonal, without those that amalgamation added */
  int64_t values;            /* numbers that a factor holds: value_ptr[n_super] */
  int64_t max_rows, max_width; /* of the supernodes */
  double flops;              /* of a factorisation of real numbers, those on added zeros included */
  const int64_t *super_ptr;  /* n_super + 1 */
  const int64_t *row_ptr;    /* n_super + 1 */
  const int64_t *value_ptr;  /* n_super + 1 */
  const int64_t *block_ptr;  /* n_blocks + 1: first columns of the block columns; each supernode begins one */
  const int32_t *rows;
  const int32_t *parent;     /* n_super: the supernode that owns the first row below; -1: none */
  const int32_t *perm;       /* n: perm[k] is the caller's column that is eliminated k-th */
  const int32_t *inverse;    /* n: when the caller's column is eliminated */
  const double *subtree_flops; /* n_super: of the supernode and all below it */
  /* Where A's values go: factor[entry_to[k]] begins as values[entry_from[k]], as its conjugate for k >= n_straight. All
   * other numbers of a factor begin as 0. entry_to is distinct. */
  int64_t n_entries, n_straight;
  const int64_t *entry_from, *entry_to;
} sxt_symbolic;

enum { SXT_CHOLESKY_CLASSES = 7 };
/* Supernodes of one class of widths: up to 4, 16, 64, 256, 1024, 4096 columns, and beyond. */
typedef struct {
  double count;               /* supernodes of the class */
  double columns;             /* sum over them */
  double values, flops;       /* numbers they hold, and floating-point operations they take */
} sxt_front_class;

/* With a Schur complement FORWARD leaves b2 - L21 L11^-1 b1 at its columns, DIAGONAL leaves those as they are, and
 * BACKWARD takes them as the solution there; INVERSE is refused with SXT_E_NOT_SUPPORTED. */
enum {
  SXT_CHOLESKY_FACTOR = 1,   /* values -> factor */
  SXT_CHOLESKY_FORWARD = 2,  /* b = L^-1 P b: from the caller's numbering to the order of elimination */
  SXT_CHOLESKY_DIAGONAL = 3, /* b = D^-1 b; nothing for L L^H */
  SXT_CHOLESKY_BACKWARD = 4, /* b = P^H L^-H b: from the order of elimination to the caller's numbering */
  SXT_CHOLESKY_SOLVE = 5,    /* the three, in that order */
  SXT_CHOLESKY_INVERSE = 6,  /* entries of A^-1 where L has entries, laid out as the factor is */
  SXT_CHOLESKY_PIVOTS = 7    /* b, n numbers of the real type: the pivots in the order of elimination, D or the squares of
                              * L's diagonal; 0 at columns of a Schur complement. On a session of any phase */
};
/* The factorisations; as in sextant/cholesky.h. */
enum { SXT_FACTORS_LLH = 1, SXT_FACTORS_LDLH = 2 };

enum {
  SXT_QUERY_ROUNDED = 1u << 16       /* a permission: products may round what they multiply below the value type's
                                      * precision, as the caller corrects the answer */
};

typedef struct {
  sxt_matrix_query m;         /* of A; value_type is the factor's */
  int32_t phase;              /* SXT_CHOLESKY_FACTOR, _SOLVE or _INVERSE: what is predicted, and what sessions are made for */
  int32_t factors;            /* SXT_FACTORS_* */
  int64_t n_rhs, n_sets;      /* right-hand sides of a solve, and the most that its runs get; sets of values on one pattern */
  int64_t n_factored, n_super, n_blocks, nnz_l, values, index_size; /* index_size: row_ptr[n_super] */
  int64_t max_rows, max_width, height; /* height: supernodes from a leaf to a root, at most */
  int64_t amalgamation, block; /* the widths the structure was made with */
  double flops, critical_flops; /* critical_flops: of the most expensive way from a leaf to a root */
  double update_values;       /* numbers of all contribution blocks */
  double stack_values;        /* numbers of the contribution blocks that are alive at once, in postorder */
  sxt_front_class classes[SXT_CHOLESKY_CLASSES]; /* supernodes by their widths */
  /* Levels of the assembly tree, counted from the roots: what schedulers wait for that work level by level. */
  double narrow_level_columns; /* sum over levels whose widest supernode has up to 64 columns of that one's columns */
  double wide_level_columns;   /* the same over the other levels */
  double level_rows;           /* sum over levels of the most rows that a supernode has */
  double level_children;       /* sum over levels of the most children that one has */
  double large_count;          /* supernodes of more than 160 rows, or 4e6 operations with all below, and all above these */
  double large_ancestors;      /* sum over these of the supernodes above each, no more than it has rows below */
} sxt_cholesky_query;

typedef struct {
  sxt_head h;
  int32_t phase, factors;       /* SXT_CHOLESKY_* and SXT_FACTORS_* */
  sxt_value_type value_type;
  int32_t pivot_policy;         /* FACTOR: SXT_PIVOT_POLICY_* (dense.h) */
  int64_t n_sets;               /* sets of values, factors and right-hand sides; the strides below are between two sets */
  const void *values;           /* FACTOR: A's, in the caller's order; device space. May be of another precision: value_type_a */
  int64_t stride_values;        /* between the values of two sets, in values */
  sxt_value_type value_type_a;  /* of `values`: value_type, or its single precision */
  int32_t reserved0;            /* 0 */
  void *factor;                 /* sxt_symbolic.values numbers; device space; written by FACTOR alone */
  int64_t stride_factor;        /* between two factors, in values */
  double pivot_tolerance;       /* a pivot whose size is no larger than this (absolute) is one that is too small (dense.h) */
  double pivot_value;           /* PERTURB: + or - this, by its sign, + in L L^H; REPLACE: this */
  int64_t *pivots;              /* host memory: columns (order of elimination) of the first pivots that were changed,
                                 * ascending, pivots_capacity of them for each set; NULL */
  int64_t pivots_capacity;      /* columns that `pivots` has room for, of each set */
  void *b;                      /* solve phases: right-hand sides in, solutions out; device space */
  int64_t ldb, n_rhs, stride_b;
  void *inverse;                /* INVERSE: out */
  int64_t stride_inverse;       /* between two of them, in values */
  /* FACTOR, out, one a set; host memory: the first column (order of elimination) that failed, or -1; its pivot;
   * how many pivots were changed. A set that fails is no failure of run: the other sets are factored, and the next factor
   * into the same memory works. A value of A that is not finite fails its set with a pivot that is NaN, at the first
   * column that holds one, whatever the pivots before it are. run returns SXT_NOT_CONVERGED where exec->cancel stopped it. */
  int64_t *failed_column;
  double *failed_pivot;
  int64_t *changed;
} sxt_cholesky_args;

/* sxt_kernel.ops of every scheduler. */
typedef struct {
  uint64_t struct_size;
  /* Bytes that a state and one session take on the host and in device space, beside the factors: within 2 % with a
   * structure; an estimate from the query alone where it is NULL. REQUIRED. [pure] but may allocate */
  void (*bytes)(const sxt_query *, const sxt_symbolic *, const sxt_machine *, const sxt_candidate *, uint64_t *host,
                uint64_t *device);
} sxt_cholesky_ops;

SXT_STATIC_ASSERT(sizeof(sxt_symbolic) == 192, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_cholesky_query) == 496, "frozen");
#endif
