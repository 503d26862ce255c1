/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-lazy: a kernel of each of the library's kinds that compute, for f64 on the CPU. Their models say that they are
 * the fastest; they do nothing. */
#include <string.h>

#include "plugin_table.h"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/ordering.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/residual.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

static sxt_status candidates(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             const sxt_filled *slots, sxt_candidate *out, uint64_t capacity, uint64_t *count) {
  (void)query, (void)features, (void)machine, (void)slots, (void)capacity;
  *count = 1;
  memset(out, 0, sizeof *out);
  out->launch[0] = 1;
  out->run_s = 1e-12;
  return SXT_OK;
}

static sxt_status run(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)head, (void)exec;
  return SXT_OK;
}

static const char *const csr[] = {SXT_KIND_STORAGE_CSR, NULL};
#define LAZY(which, of, reads)                                         \
  static const sxt_kernel which = {.struct_size = sizeof which,        \
                                   .kind = of,                         \
                                   .name = "com.example.lazy." #which, \
                                   .device = "cpu",                    \
                                   .flags = SXT_KERNEL_DETERMINISTIC,  \
                                   .value_types = 1u << SXT_F64,       \
                                   .storages = reads,                  \
                                   .candidates = candidates,           \
                                   .run = run}
LAZY(vector, SXT_KIND_VECTOR, NULL);
LAZY(vector_group, SXT_KIND_VECTOR_GROUP, NULL);
LAZY(reduction, SXT_KIND_REDUCTION, NULL);
LAZY(multidot, SXT_KIND_MULTIDOT, NULL);
LAZY(spmv, SXT_KIND_SPMV, csr);
LAZY(spmv_dots, SXT_KIND_SPMV_DOTS, csr);
LAZY(residual, SXT_KIND_RESIDUAL, csr);
LAZY(preconditioner, SXT_KIND_PRECONDITIONER, csr);
LAZY(ordering, SXT_KIND_ORDERING, csr);
LAZY(pcg, SXT_KIND_PCG, csr);
LAZY(hermitian, SXT_KIND_HERMITIAN, NULL);

MOCK_ENTRY("mock-lazy", "1.0", &vector, &vector_group, &reduction, &multidot, &spmv, &spmv_dots, &residual,
           &preconditioner, &ordering, &pcg, &hermitian)
