// SPDX-License-Identifier: BSD-3-Clause
// reduction.one-block.cuda: one block for small n: nothing to merge between blocks, so a run is one launch, one round
// of loads and two rounds of shuffles. Bound by the launch: bytes do not matter below about 16 K elements.
#include "plugins/reduction/shared/cuda/gather.hpp"
#include "plugins/reduction/shared/cuda/reduce_run.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

constexpr int flight = 4, most_threads = 512;
constexpr std::int64_t largest_n = 1 << 17;

// Operations that carry more than 8 bytes would not fit 1024 threads into the registers of a multiprocessor.
template <class Op>
constexpr bool fits_full_block = sizeof(typename Op::Acc) <= 8;

template <class Op, int block>
__global__ void __launch_bounds__(block)
    reduce(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y, typename Op::Out *out) {
  announce<Op, flight>(n, x, y);
  await_predecessor();
  release_successor();
  __shared__ typename Op::Acc shared[32];
  const auto acc = merge_block<Op>(accumulate<Op, flight>(n, x, y, threadIdx.x, blockDim.x), shared);
  if (threadIdx.x == 0) *out = Op::result(acc);
}

template <class Op>
struct Kernel {
  static sxt_status load(const sxt_exec *exec) {
    const sxt_status status = cuda::load(exec, reduce<Op, most_threads>);
    if constexpr (fits_full_block<Op>)
      if (status == SXT_OK) return cuda::load(exec, reduce<Op, 1024>);
    return status;
  }
  static sxt_status launch(const Work<Op> &work, const sxt_exec *exec) {
    const auto threads = static_cast<unsigned>(work.threads);
    auto kernel = reduce<Op, most_threads>;
    if constexpr (fits_full_block<Op>)
      if (threads > most_threads) kernel = reduce<Op, 1024>;
    return launch_chained(exec, true, "reduction.one-block.cuda", kernel, 1, threads, 0, work.n, work.x, work.y,
                          work.out);
  }
};

sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                      sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.n > largest_n)
    return refuse(reason, "n = %lld is more than one block should read (%lld)", (long long)q.n, (long long)largest_n);
  return plain_applicable(query, features, machine, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  CandidateList list(out, capacity, count);
  return with_value_type(q.q.value_type, [&](auto type) {
    return with_plain_operation<typename decltype(type)::type>(q.operation, [&](auto tag) {
      std::uint32_t place = 0;
      for (int threads : {256, 512, 1024})
        if (threads <= most_threads || fits_full_block<typename decltype(tag)::type>)
          fill_reduction(list.add(), q, *machine, {place++, 1, threads, flight}, 0, 1, may_start_early(*machine));
      return SXT_OK;
    });
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_plain_reduction<Kernel>("reduction.one-block.cuda", "one block reads everything");
  k.version = 3;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-one-block", out);
}
