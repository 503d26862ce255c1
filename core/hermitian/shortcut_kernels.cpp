// SPDX-License-Identifier: BSD-3-Clause
// Which shortcuts are taken, and their kernels.
#include <cstdint>
#include <utility>

#include "core/base/types.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/hermitian/kernels.hpp"

namespace sextant {
namespace {

// A shortcut is tried where all of it, all systems going by it, is predicted to take two thirds of the whole way at
// most: models err, and the steps around it cost something. Of butterflies the steps are counted, and in double
// precision hardly a system is left to be pivoted.
constexpr double worth_it = 1.5, butterfly_worth_it = 1.15;

bool is_wide(sxt_value_type type) { return type == SXT_F64 || type == SXT_C128; }

// NULL where no kernel does it.
ChoicePtr choice_or_none(Context &context, const sxt_hermitian_query &asked, const char *role) {
  try {
    return Selector(context, nullptr).select({Query(&asked.q), role});
  } catch (const Error &none) {
    if (none.status() != SXT_E_NO_KERNEL && none.status() != SXT_E_NOT_SUPPORTED) throw;
    return nullptr;
  }
}

}  // namespace

void HermitianKernels::choose_shortcuts() {
  const double whole_s = predicted_seconds(SXT_HERMITIAN_FACTOR_SOLVE, false);
  steps_.choice = choose_steps();
  if ((settings_.shortcuts & SXT_SHORTCUT_TOEPLITZ) && choose_toeplitz(whole_s)) shortcuts_ |= SXT_SHORTCUT_TOEPLITZ;
  choose_copy(whole_s);
  shortcuts_ |= copy_shortcut_.bit;
}

bool HermitianKernels::choose_toeplitz(double whole_s) {
  sxt_hermitian_query asked = query(SXT_HERMITIAN_FACTOR_SOLVE, settings_.definiteness, settings_.type);
  asked.q.h.kind = SXT_KIND_HERMITIAN_TOEPLITZ;
  const ChoicePtr found = choice_or_none(context_, asked, "hermitian/toeplitz");
  if (!found) return false;
  if (!(worth_it * found->run_s < whole_s) && !(settings_.shortcuts & SXT_SHORTCUT_ALWAYS)) return false;
  toeplitz_.choice = found;
  return true;
}

// Of those that factor a copy one at most: the one that is predicted faster.
void HermitianKernels::choose_copy(double whole_s) {
  using Choose = bool (HermitianKernels::*)(CopyShortcut &, std::map<Key, Held> &) const;
  std::map<Key, Held> best;
  const double butterfly_margin = is_wide(settings_.type) ? butterfly_worth_it : worth_it;
  for (const auto &[choose, margin] : {std::pair<Choose, double>(&HermitianKernels::choose_mixed, worth_it),
                                       {&HermitianKernels::choose_butterfly, butterfly_margin}}) {
    CopyShortcut shortcut;
    std::map<Key, Held> found;
    if (!(this->*choose)(shortcut, found)) continue;
    const bool worth = margin * shortcut.seconds < whole_s || (settings_.shortcuts & SXT_SHORTCUT_ALWAYS);
    if (!worth || (copy_shortcut_.bit && copy_shortcut_.seconds <= shortcut.seconds)) continue;
    copy_shortcut_ = shortcut;
    best = std::move(found);
  }
  held_.merge(best);
}

// A kernel for the copy, which lies in memory of our own; adds `times` of its seconds.
bool HermitianKernels::choose_on_copy(CopyShortcut &shortcut, std::int32_t phase, const char *role, double times,
                                      std::map<Key, Held> &found) const {
  sxt_hermitian_query asked = query(phase, shortcut.definiteness, shortcut.type);
  asked.pointer_array = asked.leading_vary = 0;
  asked.may_spoil = 1;
  if (shortcut.bit == SXT_SHORTCUT_BUTTERFLY) asked.triangle = SXT_LOWER;
  const ChoicePtr choice = choice_or_none(context_, asked, role);
  if (!choice) return false;
  found[{phase, shortcut.definiteness, shortcut.type}].choice = choice;
  shortcut.seconds += times * choice->run_s;
  return true;
}

// Factored in half the precision, solved three times with it, and as many residuals taken, which about 1e5 times the
// least condition number asks for.
bool HermitianKernels::choose_mixed(CopyShortcut &mixed, std::map<Key, Held> &found) const {
  constexpr double corrections = 3;
  if (!is_wide(settings_.type) || !(settings_.shortcuts & SXT_SHORTCUT_MIXED)) return false;
  mixed = {SXT_SHORTCUT_MIXED, main_definiteness(), settings_.type == SXT_C128 ? SXT_C64 : SXT_F32,
           corrections * steps_.choice->run_s};
  return choose_on_copy(mixed, SXT_HERMITIAN_FACTOR, "hermitian/mixed/factor", 1, found) &&
         choose_on_copy(mixed, SXT_HERMITIAN_SOLVE, "hermitian/mixed/solve", corrections, found);
}

// Mixed, factored and solved without interchanges, corrected once. The mixture and each of two residuals take half as
// long as a step is predicted to, which is made for those that copy a matrix (one H200, orders 200 to 700).
bool HermitianKernels::choose_butterfly(CopyShortcut &butterfly, std::map<Key, Held> &found) const {
  constexpr double steps = 1.5;
  if (settings_.definiteness != SXT_INDEFINITE || !(settings_.shortcuts & SXT_SHORTCUT_BUTTERFLY)) return false;
  butterfly = {SXT_SHORTCUT_BUTTERFLY, SXT_HERMITIAN_SIGNED, settings_.type, steps * steps_.choice->run_s};
  return choose_on_copy(butterfly, SXT_HERMITIAN_FACTOR_SOLVE, "hermitian/butterfly/factor-solve", 1, found) &&
         choose_on_copy(butterfly, SXT_HERMITIAN_SOLVE, "hermitian/butterfly/solve", 1, found);
}

ChoicePtr HermitianKernels::toeplitz_choice() const {
  const std::lock_guard lock(mutex_);
  return toeplitz_.choice;
}

ChoicePtr HermitianKernels::mixed_choice() const {
  const std::lock_guard lock(mutex_);
  if (copy_shortcut_.bit != SXT_SHORTCUT_MIXED) return nullptr;
  return held_.at({SXT_HERMITIAN_FACTOR, copy_shortcut_.definiteness, copy_shortcut_.type}).choice;
}

ChoicePtr HermitianKernels::butterfly_choice() const {
  const std::lock_guard lock(mutex_);
  if (copy_shortcut_.bit != SXT_SHORTCUT_BUTTERFLY) return nullptr;
  return held_.at({SXT_HERMITIAN_FACTOR_SOLVE, copy_shortcut_.definiteness, copy_shortcut_.type}).choice;
}

Prepared &HermitianKernels::on_copy(std::int32_t phase) {
  const std::lock_guard lock(mutex_);
  return built(held_.at({phase, copy_shortcut_.definiteness, copy_shortcut_.type}));
}

Prepared &HermitianKernels::toeplitz() {
  const std::lock_guard lock(mutex_);
  return built(toeplitz_);
}

}  // namespace sextant
