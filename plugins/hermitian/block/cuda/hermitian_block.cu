// SPDX-License-Identifier: BSD-3-Clause
// hermitian.block.cuda: the kernel around the published elimination (block.cuh): whether it applies, its cost for each
// number of threads, and the launch.
#include <algorithm>
#include <cstdint>

#include "block.cuh"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian_query.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;
namespace dense = sextant::plugin::cuda::dense;

namespace sextant::hermitian_block {
namespace {

struct State {
  unsigned threads;
  std::size_t shared;
};

constexpr const char *terms[] = {"launches", "stream_bytes", "sectors", "flops", "latency.columns", nullptr};
// A column waits for two barriers, a square root and a division; other coefficients are the machine's.
const double term_defaults[] = {NAN, NAN, NAN, NAN, 1.5e-6, NAN};

std::size_t shared_for(const sxt_hermitian_query &q) {
  std::size_t bytes = 0;
  dense::with_number(q.q.value_type, [&](auto tag) {
    bytes = shared_bytes<typename decltype(tag)::type>(q.n_max);
    return SXT_OK;
  });
  return bytes;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  const bool with_signs = q.definiteness == SXT_HERMITIAN_SIGNED && q.phase == SXT_HERMITIAN_SOLVE;
  if (q.definiteness != SXT_HERMITIAN_DEFINITE && !with_signs)
    return refuse(reason, "only positive definite systems, and solves of L S L^H");
  const auto limit = static_cast<std::uint64_t>(machine->shared_per_block);
  if (const std::uint64_t bytes = shared_for(q); limit && bytes > limit)
    return refuse(reason, "order %lld needs %llu bytes of shared memory, a block has %llu", (long long)q.n_max,
                  (unsigned long long)bytes, (unsigned long long)limit);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  const double value = static_cast<double>(value_bytes(q.q.value_type)), batch = static_cast<double>(q.batch);
  const double columns = q.batch > 0 ? q.sum_n1 / batch : 0;
  CandidateList list(out, capacity, count);
  std::uint32_t model_class = 0;
  for (const std::int64_t threads : {64, 128, 256, 512, 1024}) {
    const std::int64_t resident =
        std::min<std::int64_t>(cuda::resident_blocks(*machine, threads), std::max<std::int64_t>(1, q.batch));
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = q.batch;
    candidate.launch[1] = threads;
    candidate.model_class = model_class++ + 8 * static_cast<std::uint32_t>(q.phase);
    candidate.n_terms = 5;
    candidate.terms[0] = 1;
    candidate.terms[1] = hermitian_bytes(q);
    // The trailing triangle, read and written once a column; rows of the last group of 32 are wasted in part.
    candidate.terms[2] = factors(q.phase) ? (q.sum_n3 / 3 + 16 * q.sum_n2) * value / 32 : 0;
    candidate.terms[3] = hermitian_flops(q);
    candidate.terms[4] = columns * (batch / static_cast<double>(resident)) * (solves(q.phase) ? 1.2 : 1);
    candidate.working_set_bytes = hermitian_bytes(q);
    candidate.units =
        static_cast<double>(std::min<std::int64_t>(std::max<std::int64_t>(1, q.batch), std::max(1, machine->units)));
    candidate.state_bytes = sizeof(State);
  }
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_hermitian_query>(problem->query);
    const std::size_t shared = shared_for(q);
    const sxt_status loaded = dense::with_number(q.q.value_type, [&](auto tag) {
      return dense::load_with_shared(exec, block_a_system<typename decltype(tag)::type>, shared);
    });
    if (loaded != SXT_OK) return loaded;
    const bool chosen = candidate && candidate->launch[1] > 0;
    return give(new State{chosen ? static_cast<unsigned>(candidate->launch[1]) : 256u, shared}, state);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch <= 0) return SXT_OK;
  return dense::with_number(args.value_type, [&](auto tag) {
    block_a_system<typename decltype(tag)::type>
        <<<static_cast<unsigned>(args.batch), state.threads, state.shared, cuda::stream_of(*exec)>>>(
            dense::set_of(args), args.phase, args.definiteness == SXT_HERMITIAN_SIGNED);
    return cuda::launched(exec, "hermitian.block.cuda");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.block.cuda", "cuda",
                            "Cholesky as published: a block a system, a warp a column, a lane a row", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  set_calls<State>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace
}  // namespace sextant::hermitian_block

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&sextant::hermitian_block::kernel>("hermitian-block-cuda", out);
}
