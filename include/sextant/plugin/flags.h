/* SPDX-License-Identifier: BSD-3-Clause */
/* Every flag bit of the plugin ABI. A bit of a kernel and the bit of a query that asks for it have one number. Core
 * refuses a kernel for a query that asks for a bit which the kernel does not declare. */
#ifndef SEXTANT_PLUGIN_FLAGS_H
#define SEXTANT_PLUGIN_FLAGS_H

/* sxt_exec.flags: what the call is part of. */
enum {
  SXT_EXEC_CAPTURING = 1u << 0,    /* work on exec's stream is being captured, not run */
  SXT_EXEC_DETERMINISTIC = 1u << 1 /* equal input must give equal bits */
};

/* sxt_kernel.flags: what the kernel promises. */
enum {
  SXT_KERNEL_DETERMINISTIC = 1u << 0, /* equal bits for equal input, for any number of threads and any timing */
  SXT_KERNEL_CAPTURABLE = 1u << 1,    /* only exec's stream, scalars by pointer, code loaded in open, equal launches */
  SXT_KERNEL_REFERENCE = 1u << 2,     /* written to be read; chosen only when nothing else applies or when forced */
  SXT_KERNEL_BASELINE = 1u << 3,      /* a vendor's kernel, kept to compare with and to fall back on */
  SXT_KERNEL_ALLOCATES = 1u << 4,     /* a run is set-up whose memory is not known before: it may allocate (orderings) */
  SXT_KERNEL_ONE_ORDER = 1u << 8,     /* sums in the one order (order.h); beside SXT_KERNEL_DETERMINISTIC */
  SXT_KERNEL_COLUMNS = 1u << 9,       /* several right-hand sides: its ops are sxt_pcg_columns_ops (kinds/pcg_columns.h) */
  SXT_KERNEL_FACTORS = 1u << 10,      /* its ops are sxt_preconditioner_factors_ops (kinds/preconditioner_factors.h) */
  SXT_KERNEL_PERMUTED = 1u << 11,     /* its ops are sxt_storage_permuted_ops (kinds/storage_permuted.h) */
  SXT_KERNEL_SIDE_BY_SIDE = 1u << 12, /* several vectors at once (kinds/preconditioner_columns.h) */
  SXT_KERNEL_POLYNOMIAL = 1u << 13,   /* M is a polynomial in A (kinds/preconditioner.h) */
  SXT_KERNEL_COMMON_FACTOR = 1u << 14, /* a scheduler that keeps nothing of a factor beside args->factor, and solves with
                                        * one that another such kernel of its device made (kinds/cholesky.h) */
  SXT_KERNEL_PLAIN_FACTOR = 1u << 15   /* a scheduler whose factor stands whole in args->factor, where those with
                                        * SXT_KERNEL_COMMON_FACTOR may read it; it may keep more for its own solves */
};

/* sxt_query.flags: what is asked for. Bits 0 to 3 are in types.h, since programs may set them, too. */
enum {
  SXT_QUERY_ONE_ORDER = 1u << 8,     /* only kernels with SXT_KERNEL_ONE_ORDER; beside SXT_QUERY_DETERMINISTIC */
  SXT_QUERY_COLUMNS = 1u << 9,       /* the query is an sxt_pcg_columns_query (kinds/pcg_columns.h) */
  SXT_QUERY_SIDE_BY_SIDE = 1u << 12  /* the query is an sxt_preconditioner_columns_query */
};

#endif
