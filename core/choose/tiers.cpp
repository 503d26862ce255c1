// SPDX-License-Identifier: BSD-3-Clause
// Features cost time. They are computed tier by tier, and a tier only when the candidates it could tell apart differ,
// within their error bars, by more than the tier is predicted to take.
#include <algorithm>
#include <cstdint>
#include <set>

#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

using registry::Kernel;

namespace {

constexpr double much_more = 4;       // at stake than two tiers cost
constexpr double small_share = 0.05;  // of what is at stake
constexpr double asking_s = 20e-6;    // to ask all models of products on the host once more

bool rivals(const Option &a, const Option &b) { return a.kernel != b.kernel || a.storage != b.storage; }

// The kernel of an option and those of its parts.
void add_kernels(const Kernel *kernel, const std::vector<SlotChoice> &slots, std::set<const Kernel *> &kernels) {
  kernels.insert(kernel);
  for (const SlotChoice &slot : slots)
    for (const ChoicePtr &part : slot.parts) add_kernels(part->kernel, part->slots, kernels);
}

// What is at stake between the best option and the others, in seconds, and the kernels whose features could tell. A
// storage that has to be built first is at stake as a whole: no matrix is converted on a guess.
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
std::vector<int> Selector::wanted_features(const std::set<const Kernel *> &kernels, bool transposes, int tier) const {
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_.scope(), context_.device_name());
  std::set<int> ids;
  for (const Kernel *kernel : kernels)
    for (std::size_t i = 0; const int id : feature_ids(*kernel)) {
      const bool matters = transposes || !tells_of_transpose(kernel->table.features[i++]);
      if (matters && sources->source(id).tier == tier && !(sees_known() && matrix_->knows_feature(id))) ids.insert(id);
    }
  return {ids.begin(), ids.end()};
}

// Whether a kernel, or one that builds what it reads, sees more of the matrix in tiers that were opened.
static bool sees_more(const Kernel &kernel, const Query &query, unsigned opened, const Context &context) {
  const std::string device = context.device_name();
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context.scope(), device);
  const bool transposes = query.transposes();
  const auto asks = [&](const Kernel &each) {
    for (std::size_t i = 0; const int id : feature_ids(each)) {
      const bool matters = transposes || !tells_of_transpose(each.table.features[i++]);
      if (const int tier = sources->source(id).tier; matters && tier >= 0 && (opened >> tier & 1u)) return true;
    }
    return false;
  };
  if (asks(kernel)) return true;
  for (const char *const *form = kernel.table.storages; form && *form; ++form)
    for (const Kernel *builder : context.scope().kernels(*form, device))
      if (asks(*builder)) return true;
  return false;
}

// After tiers were opened: asks the kernels again that use the new features, and every kernel where kernels have parts.
// A kernel that did not apply with fewer features does not with more, so that features for it alone are not computed.
void Selector::gather_again(const Question &question, const Rules &limits, unsigned opened, Weighed &weighed) {
  const auto kernels = context_.scope().kernels(question.query.kind(), context_.device_name());
  weighed.offers.clear();
  if (std::any_of(kernels.begin(), kernels.end(), [](const Kernel *kernel) { return kernel->table.n_slots > 0; })) {
    weighed.options.clear();
    weighed.refused.clear();
    return gather(question, limits, weighed);
  }
  for (const Kernel *kernel : kernels) {
    const auto is_its = [&](const Option &option) { return option.kernel == kernel; };
    const bool applied = std::any_of(weighed.options.begin(), weighed.options.end(), is_its);
    if (!applied || !sees_more(*kernel, question.query, opened, context_)) continue;
    std::erase_if(weighed.options, is_its);
    std::erase_if(weighed.refused, [&](const Considered &line) { return line.kernel == kernel->name(); });
    consider(*kernel, question, limits, weighed);
  }
}

// In deterministic mode a choice must not depend on what was asked before it.
bool Selector::sees_known() const { return !context_.deterministic(); }

// Seconds of all runs if nothing but the matrix had to be read, from wherever it lies.
double Selector::least_seconds(const Query &query) const {
  const sxt_matrix_query &m = query.matrix_part();
  const double values = static_cast<double>(value_bytes(m.matrix_type)), entries = static_cast<double>(m.nnz);
  const double bytes = entries * (values + 4) + values * static_cast<double>(m.rows + m.cols);
  const sxt_machine &machine = context_.machine();
  return query.expected_runs() * (machine.launch_s + bytes / stream_rate(machine, bytes, machine.units));
}

// The tiers that kernels want in any case: where all runs take far longer than looking at rows and at a sample, models
// without them differ by more than that, and asking them first would only cost time. On the host a sample takes as long
// as several products, and rows alone often tell: there they have to be a small part of what is decided. spent: grows
// by what they are predicted to take.
unsigned Selector::tiers_at_once(const Query &query, const Rules &limits, double &spent) const {
  constexpr unsigned sizes = 1, rows_and_sample = 7;
  if (!limits.forced.empty()) return sizes;
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_.scope(), context_.device_name());
  std::vector<int> missing;
  for (const int tier : {1, 2})
    for (const int id : sources->asked(tier))
      if (!(sees_known() && matrix_->knows_feature(id))) missing.push_back(id);
  const double cost = matrix_->features_cost(missing), at_stake_s = analytic_rel_error * least_seconds(query);
  const bool small = cost <= std::max(asking_s, small_share * at_stake_s);
  if (cost >= at_stake_s || cost > options_.most_features_s || (context_.device().on_host() && !small)) return sizes;
  spent += cost;
  return rows_and_sample;
}

Weighed Selector::weigh(Question question, const Rules &limits) {
  const Query &query = question.query;
  const bool rising = matrix_ && query.about_matrix() && !limits.plan;
  const bool transposes = query.transposes();
  double spent = 0;
  const bool planned = limits.plan && !question.all_tiers;  // the model's word is in the plan
  const unsigned of_a_part = question.tiers | 1u;           // sizes are free
  question.tiers = planned         ? (question.part ? of_a_part : 1u)
                   : !rising       ? all_feature_tiers
                   : question.part ? of_a_part
                                   : tiers_at_once(query, limits, spent);
  Weighed weighed;
  gather(question, limits, weighed);
  for (int tier = 1; rising && tier <= highest_feature_tier; ++tier) {
    if (question.tiers >> tier & 1u) continue;
    const Stake stake = at_stake(weighed.options);
    const std::vector<int> wanted = wanted_features(stake.kernels, transposes, tier);
    if (wanted.empty()) continue;
    double cost = matrix_->features_cost(wanted);
    if (cost >= stake.seconds) continue;
    if (spent + cost > options_.most_features_s) {
      weighed.held_back = true;
      continue;
    }
    const unsigned known = question.tiers;
    question.tiers |= 1u << tier;
    // The next tier at once where so much is at stake that weighing all kernels in between would only cost time.
    const std::vector<int> further =
        tier + 1 < highest_feature_tier ? wanted_features(stake.kernels, transposes, tier + 1) : std::vector<int>{};
    const double both = cost + (further.empty() ? 0 : matrix_->features_cost(further));
    if (!further.empty() && much_more * both < stake.seconds && spent + both <= options_.most_features_s) {
      question.tiers |= 1u << ++tier;
      cost = both;
    }
    spent += cost;
    gather_again(question, limits, question.tiers & ~known, weighed);
    tier = 0;  // the new leader may want features of a lower tier that were not asked for before
  }
  // Spent whatever is chosen.
  for (Option &option : weighed.options) {
    option.features_s = spent;
    option.setup_s += spent;
    option.total_s += spent;
  }
  return weighed;
}

}  // namespace sextant
