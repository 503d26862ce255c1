// SPDX-License-Identifier: BSD-3-Clause
// Answers that were given before, by what a look at the row lengths and at some of the rows tells of a matrix: they
// answer again without asking any model. Kept in memory with the profile that they were predicted with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/plan/plan.hpp"

namespace sextant {

class Context;
class Matrix;

// Thread-safe.
class PastChoices {
 public:
  // Those of the context's profile, shared by all contexts of the process that predict with it.
  static std::shared_ptr<PastChoices> of(const Context &context);

  std::optional<PlanEntry> find(std::uint64_t likeness) const;
  void keep(std::uint64_t likeness, const PlanEntry &entry);
  void forget(std::uint64_t likeness);

 private:
  static constexpr std::size_t most = 4096;  // then all go: a program that meets so many matrices repeats few
  mutable std::mutex mutex_;
  std::map<std::uint64_t, PlanEntry> answers_;
};

// One number for questions about products that deserve the same answer: equal questions, but for sizes and runs within
// a fraction of an octave, about matrices whose rows look alike. Takes a pass over the row lengths and a look at some
// dozen rows. 0: the question or the matrix (without arrays on the host) is not of that kind.
std::uint64_t likeness_of(const Context &context, const Query &query, const Matrix &matrix);

}  // namespace sextant
