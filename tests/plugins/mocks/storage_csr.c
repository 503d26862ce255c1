/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-storage: a third party's builder of CSR in f64, predicted to be cheaper than any other; -DDEFECT says what is
 * wrong with it. */
#include <stdlib.h>
#include <string.h>

#include "plugin_table.h"
#include "sextant/plugin/kinds/storage.h"

enum { none, values, refresh, diagonal, scale };
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define IS(defect) (DEFECT == defect)

typedef struct {
  sxt_csr view;
  double *values;
} form;

static sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             sxt_message *reason) {
  (void)features, (void)machine;
  if (((const sxt_matrix_query *)query)->matrix_type == SXT_F64) return SXT_OK;
  strncpy(reason->text, "it holds f64 values only", reason->capacity - 1);
  reason->text[reason->capacity - 1] = 0;
  return SXT_NOT_APPLICABLE;
}

static sxt_status candidates(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             const sxt_filled *slots, sxt_candidate *out, uint64_t capacity, uint64_t *count) {
  (void)query, (void)features, (void)machine, (void)slots, (void)capacity;
  *count = 1;
  memset(out, 0, sizeof *out);
  out->setup_s = 1e-12;
  return SXT_OK;
}

static void fill(form *made, const sxt_csr *a) {
  const double *from = a->values;
  for (int64_t k = 0; k < a->s.nnz; ++k) made->values[k] = from[k] * (IS(values) ? 1.5 : 1);
}

static sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                          const sxt_exec *exec, void **state) {
  (void)candidate, (void)slots, (void)exec;
  const sxt_csr *a = (const sxt_csr *)problem->a;
  form *made = calloc(1, sizeof *made);
  if (!made) return SXT_E_MEMORY;
  *state = made;
  made->view = *a;
  made->view.values = made->values = malloc((size_t)a->s.nnz * 8 + 8);
  if (!made->values) return SXT_E_MEMORY;
  fill(made, a);
  return SXT_OK;
}

static sxt_status take_values(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  (void)exec;
  if (!IS(refresh)) fill(state, (const sxt_csr *)problem->a);
  return SXT_OK;
}

static void release(void *state) {
  free(((form *)state)->values);
  free(state);
}

static const sxt_storage *view(const void *state) { return &((const form *)state)->view.s; }
static uint64_t bytes(const void *state) { return (uint64_t)((const form *)state)->view.s.nnz * 8; }

static sxt_status take_diagonal(const void *state, void *out, const sxt_exec *exec) {
  (void)exec;
  const sxt_csr *a = &((const form *)state)->view;
  const int32_t *row_ptr = a->row_ptr, *col = a->col;
  const double *from = a->values;
  const int64_t n = a->s.rows < a->s.cols ? a->s.rows : a->s.cols;
  for (int64_t i = 0; i < n; ++i) {
    double found = 0;
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      if (col[k] == i) found = from[k];
    ((double *)out)[i] = IS(diagonal) ? -found : found;
  }
  return SXT_OK;
}

static sxt_status take_scale(void *state, const void *s, const sxt_exec *exec) {
  (void)exec;
  form *made = state;
  const int32_t *row_ptr = made->view.row_ptr, *col = made->view.col;
  const double *factor = s;
  for (int64_t i = 0; i < made->view.s.rows; ++i)
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      made->values[k] *= factor[i] * (IS(scale) ? 1 : factor[col[k]]);
  return SXT_OK;
}

static sxt_status no_run(const void *state, void *session, const sxt_head *args, const sxt_exec *exec) {
  (void)state, (void)session, (void)args, (void)exec;
  return SXT_E_NOT_SUPPORTED;
}

static const sxt_storage_ops ops = {
    .struct_size = sizeof ops, .view = view, .bytes = bytes, .scale = take_scale, .diagonal = take_diagonal};
static const sxt_kernel kernel = {.struct_size = sizeof kernel,
                                  .kind = SXT_KIND_STORAGE_CSR,
                                  .name = "com.example.storage." TEXT(DEFECT),
                                  .device = "cpu",
                                  .flags = SXT_KERNEL_DETERMINISTIC,
                                  .ops = &ops,
                                  .applicable = applicable,
                                  .candidates = candidates,
                                  .prepare = prepare,
                                  .refresh = take_values,
                                  .run = no_run,
                                  .release = release};

MOCK_ENTRY("mock-storage-" TEXT(DEFECT), "1.0", &kernel)
