/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-kernels: kernels for device "mock". Three of com.example.scale/1, which all claim to be capturable: one is, one
 * reads its scalar when it is enqueued, one works outside the stream. A CSR storage, and a product of f64 with i32
 * indices. */
#include <stdlib.h>
#include <string.h>

#include "mock_stream.h"
#include "plugin_table.h"
#include "scale.h"
#include "sextant/plugin/kinds/spmv.h"

/* ---- y = factor x
 * ---------------------------------------------------------------------------------------------------- */

static void scale_by_pointer(const void *arguments) {
  const scale_args *args = arguments;
  for (int64_t i = 0; i < args->n; ++i) args->y[i] = *(const double *)args->factor.value * args->x[i];
}

static sxt_status run_scale(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session;
  mock_stream *stream = exec->stream;
  return stream->enqueue(stream, scale_by_pointer, head, sizeof(scale_args));
}

typedef struct {
  scale_args args;
  double factor;
} scale_frozen_args;

static void scale_by_value(const void *arguments) {
  const scale_frozen_args *frozen = arguments;
  for (int64_t i = 0; i < frozen->args.n; ++i) frozen->args.y[i] = frozen->factor * frozen->args.x[i];
}

static sxt_status run_frozen(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session;
  mock_stream *stream = exec->stream;
  const scale_args *args = (const scale_args *)head;
  const scale_frozen_args frozen = {*args, *(const double *)args->factor.value};
  return stream->enqueue(stream, scale_by_value, &frozen, sizeof frozen);
}

static sxt_status run_outside(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)exec;
  scale_by_pointer(head);
  return SXT_OK;
}

/* ---- storage: the source's arrays, copied to the device
 * -------------------------------------------------------------- */

typedef struct {
  sxt_csr view;
  const sxt_host *host;
  void *device;
} stored;

static const void *copied(const sxt_exec *exec, const void *from, uint64_t bytes) {
  void *to = exec->host->alloc(exec->host, exec, SXT_SPACE_DEVICE, bytes, 64);
  if (to) exec->host->copy(exec->host, exec, to, from, bytes);
  return to;
}

static void release_csr(void *state) {
  stored *s = state;
  sxt_exec exec = {.host = s->host, .device = s->device};
  s->host->free(s->host, &exec, SXT_SPACE_DEVICE, (void *)s->view.row_ptr);
  s->host->free(s->host, &exec, SXT_SPACE_DEVICE, (void *)s->view.col);
  s->host->free(s->host, &exec, SXT_SPACE_DEVICE, (void *)s->view.values);
  free(s);
}

static sxt_status prepare_csr(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                              const sxt_exec *exec, void **state) {
  (void)candidate, (void)slots;
  const sxt_csr *source = (const sxt_csr *)problem->a;
  if (source->s.value_type != SXT_F64 || source->s.index_type != SXT_I32 || source->s.offset_type != SXT_I32)
    return SXT_E_TYPE;
  stored *s = calloc(1, sizeof *s);
  if (!s) return SXT_E_MEMORY;
  s->host = exec->host;
  s->device = exec->device;
  s->view = *source;
  s->view.s.space = SXT_SPACE_DEVICE;
  s->view.row_ptr = copied(exec, source->row_ptr, 4 * (uint64_t)(source->s.rows + 1));
  s->view.col = copied(exec, source->col, 4 * (uint64_t)source->s.nnz);
  s->view.values = copied(exec, source->values, 8 * (uint64_t)source->s.nnz);
  if (!s->view.row_ptr || !s->view.col || !s->view.values) return release_csr(s), SXT_E_MEMORY;
  *state = s;
  return SXT_OK;
}

static sxt_status refresh_csr(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  const sxt_csr *source = (const sxt_csr *)problem->a;
  return exec->host->copy(exec->host, exec, (void *)((stored *)state)->view.values, source->values,
                          8 * (uint64_t)source->s.nnz);
}

static const sxt_storage *view_csr(const void *state) { return &((const stored *)state)->view.s; }
static uint64_t bytes_csr(const void *state) {
  const sxt_storage *s = view_csr(state);
  return 4 * (uint64_t)(s->rows + 1) + 12 * (uint64_t)s->nnz;
}

static sxt_status run_nothing(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)head, (void)exec;
  return SXT_E_NOT_SUPPORTED;
}

/* ---- y = alpha A x + beta y
 * ------------------------------------------------------------------------------------------ */

static sxt_status applicable_spmv(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                                  sxt_message *reason) {
  (void)features, (void)machine;
  const sxt_spmv_query *q = (const sxt_spmv_query *)query;
  if (q->op == SXT_NO_TRANSPOSE && q->n_rhs == 1 && q->m.matrix_type == SXT_F64) return SXT_OK;
  strncpy(reason->text, "it multiplies one vector by f64 values, untransposed", reason->capacity - 1);
  reason->text[reason->capacity - 1] = 0;
  return SXT_NOT_APPLICABLE;
}

static sxt_status prepare_spmv(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                               const sxt_exec *exec, void **state) {
  (void)candidate, (void)slots, (void)exec;
  *state = (void *)problem->a; /* the storage outlives the state */
  return SXT_OK;
}

typedef struct {
  const sxt_csr *a;
  sxt_scalar alpha, beta;
  const double *x;
  double *y;
} product;

static void multiply(const void *arguments) {
  const product *p = arguments;
  const int32_t *row_ptr = p->a->row_ptr, *col = p->a->col;
  const double *values = p->a->values;
  const double alpha = p->alpha.value ? *(const double *)p->alpha.value : 1;
  const double beta = p->beta.value ? *(const double *)p->beta.value : 0;
  for (int64_t i = 0; i < p->a->s.rows; ++i) {
    double sum = 0;
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += values[k] * p->x[col[k]];
    p->y[i] = alpha * sum + (beta == 0 ? 0 : beta * p->y[i]);
  }
}

static sxt_status run_spmv(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)session;
  mock_stream *stream = exec->stream;
  const sxt_spmv_args *args = (const sxt_spmv_args *)head;
  const product p = {state, args->alpha, args->beta, args->x, args->y};
  return stream->enqueue(stream, multiply, &p, sizeof p);
}

/* ---- the plugin
 * ------------------------------------------------------------------------------------------------------- */

#define CAPTURABLE_SCALE(variable, kernel_name, function)                                        \
  static const sxt_kernel variable = {.struct_size = sizeof variable,                            \
                                      .kind = KIND_SCALE,                                        \
                                      .name = kernel_name,                                       \
                                      .device = "mock",                                          \
                                      .flags = SXT_KERNEL_CAPTURABLE | SXT_KERNEL_DETERMINISTIC, \
                                      .run = function}
CAPTURABLE_SCALE(scale, "com.example.scale.mock", run_scale);
CAPTURABLE_SCALE(scale_frozen, "com.example.scale.mock-frozen", run_frozen);
CAPTURABLE_SCALE(scale_outside, "com.example.scale.mock-outside", run_outside);

static const sxt_storage_ops storage_ops = {.struct_size = sizeof storage_ops, .view = view_csr, .bytes = bytes_csr};
static const sxt_kernel storage = {.struct_size = sizeof storage,
                                   .kind = SXT_KIND_STORAGE_CSR,
                                   .name = "com.example.storage.csr.mock",
                                   .device = "mock",
                                   .ops = &storage_ops,
                                   .prepare = prepare_csr,
                                   .refresh = refresh_csr,
                                   .run = run_nothing,
                                   .release = release_csr};
static const char *const reads[] = {SXT_KIND_STORAGE_CSR, NULL};
static const sxt_kernel spmv = {.struct_size = sizeof spmv,
                                .kind = SXT_KIND_SPMV,
                                .name = "com.example.spmv.csr.mock",
                                .device = "mock",
                                .flags = SXT_KERNEL_CAPTURABLE | SXT_KERNEL_DETERMINISTIC,
                                .value_types = 1u << SXT_F64,
                                .storages = reads,
                                .applicable = applicable_spmv,
                                .prepare = prepare_spmv,
                                .run = run_spmv};

MOCK_ENTRY("mock-kernels", "1.0", &scale, &scale_frozen, &scale_outside, &storage, &spmv)
