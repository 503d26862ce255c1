/* SPDX-License-Identifier: BSD-3-Clause */
/* Sextant: sparse and batched dense linear algebra that predicts what each of its kernels would cost on your matrix
 * and your machine, takes the cheapest, and can say why. The C interface; C11, also clean in C++14 to C++20.
 *
 * Conventions
 *   Statuses  Every function that can fail returns sxt_status: 0 done, negative an error, positive an answer short of
 *             success. After a failure sxt_last_error(context) says what, where and what to do. Out-parameters are
 *             untouched on failure unless stated. A handle stays usable or at least destroyable after any error.
 *             Any function may return SXT_E_ARGUMENT (a pointer that must not be NULL, a size, option or operand
 *             without meaning: the sentence names it), SXT_E_MEMORY, SXT_E_DEVICE and SXT_E_INTERNAL; comments state
 *             others.
 *   Options   Set up by sxt_*_options_init(options, sizeof *options), which writes no further than that size, so a
 *             program compiled against an older header keeps working. NULL options mean the defaults.
 *   Indices   In sentences they count as the matrix's arrays do (options.index_base), of a matrix from a file from 1, else
 *             from 0. The sentence says which, unless it writes name[i], which is C's own subscript.
 *             Switches are 0 or 1. A name is NULL to let the library choose; an empty one is SXT_E_ARGUMENT.
 *   Arrays    Aligned to their numbers (a complex value is two), else SXT_E_ARGUMENT. Device memory: to its values.
 *   Strings   UTF-8, zero-terminated. Getters that fill a caller's buffer cut what does not fit, always terminate, and
 *             report the full length without the zero. NULL with capacity 0 asks for the length alone.
 *   Threads   Tags end each comment. [any-thread] may run concurrently on the same object; [exclusive] nothing else may
 *             run on that object meanwhile. Different objects never disturb each other; contexts are independent.
 *   Memory    Arrays and strings passed in belong to the caller again at return, and those returned are borrowed,
 *             unless stated. Sizes are counts of values, bytes where the name says so; times are seconds.
 *   Callbacks Run on the calling thread before the call returns, unless stated; their arguments live until they return.
 *             They must not throw or use the object of the call.
 *   Silence   Nothing prints, exits, aborts, forks, installs handlers or throws across this edge. */
#ifndef SEXTANT_SEXTANT_H
#define SEXTANT_SEXTANT_H

#include "sextant/types.h"

#define SXT_VERSION_MAJOR 0 /* of this header */
#define SXT_VERSION_MINOR 1 /* of this header */
#define SXT_VERSION_PATCH 0 /* of this header */

#if defined(SXT_BUILDING)
#define SXT_API __attribute__((visibility("default")))
#else
#define SXT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Handles. Made by sxt_*_create and the like, freed by sxt_*_destroy [exclusive], which accepts NULL and never fails.
 * An object keeps the objects it needs alive: a context or matrix may be destroyed before objects that were made from
 * it. */
typedef struct sxt_context sxt_context;
typedef struct sxt_matrix sxt_matrix;
typedef struct sxt_vector sxt_vector;
typedef struct sxt_pcg sxt_pcg;
typedef struct sxt_selection sxt_selection;

/* ---- library --------------------------------------------------------------------------------------------------- */

/* The version of the running library, which may be newer than this header. Any pointer may be NULL. [any-thread] */
SXT_API void sxt_version(int32_t *major, int32_t *minor, int32_t *patch);
/* "0.1.0"; static. [any-thread] */
SXT_API const char *sxt_version_string(void);
/* "SXT_E_INDEX" and its sentence; static, never NULL. [any-thread] */
SXT_API const char *sxt_status_name(sxt_status status);
SXT_API const char *sxt_status_sentence(sxt_status status);
/* "stagnated" and its sentence; static, never NULL. [any-thread] */
SXT_API const char *sxt_reason_name(sxt_reason reason);
SXT_API const char *sxt_reason_sentence(sxt_reason reason);

/* ---- context ----------------------------------------------------------------------------------------------------- */

typedef struct { /* How a context is opened */
  uint64_t struct_size;
  const char *device;              /* "cpu", "cuda"; NULL or "auto": the first of cuda, cpu that is there. On a device with
                                    * memory of its own "auto" also uses the CPU: calls on plain arrays (sxt_*_array,
                                    * sxt_*_block) and Hermitian sets in host memory run where the models predict less
                                    * time, copies counted. Vectors stay on the device; a caller's stream, a forced
                                    * kernel and deterministic keep all work there, and a loaded plan decides by its
                                    * entries */
  int32_t device_ordinal;          /* which one, from 0 */
  int32_t threads;                 /* CPU threads to use; 0: all that the process may use */
  const char *profile_path;        /* machine profile (TOML); NULL: $SEXTANT_PROFILE, else what sxt_calibrate wrote */
  const char *const *plugin_paths; /* further plugin files or directories, trusted because the caller names them */
  uint64_t n_plugin_paths;         /* how many there are */
  void (*log)(void *user, sxt_log_level level, const char *message); /* called from any thread; NULL: silent */
  void *log_user;
  sxt_log_level log_level;         /* most talkative level to report; default SXT_LOG_WARNING */
  int32_t deterministic;           /* 1: equal bits for equal input, for any number of threads; default 0 */
  void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment); /* host memory; both hooks or neither, called from */
  void (*release)(void *user, void *memory);                         /* any thread. NULL: none left. Outlive every object */
  void *allocator_user;
  /* Measurements that may change a choice; a deterministic context ignores these members. */
  int32_t race;        /* this many of the best candidates, where error bars overlap, run on the real matrix before one
                        * is chosen, where that takes a hundredth of the expected runs at most; 0: as $SEXTANT_RACE ("3"
                        * or "3:0.2" with seconds) says, else none; negative: none */
  int32_t feedback;    /* 1: measured runs correct later choices of this context; 0: as $SEXTANT_FEEDBACK; negative: no */
  double race_seconds; /* for all of a race, set-ups too; 0: as the environment says, else 0.1 */
} sxt_context_options;

SXT_API void sxt_context_options_init(sxt_context_options *options, uint64_t struct_size); /* [any-thread] */
/* Opens a device and loads the plugins (once a process). After a failure there is no context: sxt_last_error(NULL) has
 * the sentence. SXT_E_DEVICE, SXT_E_PLUGIN, SXT_E_FILE_READ, SXT_E_FILE_FORMAT, SXT_E_UNKNOWN_NAME (a device, or in
 * SEXTANT_FORCE). [any-thread] */
SXT_API sxt_status sxt_context_create(const sxt_context_options *options, sxt_context **context);
SXT_API void sxt_context_destroy(sxt_context *context);
/* The sentence of the calling thread's last failed call on this context or on objects made from it (NULL: any call); ""
 * when none failed. Valid until the thread's next failing call. [any-thread] */
SXT_API const char *sxt_last_error(const sxt_context *context);
/* The same into a buffer; *length (may be NULL) is the full length. [any-thread] */
SXT_API void sxt_last_error_copy(const sxt_context *context, char *buffer, int64_t capacity, int64_t *length);
/* The device in words: kind, name, threads, memory, bandwidths the model uses. [any-thread] */
SXT_API sxt_status sxt_context_describe(const sxt_context *context, char *buffer, int64_t capacity, int64_t *length);

/* Streams of a device that has them (CUDA: a cudaStream_t or CUstream, cudaStreamLegacy, cudaStreamPerThread). The caller's
 * stream wins: from then on all work is enqueued there, in the order of the calls, and a call whose results stay on the
 * device returns at once; calls that write host memory (sxt_dot, a solve) still wait. A failure found while such work
 * runs is reported by a later call. The first call of each kind sets kernels up and waits, so make it before you
 * capture the stream into a graph: inside a capture it is SXT_E_STATE and enqueues nothing. Scalars are read when a
 * call is made. A graph that holds such calls is replayed in order with this context's other work: on this stream, or
 * when it has ended. The stream must outlive its use here: NULL (the default) ends it. Then each call uses a stream of
 * the library and waits for it. Its arrays may be in use by earlier work on CUDA's legacy default stream, after which
 * it begins, but not by work on other streams: wait for those streams, or set them here. Captures of other threads stay
 * whole, in the global mode too. Waits for the work of the stream used before. SXT_E_STATE, and nothing changes, while
 * that is being captured, SXT_E_ARGUMENT for a stream of another device, SXT_E_NOT_SUPPORTED on the CPU. [exclusive] */
SXT_API sxt_status sxt_context_set_stream(sxt_context *context, void *stream);
/* Waits for all work on the caller's stream; SXT_E_DEVICE when some of it failed. Without one: done. [any-thread] */
SXT_API sxt_status sxt_context_synchronize(sxt_context *context);

/* Choose a kernel by hand for a kind: "sxt.spmv/1" and "spmv.csr.rows.cpu". NULL kernel: let the model choose again. A
 * forced kernel that cannot apply makes later calls fail and say why. Precedence: this > environment SEXTANT_FORCE
 * ("kind=kernel,kind=kernel") > loaded plan > model. The kernel of sxt.residual/1, which calls a solve converged, is always
 * one that came with the library: another that is forced is named in explain and in a WARNING. SXT_E_UNKNOWN_NAME names the
 * nearest. [any-thread] */
SXT_API sxt_status sxt_context_force(sxt_context *context, const char *kind, const char *kernel);
/* Writes the choices made in this context so far, the newest 4096 and 256 solvers. A regular file is there whole or not at
 * all and keeps its mode; what a symbolic link leads to is replaced, not the link; a device or a FIFO is written
 * directly, and the call waits for a FIFO's reader. SXT_E_FILE_WRITE. [any-thread] */
SXT_API sxt_status sxt_plan_save(sxt_context *context, const char *path);
/* Later choices follow the file where kernel version, machine and pattern still match; others are decided again, with
 * the reason in explain. A plan is a regular file of at most 64 MiB. required != 0: an entry that is missing or no
 * longer fits, or a damaged file, is SXT_E_PLAN; else a damaged file is a warning in the log. SXT_E_FILE_READ in any
 * case. [any-thread] */
SXT_API sxt_status sxt_plan_load(sxt_context *context, const char *path, int32_t required);

/* ---- what is loaded ---------------------------------------------------------------------------------------------- */

typedef struct { /* A loaded plugin: its name, version, vendor and license as it states them, the path of its file, and how many kernels it has */
  uint64_t struct_size;
  const char *name, *version, *vendor, *license, *path;
  int64_t kernels;
} sxt_plugin_info;
typedef struct { /* A loaded kernel: its name, kind, device, description and version as it states them, and its plugin; 1 where it is deterministic, capturable, a reference, or quarantined */
  uint64_t struct_size;
  const char *name, *kind, *device, *description, *plugin;
  int64_t version;
  int32_t deterministic, capturable, reference, quarantined;
} sxt_kernel_info;
typedef struct { /* A file or kernel that was refused: the path of the file, the stage, and the reason as a sentence */
  uint64_t struct_size;
  const char *path, *stage, *reason; /* stage: device (there is none of its kind), trust, open, entry, abi, kind,
                                      * kernel, duplicate, self-test */
} sxt_refusal_info;

/* Records of the process-wide registry, numbered from 0; strings live as long as the process. A newer version of a plugin
 * takes the older one's place. Set struct_size before the call. SXT_E_INDEX beyond the end. Before the first context:
 * empty. [any-thread] */
SXT_API int64_t sxt_plugin_count(void);
SXT_API sxt_status sxt_plugin_get(int64_t i, sxt_plugin_info *info);
SXT_API int64_t sxt_kernel_count(void);
SXT_API sxt_status sxt_kernel_get(int64_t i, sxt_kernel_info *info);
SXT_API int64_t sxt_refusal_count(void);
SXT_API sxt_status sxt_refusal_get(int64_t i, sxt_refusal_info *info);

enum { SXT_CHECK_FAILED = 0, SXT_CHECK_PASSED = 1, SXT_CHECK_DECLINED = 2 };
/* One line of a check: a kernel, a case, its outcome, and a sentence: by how much it passed, what is wrong, or why the
 * kernel declined the case. Each kernel ends with the line "predicted and measured times", where runs could be timed, and
 * the line "verdict": how many cases prove it, were declined or tell nothing; SXT_CHECK_DECLINED: not proven. */
typedef void (*sxt_check_line)(void *user, const char *kernel, const char *check, int32_t outcome,
                               const char *sentence);
/* Loads one plugin and runs the conformance suite of every kind its kernels belong to, in this process: use a child
 * process to be safe from untrusted code. SXT_E_PLUGIN when it is refused, a line failed or nothing was proven; a
 * kernel that failed is not chosen later. What it checks beside answers: docs/adding_a_kernel.md. stamp != 0: the
 * result for each kernel is stored for this content of the file and this device, unless the file changed meanwhile
 * (SXT_E_PLUGIN) or is none (SXT_E_FILE_READ). docs/command.md. [any-thread] */
SXT_API sxt_status sxt_plugin_check(sxt_context *context, const char *path, int32_t stamp, sxt_check_line line, void *user);

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

enum { SXT_COPY = 0, SXT_ADOPT = 1 };
enum { SXT_DUPLICATES_SUM = 0, SXT_DUPLICATES_REFUSE = 1 };

typedef struct { /* How arrays or a file become a matrix */
  uint64_t struct_size;
  sxt_value_type value_type;      /* of the values array; default SXT_F64. Files: 0 keeps the file's */
  sxt_index_type index_type;      /* of index arrays; default SXT_I32 */
  sxt_index_type offset_type;     /* of pointer arrays; 0 (default): as index_type */
  int32_t index_base;             /* 0 (default) or 1 */
  sxt_symmetry symmetry;          /* default SXT_GENERAL */
  sxt_triangle triangle;          /* part that the arrays hold when symmetry is not general; default SXT_FULL */
  int32_t duplicates;             /* SXT_DUPLICATES_SUM (default) or _REFUSE */
  int32_t ownership;              /* SXT_COPY (default). SXT_ADOPT, canonical zero-based CSR only: the matrix uses the */
                                  /* caller's arrays, which stay the caller's and must outlive it unchanged */
  int32_t keep_order;             /* 1 (default for arrays): updates take values in the order of these arrays. 0: in */
                                  /* canonical order (row by row, columns ascending), which costs no memory */
  int32_t check_finite;           /* 1 (default): NaN and infinity are SXT_E_NOT_FINITE, in updates, too */
  double most_rows_per_byte;      /* files: SXT_E_FILE_FORMAT where the header promises more rows, or columns, than this
                                   * many for each byte of the file, and more than 2^20: a few bytes must not cost
                                   * gigabytes. 0 (default): 1000, which no file with an entry in each row reaches, even
                                   * compressed; negative: as many as it says */
  double symmetry_tolerance;      /* of the diagonal, which must be real (SXT_HERMITIAN) or zero (SXT_SKEW): duplicates
                                   * summed, an entry may be off by this times the magnitudes summed there, and is
                                   * corrected. A larger error is SXT_E_ARGUMENT. 0 (default): what rounding explains,
                                   * 5.7e-14 (f32, c64: 3.1e-5), or one unit of rounding of the row's sum. For files
                                   * that hold both triangles, also how far these may lie apart. sxt_pcg_options has
                                   * the tolerance of a solve */
} sxt_matrix_options;

SXT_API void sxt_matrix_options_init(sxt_matrix_options *options, uint64_t struct_size); /* [any-thread] */
/* From host arrays of nnz entries (COO), or of rows + 1 (CSR) or cols + 1 (CSC) pointers and as many entries as the last
 * says; of the types that options state. They are copied unless adopted. values NULL: every value is 1. Entries may stand
 * in any order. SXT_E_INDEX, SXT_E_DUPLICATE, SXT_E_NOT_FINITE name the entry; SXT_E_NOT_SQUARE (with symmetry),
 * SXT_E_OVERFLOW, SXT_E_NOT_SUPPORTED (what cannot be adopted). [any-thread] */
SXT_API sxt_status sxt_matrix_from_coo(sxt_context *context, int64_t rows, int64_t cols, int64_t nnz, const void *row,
                                       const void *col, const void *values, const sxt_matrix_options *options,
                                       sxt_matrix **matrix);
SXT_API sxt_status sxt_matrix_from_csr(sxt_context *context, int64_t rows, int64_t cols, const void *row_ptr,
                                       const void *col, const void *values, const sxt_matrix_options *options,
                                       sxt_matrix **matrix);
SXT_API sxt_status sxt_matrix_from_csc(sxt_context *context, int64_t rows, int64_t cols, const void *col_ptr,
                                       const void *row, const void *values, const sxt_matrix_options *options,
                                       sxt_matrix **matrix);
/* From a Matrix Market file, or by its name (.rb, .rua, ...) a Harwell-Boeing one, plain or gzip. Only value_type, duplicates, check_finite, most_rows_per_byte and
 * symmetry_tolerance are used. SXT_E_FILE_READ,
 * SXT_E_FILE_FORMAT name file and line. [any-thread] */
SXT_API sxt_status sxt_matrix_from_file(sxt_context *context, const char *path, const sxt_matrix_options *options,
                                        sxt_matrix **matrix);
/* New values on the same pattern, count of them in host memory, of the type that the matrix was made from and in the order
 * that keep_order promises. Solvers made from this matrix use them from their next solve on, in every part, and plan
 * again where their plan does not suit them; captured solves and products use them at once. All or nothing: on
 * SXT_E_DIMENSION, SXT_E_NOT_FINITE, and SXT_E_STATE while the context's stream is being captured, the old values stay;
 * after SXT_OK a storage that could not follow does so before it is next used, or that use fails. [exclusive] */
SXT_API sxt_status sxt_matrix_update_values(sxt_matrix *matrix, const void *values, int64_t count);

typedef struct { /* What is known of a matrix */
  uint64_t struct_size;
  int64_t rows, cols, nnz; /* nnz: both triangles, duplicates summed */
  sxt_value_type value_type;
  sxt_index_type index_type, offset_type; /* of the canonical CSR */
  sxt_symmetry symmetry;   /* as stated when it was made */
  uint64_t bytes;          /* all storages held */
} sxt_matrix_info;
/* Set struct_size before the call. [any-thread] */
SXT_API sxt_status sxt_matrix_get_info(const sxt_matrix *matrix, sxt_matrix_info *info);
/* The canonical CSR in host memory, of the types that sxt_matrix_get_info reports: borrowed, zero-based, valid until
 * the matrix is destroyed, values until its next update. Any pointer may be NULL. [any-thread] */
SXT_API sxt_status sxt_matrix_get_csr(const sxt_matrix *matrix, const void **row_ptr, const void **col, const void **values);
/* A named number about the matrix ("row_nnz_max"), computed at the first request. SXT_E_UNKNOWN_NAME names the nearest.
 * [any-thread] */
SXT_API sxt_status sxt_matrix_feature(sxt_matrix *matrix, const char *name, double *value);
/* Names of all features the loaded kernels offer, from 0; NULL beyond the last. They live as long as the process.
 * [any-thread] */
SXT_API const char *sxt_feature_name(int64_t i);
SXT_API void sxt_matrix_destroy(sxt_matrix *matrix);

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* Wraps n values of memory, n = 0 included, which stays the caller's and must outlive the vector. Device kernels read
 * and write it in place, so memory of a device's context is device, pinned or managed memory that the device reaches:
 * host memory is SXT_E_NOT_SUPPORTED (copy it first), and memory that is not what `space` says, lies on another device
 * or is not aligned to its values' size is SXT_E_ARGUMENT. [any-thread] */
SXT_API sxt_status sxt_vector_wrap(sxt_context *context, int64_t n, sxt_value_type type, sxt_space space, void *data,
                                   sxt_vector **vector);
/* n zeros in the context's device space, owned by the vector. SXT_E_TYPE, SXT_E_OVERFLOW. [any-thread] */
SXT_API sxt_status sxt_vector_create(sxt_context *context, int64_t n, sxt_value_type type, sxt_vector **vector);
/* Between host memory of n values, in the vector's type, and the vector, in any space. They wait: the host memory is
 * the caller's again at once. [exclusive], sxt_vector_read [any-thread] */
SXT_API sxt_status sxt_vector_write(sxt_vector *vector, const void *values);
SXT_API sxt_status sxt_vector_read(const sxt_vector *vector, void *values);
/* Where the values lie; NULL for a NULL vector or n = 0. [any-thread] */
SXT_API void *sxt_vector_data(const sxt_vector *vector);
/* n; 0 for a NULL vector. [any-thread] */
SXT_API int64_t sxt_vector_length(const sxt_vector *vector);
/* Memory that the vector owns must not be in use by work that the caller enqueued on other streams. */
SXT_API void sxt_vector_destroy(sxt_vector *vector);

/* ---- products, vector operations, reductions ----------------------------------------------------------------------- */
/* Scalars are host pointers of the vectors' value type. Operands have one type and belong to one context. Reading
 * operands concurrently is fine [any-thread]; a written operand is [exclusive]. SXT_E_DIMENSION, SXT_E_TYPE,
 * SXT_E_NO_KERNEL. Vectors have no strides. An operand that is written does not overlap the others, or is the same
 * array where each element is combined only with itself (not in products, gathers and scatters): SXT_E_ARGUMENT. Order
 * with the caller's own work on a device: sxt_context_set_stream. */

/* y = alpha op(A) x + beta y, x as long as op(A) has columns, y as its rows; alpha NULL: 1, beta NULL: 0 (y is not read).
 * The kernel is chosen at the first call with this op. */
SXT_API sxt_status sxt_spmv(sxt_op op, const void *alpha, sxt_matrix *a, const sxt_vector *x, const void *beta, sxt_vector *y);
/* The same on plain arrays, apart, of op(A)'s columns and rows: as sxt_pcg_solve_array takes them. Where one had to be
 * copied it waits, and the arrays are the caller's at return. */
SXT_API sxt_status sxt_spmv_array(sxt_op op, const void *alpha, sxt_matrix *a, const void *x, const void *beta, void *y);
/* The same for n_rhs columns, which lie at x + j ldx and y + j ldy (in values), up to 32 of them in one pass over A.
 * Memory between columns of y stays unchanged. */
SXT_API sxt_status sxt_spmv_block(sxt_op op, const void *alpha, sxt_matrix *a, int64_t n_rhs, const void *x, int64_t ldx,
                                  const void *beta, void *y, int64_t ldy);
SXT_API sxt_status sxt_copy(const sxt_vector *x, sxt_vector *y);                                        /* y = x */
SXT_API sxt_status sxt_fill(const void *alpha, sxt_vector *y);                                          /* y = alpha */
SXT_API sxt_status sxt_scale(const void *alpha, sxt_vector *y);                                         /* y = alpha y */
SXT_API sxt_status sxt_axpy(const void *alpha, const sxt_vector *x, sxt_vector *y);                     /* y += alpha x */
/* y = alpha x + beta y, and w = alpha x + beta y */
SXT_API sxt_status sxt_axpby(const void *alpha, const sxt_vector *x, const void *beta, sxt_vector *y);
SXT_API sxt_status sxt_waxpby(const void *alpha, const sxt_vector *x, const void *beta, const sxt_vector *y, sxt_vector *w);
SXT_API sxt_status sxt_multiply(const sxt_vector *x, const sxt_vector *y, sxt_vector *w);               /* w = x .* y */
/* y[i] = x[index[i]] for every i of y, and y[index[i]] = x[i] for every i of x; index: host or device memory as the
 * context, zero-based, i32 or i64; those of a scatter are distinct. On the host every index is checked: SXT_E_INDEX names
 * it. On a device one that is out of range is undefined. */
SXT_API sxt_status sxt_gather(const sxt_vector *x, const void *index, sxt_index_type index_type, sxt_vector *y);
SXT_API sxt_status sxt_scatter(const sxt_vector *x, const void *index, sxt_index_type index_type, sxt_vector *y);
/* Results are written to host memory: of the value type (sum, dot, dotc), of its real type (nrm2, asum, amax, min, max). A
 * NaN operand gives NaN. Of nothing they are 0 where not stated. */
SXT_API sxt_status sxt_sum(const sxt_vector *x, void *result);                        /* sum of x[i] */
SXT_API sxt_status sxt_dot(const sxt_vector *x, const sxt_vector *y, void *result);   /* x . y, unconjugated */
SXT_API sxt_status sxt_dotc(const sxt_vector *x, const sxt_vector *y, void *result);  /* conj(x) . y */
SXT_API sxt_status sxt_nrm2(const sxt_vector *x, void *result); /* 2-norm; no overflow or underflow on the way */
SXT_API sxt_status sxt_asum(const sxt_vector *x, void *result); /* sum of |re| + |im| */
SXT_API sxt_status sxt_amax(const sxt_vector *x, void *result); /* largest |re| + |im| */
SXT_API sxt_status sxt_iamax(const sxt_vector *x, int64_t *index); /* where the first of them is, from 0; the first NaN;
                                                                    * -1 when empty */
/* Real types only; SXT_E_NO_KERNEL for complex ones. A NaN gives NaN; min of nothing is +infinity, max -infinity. */
SXT_API sxt_status sxt_min(const sxt_vector *x, void *result);
SXT_API sxt_status sxt_max(const sxt_vector *x, void *result);
/* results[i] = conj(x[i]) . y[i] for i < count <= 8 pairs of one length, in one pass; host memory. count 0: nothing. */
SXT_API sxt_status sxt_multidot(int64_t count, const sxt_vector *const *x, const sxt_vector *const *y, void *results);

/* Forms in which explanations are given. */
enum { SXT_TEXT = 0, SXT_JSON = 1 };

/* ---- calibration --------------------------------------------------------------------------------------------------- */

struct sxt_model_info;
struct sxt_model_sample;
typedef struct { /* How a machine is measured */
  uint64_t struct_size;
  int32_t quick;         /* 1: about 20 s and problems up to 64 MB; 0 (default): 90 s (GPU: 60) and 256 MB */
  int32_t reserved0;
  double seconds;        /* another time budget; 0 (default): as quick says */
  const char *kind;      /* one kind alone, "sxt.pcg/1"; NULL: storages, products, vector operations, reductions */
  const char *path;      /* profile to create or to extend; NULL: $SEXTANT_PROFILE, else this machine's own file */
  /* Part done (0 to 1), what is being measured, seconds left. Non-zero: stop, and fit the runs measured so far. */
  int32_t (*progress)(void *user, double done, const char *what, double seconds_left);
  void *progress_user;
  /* Called for every model that was fitted, once it is written; strings live until it returns. */
  void (*model)(void *user, const struct sxt_model_info *info);
  void *model_user;
  /* Called for every run that was measured, model after model, with the fit's prediction. */
  void (*sample)(void *user, const struct sxt_model_sample *sample);
  void *sample_user;
} sxt_calibrate_options;
typedef struct sxt_model_info { /* A fitted model of a kernel, by its version and model_class; setup_samples: measured set-ups */
  uint64_t struct_size;
  const char *kernel;
  sxt_value_type vector_type, matrix_type; /* matrix_type 0: it reads no matrix */
  int64_t version, model_class;
  int64_t samples;                         /* measured runs; 0: only the set-up was measured */
  double power;                            /* 1: sum of memory and compute; else soft maximum of this power */
  int32_t breakpoints, reserved0;          /* between regimes of the working set */
  double median_error, p90_error, scatter; /* cross-validated, relative; scatter is one sigma */
  double setup_factor;                     /* measured set-up over the kernel's own estimate */
  int64_t setup_samples;
} sxt_model_info;
typedef struct sxt_model_sample { /* A measured run of a kernel, by vector_type, matrix_type, version and model_class: working_set_bytes, measured_s and fitted_s, both in seconds, and n_terms of its model with their term_names */
  uint64_t struct_size;
  const char *kernel;
  sxt_value_type vector_type, matrix_type;
  int64_t version, model_class;
  double working_set_bytes, measured_s, fitted_s;
  const int64_t *launch;   /* four numbers, the kernel's own */
  int64_t family;          /* samples of one family are alike: a fit is tested on families it has not seen */
  double rows, entries;    /* of the synthetic matrix; 0: none was read */
  int64_t n_terms;
  const char *const *term_names;
  const double *terms;     /* counts as the fit sees them, of the work of one unit of the machine */
} sxt_model_sample;

SXT_API void sxt_calibrate_options_init(sxt_calibrate_options *options, uint64_t struct_size); /* [any-thread] */
/* Measures the machine and the loaded kernels of the context's device on synthetic problems, fits their models and adds
 * them to the profile, whose path goes to the buffer (may be NULL). The context uses it at once; later contexts on this
 * machine load it. A damaged profile is kept beside the new one, with a warning in the log; one that cannot be read
 * (SXT_E_FILE_READ) or is of a later format (SXT_E_FILE_FORMAT) stays. SXT_E_FILE_WRITE, SXT_E_UNKNOWN_NAME.
 * [exclusive] */
SXT_API sxt_status sxt_calibrate(sxt_context *context, const sxt_calibrate_options *options, char *path,
                                 int64_t capacity, int64_t *length);

/* ---- any kernel of any kind ---------------------------------------------------------------------------------------- */

/* Predicts and chooses a kernel for a query (sextant/plugin/kinds/ has the query and args of each kind) and builds it.
 * matrix is needed where the query is about one (SXT_QUERY_MATRIX), else NULL; its sizes are then filled in. The query is
 * copied. With SXT_QUERY_PREDICT_ONLY nothing is built, storages included, except by a race where one was requested:
 * the selection has its costs and its explanation, and running or timing it is SXT_E_STATE. A kernel that would decline
 * while it is built is not detected then. SXT_E_NO_KERNEL lists why each candidate was refused. SXT_E_TYPE,
 * SXT_E_UNKNOWN_NAME (a kind). [any-thread] */
SXT_API sxt_status sxt_kernel_select(sxt_context *context, const sxt_query *query, sxt_matrix *matrix,
                                     sxt_selection **selection);
/* Runs it on args of its kind, whose header describes them; SXT_E_ARGUMENT for those of another kind, else the kernel's
 * own status. [any-thread] */
SXT_API sxt_status sxt_kernel_run(sxt_selection *selection, sxt_head *args);
/* The chosen kernel's name; lives as long as the process; "" for NULL. [any-thread] */
SXT_API const char *sxt_selection_kernel(const sxt_selection *selection);
/* Predicted seconds: setup once, storage included, and one run. Pointers may be NULL. [any-thread] */
SXT_API sxt_status sxt_selection_cost(const sxt_selection *selection, double *setup_seconds, double *run_seconds);
/* The candidates, their predicted costs, and why others were refused. form: SXT_TEXT, SXT_JSON. [any-thread] */
SXT_API sxt_status sxt_selection_explain(const sxt_selection *selection, int32_t form, char *buffer, int64_t capacity,
                                         int64_t *length);
/* Measures one run: `count` args of its kind take turns, run by run, for about budget_seconds. On a device that captures, K
 * and 2K runs are replayed as graphs and the difference counts, so neither launches nor clocks are in it; with several args
 * the last cache is swept before each replay, so that no run finds operands there ("cold"). *seconds: the median; *noise:
 * quartile distance over median; either may be NULL. On a device results must lie there too. [any-thread] */
SXT_API sxt_status sxt_selection_time(sxt_selection *selection, sxt_head *const *args, int64_t count,
                                      double budget_seconds, double *seconds, double *noise);
SXT_API void sxt_selection_destroy(sxt_selection *selection);

/* ---- measuring the models
 * ----------------------------------------------------------------------------------------- */

typedef struct { /* How candidates are measured */
  uint64_t struct_size;
  double applies;           /* products that set-up is spread over when choices are judged; default 1000 */
  double candidate_seconds; /* time to measure one candidate's run for; default 0.05 */
  sxt_op op;                /* default SXT_NO_TRANSPOSE */
  int32_t references;       /* 1: reference kernels are measured too; default 0 */
} sxt_verify_options;
/* One candidate of one matrix, predicted and measured. Strings live as long as the process. */
typedef struct {
  uint64_t struct_size;
  int64_t matrix;           /* for sxt_verify_summarise: lines with equal numbers belong to one choice. The caller sets
                             * it */
  const char *kernel, *format; /* the storage that it reads */
  int64_t launch[4];        /* the kernel's own tuning; CPU: launch[0] is the number of threads */
  double predicted_setup_s, predicted_run_s, rel_error; /* rel_error: the model's own estimate of its error */
  double measured_setup_s, measured_run_s;              /* set-up: storage and prepare, with nothing held before */
  double noise;             /* quartile distance / median of the measured runs */
  double select_s;          /* measured: choosing, features included; part of the cost of the chosen one */
  int32_t repeats;          /* measured runs */
  int32_t chosen;           /* 1: the library's own choice */
  int32_t estimated;        /* 0: the kernel has no model */
  int32_t reserved0;
} sxt_verify_line;
/* Over lines of any number of matrices. Regret: time of what was chosen / time of the best, set-up and choosing counted. */
typedef struct {
  uint64_t struct_size;
  int64_t matrices, candidates; /* that were judged */
  double median_relative_error, p90_relative_error; /* |predicted - measured| / measured of a run */
  double top1_accuracy;     /* share of matrices whose choice is within 3 % of the best */
  double regret_geomean, regret_p95, regret_max; /* geometric mean, 95th percentile and worst case */
  double noise_median;      /* of the candidates' noise */
  /* The same if a race of two or of three candidates (sxt_context_options.race) had decided by these measured times;
   * the time of the race is not in the regrets. race_price: the median time of the race, in products of the chosen
   * kernel. */
  double race_top1_accuracy[2], race_regret_geomean[2], race_regret_p95[2], race_price[2];
} sxt_verify_summary;

SXT_API void sxt_verify_options_init(sxt_verify_options *options, uint64_t struct_size); /* [any-thread] */
/* Measures every candidate for products with the matrix and gives each to `line`, chosen and predicted as the library
 * does it. A candidate that fails is left out and logged. A non-zero answer of `line` ends the measurements.
 * options NULL: defaults. Nothing else should use the machine meanwhile. [any-thread] */
SXT_API sxt_status sxt_verify_model(sxt_matrix *matrix, const sxt_verify_options *options,
                                    int32_t (*line)(void *user, const sxt_verify_line *line), void *user);
/* Sums up count lines, all with the struct_size of the first; set the summary's before the call. applies as in the
 * options. [any-thread] */
SXT_API sxt_status sxt_verify_summarise(const sxt_verify_line *lines, int64_t count, double applies,
                                        sxt_verify_summary *summary);

/* ---- decision trees ------------------------------------------------------------------------------------------------ */

/* Two more forms, for decision trees: a drawing, and the tree as it is kept on disk. */
enum { SXT_SVG = 2, SXT_TOML = 3 };
/* The kernel and launch configuration that the models predict cheapest for each range of vector lengths n: calls of
 * this operation look it up. operation: a vector operation ("axpy"), reduction ("dot"), "multidot-2" to "multidot-8",
 * "gather-i32", or a vector group of a PCG recurrence ("chronopoulos-gear"). form: SXT_TEXT, SXT_JSON, SXT_SVG,
 * SXT_TOML. SXT_E_UNKNOWN_NAME names the nearest, SXT_E_TYPE. [any-thread] */
SXT_API sxt_status sxt_decision_tree(sxt_context *context, const char *operation, sxt_value_type type, int32_t form,
                                     char *buffer, int64_t capacity, int64_t *length);
/* The names it takes, from 0; NULL beyond the last. Static. [any-thread] */
SXT_API const char *sxt_decision_tree_operation(int64_t i);

#ifdef __cplusplus
}
#endif

#include "sextant/cholesky.h"
#include "sextant/hermitian.h"
#include "sextant/pcg.h"
#include "sextant/world.h"
#endif
