// SPDX-License-Identifier: BSD-3-Clause
// Features cost time. They are computed tier by tier, and a tier only when the candidates it could tell apart differ,
// within their error bars, by more than the tier is predicted to take.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>

#include "core/dispatch/options.hpp"
#include "core/dispatch/select.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

using registry::Kernel;

namespace {

constexpr double much_more = 4;  // at stake than two tiers cost

bool rivals(const Option &a, const Option &b) { return a.kernel != b.kernel || a.storage != b.storage; }

// The kernel of an option and those of its parts.
void add_kernels(const Kernel *kernel, const std::vector<SlotChoice> &slots, std::set<const Kernel *> &kernels) {
  kernels.insert(kernel);
  for (const SlotChoice &slot : slots)
    for (const ChoicePtr &part : slot.parts) add_kernels(part->kernel, part->slots, kernels);
}

// What is at stake between the best option and the others, in seconds, and the kernels whose features could tell. A
// storage that has to be built first is at stake as a whole: nobody converts a matrix on a guess.
struct Stake {
  double seconds = 0;
  std::set<const Kernel *> kernels;
};

Stake at_stake(const std::vector<Option> &options) {
  const auto usable = [](const Option &option) {
    return !option.no_estimate && !option.kernel->has(SXT_KERNEL_REFERENCE);
  };
  const Option *best = nullptr;
  for (const Option &option : options)
    if (usable(option) && (!best || option.total_s < best->total_s)) best = &option;
  Stake stake;
  if (!best) return stake;
  if (best->storage_s > 0) {
    stake.seconds = best->storage_s;
    add_kernels(best->kernel, best->slots, stake.kernels);
  }
  const double worst_of_best = total_within(*best, 1);
  for (const Option &option : options) {
    if (!usable(option) || !rivals(option, *best) || total_within(option, -1) >= worst_of_best) continue;
    stake.seconds = std::max(stake.seconds, worst_of_best - total_within(option, -1));
    add_kernels(option.kernel, option.slots, stake.kernels);
    add_kernels(best->kernel, best->slots, stake.kernels);
  }
  return stake;
}

}  // namespace

// Features of a tier that some of the kernels want to see and do not see yet.
std::vector<int> Selector::wanted_features(const std::set<const Kernel *> &kernels, int tier) const {
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_.device_name());
  std::set<int> ids;
  for (const Kernel *kernel : kernels)
    for (const int id : feature_ids(*kernel))
      if (sources->source(id).tier == tier && !(sees_known() && matrix_->knows_feature(id))) ids.insert(id);
  return {ids.begin(), ids.end()};
}

// Parts that work on the matrix may be chosen differently with more features; the others know none.
void Selector::forget_parts() {
  for (auto at = memo_.begin(); at != memo_.end();)
    at = at->second->query.about_matrix() ? memo_.erase(at) : std::next(at);
}

// In deterministic mode a choice must not depend on what was asked before it.
bool Selector::sees_known() const { return !context_.deterministic(); }

double Selector::gather_in_tiers(const Query &query, const std::string &role, const std::string &storage, bool part,
                                 const Rules &limits, std::vector<Option> &options, std::vector<Considered> &refused) {
  const unsigned before = tiers_;  // of the composed kernel that asks for this part
  const bool rising = matrix_ && query.about_matrix() && !limits.plan;
  tiers_ = !rising ? all_feature_tiers : part ? before | 1u : 1u;  // sizes are free
  double spent = 0;
  try {
    gather(query, role, storage, part, limits, options, refused);
    for (int tier = 1; rising && tier <= highest_feature_tier; ++tier) {
      if (tiers_ >> tier & 1u) continue;
      const Stake stake = at_stake(options);
      const std::vector<int> wanted = wanted_features(stake.kernels, tier);
      if (wanted.empty()) continue;
      double cost = matrix_->features_cost(wanted);
      if (cost >= stake.seconds) continue;
      tiers_ |= 1u << tier;
      // The next tier at once where so much is at stake that looking at everybody in between would only cost time.
      const std::vector<int> further =
          tier + 1 < highest_feature_tier ? wanted_features(stake.kernels, tier + 1) : std::vector<int>{};
      const double both = cost + (further.empty() ? 0 : matrix_->features_cost(further));
      if (!further.empty() && much_more * both < stake.seconds) {
        tiers_ |= 1u << ++tier;
        cost = both;
      }
      spent += cost;
      options.clear();
      refused.clear();
      if (!part) forget_parts();
      gather(query, role, storage, part, limits, options, refused);
      tier = 0;  // whoever leads now may want of a lower tier what nobody asked for before
    }
  } catch (...) {
    tiers_ = before;
    throw;
  }
  tiers_ = before;
  // Spent whatever is chosen.
  for (Option &option : options) {
    option.features_s = spent;
    option.setup_s += spent;
    option.total_s += spent;
  }
  return spent;
}

}  // namespace sextant
