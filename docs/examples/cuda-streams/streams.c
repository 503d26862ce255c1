/* SPDX-License-Identifier: BSD-3-Clause */
/* A CUDA program with streams of its own: two fields on one grid, each on its stream with a context of its own. Arrays
 * are the program's, in device memory. Copies that the program enqueues and products by the library run in the order of
 * the stream; nothing waits until the program does. The last step solves for each field, and finds again what the
 * products were made from.
 *
 *   cc streams.c $(pkg-config --cflags --libs sextant) -lcudart -lm      Exit code 77: there is no device. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sextant/sextant.h"

enum { SIDE = 200, N = SIDE * SIDE, FIELDS = 2, STEPS = 3 };

static void need(sxt_status status) {
  if (status == SXT_OK) return;
  fprintf(stderr, "%s: %s\n", sxt_status_name(status), sxt_last_error(NULL));
  exit(1);
}

static void need_cuda(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

typedef struct {
  cudaStream_t stream;
  sxt_context *context;
  sxt_matrix *a;
  sxt_pcg *pcg;
  double *u_device, *next_device, *u_host, *next_host; /* host: pinned, so that copies overlap with work */
  sxt_vector *u, *next;                                /* the device arrays, where they lie */
} field;

/* I + dt L in rows, L the five-point Laplacian. */
static void assemble(int32_t *row_ptr, int32_t *col, double *values, double dt) {
  int32_t k = 0;
  for (int32_t i = 0; i < N; ++i) {
    const int32_t x = i % SIDE, y = i / SIDE;
    row_ptr[i] = k;
    if (y > 0) col[k] = i - SIDE, values[k++] = -dt;
    if (x > 0) col[k] = i - 1, values[k++] = -dt;
    col[k] = i, values[k++] = 1 + 4 * dt;
    if (x + 1 < SIDE) col[k] = i + 1, values[k++] = -dt;
    if (y + 1 < SIDE) col[k] = i + SIDE, values[k++] = -dt;
  }
  row_ptr[N] = k;
}

static void begin(field *f, double dt) {
  static int32_t row_ptr[N + 1], col[5 * N];
  static double values[5 * N];
  const size_t bytes = N * sizeof(double);
  need_cuda(cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking), "a stream");
  need_cuda(cudaMalloc((void **)&f->u_device, bytes), "device memory");
  need_cuda(cudaMalloc((void **)&f->next_device, bytes), "device memory");
  need_cuda(cudaMallocHost((void **)&f->u_host, bytes), "pinned memory");
  need_cuda(cudaMallocHost((void **)&f->next_host, bytes), "pinned memory");

  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  need(sxt_context_create(&options, &f->context));
  need(sxt_context_set_stream(f->context, f->stream)); /* from here on all work goes there */
  assemble(row_ptr, col, values, dt);
  need(sxt_matrix_from_csr(f->context, N, N, row_ptr, col, values, NULL, &f->a));
  need(sxt_vector_wrap(f->context, N, SXT_F64, SXT_SPACE_DEVICE, f->u_device, &f->u));
  need(sxt_vector_wrap(f->context, N, SXT_F64, SXT_SPACE_DEVICE, f->next_device, &f->next));
  sxt_pcg_options solver;
  sxt_pcg_options_init(&solver, sizeof solver);
  solver.rtol = 1e-12;
  need(sxt_pcg_create(f->a, &solver, &f->pcg));
}

static void end(field *f) {
  sxt_pcg_destroy(f->pcg); /* before the stream, which must outlive its use */
  sxt_vector_destroy(f->u);
  sxt_vector_destroy(f->next);
  sxt_matrix_destroy(f->a);
  sxt_context_destroy(f->context);
  cudaFreeHost(f->u_host);
  cudaFreeHost(f->next_host);
  cudaFree(f->u_device);
  cudaFree(f->next_device);
  cudaStreamDestroy(f->stream);
}

/* next = A u on the field's stream, with the copies there and back. It does not wait, but at the first call. */
static void enqueue(field *f) {
  const size_t bytes = N * sizeof(double);
  need_cuda(cudaMemcpyAsync(f->u_device, f->u_host, bytes, cudaMemcpyHostToDevice, f->stream), "a copy");
  need(sxt_spmv(SXT_NO_TRANSPOSE, NULL, f->a, f->u, NULL, f->next));
  need_cuda(cudaMemcpyAsync(f->next_host, f->next_device, bytes, cudaMemcpyDeviceToHost, f->stream), "a copy");
}

/* The largest |next - A u|, both as they came back. */
static double product_error(const field *f, double dt) {
  double worst = 0;
  for (int i = 0; i < N; ++i) {
    const int x = i % SIDE, y = i / SIDE;
    const double *u = f->u_host;
    const double beside = (y > 0 ? u[i - SIDE] : 0) + (x > 0 ? u[i - 1] : 0) + (x + 1 < SIDE ? u[i + 1] : 0) +
                          (y + 1 < SIDE ? u[i + SIDE] : 0);
    worst = fmax(worst, fabs(f->next_host[i] - (1 + 4 * dt) * u[i] + dt * beside));
  }
  return worst;
}

int main(void) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("SKIPPED: there is no CUDA device\n");
    return 77;
  }
  static field fields[FIELDS];
  const double dt[FIELDS] = {0.1, 2.0};
  double worst = 0, lost = 0;
  for (int i = 0; i < FIELDS; ++i) begin(&fields[i], dt[i]);
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < FIELDS; ++i) {
      for (int k = 0; k < N; ++k) fields[i].u_host[k] = sin(0.01 * k * (i + 1) + step);
      enqueue(&fields[i]); /* the second field is filled while the first is worked on */
    }
    for (int i = 0; i < FIELDS; ++i) {
      need_cuda(cudaStreamSynchronize(fields[i].stream), "the stream");
      worst = fmax(worst, product_error(&fields[i], dt[i]));
    }
  }
  for (int i = 0; i < FIELDS; ++i) { /* A x = next, in device memory: a solve waits for its answer */
    field *f = &fields[i];
    sxt_pcg_report report = {.struct_size = sizeof report};
    need(sxt_pcg_solve_array(f->pcg, N, f->next_device, f->u_device, NULL, &report));
    need_cuda(cudaMemcpyAsync(f->next_host, f->u_device, N * sizeof(double), cudaMemcpyDeviceToHost, f->stream),
              "a copy");
    need_cuda(cudaStreamSynchronize(f->stream), "the stream");
    for (int k = 0; k < N; ++k) lost = fmax(lost, fabs(f->next_host[k] - f->u_host[k]));
    printf("field %d: %lld iterations, residual %.0e\n", i, (long long)report.iterations,
           report.true_relative_residual);
  }
  printf("products differ by %.0e, solutions by %.0e\n", worst, lost);
  for (int i = 0; i < FIELDS; ++i) end(&fields[i]);
  return worst < 1e-13 && lost < 1e-8 ? 0 : 1;
}
