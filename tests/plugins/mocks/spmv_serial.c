/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-spmv: a third party's kernel of one of the library's own kinds: y = alpha A x + beta y in f64 over CSR with i32
 * indices, one row after the other. -DNAME names it, and -DDEFECT what is wrong with it. -DPLUGIN makes the file the
 * newest version of that plugin, with -DMIXED it also has kernels that cannot be tested on the CPU. */
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "plugin_table.h"
#include "sextant/plugin/kinds/spmv.h"

enum {
  none,
  last_row,        /* forgets it */
  factor,          /* sums are 1.5 times too large */
  reads_y,         /* even where beta is 0 */
  reads_gaps,      /* adds what lies behind x */
  allocates,       /* in run, by malloc */
  maps,            /* memory in run */
  prints,          /* in run, by puts */
  writes,          /* in run, to descriptor 2 */
  prints_early,    /* when it is prepared */
  rounds,          /* upwards, and leaves it so */
  flushes,         /* to zero, and leaves it so */
  masks,           /* a signal, and leaves it so */
  localises,       /* the process */
  flatters,        /* its cost is a millionth of the truth */
  declines,        /* every matrix, when it is prepared */
  declines_values, /* negative ones, when it is prepared or refreshed */
  fails            /* when it is prepared, with its own error */
};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define VARIANT TEXT(NAME)
#define IS(defect) (DEFECT == defect)
#ifdef PLUGIN
#define PLUGIN_NAME TEXT(PLUGIN)
#define PLUGIN_VERSION "99.0"
#else
#define PLUGIN_NAME "mock-" VARIANT
#define PLUGIN_VERSION "1.0"
#endif

static sxt_status refuse(sxt_message *reason, const char *sentence) {
  strncpy(reason->text, sentence, reason->capacity - 1);
  reason->text[reason->capacity - 1] = 0;
  return SXT_NOT_APPLICABLE;
}

static sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             sxt_message *reason) {
  (void)features, (void)machine;
  const sxt_spmv_query *q = (const sxt_spmv_query *)query;
  if (q->op != SXT_NO_TRANSPOSE) return refuse(reason, "it does not transpose");
  if (q->n_rhs != 1) return refuse(reason, "it multiplies one vector at a time");
  if (q->m.matrix_type != SXT_F64) return refuse(reason, "it reads f64 values only");
  return q->m.rows < 1 ? refuse(reason, "the matrix has no rows") : SXT_OK;
}

static sxt_status candidates(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             const sxt_filled *slots, sxt_candidate *out, uint64_t capacity, uint64_t *count) {
  (void)features, (void)machine, (void)slots, (void)capacity;
  *count = 1;
  memset(out, 0, sizeof *out);
  out->launch[0] = 1;
  /* Too low, so that it is chosen wherever it applies; the true cost is a few nanoseconds an entry. */
  out->run_s = 1e-10 * (double)((const sxt_matrix_query *)query)->nnz * (IS(flatters) ? 1e-6 : 1);
  return SXT_OK;
}

static int any_negative(const sxt_csr *a) {
  const double *values = a->values;
  for (int64_t k = 0; k < a->s.nnz; ++k)
    if (values[k] <= -100) return 1;
  return 0;
}

static sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                          const sxt_exec *exec, void **state) {
  (void)candidate, (void)slots;
  const sxt_csr *a = (const sxt_csr *)problem->a;
  if (IS(prints_early)) puts("a matrix");
  if (a->s.index_type != SXT_I32 || a->s.offset_type != SXT_I32) {
    exec->host->set_error(exec->host, exec, "the matrix has 64-bit indices");
    return SXT_E_NOT_SUPPORTED;
  }
  if (IS(declines) || (IS(declines_values) && any_negative(a))) {
    exec->host->set_error(exec->host, exec, "it does not serve these values");
    return SXT_NOT_APPLICABLE;
  }
  if (IS(fails) && a->s.rows == 400) return SXT_E_STATE;
  *state = (void *)a;
  return SXT_OK;
}

static sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  (void)problem;
  if (!IS(declines_values) || !any_negative(state)) return SXT_OK;
  exec->host->set_error(exec->host, exec, "it does not serve these values");
  return SXT_NOT_APPLICABLE;
}

/* Actions that a run must not do to its process. */
static void misbehave(void) {
  if (IS(maps)) {
    void *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) munmap(mapped, 4096);
  }
  if (IS(prints)) puts("a product");
  if (IS(writes) && write(2, "a product\n", 10) < 0) return;
  if (IS(rounds)) fesetround(FE_UPWARD);
#ifdef __SSE__
  if (IS(flushes)) _mm_setcsr(_mm_getcsr() | 0x8000u);
#endif
  if (IS(masks)) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
  }
  if (IS(localises)) setlocale(LC_ALL, "C.UTF-8");
}

static sxt_status run(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)session, (void)exec;
  const sxt_csr *a = state;
  const sxt_spmv_args *args = (const sxt_spmv_args *)head;
  const int32_t *row_ptr = a->row_ptr, *col = a->col;
  const double *values = a->values, *x = args->x;
  const double alpha = args->alpha.value ? *(const double *)args->alpha.value : 1;
  const double beta = args->beta.value ? *(const double *)args->beta.value : 0;
  double *y = args->y;
  void *volatile taken = IS(allocates) ? malloc(64) : NULL; /* volatile: compilers leave out what is not used */
  free(taken);
  misbehave();
  for (int64_t i = 0; i < a->s.rows - IS(last_row); ++i) {
    double sum = IS(reads_gaps) ? 1e-30 * x[a->s.cols] : 0;
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += values[k] * x[col[k]];
    if (IS(factor)) sum *= 1.5;
    y[i] = alpha * sum + (beta == 0 && !IS(reads_y) ? 0 : beta * y[i]);
  }
  return SXT_OK;
}

static const char *const reads[] = {SXT_KIND_STORAGE_CSR, NULL};
static const sxt_kernel kernel = {.struct_size = sizeof kernel,
                                  .kind = SXT_KIND_SPMV,
                                  .name = "com.example." VARIANT,
                                  .device = "cpu",
                                  .description = "rows one after the other, in one thread",
                                  .version = 1,
                                  .flags = SXT_KERNEL_DETERMINISTIC,
                                  .value_types = 1u << SXT_F64,
                                  .storages = reads,
                                  .applicable = applicable,
                                  .candidates = candidates,
                                  .prepare = prepare,
                                  .refresh = refresh,
                                  .run = run};

#ifdef MIXED
/* Both do nothing: one for another device, one of a kind whose reference is not present. */
static sxt_status nothing(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)head, (void)exec;
  return SXT_OK;
}
static const sxt_kernel elsewhere = {.struct_size = sizeof elsewhere,
                                     .kind = SXT_KIND_SPMV,
                                     .name = "com.example.mixed.elsewhere",
                                     .device = "moon",
                                     .value_types = 1u << SXT_F64,
                                     .storages = reads,
                                     .candidates = candidates,
                                     .prepare = prepare,
                                     .run = nothing};
static const sxt_kernel unproven = {.struct_size = sizeof unproven,
                                    .kind = "com.example.elsewhere/1",
                                    .name = "com.example.mixed.unproven",
                                    .device = "cpu",
                                    .run = nothing};
MOCK_ENTRY(PLUGIN_NAME, PLUGIN_VERSION, &kernel, &elsewhere, &unproven)
#else
MOCK_ENTRY(PLUGIN_NAME, PLUGIN_VERSION, &kernel)
#endif
