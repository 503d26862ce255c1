/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.rendezvous/1": how members of one process meet on their devices, without the host, in an iteration of conjugate
 * gradients by Chronopoulos and Gear's recurrence: values for others with a flag, waiting for the flags of others, and the
 * sums of all members with the scalars that follow. Every member runs the same steps in the same order, each in its own
 * stream, and all streams run at once: a step waits for steps of others on other devices. Whatever waits gives up after
 * `patience` seconds and says so in the report.
 * Epochs: STEP raises the member's epoch by one; GIVE and AWAIT between two of them are of the epoch that comes. Memory that
 * one member writes of another (flags, packets) is written again only after that member's next packet has come, so two
 * copies of packets, by the epoch's parity, and one of the values are enough.
 * All numbers are summed in the order of members: every member has equal bits, and decides alike. */
#ifndef SEXTANT_KINDS_RENDEZVOUS_H
#define SEXTANT_KINDS_RENDEZVOUS_H
#include "sextant/plugin/kinds/exchange.h"

#define SXT_KIND_RENDEZVOUS "sxt.rendezvous/1"

enum { SXT_RENDEZVOUS_MAX = 16, SXT_RENDEZVOUS_SUMS = 3 }; /* members; numbers that are summed */
/* 64-bit words of packets in a member's room, for so many members. */
#define SXT_RENDEZVOUS_WORDS(members) (2 * (members) * SXT_RENDEZVOUS_SUMS * 2)

enum {
  SXT_RENDEZVOUS_BEGIN = 1, /* takes in what the host asks of the coming steps */
  SXT_RENDEZVOUS_GIVE = 2,  /* values to others, then *flags[l] = epoch for each link */
  SXT_RENDEZVOUS_AWAIT = 3, /* until all awaited flags have the epoch */
  SXT_RENDEZVOUS_STEP = 4   /* sums of all; tests; alpha and beta of the update that follows */
};
/* Why steps end until the next BEGIN: alpha is then 0 and beta -1. The updates that follow leave x and r, and every
 * second one restores the direction: p = u - (u - p). */
enum {
  SXT_RENDEZVOUS_RUNNING = 0,
  SXT_RENDEZVOUS_MET = 1,          /* r'r is at most the square of the tolerance */
  SXT_RENDEZVOUS_LAST = 2,         /* iterate `last` was reached */
  SXT_RENDEZVOUS_NOT_A_NUMBER = 3,
  SXT_RENDEZVOUS_A_INDEFINITE = 4, /* (M r)'A M r is not positive */
  SXT_RENDEZVOUS_M_INDEFINITE = 5, /* r'M r is not positive */
  SXT_RENDEZVOUS_BREAKDOWN = 6,    /* a number left the normal range */
  SXT_RENDEZVOUS_ALONE = 7         /* another member did not come in time */
};

typedef struct { /* Of one member, in its device memory; zero before the first BEGIN */
  uint64_t epoch;
  double tolerance_squared, gamma, alpha; /* gamma, alpha: of the step before */
  int64_t k, last;                        /* the iterate that the next STEP judges; the last one wanted */
  int32_t restart, ended;                 /* restart: the next direction has no history */
  uint32_t ticket, reserved0;             /* ticket: of the blocks of a GIVE, 0 between runs */
  uint64_t waited;                        /* nanoseconds of AWAIT and STEP since it was zero; kept by devices alone */
} sxt_rendezvous_control;

typedef struct { /* Host memory that devices write (pinned), one a member: what the last STEP found */
  int64_t k;                /* the iterate that was judged */
  int32_t ended, reserved0; /* SXT_RENDEZVOUS_RUNNING to _ALONE; 0 */
  uint64_t waited;          /* nanoseconds, as in sxt_rendezvous_control */
} sxt_rendezvous_report;

typedef struct {
  sxt_query q;
  int32_t members, preconditioned; /* 1: there is r'M r beside r'r */
  int64_t n;                       /* values that the member gives */
} sxt_rendezvous_query;

/* Arrays of pointers are host memory, read during the call. `own` is this member's place among the members. */
typedef struct {
  sxt_head h;
  int32_t step, members, own, preconditioned; /* step: SXT_RENDEZVOUS_BEGIN to _STEP; the others as in the query */
  double patience;                            /* seconds */
  sxt_rendezvous_control *control;            /* of this member */
  /* BEGIN */
  double tolerance;
  int64_t last;
  int32_t restart; /* 1: the coming direction has no history; after steps that ended, but for MET, it never has */
  int32_t count;   /* GIVE: links and flags. AWAIT: awaited flags */
  /* GIVE: as in sxt_exchange_args */
  int64_t n;
  const void *x;
  const int64_t *index;
  const sxt_exchange_link *links;
  uint64_t *const *flags; /* GIVE: of the receivers; AWAIT: in this member's memory */
  /* STEP */
  const void *dots;         /* (M r)'A M r, r'r, and with a preconditioner r'M r: values of the vectors' type, own part */
  uint64_t *const *packets; /* of every member, SXT_RENDEZVOUS_WORDS words each, zero before the first BEGIN */
  void *alpha, *beta;       /* of the vectors' type, in this member's memory */
  sxt_rendezvous_report *report;
  double *squares; /* host memory that devices write: r'r of iterate k at k % room; NULL: not wanted */
  int64_t room;    /* numbers that squares has */
} sxt_rendezvous_args;

SXT_STATIC_ASSERT(sizeof(sxt_rendezvous_control) == 72, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_rendezvous_query) == 48, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_rendezvous_args) == 168, "frozen");
#endif
