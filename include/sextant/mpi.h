/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator (sextant/world.h) from an MPI communicator. Header-only: compiled by the program's own mpicc, so that it fits
 * whichever MPI that is (MPI 3.0 and later), and no library of Sextant links one. Include it in C or C++ in programs that use MPI:
 *
 *   sxt_comm comm;
 *   sxt_comm_mpi_create(MPI_COMM_WORLD, &comm);
 *   sxt_world_create(1, &context, &comm, NULL, &world);
 *   ...
 *   sxt_world_destroy(world);
 *   sxt_comm_mpi_destroy(&comm);   (before MPI_Finalize)
 *
 * A rank that gives the world up tells the others, so that they do not wait for their time limit; one that dies cannot.
 * Messages are host memory. Calls come from the thread that calls the library: MPI_THREAD_FUNNELED is enough where that is the
 * main thread, MPI_THREAD_SERIALIZED elsewhere. */
#ifndef SEXTANT_MPI_H
#define SEXTANT_MPI_H

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sextant/sextant.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sxt_mpi_state { /* What the functions below are handed */
  MPI_Comm comm;  /* a duplicate: messages of the program do not meet those of the library */
  char *work;     /* of gathers, which may stay under way after their time is over */
  size_t work_bytes; /* that work has */
  int32_t stuck;  /* 1: something is under way that nothing waits for any more */
};
typedef struct sxt_mpi_state sxt_mpi_state;

struct sxt_mpi_request { /* Messages under way */
  int count;           /* of messages */
  int *bytes;          /* that each has, behind `each`; -1 where it is sent */
  MPI_Request each[1]; /* count of them */
};
typedef struct sxt_mpi_request sxt_mpi_request;

/* Pieces that MPI's counts can state. */
#define SXT_MPI_PIECE (1 << 30)
#define SXT_MPI_TAG 21
#define SXT_MPI_TAG_OVER 22 /* of a rank that gave the world up */

/* Whether it ended as it should; a message shorter than it was received with would leave old bytes. */
static inline int sxt_mpi_ended(MPI_Request *request, int bytes, int *flag) {
  MPI_Status status;
  int count = 0;
  if (MPI_Test(request, flag, &status) != MPI_SUCCESS) return 0;
  if (!*flag || bytes < 0) return 1;
  return MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == bytes;
}

/* Until all have ended, another rank gave up, or so many seconds are over: it tests, and lets others have the processor
 * meanwhile. bytes: as in sxt_mpi_request. */
static inline sxt_status sxt_mpi_finish(sxt_mpi_state *state, int count, MPI_Request *requests, const int *bytes,
                                        double seconds) {
  const double start = MPI_Wtime();
  int done = 0, round, over = 0;
  for (round = 0;; ++round) {
    for (; done < count; ++done) {
      int flag = 0;
      if (!sxt_mpi_ended(requests + done, bytes[done], &flag)) return SXT_E_COMM;
      if (!flag) break;
    }
    if (done == count) return SXT_OK;
    if (MPI_Wtime() - start > seconds) return SXT_E_COMM;
    if (round <= 64) continue;
    if (MPI_Iprobe(MPI_ANY_SOURCE, SXT_MPI_TAG_OVER, state->comm, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS || over)
      return SXT_E_COMM;
    sched_yield();
  }
}

/* Tells all others. Nothing waits for these messages, which are empty. */
static inline void sxt_mpi_abort(void *user, sxt_status status, const char *why) {
  sxt_mpi_state *state = (sxt_mpi_state *)user;
  int rank = 0, size = 0, r;
  (void)status, (void)why;
  state->stuck = 1;
  MPI_Comm_rank(state->comm, &rank);
  MPI_Comm_size(state->comm, &size);
  for (r = 0; r < size; ++r) {
    MPI_Request request;
    if (r != rank && MPI_Isend(state, 0, MPI_BYTE, r, SXT_MPI_TAG_OVER, state->comm, &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

static inline sxt_status sxt_mpi_gather(void *user, const void *mine, int64_t bytes, void *all, double seconds) {
  sxt_mpi_state *state = (sxt_mpi_state *)user;
  MPI_Request request;
  const int collective = -1;
  sxt_status status;
  int size = 0;
  size_t needed;
  if (bytes > INT_MAX) return SXT_E_OVERFLOW;
  MPI_Comm_size(state->comm, &size);
  needed = (size_t)bytes * ((size_t)size + 1);
  if (needed > state->work_bytes) {
    char *larger = (char *)realloc(state->work, needed);
    if (!larger) return SXT_E_MEMORY;
    state->work = larger;
    state->work_bytes = needed;
  }
  memcpy(state->work, mine, (size_t)bytes);
  if (MPI_Iallgather(state->work, (int)bytes, MPI_BYTE, state->work + bytes, (int)bytes, MPI_BYTE, state->comm, &request) !=
      MPI_SUCCESS)
    return SXT_E_COMM;
  status = sxt_mpi_finish(state, 1, &request, &collective, seconds);
  if (status != SXT_OK) return state->stuck = 1, status;
  memcpy(all, state->work + bytes, (size_t)bytes * (size_t)size);
  return SXT_OK;
}

static inline int64_t sxt_mpi_pieces(int32_t n, const sxt_message_part *parts) {
  int64_t count = 0;
  int32_t i;
  for (i = 0; i < n; ++i) count += (parts[i].bytes + SXT_MPI_PIECE - 1) / SXT_MPI_PIECE;
  return count;
}

/* Begins what `parts` say, in pieces; sends: 1, else it receives. */
static inline int sxt_mpi_begin(sxt_mpi_state *state, int sends, int32_t n, const sxt_message_part *parts,
                                sxt_mpi_request *request) {
  int32_t i;
  for (i = 0; i < n; ++i) {
    int64_t at;
    for (at = 0; at < parts[i].bytes; at += SXT_MPI_PIECE) {
      char *data = (char *)parts[i].data + at;
      const int64_t left = parts[i].bytes - at;
      const int bytes = left < SXT_MPI_PIECE ? (int)left : SXT_MPI_PIECE;
      MPI_Request *next = request->each + request->count;
      const int status = sends ? MPI_Isend(data, bytes, MPI_BYTE, parts[i].rank, SXT_MPI_TAG, state->comm, next)
                               : MPI_Irecv(data, bytes, MPI_BYTE, parts[i].rank, SXT_MPI_TAG, state->comm, next);
      if (status != MPI_SUCCESS) return status;
      request->bytes[request->count] = sends ? -1 : bytes;
      ++request->count;
    }
  }
  return MPI_SUCCESS;
}

static inline sxt_status sxt_mpi_exchange(void *user, int32_t n_sends, const sxt_message_part *sends, int32_t n_receives,
                                          const sxt_message_part *receives, void **request) {
  sxt_mpi_state *state = (sxt_mpi_state *)user;
  const int64_t count = sxt_mpi_pieces(n_sends, sends) + sxt_mpi_pieces(n_receives, receives);
  sxt_mpi_request *made;
  if (count > INT_MAX) return SXT_E_OVERFLOW;
  made = (sxt_mpi_request *)malloc(sizeof *made + (size_t)count * (sizeof(MPI_Request) + sizeof(int)));
  if (!made) return SXT_E_MEMORY;
  made->count = 0;
  made->bytes = (int *)(made->each + count);
  if (sxt_mpi_begin(state, 0, n_receives, receives, made) != MPI_SUCCESS ||
      sxt_mpi_begin(state, 1, n_sends, sends, made) != MPI_SUCCESS)
    return state->stuck = 1, SXT_E_COMM; /* what was begun stays under way, and so does its list */
  *request = made;
  return SXT_OK;
}

static inline sxt_status sxt_mpi_wait(void *user, void **request, double seconds) {
  sxt_mpi_state *state = (sxt_mpi_state *)user;
  sxt_mpi_request *made = (sxt_mpi_request *)*request;
  const sxt_status status = sxt_mpi_finish(state, made->count, made->each, made->bytes, seconds);
  *request = NULL;
  if (status != SXT_OK) return state->stuck = 1, status;
  free(made);
  return SXT_OK;
}

/* Collective over `of`, which is duplicated; its error handler stays, the duplicate's returns errors. SXT_E_ARGUMENT for
 * MPI_COMM_NULL, which MPI_Comm_split gives to ranks that it leaves out; SXT_E_STATE before MPI_Init and after MPI_Finalize;
 * SXT_E_COMM, SXT_E_MEMORY. */
static inline sxt_status sxt_comm_mpi_create(MPI_Comm of, sxt_comm *comm) {
  int begun = 0, over = 0, rank = 0, size = 0;
  sxt_mpi_state *state;
  MPI_Errhandler handler;
  int failed = 0;
  if (!comm || of == MPI_COMM_NULL) return SXT_E_ARGUMENT;
  MPI_Initialized(&begun);
  if (begun) MPI_Finalized(&over);
  if (!begun || over) return SXT_E_STATE;
  state = (sxt_mpi_state *)calloc(1, sizeof *state);
  if (!state) return SXT_E_MEMORY;
  MPI_Comm_get_errhandler(of, &handler); /* the caller's may end the program */
  MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
  failed = MPI_Comm_dup(of, &state->comm) != MPI_SUCCESS;
  MPI_Comm_set_errhandler(of, handler);
  MPI_Errhandler_free(&handler);
  if (failed) return free(state), SXT_E_COMM;
  MPI_Comm_set_errhandler(state->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(state->comm, &rank);
  MPI_Comm_size(state->comm, &size);
  memset(comm, 0, sizeof *comm);
  comm->struct_size = sizeof *comm;
  comm->user = state;
  comm->rank = rank;
  comm->size = size;
  comm->gather = sxt_mpi_gather;
  comm->exchange = sxt_mpi_exchange;
  comm->wait = sxt_mpi_wait;
  comm->abort = sxt_mpi_abort;
  return SXT_OK;
}

/* After the worlds that were made with it and before MPI_Finalize. Collective, but not where a wait had run out of time: what is
 * still under way keeps its memory, and MPI_Finalize may wait for it: end such a program by MPI_Abort. */
static inline void sxt_comm_mpi_destroy(sxt_comm *comm) {
  sxt_mpi_state *state = comm ? (sxt_mpi_state *)comm->user : NULL;
  if (!state) return;
  comm->user = NULL;
  if (state->stuck) return;
  MPI_Comm_free(&state->comm);
  free(state->work);
  free(state);
}

#ifdef __cplusplus
}
#endif
#endif
