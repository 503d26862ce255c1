// SPDX-License-Identifier: BSD-3-Clause
// hermitian.cusolver.cuda: cuSOLVER's potrfBatched and potrsBatched, to compare with and to fall back on. The library
// has neither masks nor infos of the input: inactive systems are replaced by a spare place.
#include "cusolver.cuh"
#include "sextant/sdk/describe.hpp"

namespace sextant::hermitian_vendor {
namespace {

using Factor = cusolverStatus_t(cusolverDnHandle_t, cublasFillMode_t, int, void **, int, int *, int);
using Solve = cusolverStatus_t(cusolverDnHandle_t, cublasFillMode_t, int, int, void **, int, void **, int, int *, int);

struct Cusolver : CusolverHandles {
  Factor *factor[4];  // f32, f64, c64, c128
  Solve *solve[4];
  Cusolver() { find_types(factor, "cusolverDn%potrfBatched"), find_types(solve, "cusolverDn%potrsBatched"); }
  static const Cusolver &instance() {
    static const Cusolver library;
    return library;
  }
};

using Session = VendorSession<Cusolver>;
constexpr auto checked = vendor_checked<Cusolver, cusolverStatus_t>;

// The layout of scratch, for `batch` systems of order n.
struct Scratch {
  void **a, **b;
  std::int32_t *info;
  char *spare;  // a matrix and a right-hand side for inactive systems
  static std::uint64_t bytes(std::int64_t batch, std::int64_t n, std::uint64_t value) {
    const auto systems = static_cast<std::uint64_t>(batch), order = static_cast<std::uint64_t>(n);
    return 2 * aligned(8 * systems) + aligned(4 * systems + 4) + aligned((order + most_padding) * (order + 1) * value);
  }
  Scratch(void *memory, std::int64_t batch) {
    char *at = static_cast<char *>(memory);
    const auto systems = static_cast<std::uint64_t>(batch);
    a = reinterpret_cast<void **>(at);
    b = reinterpret_cast<void **>(at += aligned(8 * systems));
    info = reinterpret_cast<std::int32_t *>(at += aligned(8 * systems));
    spare = at + aligned(4 * systems + 4);
  }
};

// The diagonal without imaginary parts; false when a part that counts is not finite.
template <class T>
__device__ bool prepare_diagonal(T *a, std::int64_t n, std::int64_t lda) {
  bool good = true;
  for (std::int64_t i = 0; i < n; ++i) {
    T &diagonal = a[i + i * lda];
    if constexpr (is_complex<T>) diagonal = T(diagonal.real(), 0);
    good = good && is_finite(diagonal);
  }
  return good;
}

// The pointers of every system for right-hand side `rhs` (negative: none); before a factorisation also the info of
// inactive systems.
template <class T>
__global__ void place_systems(sxt_hermitian_args args, Scratch scratch, bool factoring, std::int64_t rhs) {
  const std::int64_t s = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (s >= args.batch) return;
  const auto [a, b] = place_of<T>(args, s);
  const bool active = !args.active || args.active[s], there = is_there(args, Place<T>{a, b});
  if (factoring) scratch.info[s] = !active ? SXT_HERMITIAN_NOT_ACTIVE : there ? 0 : SXT_HERMITIAN_NO_MEMORY_AT;
  bool takes_part = active && there && (factoring || args.info[s] == 0);
  if (factoring && takes_part && !prepare_diagonal(a, args.n_max, args.lda)) {
    scratch.info[s] = SXT_HERMITIAN_NOT_FINITE;
    takes_part = false;
  }
  if (!factoring && active && args.info[s] == 0 && !there) args.info[s] = SXT_HERMITIAN_NO_MEMORY_AT;
  T *spare = reinterpret_cast<T *>(scratch.spare);
  scratch.a[s] = takes_part ? a : spare;
  scratch.b[s] = takes_part && rhs >= 0 ? b + rhs * args.ldb : spare + (args.n_max + most_padding) * args.n_max;
}

// Converts the library's info to the kind's codes: a NaN or infinity beside the diagonal reaches the row of the pivot
// that failed, or all that follow; a pivot that is only negative leaves that row finite.
template <class T>
__global__ void finish_infos(sxt_hermitian_args args, Scratch scratch) {
  const std::int64_t s = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (s >= args.batch) return;
  if (scratch.info[s] != 0) {
    args.info[s] = scratch.info[s];
    return;
  }
  const T *a = static_cast<const T *>(scratch.a[s]);
  const std::int64_t failed = args.info[s];
  bool good = true;
  for (std::int64_t i = 0; failed <= 0 && i < args.n_max; ++i) good = good && is_finite(a[i + i * args.lda]);
  for (std::int64_t j = 0; j + 1 < failed; ++j) {
    const std::int64_t row = failed - 1;
    good = good && is_finite(args.triangle == SXT_LOWER ? a[row + j * args.lda] : a[j + row * args.lda]);
  }
  if (!good) args.info[s] = SXT_HERMITIAN_NOT_FINITE;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_DEFINITE)
    return refuse(reason, "cuSOLVER factors batches of positive definite systems only");
  return fits_library(q, reason);
}

// As measured on an H200: from order 700 on near a third of the vector peak, and a part that grows with n^2 alone,
// which is what small orders cost. Each column waits for the one before as long as 0.6 of a launch, which is what few
// systems cost. A right-hand side reads the triangle several times, column after column.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  constexpr double over_peak = 2.6, small_orders = 800, readings = 7, launches_a_column = 0.6;
  const double n = static_cast<double>(q.n_max), rhs = static_cast<double>(q.n_rhs);
  const double triangle = q.sum_n2 / 2 * static_cast<double>(value_bytes(q.q.value_type));
  cuda::CudaCost cost;
  cost.launches = (factors(q.phase) ? 2 + n * launches_a_column : 0) + (solves(q.phase) ? rhs * (1 + n) : 0);
  cost.stream_bytes = triangle * ((factors(q.phase) ? 2 : 0) + (solves(q.phase) ? readings * rhs : 0));
  cost.working_set = hermitian_bytes(q);
  cost.flops = factors(q.phase) ? over_peak * hermitian_flops(q) + small_orders * q.sum_n2 : 0;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = cuda::fill(list.add(), *machine, machine->units, block_threads, 1, cost);
  candidate.model_class = static_cast<std::uint32_t>(q.phase);
  candidate.setup_s = 0.05;  // a handle; opening the library is paid once a process
  candidate.scratch_bytes = Scratch::bytes(q.batch, q.n_max, value_bytes(q.q.value_type));
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **) {
  if (const sxt_status status = vendor_opened<Cusolver>(exec)) return status;
  return with_value_type(problem->query->value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const sxt_status status = cuda::load(exec, place_systems<T>);
    return status == SXT_OK ? cuda::load(exec, finish_infos<T>) : status;
  });
}

// One call of the kernel.
template <class T>
class Run {
 public:
  Run(const sxt_hermitian_args &args, const sxt_exec *exec, cusolverDnHandle_t handle)
      : args_(args), exec_(exec), handle_(handle), scratch_(exec->scratch, args.batch) {}

  sxt_status factor() {
    if (const sxt_status status = place(true, -1)) return status;
    const sxt_status status =
        order() == 0  // the library wants an order
            ? cuda::check(
                  exec_,
                  cudaMemsetAsync(args_.info, 0, 4 * static_cast<std::size_t>(args_.batch), cuda::stream_of(*exec_)),
                  "write infos")
            : checked(exec_,
                      library().factor[type()](handle_, fill_mode(), order(), scratch_.a, lda(), args_.info, batch()),
                      "factor");
    if (status != SXT_OK) return status;
    finish_infos<T><<<blocks(), block_threads, 0, cuda::stream_of(*exec_)>>>(args_, scratch_);
    return cuda::launched(exec_, "the infos of a set");
  }
  sxt_status solve() {
    for (std::int64_t r = 0; r < args_.n_rhs && order() > 0; ++r) {
      if (const sxt_status status = place(false, r)) return status;
      const sxt_status status =
          checked(exec_,
                  library().solve[type()](handle_, fill_mode(), order(), 1, scratch_.a, lda(), scratch_.b,
                                          static_cast<int>(args_.ldb), scratch_.info, batch()),
                  "solve");
      if (status != SXT_OK) return status;
    }
    return SXT_OK;
  }

 private:
  sxt_status place(bool factoring, std::int64_t rhs) {
    place_systems<T><<<blocks(), block_threads, 0, cuda::stream_of(*exec_)>>>(args_, scratch_, factoring, rhs);
    return cuda::launched(exec_, "the pointers of a set");
  }
  static const Cusolver &library() { return Cusolver::instance(); }
  int type() const { return args_.value_type - 1; }
  int order() const { return static_cast<int>(args_.n_max); }
  int batch() const { return static_cast<int>(args_.batch); }
  int lda() const { return static_cast<int>(args_.lda); }
  cublasFillMode_t fill_mode() const {
    return args_.triangle == SXT_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  }
  unsigned blocks() const { return static_cast<unsigned>((args_.batch + block_threads - 1) / block_threads); }

  const sxt_hermitian_args &args_;
  const sxt_exec *exec_;
  cusolverDnHandle_t handle_;
  Scratch scratch_;
};

sxt_status run(const void *, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch == 0) return SXT_OK;
  if (const sxt_status wrong = fits_library(args, exec)) return wrong;
  if (const sxt_status few = need_scratch(exec, Scratch::bytes(args.batch, args.n_max, value_bytes(args.value_type))))
    return few;
  cusolverDnHandle_t handle = static_cast<Session *>(opened)->handle;
  const sxt_status status =
      checked(exec, Cusolver::instance().set_stream(handle, cuda::stream_of(*exec)), "take the stream");
  if (status != SXT_OK) return status;
  return with_value_type(args.value_type, [&](auto tag) {
    Run<typename decltype(tag)::type> work(args, exec, handle);
    sxt_status done = factors(args.phase) ? work.factor() : SXT_OK;
    if (done == SXT_OK && solves(args.phase)) done = work.solve();
    return done;
  });
}

}  // namespace

const sxt_kernel cusolver_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.cusolver.cuda", "cuda",
                            "cuSOLVER potrfBatched and potrsBatched, uniform definite sets", run);
  k.flags = SXT_KERNEL_BASELINE;
  k.version = 2;
  k.term_names = cuda::cuda_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.open = Session::open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace sextant::hermitian_vendor

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::hermitian_vendor;
  return sextant::plugin::offer<&cusolver_kernel, &cusolver_streams_kernel, &cublas_kernel>("hermitian-cuda-cusolver",
                                                                                            out);
}
