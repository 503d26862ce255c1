// SPDX-License-Identifier: BSD-3-Clause
// hermitian.cusolver_streams.cuda: cuSOLVER's potrf for one system a call, calls dealt out over 16 streams. Programs
// did this before batched calls existed; for large orders it is still the faster half of cuSOLVER. To compare with,
// only in measurements.
#include <array>
#include <memory>

#include "cusolver.cuh"

namespace sextant::hermitian_vendor {
namespace {

constexpr int lanes = 16;

using Factor = cusolverStatus_t(cusolverDnHandle_t, cublasFillMode_t, int, void *, int, void *, int, int *);
using FactorSize = cusolverStatus_t(cusolverDnHandle_t, cublasFillMode_t, int, void *, int, int *);

struct CusolverOfOne : CusolverHandles {
  Factor *factor[4];  // f32, f64, c64, c128
  FactorSize *size[4];
  CusolverOfOne() { find_types(factor, "cusolverDn%potrf"), find_types(size, "cusolverDn%potrf_bufferSize"); }
  static const CusolverOfOne &instance() {
    static const CusolverOfOne library;
    return library;
  }
};

constexpr auto checked = vendor_checked<CusolverOfOne, cusolverStatus_t>;

// A stream with its own handle, and the event at the end of its part of a run.
struct Lane {
  cusolverDnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
};
struct Session {
  std::array<Lane, lanes> all{};
  cudaEvent_t begun = nullptr;
  ~Session() {
    for (Lane &lane : all) {
      if (lane.handle) CusolverOfOne::instance().destroy(lane.handle);
      if (lane.done) cudaEventDestroy(lane.done);
      if (lane.stream) cudaStreamDestroy(lane.stream);
    }
    if (begun) cudaEventDestroy(begun);
  }
};

// Elements of workspace a lane: the library reports its need only through a handle, which candidates must not create; a
// run is refused where this does not suffice.
std::uint64_t room(std::int64_t n) { return static_cast<std::uint64_t>(std::max<std::int64_t>(1 << 18, 256 * n)); }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_DEFINITE) return refuse(reason, "only positive definite systems");
  if (q.phase != SXT_HERMITIAN_FACTOR || !q.solution_only)
    return refuse(reason, "it only factors, and only in measurements");
  if (q.pointer_array) return refuse(reason, "it needs the addresses of the systems on the host");
  return fits_library(q, reason);
}

// As measured on an H200: calls one after the other in each lane for small orders, then the operations.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  constexpr double seconds_a_call = 1e-5, flops_a_second = 2.4e13;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.run_s = seconds_a_call * static_cast<double>(q.batch) + hermitian_flops(q) / flops_a_second;
  candidate.setup_s = 0.05 * lanes;
  candidate.scratch_bytes = lanes * aligned(room(q.n_max) * value_bytes(q.q.value_type));
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec, void **) {
  return vendor_opened<CusolverOfOne>(exec);
}

sxt_status open(const void *, const sxt_filled *, const sxt_exec *exec, void **out) {
  return guard(exec, [&]() -> sxt_status {
    auto session = std::make_unique<Session>();
    const auto event = [&](cudaEvent_t *made) {
      return cuda::check(exec, cudaEventCreateWithFlags(made, cudaEventDisableTiming), "make an event");
    };
    if (const sxt_status failed = event(&session->begun)) return failed;
    for (Lane &lane : session->all) {
      sxt_status status =
          cuda::check(exec, cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "make a stream");
      if (status == SXT_OK) status = event(&lane.done);
      if (status == SXT_OK) status = checked(exec, CusolverOfOne::instance().create(&lane.handle), "make a handle");
      if (status == SXT_OK)
        status = checked(exec, CusolverOfOne::instance().set_stream(lane.handle, lane.stream), "take a stream");
      if (status != SXT_OK) return status;
    }
    return give(session.release(), out);
  });
}

// One system by one lane, in its part of the scratch.
sxt_status factor_one(const sxt_hermitian_args &args, const sxt_exec *exec, const Lane &lane, std::int64_t s) {
  const auto &library = CusolverOfOne::instance();
  const int type = args.value_type - 1, n = static_cast<int>(args.n_max), lda = static_cast<int>(args.lda);
  const cublasFillMode_t fill = args.triangle == SXT_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const std::uint64_t value = value_bytes(args.value_type), each = aligned(room(args.n_max) * value);
  void *a = static_cast<char *>(args.a) + s * args.stride_a * static_cast<std::int64_t>(value);
  int needed = 0;
  if (const sxt_status failed = checked(exec, library.size[type](lane.handle, fill, n, a, lda, &needed), "be asked"))
    return failed;
  if (static_cast<std::uint64_t>(needed) > room(args.n_max))
    return error(exec, SXT_E_NOT_SUPPORTED, "cuSOLVER wants %d elements of workspace, there are %llu", needed,
                 (unsigned long long)room(args.n_max));
  void *work = static_cast<char *>(exec->scratch) + each * static_cast<std::uint64_t>(s % lanes);
  return checked(exec, library.factor[type](lane.handle, fill, n, a, lda, work, needed, args.info + s), "factor");
}

sxt_status run(const void *, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_hermitian_args>(head);
  const auto &session = *static_cast<const Session *>(opened);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch == 0 || args.n_max == 0) return SXT_OK;
  if (const sxt_status wrong = fits_library(args, exec)) return wrong;
  if (args.active || args.a_array)
    return error(exec, SXT_E_NOT_SUPPORTED, "neither masks nor pointers: the host cannot see them");
  if (const sxt_status few = need_scratch(exec, lanes * aligned(room(args.n_max) * value_bytes(args.value_type))))
    return few;
  const cudaStream_t stream = cuda::stream_of(*exec);
  sxt_status status = cuda::check(exec, cudaEventRecord(session.begun, stream), "record an event");
  for (const Lane &lane : session.all)
    if (status == SXT_OK) status = cuda::check(exec, cudaStreamWaitEvent(lane.stream, session.begun), "fork");
  for (std::int64_t s = 0; s < args.batch && status == SXT_OK; ++s)
    status = factor_one(args, exec, session.all[static_cast<std::size_t>(s % lanes)], s);
  // Also after a failure the caller's stream waits for the enqueued work.
  for (const Lane &lane : session.all) {
    cudaError_t joined = cudaEventRecord(lane.done, lane.stream);
    if (joined == cudaSuccess) joined = cudaStreamWaitEvent(stream, lane.done);
    if (status == SXT_OK) status = cuda::check(exec, joined, "join");
  }
  return status;
}

}  // namespace

const sxt_kernel cusolver_streams_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.cusolver_streams.cuda", "cuda",
                            "cuSOLVER potrf, a system a call, over 16 streams", run);
  k.flags = SXT_KERNEL_BASELINE;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace sextant::hermitian_vendor
