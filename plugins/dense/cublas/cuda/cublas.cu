// SPDX-License-Identifier: BSD-3-Clause
// dense.cublas.cuda: cuBLAS' products and triangular solves, an item a call, where the host knows the sizes; a kernel
// of ours, a block an item, where they lie on the device. Factorisations are panels of ours and cuBLAS' products.
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "items.cuh"
#include "library.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant_dense::vendor {
namespace {

using namespace sextant::plugin;
using device::Panel, device::panel_width;
using sextant::plugin::cuda::check, sextant::plugin::cuda::Failure;

constexpr std::uint64_t workspace_bytes = 4 << 20;  // cuBLAS' own; a session's, so that its bits depend on no other caller
constexpr std::uint64_t largest_value = 16;  // bytes: a session serves every type
constexpr std::int64_t scaled_numbers = 1 << 17;    // of a factor with D, scaled copies at once
constexpr std::int64_t strip = 512;                 // columns of a lower result that are worked on as a rectangle

struct Session {
  cublasHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;  // that the handle was given last
  bool has_stream = false;
  cuda::DeviceArray workspace, scaled, ticket;
  ~Session() {
    if (handle) Cublas::instance().destroy(handle);
  }
};

void need(cublasStatus_t status, const char *step) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(status == CUBLAS_STATUS_ALLOC_FAILED ? SXT_E_MEMORY : SXT_E_DEVICE, "cuBLAS could not %s: status %d",
                step, static_cast<int>(status));
}

int as_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    throw Failure(SXT_E_NOT_SUPPORTED, "a size of %lld is beyond cuBLAS's integers", (long long)size);
  return static_cast<int>(size);
}

// One item's work on one stream. Throws Failure.
template <class T>
class Calls {
 public:
  Calls(const Session &session, const sxt_dense_args &args, cudaStream_t stream)
      : session_(session), args_(args), stream_(stream), unit_(args.unit != 0) {}

  void work(std::int64_t g) {
    const Item<T> x = item_of<T>(args_, g);
    switch (args_.operation) {
      case SXT_DENSE_POTRF:
      case SXT_DENSE_LDLH: return factor(x.a, x.n, marks_of(args_, g));
      case SXT_DENSE_TRSM:
        trsm(CUBLAS_SIDE_RIGHT, CUBLAS_OP_C, x.a, x.b, x.m, x.n);
        if (x.d) scale(x.b, x.b, x.m, x.n, x.d, x.incd, true);
        return;
      case SXT_DENSE_SYRK: return update(x.a, x.a, x.c, x.n, x.n, x.k, x.d, x.incd, true);
      case SXT_DENSE_GEMM: return update(x.a, x.b, x.c, x.m, x.n, x.k, x.d, x.incd, false);
      case SXT_DENSE_GEMMT: return update(x.a, x.b, x.c, x.n, x.n, x.k, nullptr, 1, true);
      case SXT_DENSE_FORWARD: return trsm(CUBLAS_SIDE_LEFT, CUBLAS_OP_N, x.a, x.b, x.m, x.n);
      case SXT_DENSE_BACKWARD: return trsm(CUBLAS_SIDE_LEFT, CUBLAS_OP_C, x.a, x.b, x.m, x.n);
      case SXT_DENSE_PRODUCT: return gemm(CUBLAS_OP_N, CUBLAS_OP_N, x.a, x.b, x.c, x.m, x.n, x.k);
      case SXT_DENSE_RIGHT: return trsm(CUBLAS_SIDE_RIGHT, CUBLAS_OP_N, x.a, x.b, x.m, x.n);
      default: return gemm(CUBLAS_OP_C, CUBLAS_OP_N, x.a, x.b, x.c, x.m, x.n, x.k);
    }
  }

 private:
  int type() const { return args_.value_type - 1; }

  void gemm(cublasOperation_t left, cublasOperation_t right, View<T> a, View<T> b, View<T> c, std::int64_t m,
            std::int64_t n, std::int64_t k) {
    if (m == 0 || n == 0 || k == 0) return;
    const T minus = cuda::number<T>(-1), one = cuda::number<T>(1);
    need(Cublas::instance().gemm[type()](session_.handle, left, right, as_int(m), as_int(n), as_int(k), &minus, a.data,
                                         as_int(a.ld), b.data, as_int(b.ld), &one, c.data, as_int(c.ld)),
         "multiply");
  }

  void trsm(cublasSideMode_t side, cublasOperation_t operation, View<T> l, View<T> b, std::int64_t m, std::int64_t n) {
    if (m == 0 || n == 0) return;
    const T one = cuda::number<T>(1);
    need(Cublas::instance().trsm[type()](session_.handle, side, CUBLAS_FILL_MODE_LOWER, operation,
                                         unit_ ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, as_int(m), as_int(n), &one,
                                         l.data, as_int(l.ld), b.data, as_int(b.ld)),
         "solve with a triangle");
  }

  void scale(View<T> from, View<T> to, std::int64_t rows, std::int64_t columns, const T *d, std::int64_t incd,
             bool divide) {
    if (rows == 0 || columns == 0) return;
    constexpr int threads = 128;
    const dim3 blocks(static_cast<unsigned>((rows + threads - 1) / threads),
                      static_cast<unsigned>(std::min<std::int64_t>(columns, 64)));
    device::scale_columns<<<blocks, threads, 0, stream_>>>(from.data, from.ld, to.data, to.ld, rows, as_int(columns), d,
                                                           incd, divide);
    cuda::need_launch("the scaling of columns");
  }

  // C (m x n) -= A D B^H. Of a lower result by strips of columns from the diagonal down.
  void update(View<T> a, View<T> b, View<T> c, std::int64_t m, std::int64_t n, std::int64_t k, const T *d,
              std::int64_t incd, bool lower) {
    const std::int64_t width = lower ? strip : n;
    for (std::int64_t j = 0; j < n; j += width) {
      const std::int64_t columns = std::min(width, n - j), first = lower ? j : 0;
      if (d)
        weighted(a.at(first, 0), b.at(j, 0), c.at(first, j), m - first, columns, k, d, incd);
      else
        gemm(CUBLAS_OP_N, CUBLAS_OP_C, a.at(first, 0), b.at(j, 0), c.at(first, j), m - first, columns, k);
    }
  }

  // Through a scaled copy of B, in pieces that fit.
  void weighted(View<T> a, View<T> b, View<T> c, std::int64_t m, std::int64_t n, std::int64_t k, const T *d,
                std::int64_t incd) {
    const std::int64_t rows = std::min<std::int64_t>(n, scaled_numbers / 64);
    for (std::int64_t j = 0; j < n; j += rows) {
      const std::int64_t count = std::min(rows, n - j), piece = scaled_numbers / count;
      const View<T> copy{session_.scaled.template as<T>(), count};
      for (std::int64_t l = 0; l < k; l += piece) {
        const std::int64_t steps = std::min(piece, k - l);
        scale(b.at(j, l), copy, count, steps, d + l * incd, incd, false);
        gemm(CUBLAS_OP_N, CUBLAS_OP_C, a.at(0, l), copy, c.at(0, j), m, count, steps);
      }
    }
  }

  void factor(View<T> a, std::int64_t n, std::uint8_t *marks) {
    const PivotRule rule = pivot_rule(args_);
    for (std::int64_t j = 0; j < n; j += panel_width) {
      const int width = static_cast<int>(std::min<std::int64_t>(panel_width, n - j));
      const std::int64_t rows = n - j, rest = rows - width;
      const View<T> here = a.at(j, j);
      const Panel<T> panel{here.data,
                           a.ld,
                           rows,
                           width,
                           rule,
                           marks ? marks + j : nullptr,
                           nullptr,
                           0,
                           nullptr,
                           0,
                           session_.ticket.template as<unsigned>()};
      device::factor_panel<<<device::panel_blocks(rows, width), device::panel_threads,
                             device::panel_shared<T>(rows, width), stream_>>>(panel);
      cuda::need_launch("a panel of a factorisation");
      const View<T> below = here.at(width, 0);
      update(below, below, here.at(width, width), rest, rest, width, rule.definite ? nullptr : here.data, a.ld + 1,
             true);
    }
  }

  const Session &session_;
  const sxt_dense_args &args_;
  const cudaStream_t stream_;
  const bool unit_;
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const std::int64_t shared = device::most_panel_shared(static_cast<std::int64_t>(value_bytes(query->value_type)));
  if (!machine || machine->shared_per_block <= 0 || shared <= machine->shared_per_block) return SXT_OK;
  return refuse(reason, "a panel takes %lld bytes of shared memory, a block has %lld", (long long)shared,
                (long long)machine->shared_per_block);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_dense_query>(query);
  cuda::CudaCost cost;
  cost.launches = static_cast<double>(std::max<std::int64_t>(1, q.count));
  cost.stream_bytes = working_set(q) * static_cast<double>(q.count);
  cost.working_set = working_set(q);
  cost.flops = 1.5 * q.flops;
  CandidateList list(out, capacity, count);
  sxt_candidate &c = cuda::fill(list.add(), *machine, machine->units, item_threads, 1, cost);
  c.setup_s = 0.02;  // a handle; opening the library is paid once a process
  c.state_bytes = workspace_bytes + static_cast<std::uint64_t>(scaled_numbers) * largest_value;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    *state = nullptr;
    if (!Cublas::instance().is_open())
      return error(exec, SXT_E_NOT_SUPPORTED, "cuBLAS cannot be used: %s", Cublas::instance().why());
    return cuda::with_number(problem->query->value_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (const sxt_status failed = cuda::load(exec, run_items<T>)) return failed;
      if (const sxt_status failed = cuda::load(exec, device::scale_columns<T>)) return failed;
      return cuda::load_with_shared(exec, device::factor_panel<T>,
                                    device::panel_shared<T>(panel_width + 1, panel_width));
    });
  });
}

sxt_status open(const void *, const sxt_filled *, const sxt_exec *exec, void **out) {
  return cuda::build<Session>(exec, out, [&](Session &session) {
    session.workspace = cuda::DeviceArray(exec, workspace_bytes, "cuBLAS's workspace");
    session.scaled = cuda::DeviceArray(exec, static_cast<std::uint64_t>(scaled_numbers) * largest_value, "scaled copies");
    session.ticket = cuda::DeviceArray(exec, sizeof(unsigned), "a counter");
    cuda::fill_bytes(exec, session.ticket.data(), 0, sizeof(unsigned), "clear a counter");
    need(Cublas::instance().create(&session.handle), "make a handle");
    cuda::wait(exec);
    return SXT_OK;
  });
}

// Setting a stream takes the workspace away.
void take_stream(Session &session, cudaStream_t stream) {
  if (session.has_stream && session.stream == stream) return;
  session.has_stream = false;
  need(Cublas::instance().set_stream(session.handle, stream), "take the stream");
  need(Cublas::instance().set_workspace(session.handle, session.workspace.data(), workspace_bytes), "take a workspace");
  session.stream = stream, session.has_stream = true;
}

sxt_status by_library(const sxt_dense_args &args, const sxt_exec *exec, Session &session) {
  if (args.info)
    return error(exec, SXT_E_NOT_SUPPORTED,
                 "infos in host memory would have to be waited for: leave them out, or put all "
                 "arrays on the device");
  return cuda::guarded(exec, [&] {
    const cudaStream_t stream = cuda::stream_of(*exec);
    take_stream(session, stream);
    return cuda::with_number(args.value_type, [&](auto tag) {
      Calls<typename decltype(tag)::type> calls(session, args, stream);
      for (std::int64_t g = 0; g < args.count; ++g) calls.work(g);
      return SXT_OK;
    });
  });
}

sxt_status run(const void *, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_dense_args>(head);
  if (const sxt_status wrong = sextant_dense::check(args, exec)) return wrong;
  if (args.count == 0) return SXT_OK;
  if (!args.arrays_on_device) return by_library(args, exec, *static_cast<Session *>(opened));
  return cuda::with_number(args.value_type, [&](auto tag) {
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(args.count, 1 << 20));
    run_items<typename decltype(tag)::type>
        <<<blocks, item_threads, 0, cuda::stream_of(*exec)>>>(args, pivot_rule(args));
    return cuda::launched(exec, "a group of dense operations");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_DENSE, "dense.cublas.cuda", "cuda",
                            "cuBLAS an item a call; groups with sizes on the device by a block an item", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cuda::cuda_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace
}  // namespace sextant_dense::vendor

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant_dense::vendor::kernel>("dense-cuda-cublas", out);
}
