// SPDX-License-Identifier: BSD-3-Clause
// Vector operations and reductions by name. The first call of an operation on a type at some power of two builds the
// decision tree over that octave of n, and a kernel for each leaf that is met; later calls only look both up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/choose/tree.hpp"
#include "core/context/context.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace sextant {

// One operation on one type: a decision tree for each power of two that was met, and the kernels built so far.
// Thread-safe.
class PlannedOperation {
 public:
  // choices: the context's, that it is built by.
  PlannedOperation(Context &context, const TreeSubject &subject, std::uint64_t choices)
      : context_(context), subject_(subject), choices_(choices) {}
  ~PlannedOperation();
  PlannedOperation(const PlannedOperation &) = delete;
  PlannedOperation &operator=(const PlannedOperation &) = delete;

  // The kernel for n >= 1, built if need be. Throws SXT_E_NO_KERNEL with every candidate's reason.
  Runner &at(std::int64_t n);
  // The context's choices changed while a part of it was built, which may follow either.
  bool mixed() const noexcept { return mixed_.load(std::memory_order_acquire); }

 private:
  struct Octave {
    explicit Octave(DecisionTree made) : tree(std::move(made)), runners(tree.leaves().size()) {}
    ~Octave();
    DecisionTree tree;
    std::vector<std::atomic<Runner *>> runners;  // one a leaf
  };
  Octave &plan(std::size_t k);
  Runner &build(Octave &octave, std::size_t leaf);
  void note_choices() noexcept;

  Context &context_;
  TreeSubject subject_;
  const std::uint64_t choices_;
  std::atomic<bool> mixed_{false};
  std::array<std::atomic<Octave *>, 64> octaves_{};
  std::mutex mutex_;  // one thread builds
};

// Thread-safe. Pointers are device space unless said otherwise; scalars are host pointers of the value type.
class Operations : public Context::Kept {
 public:
  // The context's own, which live as long as it does. Throws only where memory is short, at the first call.
  // [any-thread]
  static Operations &of(Context &context);
  // The same by the library's own kernels alone, for what is judged, told or handed back: no plugin of others, force or
  // plan counts. [any-thread]
  static Operations &own_of(Context &context);
  explicit Operations(Context &context, bool own_only = false) : context_(context), own_only_(own_only) {}

  struct VectorCall {
    std::int32_t operation;
    sxt_value_type type;
    std::int64_t n;
    const void *alpha = nullptr, *beta = nullptr;
    const void *x = nullptr;
    void *y = nullptr, *z = nullptr;
    const void *index = nullptr;
    sxt_index_type index_type = 0;
  };
  void vector(const VectorCall &call);

  // Result to host memory, in the operation's result type.
  void reduce(std::int32_t operation, sxt_value_type type, std::int64_t n, const void *x, const void *y, void *result);
  // A real result (nrm2, asum, amax) as double, whatever the type.
  double reduce_real(std::int32_t operation, sxt_value_type type, std::int64_t n, const void *x);
  // count results of the value type to host memory.
  void multidot(sxt_value_type type, std::int64_t n, std::int32_t count, const void *const *u, const void *const *v,
                void *results);

  // An operation as it is chosen now. Those of earlier choices (before a force, a plan) stay as long as the context:
  // calls may be in them, and counting them costs more than such a call. The same choices have the same operations
  // again.
  PlannedOperation &planned(const TreeSubject &subject);

 private:
  Context &context_;
  const bool own_only_;
  std::unique_ptr<Operations> own_;  // of the context's own, whose kernels are the library's
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<PlannedOperation>> plans_;  // choices, subject
  std::vector<std::unique_ptr<PlannedOperation>> mixed_;  // those that others stand for: calls may be in them
};

}  // namespace sextant
