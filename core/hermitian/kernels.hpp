// SPDX-License-Identifier: BSD-3-Clause
// The kernels that work on sets of one description: chosen when it is made, built when first needed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
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
  // NULL when there is none.
  ChoicePtr choice(std::int32_t phase, std::int32_t definiteness) const;
  Explanation explain() const;

 private:
  using Key = std::pair<std::int32_t, std::int32_t>;
  struct Held {
    ChoicePtr choice;
    std::unique_ptr<Prepared> prepared;
  };
  sxt_hermitian_query query(std::int32_t phase, std::int32_t definiteness) const;
  ChoicePtr choose(std::int32_t phase, std::int32_t definiteness);
  std::unique_ptr<Prepared> build(ChoicePtr &choice);

  Context &context_;
  const HermitianSettings &settings_;
  std::map<Key, Held> held_;
  Held steps_;
  mutable std::mutex mutex_;  // of what is built, and of a choice that was replaced
};

}  // namespace sextant
