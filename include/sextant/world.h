/* SPDX-License-Identifier: BSD-3-Clause */
/* Several devices and several ranks as one: the part of the C interface that sextant.h brings in with the rest. Guide:
 * docs/world.md. A world is an ordered list of members, each a context, in this process or in another; processes reach each
 * other through a communicator, which is data. Matrices and vectors of a world are divided by rows: consecutive rows belong
 * to consecutive members. The calls of sextant.h and pcg.h take them: sxt_spmv (SXT_NO_TRANSPOSE), sxt_copy to sxt_multiply,
 * reductions, sxt_multidot, sxt_vector_*, sxt_matrix_update_values, _get_info, _destroy, sxt_pcg_create, _solve, _explain,
 * _destroy. Products, reductions, sxt_multidot, updates, sxt_pcg_create and _solve are collective. Others: SXT_E_NOT_SUPPORTED.
 *
 * Conventions beside those of sextant.h
 *   Collective Every rank makes the call, in one order for the whole world, and none returns before all ranks have met. Ranks
 *              that make different calls: SXT_E_STATE on each, naming two of them. A failure on one rank is the same status
 *              on all, and the sentence names the rank. Calls that are not tagged so are one process's own.
 *   Numbers    Ranks, members, rows and columns count from 0 (rows and columns from options.index_base where arrays hold
 *              them). A row or column is global unless a comment says local: then it counts from the first that belongs to
 *              this process. Lengths of vectors are local: the sum over the members of this process.
 *   Threads    One call of a world and its objects at a time in a process: [exclusive] for the world.
 *   Time       No wait is longer than the world's time_limit: what stalls is SXT_E_COMM, and the world is then ended: each
 *              later collective call on it is SXT_E_COMM at once, and its objects can only be destroyed.
 *   Errors     sxt_last_error takes the first context of this process.
 *   Order      Sums over members are formed in the order of members on every rank, so all ranks have equal bits. Members whose
 *              contexts are deterministic give equal bits from run to run, and with the same members and rows of each however
 *              they are grouped into ranks.
 *   Trust      Lengths, counts and indices that a communicator delivers are checked before they are used; what no rank can have
 *              sent is SXT_E_COMM and ends the world. Values are not: those belong to the caller. */
#ifndef SEXTANT_WORLD_H
#define SEXTANT_WORLD_H

#include "sextant/sextant.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sxt_world sxt_world;               /* handles, as those of sextant.h */
typedef struct sxt_comm_threads sxt_comm_threads; /* alike */

/* A run of bytes in host memory, to or from another rank; `reserved0` is 0. A send only reads it. */
typedef struct {
  void *data;
  int64_t bytes;
  int32_t rank, reserved0;
} sxt_message_part;

/* How ranks reach each other. The functions are called by the thread that calls the library, one at a time, and return SXT_OK or
 * SXT_E_COMM (or another error); they must not throw. `user` must outlive the world. After an error the library makes no call
 * but abort. sextant/mpi.h fills one from an MPI communicator, sxt_comm_threads_get one of threads. */
typedef struct {
  uint64_t struct_size;
  void *user;         /* handed to every function */
  int32_t rank, size; /* of this process, from 0, and how many there are */
  /* all: size blocks of `bytes`, that of rank r at r bytes; mine and all do not overlap. Ends after `seconds` at the latest, with
   * SXT_E_COMM and no more use of either. */
  sxt_status (*gather)(void *user, const void *mine, int64_t bytes, void *all, double seconds);
  /* Begins to send and to receive, at most one message to and one from each other rank, none of them empty. The memory stays
   * with the call until wait has returned SXT_OK. *request: for wait. */
  sxt_status (*exchange)(void *user, int32_t n_sends, const sxt_message_part *sends, int32_t n_receives,
                         const sxt_message_part *receives, void **request);
  /* Ends the exchange, after `seconds` at the latest. Messages come in the order in which they were sent. A message of another
   * length than it was received with is SXT_E_COMM. */
  sxt_status (*wait)(void *user, void **request, double seconds);
  /* OPTIONAL, may be NULL: this rank gives the world up, for this reason. Others need not wait for their time limit. */
  void (*abort)(void *user, sxt_status status, const char *why);
} sxt_comm;

/* A communicator whose ranks are threads of one process, for programs without MPI and for tests. [any-thread] */
SXT_API sxt_status sxt_comm_threads_create(int32_t size, sxt_comm_threads **threads);
/* That of one rank, for its thread; set comm->struct_size before the call. SXT_E_INDEX. [any-thread] */
SXT_API sxt_status sxt_comm_threads_get(sxt_comm_threads *threads, int32_t rank, sxt_comm *comm);
/* After the worlds that were made with it. */
SXT_API void sxt_comm_threads_destroy(sxt_comm_threads *threads);

typedef struct { /* How a world waits */
  uint64_t struct_size;
  double time_limit; /* seconds of one wait for other ranks, above 0; default 60 */
} sxt_world_options;

SXT_API void sxt_world_options_init(sxt_world_options *options, uint64_t struct_size); /* [any-thread] */
/* n contexts, at least one, are the members of this process; members count through the ranks. comm NULL: this process is the
 * whole world; else copied, and its struct_size says what it has. Ranks may have different numbers of members and devices.
 * SXT_E_COMM, SXT_E_STATE (ranks that run other versions of the library). Collective. */
SXT_API sxt_status sxt_world_create(int32_t n, sxt_context *const *contexts, const sxt_comm *comm,
                                    const sxt_world_options *options, sxt_world **world);
/* Not collective: tells no other rank. */
SXT_API void sxt_world_destroy(sxt_world *world);

typedef struct { /* What is known of a world: rank of ranks; members in all, of which `own` from first_member belong to this process */
  uint64_t struct_size;
  int32_t rank, ranks, members, first_member, own;
  int32_t ended; /* 1: the communicator failed, or a rank did not answer in time */
} sxt_world_info;
/* Set struct_size before the call. */
SXT_API sxt_status sxt_world_get_info(const sxt_world *world, sxt_world_info *info);

/* Divides rows among the members by the memory rate that each device's model uses: member m gets rows begin[m] to
 * begin[m + 1] - 1, global. begin: host memory of members + 1 numbers. The same on every rank; no rank waits. */
SXT_API sxt_status sxt_rows_plan(const sxt_world *world, int64_t rows, int64_t *begin);

/* A matrix of which this process brings rows row_begin to row_begin + row_count - 1: row_count + 1 pointers, which count
 * this process's entries, and global columns. The rows of all ranks follow each other in the order of ranks and are all rows:
 * an overlap or a gap is SXT_E_DIMENSION and names the ranks and rows. A rank may have none. rows and cols are equal
 * (SXT_E_NOT_SQUARE): x is divided as y is. Within a process rows are divided
 * among its members by entries and memory rate. Options as sxt_matrix_from_csr, but for these: ownership SXT_COPY, triangle
 * SXT_FULL, else SXT_E_NOT_SUPPORTED; rows in sentences are local. Types, sizes and symmetry must agree between ranks:
 * SXT_E_DIMENSION, SXT_E_TYPE. The part of a member whose columns it owns and the rest are two matrices, each with its own
 * storage and kernel. Updates bring this process's values. Collective. */
SXT_API sxt_status sxt_matrix_from_csr_rows(sxt_world *world, int64_t rows, int64_t cols, int64_t row_begin, int64_t row_count,
                                            const void *row_ptr, const void *col, const void *values,
                                            const sxt_matrix_options *options, sxt_matrix **matrix);
/* The same from entries with global rows and columns, of any rows: those of rows that belong to another rank are sent there.
 * Entries of one position are summed in the order of ranks, then of arrays; SXT_DUPLICATES_REFUSE refuses them whatever ranks they
 * come from. Updates take values in the order of these arrays, whatever keep_order says. Collective. */
SXT_API sxt_status sxt_matrix_from_coo_rows(sxt_world *world, int64_t rows, int64_t cols, int64_t row_begin, int64_t row_count,
                                            int64_t nnz, const void *row, const void *col, const void *values,
                                            const sxt_matrix_options *options, sxt_matrix **matrix);

typedef struct { /* How a matrix is divided */
  uint64_t struct_size;
  /* NULL, "auto" or "contiguous": consecutive rows, by predicted seconds. "rcm": the same along the order of reverse
   * Cuthill-McKee; "metis": METIS's k-way partition, where it is installed; "one": all rows to the fastest member. The first
   * two of these renumber rows: see sxt_matrix_order. */
  const char *method;
} sxt_partition_options;
SXT_API void sxt_partition_options_init(sxt_partition_options *options, uint64_t struct_size); /* [any-thread] */
/* Divides a matrix of one context among the members of a world of one process (else SXT_E_NOT_SUPPORTED), by predicted seconds of
 * a product's memory traffic. It is copied; updates take values in the canonical order of `whole`. sxt_pcg_explain tells which
 * kernel of kind sxt.partition/1 divided it, and why not others. SXT_E_NOT_SQUARE, SXT_E_UNKNOWN_NAME, SXT_E_NO_KERNEL. */
SXT_API sxt_status sxt_matrix_split(sxt_world *world, const sxt_matrix *whole, const sxt_partition_options *options,
                                    sxt_matrix **matrix);
/* The division of a matrix's rows among all members: members + 1 numbers into begin (host memory), global. */
SXT_API sxt_status sxt_matrix_rows(const sxt_matrix *matrix, int64_t *begin);
/* The caller's numbers of this process's rows, in the order in which its vectors hold them: one for each into order (host
 * memory), global, of `whole` where sxt_matrix_split divided that. They ascend unless its method renumbers. */
SXT_API sxt_status sxt_matrix_order(const sxt_matrix *matrix, int64_t *order);

/* Vectors whose parts lie with this process's members: lengths[i] values with its i-th member, i from 0, in host memory.
 * Rows that a matrix gives a member are begin[m + 1] - begin[m] of sxt_matrix_rows. Zeros, owned by the vector. For host
 * memory of sxt_vector_write and _read the parts follow each other. sxt_vector_data: of the only part, else NULL. */
SXT_API sxt_status sxt_world_vector_create(sxt_world *world, const int64_t *lengths, sxt_value_type type, sxt_vector **vector);
/* Wraps data[i] of lengths[i] values in the space of the i-th member's context, as sxt_vector_wrap does it. */
SXT_API sxt_status sxt_world_vector_wrap(sxt_world *world, const int64_t *lengths, sxt_value_type type, const sxt_space *spaces,
                                         void *const *data, sxt_vector **vector);

typedef struct { /* What one member of this process has of a set-up's matrix, and what its last solve took */
  uint64_t struct_size;
  int64_t rows;               /* that it owns */
  int64_t own_entries;        /* in columns that it owns */
  int64_t boundary_entries;   /* in columns of others */
  int64_t boundary_rows;      /* that have such entries */
  int64_t halo_received, halo_sent; /* values of x that a product fetches from others, and gives to them */
  double product_seconds;     /* on the host: of enqueueing, where the device has streams */
  double exchange_seconds;    /* packing, copies and messages of halos, alike */
  double waiting_seconds;     /* of the whole process, in gathers with the other ranks */
} sxt_member_report;
/* Of the i-th member of this process, from 0. Set struct_size before the call. SXT_E_INDEX; SXT_E_ARGUMENT where pcg is not of a
 * world. */
SXT_API sxt_status sxt_pcg_get_member(const sxt_pcg *pcg, int32_t member, sxt_member_report *report);

#ifdef __cplusplus
}
#endif
#endif
