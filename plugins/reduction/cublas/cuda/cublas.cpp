// SPDX-License-Identifier: BSD-3-Clause
// reduction.cublas.cuda: cuBLAS' dot, dotc and asum, to compare with. Its nrm2 is left out: it loses the smallest
// numbers, and a NaN beside an infinity. The library is opened when the kernel is first prepared; each session has its
// own handle, bound to exec's stream at every run.
#include <cublas_v2.h>

#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/vendor.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

struct Cublas : VendorLibrary {
  decltype(cublasCreate_v2) *create;
  decltype(cublasDestroy_v2) *destroy;
  decltype(cublasSetStream_v2) *set_stream;
  decltype(cublasSetPointerMode_v2) *set_pointer_mode;
  decltype(cublasSdot_v2_64) *sdot;
  decltype(cublasDdot_v2_64) *ddot;
  decltype(cublasCdotu_v2_64) *cdotu;
  decltype(cublasZdotu_v2_64) *zdotu;
  decltype(cublasCdotc_v2_64) *cdotc;
  decltype(cublasZdotc_v2_64) *zdotc;
  decltype(cublasSasum_v2_64) *sasum;
  decltype(cublasDasum_v2_64) *dasum;
  decltype(cublasScasum_v2_64) *scasum;
  decltype(cublasDzasum_v2_64) *dzasum;

  using Handle = cublasHandle_t;
  static constexpr const char *title = "cuBLAS", *names[] = {"libcublas.so.13", "libcublas.so.12"};
  static constexpr auto success = CUBLAS_STATUS_SUCCESS, no_memory = CUBLAS_STATUS_ALLOC_FAILED;
  Cublas() : VendorLibrary(names) {
    find(create, "cublasCreate_v2"), find(destroy, "cublasDestroy_v2");
    find(set_stream, "cublasSetStream_v2"), find(set_pointer_mode, "cublasSetPointerMode_v2");
    find(sdot, "cublasSdot_v2_64"), find(ddot, "cublasDdot_v2_64");
    find(cdotu, "cublasCdotu_v2_64"), find(zdotu, "cublasZdotu_v2_64");
    find(cdotc, "cublasCdotc_v2_64"), find(zdotc, "cublasZdotc_v2_64");
    find(sasum, "cublasSasum_v2_64"), find(dasum, "cublasDasum_v2_64");
    find(scasum, "cublasScasum_v2_64"), find(dzasum, "cublasDzasum_v2_64");
  }
  static const Cublas &instance() {
    static const Cublas library;
    return library;
  }
};

struct State {
  sxt_value_type type;
};

using Session = VendorSession<Cublas>;
constexpr auto checked = vendor_checked<Cublas, cublasStatus_t>;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.accuracy != SXT_ACCURACY_WORKING) return refuse(reason, "it sums in working precision");
  if (q.operation == SXT_REDUCTION_NRM2)
    return refuse(reason, "its nrm2 loses the smallest numbers, and a NaN beside an infinity");
  if (q.operation >= SXT_REDUCTION_DOT && q.operation <= SXT_REDUCTION_ASUM) return SXT_OK;
  return refuse(reason, "cuBLAS is run for dot, dotc and asum; its amax differs on NaN");
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const bool two = q.operation == SXT_REDUCTION_DOT || q.operation == SXT_REDUCTION_DOTC;
  CudaCost cost;
  cost.launches = 2;
  cost.stream_bytes = cost.working_set =
      static_cast<double>(q.n) * static_cast<double>(value_bytes(q.q.value_type)) * (two ? 2 : 1);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = fill(list.add(), *machine, machine->units, 0, 0, cost);
  candidate.model_class = static_cast<std::uint32_t>(q.operation);
  candidate.setup_s = 5e-3;  // a handle; opening the library is paid once a process
  candidate.state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    if (const sxt_status status = vendor_opened<Cublas>(exec)) return status;
    return give(new State{problem->query->value_type}, state);
  });
}

cublasStatus_t call(cublasHandle_t h, sxt_value_type type, const sxt_reduction_args &a) {
  const Cublas &lib = Cublas::instance();
  const auto *xs = static_cast<const float *>(a.x), *ys = static_cast<const float *>(a.y);
  const auto *xd = static_cast<const double *>(a.x), *yd = static_cast<const double *>(a.y);
  const auto *xc = static_cast<const cuComplex *>(a.x), *yc = static_cast<const cuComplex *>(a.y);
  const auto *xz = static_cast<const cuDoubleComplex *>(a.x), *yz = static_cast<const cuDoubleComplex *>(a.y);
  auto *s = static_cast<float *>(a.result);
  auto *d = static_cast<double *>(a.result);
  auto *c = static_cast<cuComplex *>(a.result);
  auto *z = static_cast<cuDoubleComplex *>(a.result);
  const bool conjugate = a.operation == SXT_REDUCTION_DOTC;
  if (a.operation == SXT_REDUCTION_ASUM) switch (type) {
      case SXT_F32: return lib.sasum(h, a.n, xs, 1, s);
      case SXT_F64: return lib.dasum(h, a.n, xd, 1, d);
      case SXT_C64: return lib.scasum(h, a.n, xc, 1, s);
      default: return lib.dzasum(h, a.n, xz, 1, d);
    }
  switch (type) {
    case SXT_F32: return lib.sdot(h, a.n, xs, 1, ys, 1, s);
    case SXT_F64: return lib.ddot(h, a.n, xd, 1, yd, 1, d);
    case SXT_C64: return (conjugate ? lib.cdotc : lib.cdotu)(h, a.n, xc, 1, yc, 1, c);
    default: return (conjugate ? lib.zdotc : lib.zdotu)(h, a.n, xz, 1, yz, 1, z);
  }
}

sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_reduction_args>(head);
  if (!args.result_on_device && (exec->flags & SXT_EXEC_CAPTURING))
    return error(exec, SXT_E_STATE, "a captured reduction cannot deliver its result to the host");
  cublasHandle_t handle = static_cast<Session *>(opened)->handle;
  const Cublas &lib = Cublas::instance();
  sxt_status status = checked(exec, lib.set_stream(handle, stream_of(*exec)), "take the stream");
  if (status == SXT_OK)
    status = checked(
        exec,
        lib.set_pointer_mode(handle, args.result_on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST),
        "take the result's place");
  if (status != SXT_OK) return status;
  return checked(exec, call(handle, static_cast<const State *>(opaque)->type, args), "reduce");
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, "reduction.cublas.cuda", "cuda", "cuBLAS dot, dotc and asum", run);
  k.flags = SXT_KERNEL_BASELINE | SXT_KERNEL_CAPTURABLE;
  k.term_names = cuda_terms;
  set_calls<State>(k, {applicable, candidates, prepare});
  k.open = Session::open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-cublas", out);
}
