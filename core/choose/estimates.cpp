// SPDX-License-Identifier: BSD-3-Clause
// What every candidate would cost at one query, without building options, slots or explanations.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"
#include "sextant/plugin/kinds/launch.h"
#include "sextant/sdk/arithmetic.hpp"

namespace sextant {

namespace {

constexpr std::int64_t any_launch = -1, no_launch = -2;

int rank_of(const registry::Kernel &kernel) {
  return (kernel.has(SXT_KERNEL_REFERENCE) ? 2 : 0) + (kernel.table.candidates ? 0 : 1);
}

}  // namespace

// The candidate that a forced launch policy takes; nothing when it declines them all.
std::int64_t Selector::forced_launch(const registry::Kernel &kernel, const Query &query,
                                     const std::vector<sxt_candidate> &list, std::uint64_t count) const {
  const char *by = nullptr;
  if (!kernel.table.launch_config || context_.forced(SXT_KIND_LAUNCH, &by).empty()) return any_launch;
  try {
    const std::span<const sxt_candidate> candidates(list.data(), static_cast<std::size_t>(count));
    std::vector<Prediction> predictions;
    for (const sxt_candidate &candidate : candidates)
      predictions.push_back(predict(kernel.table, *query.get(), candidate, context_.machine(), context_.profile()));
    const auto proposals = ask_policies(kernel, query, candidates, predictions);
    const LaunchProposal *proposal = forced_proposal(context_, proposals);
    return proposal ? proposal->candidate : any_launch;
  } catch (const Error &) {
    return no_launch;
  }
}

std::vector<Estimate> Selector::estimates(Query query) const {
  if (context_.deterministic()) query.get()->flags |= SXT_QUERY_DETERMINISTIC;
  const char *by = nullptr;
  const std::string forced = this->forced(query.kind(), &by);
  const sxt_features none{};
  std::vector<Estimate> all;
  std::vector<sxt_candidate> list(candidate_capacity);
  for (const registry::Kernel *kernel : kernels(query.kind())) {
    const sxt_kernel &table = kernel->table;
    if (table.n_slots > 0 || (!forced.empty() && forced != kernel->name())) continue;
    Estimate estimate;
    estimate.kernel = kernel;
    estimate.rank = rank_of(*kernel);
    std::uint64_t count = 1;
    const plugin::FloatKeeper arithmetic;
    try {
      if (!refusal(*kernel, query, none).empty()) continue;
      list[0] = sxt_candidate{};
      list[0].run_s = std::numeric_limits<double>::infinity();
      if (table.candidates && table.candidates(query.get(), &none, &context_.machine(), nullptr, list.data(),
                                               candidate_capacity, &count) != SXT_OK)
        continue;
    } catch (const std::bad_alloc &) {
      throw;
    } catch (...) {  // a model that throws breaks its contract: the kernel is out
      continue;
    }
    const std::int64_t only = forced_launch(*kernel, query, list, std::min(count, candidate_capacity));
    for (std::uint64_t i = 0; i < std::min(count, candidate_capacity); ++i) {
      if (only != any_launch && only != static_cast<std::int64_t>(i)) continue;
      const auto [run, error, setup] = predict(table, *query.get(), list[i], context_.machine(), context_.profile());
      estimate.candidate = i;
      estimate.run_s = run;
      estimate.total_s = setup + query.expected_runs() * run;
      std::copy(list[i].launch, list[i].launch + 4, estimate.launch);
      const bool usable = std::isfinite(estimate.total_s) && run >= 0 && setup >= 0;
      if (usable || !table.candidates) all.push_back(estimate);
    }
  }
  return all;
}

}  // namespace sextant
