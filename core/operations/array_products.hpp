// SPDX-License-Identifier: BSD-3-Clause
// Products on plain arrays: on the matrix's device, or on the CPU where the arrays lie in host memory and the way to
// the device and back is predicted to take longer than the product.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/operations/products.hpp"

namespace sextant {

// Thread-safe.
class ArrayProducts {
 public:
  explicit ArrayProducts(std::shared_ptr<Matrix> matrix) : matrix_(std::move(matrix)) {}

  // Who multiplies these arrays: `there`, which works on the matrix's device, or products of its own. The reference
  // holds as long as this object.
  Products &serving(Products &there, sxt_op op, const void *x, const void *y, const Products::Columns &columns);

 private:
  bool sooner_here(Products &there, Products &here, sxt_op op, std::int64_t columns);

  std::shared_ptr<Matrix> matrix_;
  std::mutex mutex_;
  std::unique_ptr<Products> here_;
  std::uint64_t epoch_ = 0;
  std::map<std::pair<sxt_op, std::int64_t>, bool> sooner_;
};

}  // namespace sextant
