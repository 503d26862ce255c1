// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/kernels.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"

namespace sextant {

HermitianKernels::HermitianKernels(Context &context, const HermitianSettings &settings)
    : context_(context), settings_(settings) {
  const std::int32_t first = main_definiteness();
  const auto hold = [&](std::int32_t phase, std::int32_t definiteness) {
    held_[{phase, definiteness, settings.type}].choice = choose(phase, definiteness);
  };
  hold(SXT_HERMITIAN_FACTOR, first);
  if (settings.n_rhs > 0) {
    hold(SXT_HERMITIAN_SOLVE, first);
    try {
      hold(SXT_HERMITIAN_FACTOR_SOLVE, first);
    } catch (const Error &none) {  // two kernels then do it
      if (none.status() != SXT_E_NO_KERNEL && none.status() != SXT_E_NOT_SUPPORTED) throw;
    }
  }
  if (settings.definiteness == SXT_TRY_DEFINITE)
    for (const std::int32_t phase : {SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_SOLVE})
      if (phase == SXT_HERMITIAN_FACTOR || settings.n_rhs > 0) hold(phase, SXT_INDEFINITE);
  if (settings.n_rhs > 0 && settings.batch > 0 && settings.shortcuts != 0) choose_shortcuts();
}

std::int32_t HermitianKernels::main_definiteness() const noexcept {
  return settings_.definiteness == SXT_INDEFINITE ? SXT_INDEFINITE : SXT_DEFINITE;
}

sxt_hermitian_query HermitianKernels::query(std::int32_t phase, std::int32_t definiteness, sxt_value_type type) const {
  sxt_hermitian_query q{};
  q.q = {{sizeof q, SXT_KIND_HERMITIAN}, settings_.expected_runs, 0, type};
  q.batch = settings_.batch;
  q.n_max = settings_.n_max;
  q.n_min = settings_.n_min;
  q.n_rhs = phase == SXT_HERMITIAN_SOLVE ? std::max<std::int64_t>(1, settings_.n_rhs) : settings_.n_rhs;
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
  const sxt_hermitian_query asked = query(phase, definiteness, settings_.type);
  SelectorOptions options;
  // A kernel asked for by name is meant for the first attempt; what it leaves may need another.
  const bool rest = settings_.definiteness == SXT_TRY_DEFINITE && definiteness == SXT_INDEFINITE;
  if (!settings_.kernel.empty() && !rest) options.forced[SXT_KIND_HERMITIAN] = settings_.kernel;
  if (!settings_.kernel.empty()) options.asked = fnv1a(settings_.kernel.data(), settings_.kernel.size());
  const char *roles[] = {"", "factor", "solve", "factor-solve"};
  Selector selector(context_, nullptr, std::move(options));
  return selector.select({Query(&asked.q), text("hermitian/", roles[phase], rest ? "/pivoting" : "")});
}

// A kernel whose library is missing says so when it is built: the next best one takes its place, unless it was forced.
std::unique_ptr<Prepared> HermitianKernels::build(ChoicePtr &choice) {
  try {
    return std::make_unique<Prepared>(context_, choice, nullptr, nullptr);
  } catch (const Error &problem) {
    const auto declines = [](const Error &error) {
      return error.status() == SXT_E_NOT_SUPPORTED || dynamic_cast<const Declined *>(&error);
    };
    if (!declines(problem) || choice->forced) throw;
    context_.log()(SXT_LOG_INFO, text(problem.what(), "; the next kernel is taken"));
    for (const ChoicePtr &other : Selector(context_, nullptr).every({choice->query, choice->role})) {
      if (other->kernel == choice->kernel) continue;
      try {
        auto prepared = std::make_unique<Prepared>(context_, other, nullptr, nullptr);
        choice = other;
        return prepared;
      } catch (const Error &another) {
        if (!declines(another)) throw;
      }
    }
    throw;
  }
}

// One kernel for both reads the factor once less; apart must be predicted clearly faster, for two predictions err
// twice.
constexpr double clearly_faster = 0.9;

bool HermitianKernels::fused() const noexcept {
  const std::int32_t first = main_definiteness();
  const ChoicePtr both = choice(SXT_HERMITIAN_FACTOR_SOLVE, first);
  if (!both) return false;
  const ChoicePtr factor = choice(SXT_HERMITIAN_FACTOR, first), solve = choice(SXT_HERMITIAN_SOLVE, first);
  if (!factor || !solve) return true;
  if (settings_.equilibrate)
    return false;  // b is scaled once its system is factored: where that fails it stays as it was
  return both->forced || !(factor->run_s + solve->run_s < clearly_faster * both->run_s);
}

double HermitianKernels::predicted_seconds(std::int32_t phase, bool by_shortcut) const {
  if (by_shortcut && phase == SXT_HERMITIAN_FACTOR_SOLVE && copy_shortcut_.bit) return copy_shortcut_.seconds;
  const std::int32_t first = main_definiteness();
  const auto seconds = [&](std::int32_t of) {
    const ChoicePtr found = choice(of, first);
    return found ? found->run_s : 0;
  };
  if (phase != SXT_HERMITIAN_FACTOR_SOLVE || fused()) return seconds(phase);
  return seconds(SXT_HERMITIAN_FACTOR) + seconds(SXT_HERMITIAN_SOLVE);
}

void HermitianKernels::ready(std::int32_t phase) {
  const std::int32_t first = main_definiteness();
  if (phase != SXT_HERMITIAN_FACTOR_SOLVE || fused()) return static_cast<void>(this->phase(phase, first));
  this->phase(SXT_HERMITIAN_FACTOR, first);
  this->phase(SXT_HERMITIAN_SOLVE, first);
}

ChoicePtr HermitianKernels::choice(std::int32_t phase, std::int32_t definiteness) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find({phase, definiteness, settings_.type});
  return found == held_.end() ? nullptr : found->second.choice;
}

std::uint64_t HermitianKernels::scratch_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  const auto add = [&](const Held &held) { sum += held.prepared ? held.prepared->bound().scratch_bytes : 0; };
  for (const auto &[key, held] : held_) add(held);
  add(steps_), add(toeplitz_);
  return sum;
}

// Under the lock.
Prepared &HermitianKernels::built(Held &held) {
  if (!held.prepared) held.prepared = build(held.choice);
  return *held.prepared;
}

Prepared &HermitianKernels::phase(std::int32_t phase, std::int32_t definiteness) {
  const std::lock_guard lock(mutex_);
  Held &held = held_[{phase, definiteness, settings_.type}];
  // Condition numbers of sets without right-hand sides take solves, too.
  if (!held.choice) held.choice = choose(phase, definiteness);
  return built(held);
}

ChoicePtr HermitianKernels::choose_steps() const {
  sxt_hermitian_step_query q{};
  q.q = {{sizeof q, SXT_KIND_HERMITIAN_STEP}, settings_.expected_runs, 0, settings_.type};
  q.batch = settings_.batch;
  q.n_max = settings_.n_max;
  q.n_rhs = settings_.n_rhs;
  q.sum_n1 = settings_.sum_n1;
  q.sum_n2 = settings_.sum_n2;
  return Selector(context_, nullptr).select({Query(&q.q), "hermitian/steps"});
}

Prepared &HermitianKernels::steps() {
  const std::lock_guard lock(mutex_);
  if (!steps_.choice) steps_.choice = choose_steps();
  return built(steps_);
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
  for (const Held *held : {&toeplitz_, &steps_})
    if (held->choice) out.choices.push_back(held->choice);
  return out;
}

}  // namespace sextant
