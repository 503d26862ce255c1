// SPDX-License-Identifier: BSD-3-Clause
// hermitian_toeplitz.recursion.cuda: which sets fit, the cost for each number of threads, and the launch.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian_query.hpp"
#include "toeplitz.cuh"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace sextant::hermitian_toeplitz {
namespace {

constexpr const char *terms[] = {"launches", "stream_bytes", "latency.columns", "latency.products", nullptr};
// A column waits for a sum over the block and two barriers; a product for two reads of shared memory. As measured.
const double term_defaults[] = {NAN, NAN, 9e-7, 1.2e-8, NAN};
constexpr std::int64_t reserved_shared = 1024;

struct State {
  unsigned blocks, threads;
  std::size_t shared;
};

std::size_t shared_for(const sxt_hermitian_query &q) {
  std::size_t bytes = 0;
  dense::with_number(q.q.value_type, [&](auto tag) {
    bytes = shared_bytes<typename decltype(tag)::type>(q.n_max);
    return SXT_OK;
  });
  return bytes;
}

std::uint64_t wide_bytes(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128 ? 16 : 8; }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  const auto limit = static_cast<std::uint64_t>(machine->shared_per_block);
  if (const std::uint64_t bytes = shared_for(q); limit && bytes > limit)
    return refuse(reason, "order %lld needs %llu bytes of shared memory, a block has %llu", (long long)q.n_max,
                  (unsigned long long)bytes, (unsigned long long)limit);
  return SXT_OK;
}

// Blocks that the machine holds at once go from system to system. Beside reading the triangle once, the cost is the
// number of waits: every column, and every product of a thread.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  const std::size_t shared = shared_for(q);
  const double batch = static_cast<double>(std::max<std::int64_t>(1, q.batch)), rhs = static_cast<double>(q.n_rhs);
  const std::int64_t room = machine->shared_per_unit > 0 ? machine->shared_per_unit : 233472;
  CandidateList list(out, capacity, count);
  std::uint32_t model_class = 0;
  for (const std::int64_t threads : {64, 128, 256, 512}) {
    const std::int64_t by_shared =
        std::max<std::int64_t>(1, room / (static_cast<std::int64_t>(shared) + reserved_shared));
    const std::int64_t resident =
        std::min(cuda::resident_blocks(*machine, threads), by_shared * std::max(1, machine->units));
    const std::int64_t blocks = std::clamp<std::int64_t>(q.batch, 1, resident);
    const double rounds = std::ceil(batch / static_cast<double>(blocks));
    // Warps that share a multiprocessor make each other wait: sixteen take as long again as a column itself.
    const double units = std::max(1, machine->units);
    const double crowded = 1 + std::ceil(static_cast<double>(blocks) / units) * static_cast<double>(threads) / 512;
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = blocks;
    candidate.launch[1] = threads;
    candidate.launch[3] = static_cast<std::int64_t>(shared);
    candidate.model_class = model_class++;
    candidate.n_terms = 4;
    candidate.terms[0] = 1;
    candidate.terms[1] = (q.sum_n2 + q.sum_n1) / 2 * static_cast<double>(value_bytes(q.q.value_type));
    candidate.terms[2] = q.sum_n1 / batch * rounds * crowded;
    candidate.terms[3] = q.sum_n2 / batch * (1.5 + 4.5 * rhs) / static_cast<double>(threads) * rounds;
    candidate.working_set_bytes = candidate.terms[1];
    candidate.units = static_cast<double>(std::min<std::int64_t>(blocks, std::max(1, machine->units)));
    candidate.state_bytes = sizeof(State);
    if (q.n_rhs > 1)
      candidate.scratch_bytes = static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(q.n_max) *
                                static_cast<std::uint64_t>(q.n_rhs) * wide_bytes(q.q.value_type);
  }
  return SXT_OK;
}

sxt_status launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  *out = {candidate->launch[0], candidate->launch[1], candidate->launch[3], 64, candidate->run_s};
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_hermitian_query>(problem->query);
    const std::size_t shared = shared_for(q);
    const sxt_status loaded = dense::with_number(q.q.value_type, [&](auto tag) {
      return dense::load_with_shared(exec, toeplitz_systems<typename decltype(tag)::type>, shared);
    });
    if (loaded != SXT_OK) return loaded;
    const bool chosen = candidate && candidate->launch[1] > 0;
    return give(new State{chosen ? static_cast<unsigned>(candidate->launch[0]) : 1u,
                          chosen ? static_cast<unsigned>(candidate->launch[1]) : 256u, shared},
                state);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (args.batch <= 0) return SXT_OK;
  if (!args.info) return error(exec, SXT_E_ARGUMENT, "info is missing");
  const std::int64_t blocks = std::min<std::int64_t>(state.blocks, args.batch);
  const std::uint64_t bytes =
      args.n_rhs > 1 ? static_cast<std::uint64_t>(blocks * args.n_max * args.n_rhs) * wide_bytes(args.value_type) : 0;
  if (const sxt_status wrong = need_scratch(exec, bytes)) return wrong;
  return dense::with_number(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    toeplitz_systems<T><<<static_cast<unsigned>(blocks), state.threads, state.shared, cuda::stream_of(*exec)>>>(
        dense::set_of(args), args.definiteness == SXT_HERMITIAN_DEFINITE, static_cast<Wide<T> *>(exec->scratch));
    return cuda::launched(exec, "hermitian_toeplitz.recursion.cuda");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_HERMITIAN_TOEPLITZ, "hermitian_toeplitz.recursion.cuda", "cuda",
                 "Hermitian Toeplitz systems by Durbin's recursion, checked, one system a thread block", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  set_calls<State>(k, {applicable, candidates, prepare});
  k.launch_config = launch_config;
  return k;
}();

}  // namespace
}  // namespace sextant::hermitian_toeplitz

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&sextant::hermitian_toeplitz::kernel>("hermitian-toeplitz-cuda", out);
}
