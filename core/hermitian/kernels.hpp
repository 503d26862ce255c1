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

#include "core/dispatch/prepared.hpp"
#include "core/explain/explain.hpp"
#include "core/hermitian/settings.hpp"

namespace sextant {

// Thread-safe. Phases are SXT_HERMITIAN_FACTOR, _SOLVE and _FACTOR_SOLVE; definiteness is one of the two that kernels
// know.
class HermitianKernels {
 public:
  // Throws SXT_E_NO_KERNEL with every candidate's reason when a phase that the description needs has none.
  HermitianKernels(Context &context, const HermitianSettings &settings);

  // Whether one kernel does both phases, and is predicted to do so at less than the cost of two.
  bool fused() const noexcept;
  Prepared &phase(std::int32_t phase, std::int32_t definiteness);
  Prepared &steps();
  // Those of the wanted shortcuts that there are kernels for and that are predicted to pay: SXT_SHORTCUT_TOEPLITZ and
  // _MIXED. Their kernels; those of low() work in half the precision.
  std::int32_t shortcuts() const noexcept { return shortcuts_; }
  Prepared &toeplitz();
  Prepared &low(std::int32_t phase, std::int32_t definiteness);
  sxt_value_type low_type() const noexcept { return settings_.type == SXT_C128 ? SXT_C64 : SXT_F32; }

  // NULL when there is none.
  ChoicePtr choice(std::int32_t phase, std::int32_t definiteness) const;
  ChoicePtr toeplitz_choice() const;
  ChoicePtr mixed_choice() const;
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
  bool choose_mixed(double whole_s);
  ChoicePtr choose_steps() const;
  std::int32_t main_definiteness() const noexcept;
  std::unique_ptr<Prepared> build(ChoicePtr &choice);
  Prepared &built(Held &held);

  Context &context_;
  const HermitianSettings &settings_;
  std::map<Key, Held> held_;
  Held steps_, toeplitz_;
  std::int32_t shortcuts_ = 0;
  mutable std::mutex mutex_;  // of what is built, and of a choice that was replaced
};

}  // namespace sextant
