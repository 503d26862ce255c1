// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/kernels.hpp"

#include <cstdint>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/dispatch/select.hpp"

namespace sextant {

HermitianKernels::HermitianKernels(Context &context, const HermitianSettings &settings)
    : context_(context), settings_(settings) {
  const std::int32_t first = settings.definiteness == SXT_INDEFINITE ? SXT_INDEFINITE : SXT_DEFINITE;
  held_[{SXT_HERMITIAN_FACTOR, first}].choice = choose(SXT_HERMITIAN_FACTOR, first);
  if (settings.n_rhs > 0) {
    held_[{SXT_HERMITIAN_SOLVE, first}].choice = choose(SXT_HERMITIAN_SOLVE, first);
    try {
      held_[{SXT_HERMITIAN_FACTOR_SOLVE, first}].choice = choose(SXT_HERMITIAN_FACTOR_SOLVE, first);
    } catch (const Error &none) {  // two kernels then do it
      if (none.status() != SXT_E_NO_KERNEL && none.status() != SXT_E_NOT_SUPPORTED) throw;
    }
  }
  if (settings.definiteness != SXT_TRY_DEFINITE) return;
  for (const std::int32_t phase : {SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_SOLVE})
    if (phase == SXT_HERMITIAN_FACTOR || settings.n_rhs > 0)
      held_[{phase, SXT_INDEFINITE}].choice = choose(phase, SXT_INDEFINITE);
}

sxt_hermitian_query HermitianKernels::query(std::int32_t phase, std::int32_t definiteness) const {
  sxt_hermitian_query q{};
  q.q = {{sizeof q, SXT_KIND_HERMITIAN}, settings_.expected_runs, 0, settings_.type};
  q.batch = settings_.batch;
  q.n_max = settings_.n_max;
  q.n_min = settings_.n_min;
  q.n_rhs = settings_.n_rhs;
  q.sum_n1 = settings_.sum_n1;
  q.sum_n2 = settings_.sum_n2;
  q.sum_n3 = settings_.sum_n3;
  q.phase = phase;
  q.definiteness = definiteness;
  q.pointer_array = settings_.pointer_array;
  q.orders_vary = !settings_.orders.empty();
  q.leading_vary = settings_.leading_vary;
  q.triangle = settings_.triangle;
  q.may_spoil = settings_.may_spoil;
  return q;
}

ChoicePtr HermitianKernels::choose(std::int32_t phase, std::int32_t definiteness) {
  const sxt_hermitian_query asked = query(phase, definiteness);
  Selector selector(context_, nullptr);
  // A kernel asked for by name is meant for the first attempt; what it leaves may need another.
  const bool rest = settings_.definiteness == SXT_TRY_DEFINITE && definiteness == SXT_INDEFINITE;
  if (!settings_.kernel.empty() && !rest) selector.force(SXT_KIND_HERMITIAN, settings_.kernel);
  const char *roles[] = {"", "factor", "solve", "factor-solve"};
  return selector.select(Query(&asked.q), text("hermitian/", roles[phase], rest ? "/pivoting" : ""));
}

// A kernel whose library is missing says so when it is built: the next best one takes its place, unless it was forced.
std::unique_ptr<Prepared> HermitianKernels::build(ChoicePtr &choice) {
  try {
    return std::make_unique<Prepared>(context_, choice, nullptr, nullptr);
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_NOT_SUPPORTED || choice->forced) throw;
    context_.log()(SXT_LOG_INFO, text(problem.what(), "; the next kernel is taken"));
    for (const ChoicePtr &other : Selector(context_, nullptr).every(choice->query, choice->role)) {
      if (other->kernel == choice->kernel) continue;
      try {
        auto prepared = std::make_unique<Prepared>(context_, other, nullptr, nullptr);
        choice = other;
        return prepared;
      } catch (const Error &another) {
        if (another.status() != SXT_E_NOT_SUPPORTED) throw;
      }
    }
    throw;
  }
}

bool HermitianKernels::fused() const noexcept {
  const std::int32_t first = settings_.definiteness == SXT_INDEFINITE ? SXT_INDEFINITE : SXT_DEFINITE;
  const ChoicePtr both = choice(SXT_HERMITIAN_FACTOR_SOLVE, first);
  if (!both) return false;
  const ChoicePtr factor = choice(SXT_HERMITIAN_FACTOR, first), solve = choice(SXT_HERMITIAN_SOLVE, first);
  return both->forced || !(factor->run_s + solve->run_s < both->run_s);
}

ChoicePtr HermitianKernels::choice(std::int32_t phase, std::int32_t definiteness) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find({phase, definiteness});
  return found == held_.end() ? nullptr : found->second.choice;
}

Prepared &HermitianKernels::phase(std::int32_t phase, std::int32_t definiteness) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find({phase, definiteness});
  require(found != held_.end() && found->second.choice, SXT_E_STATE,
          "n_rhs is 0 in the description: nothing is solved");
  if (!found->second.prepared) found->second.prepared = build(found->second.choice);
  return *found->second.prepared;
}

Prepared &HermitianKernels::steps() {
  const std::lock_guard lock(mutex_);
  if (steps_.prepared) return *steps_.prepared;
  sxt_hermitian_step_query q{};
  q.q = {{sizeof q, SXT_KIND_HERMITIAN_STEP}, settings_.expected_runs, 0, settings_.type};
  q.batch = settings_.batch;
  q.n_max = settings_.n_max;
  q.n_rhs = settings_.n_rhs;
  q.sum_n1 = settings_.sum_n1;
  q.sum_n2 = settings_.sum_n2;
  steps_.choice = Selector(context_, nullptr).select(Query(&q.q), "hermitian/steps");
  steps_.prepared = build(steps_.choice);
  return *steps_.prepared;
}

Explanation HermitianKernels::explain() const {
  const std::lock_guard lock(mutex_);
  Explanation out;
  out.title = "Hermitian systems";
  const char *kinds[] = {"", "positive definite", "indefinite", "tried as positive definite, then as indefinite"};
  out.facts = {
      {"device", context_.describe()},
      {"systems", text(settings_.batch, " of ", value_name(settings_.type), ", order ",
                       settings_.orders.empty() ? text(settings_.n) : text(settings_.n_min, " to ", settings_.n_max),
                       ", ", settings_.n_rhs, " right-hand sides, ", kinds[settings_.definiteness])}};
  for (const auto &[key, held] : held_)
    if (held.choice) out.choices.push_back(held.choice);
  if (steps_.choice) out.choices.push_back(steps_.choice);
  return out;
}

}  // namespace sextant
