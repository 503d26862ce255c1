// SPDX-License-Identifier: BSD-3-Clause
// Vector operations and reductions by name: chooses a kernel once for each (operation, type, power of two of n) and
// keeps it, so that a repeated call only looks it up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <tuple>

#include "core/dispatch/prepared.hpp"
#include "sextant/kinds/multidot.h"
#include "sextant/kinds/reduction.h"
#include "sextant/kinds/vector.h"

namespace sextant {

class Context;

// Thread-safe. Pointers are device space unless said otherwise; scalars are host pointers of the value type.
class Operations {
 public:
  explicit Operations(Context &context) : context_(context) {}

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

  void forget();  // choices made so far, after a force

 private:
  using Key = std::tuple<const char *, std::int32_t, sxt_value_type, int>;
  std::shared_ptr<Runner> runner(const Key &key, const sxt_query *query);

  Context &context_;
  std::shared_mutex mutex_;
  std::map<Key, std::shared_ptr<Runner>> runners_;
};

}  // namespace sextant
