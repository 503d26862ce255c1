// SPDX-License-Identifier: BSD-3-Clause
// hermitian.cublas.cuda: cuBLAS' getrfBatched and getrsBatched on indefinite sets, to compare with. Its LU factor is
// not Hermitian, so it applies only where no factor is requested. It needs whole general matrices: the other triangle
// is filled first.
#include <cublas_v2.h>

#include "vendor.cuh"

namespace sextant::hermitian_vendor {
namespace {

using Factor = cublasStatus_t(cublasHandle_t, int, void *const *, int, int *, int *, int);
using Solve = cublasStatus_t(cublasHandle_t, cublasOperation_t, int, int, const void *const *, int, const int *,
                             void *const *, int, int *, int);

struct Cublas : VendorLibrary {
  cublasStatus_t (*create)(cublasHandle_t *);
  cublasStatus_t (*destroy)(cublasHandle_t);
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
  Factor *factor[4];  // f32, f64, c64, c128
  Solve *solve[4];

  using Handle = cublasHandle_t;
  static constexpr const char *title = "cuBLAS", *names[] = {"libcublas.so.13", "libcublas.so.12"};
  static constexpr auto success = CUBLAS_STATUS_SUCCESS, no_memory = CUBLAS_STATUS_ALLOC_FAILED;
  Cublas() : VendorLibrary(names) {
    find(create, "cublasCreate_v2"), find(destroy, "cublasDestroy_v2"), find(set_stream, "cublasSetStream_v2");
    find_types(factor, "cublas%getrfBatched"), find_types(solve, "cublas%getrsBatched");
  }
  static const Cublas &instance() {
    static const Cublas library;
    return library;
  }
};

using Session = VendorSession<Cublas>;
constexpr auto checked = vendor_checked<Cublas, cublasStatus_t>;

// The layout of scratch, for `batch` systems of order n. Inactive systems share the spare place, where the library
// works on them.
struct Scratch {
  void **a, **b;
  int *pivots, *infos;  // by the library
  std::int32_t *codes;  // of inactive systems
  char *spare, *spare_b;
  static std::uint64_t bytes(std::int64_t batch, std::int64_t n, std::int64_t n_rhs, std::uint64_t value) {
    const auto systems = static_cast<std::uint64_t>(batch), order = static_cast<std::uint64_t>(n) + most_padding;
    return 2 * aligned(8 * systems) + aligned(4 * systems * order) + 2 * aligned(4 * systems) +
           aligned(order * order * value) + aligned(order * static_cast<std::uint64_t>(n_rhs) * value);
  }
  Scratch(void *memory, std::int64_t batch, std::int64_t n, std::uint64_t value) {
    char *at = static_cast<char *>(memory);
    const auto systems = static_cast<std::uint64_t>(batch), order = static_cast<std::uint64_t>(n) + most_padding;
    a = reinterpret_cast<void **>(at), at += aligned(8 * systems);
    b = reinterpret_cast<void **>(at), at += aligned(8 * systems);
    pivots = reinterpret_cast<int *>(at), at += aligned(4 * systems * order);
    infos = reinterpret_cast<int *>(at), at += aligned(4 * systems);
    codes = reinterpret_cast<std::int32_t *>(at), at += aligned(4 * systems);
    spare = at, spare_b = at + aligned(order * order * value);
  }
};

// A block a system: the other triangle from the one that is held, the diagonal real, and the pointers for the library.
template <class T>
__global__ void __launch_bounds__(block_threads) fill_whole_systems(sxt_hermitian_args args, Scratch scratch) {
  const std::int64_t n = args.n_max, lda = args.lda;
  for (std::int64_t s = blockIdx.x; s < args.batch; s += gridDim.x) {
    const Place<T> place = place_of<T>(args, s);
    const bool active = !args.active || args.active[s], there = is_there(args, place);
    bool good = true;
    for (std::int64_t k = threadIdx.x; active && there && k < n * n; k += blockDim.x) {
      const std::int64_t i = k % n, j = k / n;
      const bool held = args.triangle == SXT_LOWER ? i >= j : i <= j;
      if (!held) continue;
      T value = place.a[i + j * lda];
      if constexpr (is_complex<T>) {
        if (i == j) value = T(value.real(), 0);
        place.a[j + i * lda] = T(value.real(), -value.imag());
      } else {
        place.a[j + i * lda] = value;
      }
      if (i == j) place.a[i + j * lda] = value;
      good = good && is_finite(value);
    }
    good = !__syncthreads_or(!good);
    if (threadIdx.x == 0) {
      scratch.codes[s] = !active  ? SXT_HERMITIAN_NOT_ACTIVE
                         : !there ? SXT_HERMITIAN_NO_MEMORY_AT
                         : good   ? 0
                                  : SXT_HERMITIAN_NOT_FINITE;
      const bool takes_part = scratch.codes[s] == 0;
      scratch.a[s] = takes_part ? static_cast<void *>(place.a) : scratch.spare;
      scratch.b[s] = takes_part ? static_cast<void *>(place.b) : scratch.spare_b;
    }
  }
}

__global__ void write_infos(sxt_hermitian_args args, Scratch scratch) {
  const std::int64_t s = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (s < args.batch) args.info[s] = scratch.codes[s] != 0 || args.n_max == 0 ? scratch.codes[s] : scratch.infos[s];
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_INDEFINITE) return refuse(reason, "an LU factor does not give a leading minor");
  if (q.phase != SXT_HERMITIAN_FACTOR_SOLVE || !q.solution_only)
    return refuse(reason, "its LU factor is not the Hermitian factor requested");
  return fits_library(q, reason);
}

// As measured on an H200: twice the operations of a Hermitian factorisation at a rate that falls with the order.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  constexpr double over_peak = 19;
  cuda::CudaCost cost;
  cost.launches = 4 + static_cast<double>(q.n_max) / 16;
  cost.stream_bytes = cost.working_set = 4 * hermitian_bytes(q);
  cost.flops = over_peak * hermitian_flops(q);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = cuda::fill(list.add(), *machine, machine->units, block_threads, 1, cost);
  candidate.setup_s = 0.05;
  candidate.scratch_bytes = Scratch::bytes(q.batch, q.n_max, q.n_rhs, value_bytes(q.q.value_type));
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **) {
  if (const sxt_status status = vendor_opened<Cublas>(exec)) return status;
  const sxt_status status = cuda::load(exec, write_infos);
  if (status != SXT_OK) return status;
  return with_value_type(problem->query->value_type,
                         [&](auto tag) { return cuda::load(exec, fill_whole_systems<typename decltype(tag)::type>); });
}

sxt_status factor_and_solve(const sxt_hermitian_args &args, const sxt_exec *exec, cublasHandle_t handle,
                            const Scratch &scratch) {
  const Cublas &library = Cublas::instance();
  const int type = args.value_type - 1, n = static_cast<int>(args.n_max), batch = static_cast<int>(args.batch);
  const int lda = static_cast<int>(args.lda), ldb = static_cast<int>(args.ldb), n_rhs = static_cast<int>(args.n_rhs);
  sxt_status status =
      checked(exec, library.factor[type](handle, n, scratch.a, lda, scratch.pivots, scratch.infos, batch), "factor");
  int wrong = 0;  // an argument's number
  if (status == SXT_OK && n_rhs > 0)
    status = checked(exec,
                     library.solve[type](handle, CUBLAS_OP_N, n, n_rhs, scratch.a, lda, scratch.pivots, scratch.b, ldb,
                                         &wrong, batch),
                     "solve");
  if (status == SXT_OK && wrong != 0)
    return error(exec, SXT_E_INTERNAL, "cuBLAS refuses argument %d of getrsBatched", -wrong);
  return status;
}

sxt_status run(const void *, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch == 0) return SXT_OK;
  if (const sxt_status wrong = fits_library(args, exec)) return wrong;
  if (args.ldb > args.n_max + most_padding)  // the spare right-hand sides lie as all others do
    return error(exec, SXT_E_NOT_SUPPORTED, "a leading dimension of %lld is too far above the order %lld for it",
                 (long long)args.ldb, (long long)args.n_max);
  const std::uint64_t value = value_bytes(args.value_type);
  if (const sxt_status few = need_scratch(exec, Scratch::bytes(args.batch, args.n_max, args.n_rhs, value))) return few;
  const Scratch scratch(exec->scratch, args.batch, args.n_max, value);
  cublasHandle_t handle = static_cast<Session *>(opened)->handle;
  const cudaStream_t stream = cuda::stream_of(*exec);
  sxt_status status = checked(exec, Cublas::instance().set_stream(handle, stream), "take the stream");
  if (status != SXT_OK) return status;
  constexpr std::int64_t most_blocks = 1 << 20;
  status = with_value_type(args.value_type, [&](auto tag) {
    fill_whole_systems<typename decltype(tag)::type>
        <<<static_cast<unsigned>(std::min(args.batch, most_blocks)), block_threads, 0, stream>>>(args, scratch);
    return cuda::launched(exec, "the whole matrices of a set");
  });
  if (status == SXT_OK && args.n_max > 0) status = factor_and_solve(args, exec, handle, scratch);
  if (status != SXT_OK) return status;
  const auto blocks = static_cast<unsigned>((args.batch + block_threads - 1) / block_threads);
  write_infos<<<blocks, block_threads, 0, stream>>>(args, scratch);
  return cuda::launched(exec, "the infos of a set");
}

}  // namespace

const sxt_kernel cublas_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.cublas.cuda", "cuda",
                            "cuBLAS getrfBatched and getrsBatched, uniform indefinite sets without a factor", run);
  k.flags = SXT_KERNEL_BASELINE;
  k.term_names = cuda::cuda_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.open = Session::open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace sextant::hermitian_vendor
