// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernel.hpp"
#include "plugins/pcg/shared/told.hpp"
#include "sextant/sdk/tree.hpp"

namespace cooperative {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

// Bytes of one vector, and of the leaves' sums, rounded up so that each begins on a line.
std::uint64_t line(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }
std::uint64_t vector_bytes(std::int64_t n, sxt_value_type type) {
  return line(static_cast<std::uint64_t>(n) * plugin::value_bytes(type));
}

// No more blocks than the device holds at once: the barrier needs all of them.
std::int64_t resident(const void *kernel) {
  int device = 0, units = 0, blocks = 0;
  cuda::need(cudaGetDevice(&device), "ask for the device");
  cuda::need(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "count multiprocessors");
  cuda::need(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0), "ask how many blocks fit");
  return static_cast<std::int64_t>(units) * blocks;
}

}  // namespace

void fill(State &state, const sxt_pcg_query &query, const sxt_csr &a, std::int64_t blocks, std::int64_t longest) {
  state.vectors = query.m.q.value_type;
  state.n = a.s.rows;
  state.nnz = a.s.nnz;
  state.longest = std::max<std::int64_t>(1, longest);
  if (a.s.index_type != SXT_I32) throw cuda::Failure(SXT_E_NOT_SUPPORTED, "it reads 32-bit columns");
  state.kernel = kernel_for(state.vectors, a.s.value_type, a.s.offset_type);
  if (!state.kernel) throw cuda::Failure(SXT_E_TYPE, "this pair of vector and matrix types is not offered");
  cudaFuncAttributes unused;
  cuda::need(cudaFuncGetAttributes(&unused, state.kernel), "load a kernel's code");
  const std::int64_t most = resident(state.kernel);
  if (most < 1) throw cuda::Failure(SXT_E_NOT_SUPPORTED, "no block of %d threads fits a multiprocessor", threads);
  const std::int64_t leaves = plugin::tree::leaf_count(state.n);
  state.blocks = std::clamp<std::int64_t>(blocks, 1, std::max<std::int64_t>(1, std::min(leaves, most)));
  point_at(state, a);
}

void point_at(State &state, const sxt_csr &a) {
  if (a.s.nnz != state.nnz || a.s.rows != state.n)
    throw cuda::Failure(SXT_E_DIMENSION,
                        "the matrix has %lld rows and %lld entries, the engine was prepared for %lld and %lld",
                        (long long)a.s.rows, (long long)a.s.nnz, (long long)state.n, (long long)state.nnz);
  state.matrix = {a.s.rows, a.row_ptr, static_cast<const std::int32_t *>(a.col), a.values};
}

std::uint64_t session_bytes(std::int64_t n, sxt_value_type type) {
  const std::int64_t leaves = std::max<std::int64_t>(1, plugin::tree::leaf_count(n));
  return 3 * vector_bytes(n, type) + line(static_cast<std::uint64_t>(sums * leaves) * plugin::value_bytes(type)) + 256;
}

Session::Session(const State &state, const sxt_exec &exec)
    : work{},
      memory(&exec, session_bytes(state.n, state.vectors), "the vectors of conjugate gradients"),
      pinned(&exec, plugin::pcg::Told<Report>::bytes(state.longest + 1), "residual norms", cuda::Life::state,
             SXT_SPACE_PINNED) {
  residuals.reserve(static_cast<std::size_t>(state.longest) + 1);
  cuda::fill_bytes(&exec, memory.data(), 0, memory.bytes(), "clear the vectors");
  std::memset(pinned.data(), 0, pinned.bytes());
  const std::uint64_t vector = vector_bytes(state.n, state.vectors);
  char *at = memory.as<char>();
  work.arrived = memory.as<unsigned>();
  work.r = at += 256;
  work.p = at += vector;
  work.q = at += vector;
  work.leaves = at += vector;
  auto *const told = pinned.as<plugin::pcg::Told<Report>>();
  work.report = &told->report;
  work.squared_residuals = told->squares();
}

pcg::Outcome Engine::run(const pcg::Block &block) {
  if (state_.n == 0) return {pcg::Ended::met, block.first, &nothing_};
  Run run{};
  run.from_zero = measure_ && from_zero_;
  run.measure = measure_ && !from_zero_;
  run.restart = block.restart;
  run.test_first = block.test_first;
  run.first = block.first;
  run.last = block.last;
  run.tolerance_squared = block.tolerance * block.tolerance;
  run.replaced_from = block.replaced_from;
  args_.products += run.measure;
  measure_ = from_zero_ = false;
  launch(run);
  ++args_.reductions;
  if (const sxt_status status = exec_.host->synchronize(exec_.host, &exec_))
    throw cuda::Failure(status, "the cooperative kernel failed on the device");
  const Report report = *session_.work.report;
  args_.products += report.iterate - block.first + 1;
  return {report.ended, report.iterate, session_.work.squared_residuals};
}

void Engine::launch(const Run &given) {
  Run run = given;
  run.b = args_.b;
  run.x = args_.x;
  Matrix matrix = state_.matrix;
  Work work = session_.work;
  cuda::fill_bytes(&exec_, work.arrived, 0, sizeof *work.arrived, "clear the barriers");
  void *arguments[] = {&matrix, &work, &run};
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(state_.blocks));
  config.blockDim = dim3(threads);
  config.stream = cuda::stream_of(exec_);
  config.attrs = &together;
  config.numAttrs = 1;
  cuda::need(cudaLaunchKernelExC(&config, state_.kernel, arguments), "launch the cooperative kernel");
  ++args_.launches;
}

}  // namespace cooperative
