// SPDX-License-Identifier: BSD-3-Clause
// The kernels that work on sets of one description: chosen when it is made, built when first needed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/explain/explain.hpp"
#include "core/hermitian/settings.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

// A shortcut that factors a copy of the matrices: in half the precision, or mixed by butterflies.
struct CopyShortcut {
  std::int32_t bit = 0;  // SXT_SHORTCUT_MIXED or _BUTTERFLY; 0: none
  std::int32_t definiteness = 0;
  sxt_value_type type = SXT_F64;
  double seconds = 0;  // predicted, with its steps
};

// Thread-safe. Phases are SXT_HERMITIAN_FACTOR, _SOLVE and _FACTOR_SOLVE; definiteness is one of the two that kernels
// know from callers.
class HermitianKernels {
 public:
  // Throws SXT_E_NO_KERNEL with every candidate's reason when a phase that the description needs has none.
  HermitianKernels(Context &context, const HermitianSettings &settings);

  // Whether one kernel does both phases, and is predicted to do so at less than the cost of two.
  bool fused() const noexcept;
  // Of a call of this phase, as if it took a whole factorisation or, `by_shortcut`, the one that works on a copy, if
  // there is one. The arrays lie where the kernels work.
  double predicted_seconds(std::int32_t phase, bool by_shortcut) const;
  // Builds what a call of this phase begins with. A kernel whose library is missing gives way to the next, and
  // predictions then follow.
  void ready(std::int32_t phase);
  Prepared &phase(std::int32_t phase, std::int32_t definiteness);
  Prepared &steps();
  // Those of the wanted shortcuts that there are kernels for and that are predicted to pay: SXT_SHORTCUT_TOEPLITZ, and
  // _MIXED or _BUTTERFLY. Their kernels; those of on_copy() are the ones that work on the copy.
  std::int32_t shortcuts() const noexcept { return shortcuts_; }
  Prepared &toeplitz();
  const CopyShortcut &copy_shortcut() const noexcept { return copy_shortcut_; }
  Prepared &on_copy(std::int32_t phase);

  // NULL when there is none.
  ChoicePtr choice(std::int32_t phase, std::int32_t definiteness) const;
  ChoicePtr main_choice() const { return choice(SXT_HERMITIAN_FACTOR, main_definiteness()); }  // of factoring
  ChoicePtr toeplitz_choice() const;
  ChoicePtr mixed_choice() const;
  ChoicePtr butterfly_choice() const;
  // What the kernels built so far ask for beside a set, each for one set in flight.
  std::uint64_t scratch_bytes() const;
  Explanation explain() const;

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, sxt_value_type>;  // phase, definiteness, type
  struct Held {
    ChoicePtr choice;
    std::unique_ptr<Prepared> prepared;
  };
  sxt_hermitian_query query(std::int32_t phase, std::int32_t definiteness, sxt_value_type type) const;
  ChoicePtr choose(std::int32_t phase, std::int32_t definiteness);
  void choose_shortcuts();
  bool choose_toeplitz(double whole_s);
  void choose_copy(double whole_s);
  bool choose_on_copy(CopyShortcut &shortcut, std::int32_t phase, const char *role, double times,
                      std::map<Key, Held> &found) const;
  bool choose_mixed(CopyShortcut &mixed, std::map<Key, Held> &found) const;
  bool choose_butterfly(CopyShortcut &butterfly, std::map<Key, Held> &found) const;
  ChoicePtr choose_steps() const;
  std::int32_t main_definiteness() const noexcept;
  std::unique_ptr<Prepared> build(ChoicePtr &choice);
  Prepared &built(Held &held);

  Context &context_;
  const HermitianSettings &settings_;
  std::map<Key, Held> held_;
  Held steps_, toeplitz_;
  std::int32_t shortcuts_ = 0;
  CopyShortcut copy_shortcut_;
  mutable std::mutex mutex_;  // of what is built, and of a choice that was replaced
};

}  // namespace sextant
