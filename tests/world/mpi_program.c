/* SPDX-License-Identifier: BSD-3-Clause */
/* A program as users write it, in C with MPI: each rank brings its rows of a 5-point grid, solves, and checks its part of the answer
 * itself. Started with an argument it plays a fault: "die" ends rank 1 in the middle, and the others must not wait for ever; with "fail"
 * messages of rank 1 fail, which the others must hear of at once; with "short" rank 1 sends less than rank 0 receives. Exit code 0: all is
 * as it should be. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sextant/mpi.h"

static int rank, ranks;

static void must(sxt_status status, const char *what, const sxt_context *context) {
  if (status == SXT_OK) return;
  fprintf(stderr, "rank %d: %s: %s: %s\n", rank, what, sxt_status_name(status), sxt_last_error(context));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rows begin to begin + count - 1 of the grid of side x side, shifted by 0.1; values NULL: only counts. */
static int64_t grid_rows(int64_t side, int64_t begin, int64_t count, int64_t *ptr, int64_t *col, double *values) {
  int64_t nnz = 0, k;
  for (k = begin; k < begin + count; ++k) {
    const int64_t i = k / side, j = k % side, at[5] = {k - side, k - 1, k, k + 1, k + side};
    const int there[5] = {i > 0, j > 0, 1, j + 1 < side, i + 1 < side};
    int e;
    ptr[k - begin] = nnz;
    for (e = 0; e < 5; ++e) {
      if (!there[e]) continue;
      if (values) col[nnz] = at[e], values[nnz] = e == 2 ? 4.1 : -1;
      ++nnz;
    }
  }
  ptr[count] = nnz;
  return nnz;
}

static sxt_matrix *make_matrix(sxt_world *world, const sxt_context *context, int64_t side, int64_t begin, int64_t count) {
  int64_t *ptr = malloc(sizeof *ptr * (size_t)(count + 1));
  const int64_t nnz = grid_rows(side, begin, count, ptr, NULL, NULL);
  int64_t *col = malloc(sizeof *col * (size_t)(nnz + 1));
  double *values = malloc(sizeof *values * (size_t)(nnz + 1));
  sxt_matrix_options options;
  sxt_matrix *matrix = NULL;
  grid_rows(side, begin, count, ptr, col, values);
  sxt_matrix_options_init(&options, sizeof options);
  options.index_type = SXT_I64;
  must(sxt_matrix_from_csr_rows(world, side * side, side * side, begin, count, ptr, col, values, &options, &matrix), "matrix",
       context);
  free(ptr), free(col), free(values);
  return matrix;
}

/* x = 1 everywhere: b = A x is known, and so is the answer. */
static int solve(sxt_world *world, const sxt_context *context, sxt_matrix *matrix, int64_t n, int64_t count) {
  const double one = 1;
  double *x = malloc(sizeof *x * (size_t)(count + 1)), worst = 0, norm = 0;
  sxt_vector *b = NULL, *solution = NULL;
  sxt_pcg *pcg = NULL;
  sxt_pcg_report report;
  int64_t i;
  must(sxt_world_vector_create(world, &count, SXT_F64, &b), "b", context);
  must(sxt_world_vector_create(world, &count, SXT_F64, &solution), "x", context);
  must(sxt_fill(&one, solution), "fill", context);
  must(sxt_nrm2(solution, &norm), "norm", context);
  if (fabs(norm - sqrt((double)n)) > 1e-9 * norm) return fprintf(stderr, "rank %d: |x| is %g\n", rank, norm), 1;
  must(sxt_spmv(SXT_NO_TRANSPOSE, NULL, matrix, solution, NULL, b), "product", context);
  must(sxt_pcg_create(matrix, NULL, &pcg), "set-up", context);
  memset(&report, 0, sizeof report);
  report.struct_size = sizeof report;
  must(sxt_pcg_solve(pcg, b, solution, NULL, &report), "solve", context);
  must(sxt_vector_read(solution, x), "read", context);
  for (i = 0; i < count; ++i) worst = fmax(worst, fabs(x[i] - 1));
  if (worst > 1e-6) return fprintf(stderr, "rank %d: x is off by %g\n", rank, worst), 1;
  if (rank == 0) printf("%d ranks: %ld iterations, error %.1e\n", ranks, (long)report.iterations, worst);
  sxt_pcg_destroy(pcg), sxt_vector_destroy(b), sxt_vector_destroy(solution);
  free(x);
  return 0;
}

/* Rank 1 is gone: products of the others end by the time limit. */
static int play_dead(const sxt_context *context, sxt_matrix *matrix, sxt_world *world, int64_t count) {
  sxt_vector *x = NULL, *y = NULL;
  sxt_status status;
  must(sxt_world_vector_create(world, &count, SXT_F64, &x), "x", context);
  must(sxt_world_vector_create(world, &count, SXT_F64, &y), "y", context);
  if (rank == 1) {  /* it stays, and answers nothing: a rank that ends without MPI_Finalize ends all of them */
    sxt_status received = SXT_OK;
    MPI_Recv(&received, 1, MPI_INT32_T, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return received == SXT_E_COMM ? 0 : 1;
  }
  status = sxt_spmv(SXT_NO_TRANSPOSE, NULL, matrix, x, NULL, y);
  if (rank == 0) MPI_Send(&status, 1, MPI_INT32_T, 1, 7, MPI_COMM_WORLD);
  if (status != SXT_E_COMM || !strstr(sxt_last_error(context), "time limit"))
    return fprintf(stderr, "rank %d: %s: %s\n", rank, sxt_status_name(status), sxt_last_error(context)), 1;
  return 0;
}

static sxt_status no_memory(void *user, int32_t n_sends, const sxt_message_part *sends, int32_t n_receives,
                            const sxt_message_part *receives, void **request) {
  (void)user, (void)n_sends, (void)sends, (void)n_receives, (void)receives, (void)request;
  return SXT_E_MEMORY;
}

/* Long before the time limit, though only rank 1 knows what happened. */
static int fail_together(const sxt_context *context, sxt_comm *comm) {
  const double start = MPI_Wtime();
  sxt_context *own[1];
  sxt_world_options options;
  sxt_world *world = NULL;
  int64_t ptr[] = {0, 2}, col[] = {0, 1};
  double values[] = {2, -1};
  sxt_matrix_options as;
  sxt_matrix *matrix = NULL;
  sxt_status status;
  own[0] = (sxt_context *)context;
  if (rank == 1) comm->exchange = no_memory;
  sxt_world_options_init(&options, sizeof options);
  options.time_limit = 100;
  must(sxt_world_create(1, own, comm, &options, &world), "world", context);
  sxt_matrix_options_init(&as, sizeof as);
  as.index_type = SXT_I64;
  if (rank == 1) values[0] = -1, values[1] = 2;
  status = sxt_matrix_from_csr_rows(world, 2, 2, rank, 1, ptr, col, values, &as, &matrix);
  if (status != SXT_E_COMM || MPI_Wtime() - start > 50)
    return fprintf(stderr, "rank %d: %s after %g s: %s\n", rank, sxt_status_name(status), MPI_Wtime() - start,
                   sxt_last_error(context)), 1;
  return 0;
}

/* What came is not as long as what was expected: the rest would be old bytes. */
static int shorten(sxt_comm *comm) {
  char bytes[16] = {0};
  sxt_message_part part;
  void *request = NULL;
  sxt_status status;
  part.data = bytes, part.bytes = rank == 0 ? 16 : 8, part.rank = 1 - rank, part.reserved0 = 0;
  must(rank == 0 ? comm->exchange(comm->user, 0, NULL, 1, &part, &request)
                 : comm->exchange(comm->user, 1, &part, 0, NULL, &request), "exchange", NULL);
  status = comm->wait(comm->user, &request, 30);
  return status == (rank == 0 ? SXT_E_COMM : SXT_OK) ? 0 : 1;
}

/* Something may still be under way, which MPI_Finalize may wait for: as the header says. */
static void end_of_a_fault(int code) {
  printf("rank %d ends with %d\n", rank, code);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  /* What was printed goes through mpiexec, which may stop to read as soon as one rank aborts. */
  for (const double start = MPI_Wtime(); MPI_Wtime() - start < (rank == 0 ? 0.3 : 5);) {
  }
  MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char **argv) {
  const int dies = argc > 1 && strcmp(argv[1], "die") == 0;
  const int64_t side = 40, n = side * side;
  int64_t begin, count;
  int code;
  sxt_comm comm;
  sxt_context_options context_options;
  sxt_world_options options;
  sxt_context *context = NULL;
  sxt_world *world = NULL;
  sxt_matrix *matrix;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sxt_context_options_init(&context_options, sizeof context_options);
  context_options.device = "cpu";
  context_options.threads = 1;
  must(sxt_context_create(&context_options, &context), "context", NULL);
  if (sxt_comm_mpi_create(MPI_COMM_NULL, &comm) != SXT_E_ARGUMENT) must(SXT_E_INTERNAL, "no communicator", NULL);
  must(sxt_comm_mpi_create(MPI_COMM_WORLD, &comm), "communicator", NULL);
  if (argc > 1 && strcmp(argv[1], "fail") == 0) end_of_a_fault(fail_together(context, &comm));
  if (argc > 1 && strcmp(argv[1], "short") == 0) end_of_a_fault(shorten(&comm));
  sxt_world_options_init(&options, sizeof options);
  options.time_limit = dies ? 1 : 100;
  must(sxt_world_create(1, &context, &comm, &options, &world), "world", context);
  begin = n * rank / ranks;
  count = n * (rank + 1) / ranks - begin;
  matrix = make_matrix(world, context, side, begin, count);
  code = dies ? play_dead(context, matrix, world, count) : solve(world, context, matrix, n, count);
  if (dies) end_of_a_fault(code);
  sxt_matrix_destroy(matrix);
  sxt_world_destroy(world);
  sxt_comm_mpi_destroy(&comm);
  sxt_context_destroy(context);
  MPI_Finalize();
  return code;
}
