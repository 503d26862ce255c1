/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin ABI: what a shared object must export to bring kernels into Sextant, and what the library lends it.
 *
 * A plugin exports one symbol, sxt_plugin_entry_0. It receives the host's table and returns a constant description of
 * its kernels and of the kinds it defines, if any. It sees the headers of sextant/plugin/ and sextant/sdk/, nothing
 * else.
 *
 * Until 1.0 the ABI major is 0 and core accepts exactly the minor it was built with; from 1.0 structs grow at the end
 * only, sizes are compared by the end of the last member, and a newer minor is never refused.
 *
 * Thread tags: [any-thread] may be called concurrently; [pure] also neither allocates nor touches a device;
 * [setup] one caller at a time for one state; [exec] concurrent on one state, each with its own session and exec.
 * No function of a plugin prints, exits, aborts, installs handlers or lets an exception out. UTF-8 throughout. */
#ifndef SEXTANT_PLUGIN_H
#define SEXTANT_PLUGIN_H

#include "sextant/plugin/flags.h"
#include "sextant/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SXT_PLUGIN_ABI_MAJOR 0u      /* of this header */
#define SXT_PLUGIN_ABI_MINOR 1u      /* of this header */
#define SXT_PLUGIN_MAGIC 0x53585431u /* "SXT1" */

typedef struct sxt_host sxt_host;
typedef struct sxt_exec sxt_exec;
typedef struct sxt_bound sxt_bound;
typedef struct sxt_kernel sxt_kernel;
typedef struct sxt_machine sxt_machine;

/* A caller's buffer for a sentence with numbers in it; text is always terminated, longer sentences are cut. */
typedef struct { char *text; uint64_t capacity; /* bytes behind text */ } sxt_message;

/* A scalar that a captured call can read anew: in the exec's device space when on_device, else on the host. */
typedef struct { const void *value; /* one number of the vectors' type */ int32_t on_device, reserved0; } sxt_scalar;

/* ---- what the host lends ------------------------------------------------------------------------------------- */

struct sxt_host { /* What the library lends a plugin. Every member [any-thread]; the table lives as long as the process */
  uint64_t struct_size;
  uint32_t abi_major, abi_minor;
  void *self; /* the library's */
  void (*log)(const sxt_host *, sxt_log_level, const char *plugin, const char *utf8); /* a line for the context's log */
  /* Attaches a sentence to the call in progress; the status itself is returned by the function that failed. */
  void (*set_error)(const sxt_host *, const sxt_exec *, const char *utf8);
  /* Memory of exec's device (or of the host), stream-ordered where the device is. NULL when there is none left. */
  void *(*alloc)(const sxt_host *, const sxt_exec *, sxt_space, uint64_t bytes, uint64_t alignment);
  void (*free)(const sxt_host *, const sxt_exec *, sxt_space, void *);
  /* Copies between any two spaces, in the order of exec's stream. */
  sxt_status (*copy)(const sxt_host *, const sxt_exec *, void *to, const void *from, uint64_t bytes);
  /* Waits for exec's stream; only engines and schedulers may. */
  sxt_status (*synchronize)(const sxt_host *, const sxt_exec *);
  /* Later services by name, "sxt.x/1"; NULL when this host has none of that name. */
  const void *(*get_service)(const sxt_host *, const char *id);
};

/* Everything a run may touch beside its args. Lent by core, one for each concurrent call. FROZEN for plugin ABI 0.1. */
struct sxt_exec {
  const sxt_host *host;           /* the table that the plugin was given */
  void *call;                     /* core's; identifies the call for set_error */
  void *device;                   /* the device plugin's handle */
  void *stream;                   /* driver-level stream of the device's primary context; NULL on the CPU */
  void *scratch;                  /* at least the candidate's scratch_bytes, 256-byte aligned, in device space */
  uint64_t scratch_bytes;
  int32_t threads;                /* CPU: at most this many threads (team.h) */
  uint32_t flags;                 /* SXT_EXEC_* */
  int32_t *device_status;         /* word in device space for an sxt_status found while running; NULL on the CPU */
  const volatile int32_t *cancel; /* non-zero: stop soon; NULL: cannot be cancelled */
};

/* What a model may know about the device and the threads it may use. Bandwidths in bytes a second, rates in events
 * a second, times in seconds. Analytic from device properties, or measured and loaded from a machine profile. */
struct sxt_machine {
  uint64_t struct_size;
  const char *device;          /* "cpu", "cuda", ... as kernels state it */
  const char *name;            /* "Intel(R) Xeon(R) ...", "NVIDIA H200" */
  int32_t level;               /* CPU: 1 baseline, 2 AVX2, 3 AVX-512; CUDA: compute capability, 90 */
  int32_t units;               /* threads the context may use, or multiprocessors */
  uint64_t memory_bytes, cache_bytes, unit_cache_bytes; /* device memory; last shared cache; cache private to a unit */
  double stream_rate, stream_rate_unit; /* streaming from memory: all units together, one alone */
  double cache_rate, cache_rate_unit;   /* streaming from the last cache */
  double gather_rate, gather_rate_unit; /* isolated 8-byte gathers from memory */
  double flop_rate_f64, flop_rate_f32;  /* fused multiply-add counted as two, all units */
  double launch_s;                      /* one launch (CPU: one call through a kernel table) */
  double barrier_s;                     /* a barrier of all units (CPU: one fork and join) */
  double copy_rate;                     /* host to device and back */
  double cached_gather_rate;            /* isolated 8-byte gathers that the last cache holds; all units */
  double sector_rate;                   /* 32-byte sectors from the last cache to the units; 0 where there are none */
  /* Limits of one multiprocessor, of one block and of one cluster; 0 on the CPU. */
  int64_t threads_per_unit, blocks_per_unit, registers_per_unit, shared_per_unit;
  int64_t threads_per_block, shared_per_block, warp, blocks_per_cluster;
};

/* Features in the order in which the kernel lists their names; NaN where one is not available. */
typedef struct { /* count names and as many values */ uint64_t count; const char *const *names; const double *values; } sxt_features;

/* ---- performance models -------------------------------------------------------------------------------------- */

/* Terms core has analytic coefficients for: macro suffix, name, group. Seconds = sum of latency terms + max(sum of
 * memory terms, sum of compute terms, sum of tail terms). A kernel spread unevenly multiplies its memory and compute
 * terms by (busiest unit / mean unit). A kernel may name further terms and state their default seconds a unit; their
 * group is memory, or what the name begins with: "latency.x", "memory.x", "compute.x", "tail.x" (what the busiest
 * worker does beside the others). Where a machine profile was calibrated,
 * fitted coefficients replace all of these, so a term is right when its count is right. */
#define SXT_TERM_TABLE(X)                                                         \
  X(LAUNCHES, "launches", latency)         /* kernel launches or table calls */   \
  X(BARRIERS, "barriers", latency)         /* fork-joins, grid-wide barriers */   \
  X(STREAM_BYTES, "stream_bytes", memory)  /* read or written in order */         \
  X(GATHERS, "gathers", memory)            /* isolated accesses that miss */      \
  X(CACHED_GATHERS, "cached_gathers", memory) /* isolated accesses that the last cache serves */ \
  X(SECTORS, "sectors", memory)            /* 32-byte sectors that units ask of the last cache */ \
  X(ATOMICS, "atomics", memory)            /* conflicting updates */              \
  X(FLOPS, "flops", compute)               /* in the value type's precision */    \
  X(STEPS, "steps", compute)               /* loop starts, tests: about a nanosecond each on one unit */

enum { SXT_MAX_TERMS = 12 };

/* One launch configuration of a kernel and its predicted cost. FROZEN; reserved words are zero. */
typedef struct {
  int64_t launch[4];          /* the kernel's own tuning; CPU kernels: launch[0] = threads */
  uint32_t model_class;       /* coefficients are fitted for each (kernel, value type, model_class) */
  uint32_t n_terms;           /* terms[i] counts the kernel's term_names[i]; 0: run_s holds */
  double terms[SXT_MAX_TERMS]; /* counts, in the order of term_names */
  double run_s;               /* seconds a run when n_terms is 0; NaN, infinite or negative: never chosen */
  double setup_s;             /* seconds of prepare */
  double working_set_bytes;   /* bytes that the next run touches again: they decide the cache regime */
  double units;               /* threads or multiprocessors kept busy; 0: all */
  uint64_t state_bytes, scratch_bytes;
  double reserved[4];
} sxt_candidate;

/* A candidate's launch as a launch policy sees it (plugin/kinds/launch.h). */
typedef struct {
  int64_t blocks, threads, shared_bytes, registers; /* registers a thread */
  double run_s;                                     /* the model's prediction; NaN: none */
} sxt_launch_config;

/* ---- composed kernels ---------------------------------------------------------------------------------------- */

/* A part that a composed kernel needs filled. Each alternative is a kind, or several joined by '+' that do the step
 * together: {"sxt.spmv_dots/1", "sxt.spmv/1+sxt.multidot/1", NULL}. Core takes the cheapest alternative. */
typedef struct {
  const char *role;                /* "A", "dots", "M": part of the plan's role path */
  const char *const *alternatives; /* NULL-terminated */
  uint32_t required_flags;         /* SXT_KERNEL_* that every part must promise */
  uint32_t min_count, max_count;   /* instances; min_count 0: may stay empty */
  uint32_t reserved0;
} sxt_slot;

/* A chosen kernel, ready to call. FROZEN. run enqueues and returns; on the CPU it computes. */
struct sxt_bound {
  const char *kernel;
  const void *state;   /* read-only while anything runs */
  void *session;       /* one for each concurrent caller; NULL until opened or when the kernel has none */
  sxt_status (*run)(const void *state, void *session, const sxt_head *args, const sxt_exec *); /* as sxt_kernel.run */
  uint64_t scratch_bytes;
  double run_s;        /* predicted */
  uint32_t flags;      /* SXT_KERNEL_* */
  uint32_t reserved0;
};

/* A slot as core filled it. parts holds `instances` groups of `kinds_per_instance` kernels, in the order of the
 * alternative's kinds. During a call to candidates, state and session are still NULL. FROZEN. */
typedef struct {
  const char *role;    /* the slot's */
  int32_t alternative; /* index into the slot's alternatives; -1: left empty */
  uint32_t instances, kinds_per_instance, reserved0;
  const sxt_bound *const *parts;
  double run_s, setup_s; /* one run of every part; setup of all of them */
  uint64_t scratch_bytes; /* the largest that a part needs */
} sxt_filled;

/* ---- kernels ------------------------------------------------------------------------------------------------- */

/* What prepare works on. Everything here outlives the state, unless the kind says otherwise. */
typedef struct {
  uint64_t struct_size;
  const sxt_query *query; /* the one that the kernel was chosen for */
  const sxt_head *a;    /* the matrix in the storage the query names (plugin/kinds/storage.h); NULL when it has none */
  const sxt_head *data; /* further data of the kind: symbolic structure, ... ; NULL */
} sxt_problem;

/* REQUIRED: kind, name, device, run. All other members may be NULL or 0 with the stated meaning. */
struct sxt_kernel {
  uint64_t struct_size;
  const char *kind;        /* "sxt.spmv/1" */
  const char *name;        /* "spmv.csr.rows.cpu": stable, used in plans, logs, forcing */
  const char *device;      /* "cpu", "cuda": kernels run only in contexts of that device */
  const char *description; /* one line for people */
  uint32_t version;        /* raise it when results or speed change: old plan entries are then decided again */
  uint32_t flags;          /* SXT_KERNEL_* */
  uint32_t value_types;    /* bits 1 << SXT_F64 ...; 0: all */
  int32_t min_level;       /* lowest sxt_machine.level it can run on */
  const char *const *features;   /* names of the features it reads, NULL-terminated; NULL: none */
  const char *const *storages;   /* storage kinds it can read, NULL-terminated; NULL: reads no matrix itself */
  const char *const *term_names; /* NULL-terminated, at most SXT_MAX_TERMS; NULL: candidates give run_s */
  const double *term_defaults;   /* seconds a unit of each term; NULL or NaN: the machine's coefficient */
  const sxt_slot *slots;   /* parts that it needs filled; NULL: none */
  uint64_t n_slots;        /* how many there are */
  const void *ops;         /* the kind's own table, beginning with its struct_size; NULL: the kind has none */

  /* May this kernel serve the query? SXT_OK, or SXT_NOT_APPLICABLE with the reason in numbers. NULL: always. [pure] */
  sxt_status (*applicable)(const sxt_query *, const sxt_features *, const sxt_machine *, sxt_message *reason);
  /* Fills at most capacity candidates and sets *count to how many there are. NULL: no estimate, so the kernel is
   * taken only when it is forced or nothing with an estimate applies. [pure] */
  sxt_status (*candidates)(const sxt_query *, const sxt_features *, const sxt_machine *, const sxt_filled *slots,
                           sxt_candidate *out, uint64_t capacity, uint64_t *count);
  /* The query of one part: writes the query struct of `kind` into out (zeroed, capacity bytes). SXT_NOT_APPLICABLE
   * ends the instances of a slot. storage and matrix of a matrix query are filled in by core. [pure] */
  sxt_status (*slot_query)(const sxt_query *, uint64_t slot, uint64_t instance, const char *kind, void *out,
                           uint64_t capacity);
  /* Builds the state that runs need. NULL: the state is NULL. SXT_NOT_APPLICABLE: it does not serve these values; other
   * kernels are tried. [setup] */
  sxt_status (*prepare)(const sxt_problem *, const sxt_candidate *, const sxt_filled *slots, const sxt_exec *, void **state);
  /* New values, same pattern: allocates nothing; NULL: it holds none. SXT_NOT_APPLICABLE as in prepare. [setup] */
  sxt_status (*refresh)(void *state, const sxt_problem *, const sxt_exec *);
  /* A session for one concurrent caller; slots carry the sessions of the parts. No scratch is lent. NULL: the session
   * is NULL. [any-thread] */
  sxt_status (*open)(const void *state, const sxt_filled *slots, const sxt_exec *, void **session);
  /* Never allocates, synchronises or loads code; engines and schedulers may poll. [exec] */
  sxt_status (*run)(const void *state, void *session, const sxt_head *args, const sxt_exec *);
  void (*close)(void *session); /* [any-thread] */
  void (*release)(void *state); /* [setup]; every session is closed before */
  /* The grid, block and shared memory of a candidate, for launch policies, which may then pick any of the kernel's
   * candidates: all of them must give the same results. NULL: launch policies are not asked. [pure] */
  sxt_status (*launch_config)(const sxt_query *, const sxt_candidate *, const sxt_machine *, sxt_launch_config *out);
};

/* ---- kinds --------------------------------------------------------------------------------------------------- */

/* One conformance or calibration case on the host, made by its kind and owned by it. */
typedef struct {
  uint64_t struct_size;
  const char *description;
  const sxt_query *query; /* what the case asks */
  const sxt_head *a;    /* host CSR (plugin/kinds/storage.h) for matrix queries; core converts it to what a kernel reads */
  const sxt_head *data; /* as sxt_problem.data */
  sxt_head *args;       /* inputs and outputs of one run */
  void *owner;          /* the kind's */
} sxt_case;

/* A kind is data, so that a third party can define one. Ids: "sxt.name/revision", or reverse-domain. A revision never
 * changes its args; a new field is a new revision. */
typedef struct {
  uint64_t struct_size;
  const char *id, *description; /* id: "sxt.spmv/1" */
  const sxt_kernel *reference; /* the kernel all others are tested against; NULL: cases carry their own answers */
  uint64_t n_cases;            /* cases that make_case can make */
  /* Case i of n_cases from the seed: equal calls give equal, independent cases. [any-thread] */
  sxt_status (*make_case)(const sxt_host *, uint64_t seed, uint64_t i, sxt_case *out);
  /* Distance of got from want in units of the error bound (<= 1 passes), with a sentence when it is larger.
   * [any-thread] */
  sxt_status (*compare)(const sxt_case *got, const sxt_case *want, double *error_in_bounds, sxt_message *);
  void (*free_case)(sxt_case *); /* [any-thread] */
  /* Moves a case's arrays into exec's device space, or the outputs back. NULL: cases run on host memory only.
   * [any-thread] */
  sxt_status (*move_case)(sxt_case *, const sxt_exec *, int32_t to_device);
} sxt_kind;

/* ---- plugins ------------------------------------------------------------------------------------------------- */

typedef struct { /* What a plugin offers: n_kernels kernels and n_kinds kinds. magic is SXT_PLUGIN_MAGIC */
  uint32_t magic, abi_major;
  uint32_t abi_minor, min_host_minor; /* the least minor version of the host's ABI that will do */
  uint64_t struct_size;
  const char *name, *version, *vendor, *license, *build_id; /* name and version required */
  uint64_t n_kernels;
  const sxt_kernel *const *kernels;
  uint64_t n_kinds;
  const sxt_kind *const *kinds;
  void (*shutdown)(void); /* at process exit of a tool, if ever; never followed by dlclose; may be NULL */
} sxt_plugin;

#define SXT_PLUGIN_EXPORT __attribute__((visibility("default"))) /* on the one exported function */
typedef sxt_status (*sxt_plugin_entry_fn)(const sxt_host *, const sxt_plugin **out); /* type of the entry function */
/* THE exported symbol. May fail with SXT_E_DEVICE and a sentence by set_error(host, NULL, ...). [init, once] */
SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out);

SXT_STATIC_ASSERT(sizeof(void *) == 8, "64-bit only");
SXT_STATIC_ASSERT(sizeof(sxt_exec) == 72, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_bound) == 56, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_filled) == 56, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_candidate) == 216, "frozen");
SXT_STATIC_ASSERT(offsetof(sxt_host, get_service) == 72, "frozen");
SXT_STATIC_ASSERT(offsetof(sxt_kernel, run) == 160, "frozen");
SXT_STATIC_ASSERT(offsetof(sxt_plugin, shutdown) == 96, "frozen");
SXT_STATIC_ASSERT(SXT_END_OF(sxt_machine, blocks_per_cluster) == sizeof(sxt_machine), "no tail padding");
SXT_STATIC_ASSERT(SXT_END_OF(sxt_kernel, launch_config) == sizeof(sxt_kernel), "no tail padding");
SXT_STATIC_ASSERT(SXT_END_OF(sxt_kind, move_case) == sizeof(sxt_kind), "no tail padding");

#ifdef __cplusplus
}
#endif
#endif
