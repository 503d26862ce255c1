// SPDX-License-Identifier: BSD-3-Clause
// Which order a factorisation begins with: orders that cost little are made and counted exactly; dissection is tried
// where what it could save on the factorisations is more than what it costs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/cholesky/partition.hpp"

namespace sextant::cholesky {

// What an ordering gave.
struct Order {
  Array<std::int32_t> perm;
  double seconds = 0;  // it took
};

struct OrderQuestion {
  double expected_factors = 1;
  std::int64_t n_schur = 0;
  std::vector<SupernodeOptions> options;  // that are compared; empty: the defaults
  int threads = 1;
  // Predicted seconds of one factorisation (with its share of solves).
  std::function<double(const sxt_cholesky_query &)> factor_seconds;
  // Runs the ordering of a method ("grid", "amd", "dissection", "natural"). Throws SXT_E_NOT_SUPPORTED where it does
  // not apply; such a method is left out.
  std::function<Order(const std::string &method)> order;
  // Predicted seconds of that; negative: no kernel offers it.
  std::function<double(const std::string &method)> order_seconds;
};

struct TriedOrder {
  std::string method, why_not;  // why_not: "" where it was made
  double order_seconds = 0, factor_seconds = 0;
  sxt_cholesky_query query{};  // of the best options
  SupernodeOptions options;
};

struct ChosenOrder {
  std::string method;
  Elimination elimination;
  Partition partition;
  std::vector<TriedOrder> tried;  // in the order of trial, for explanations
};

// Throws SXT_E_NO_KERNEL where no method gives an order.
ChosenOrder choose_order(const Graph &graph, const OrderQuestion &question);

}  // namespace sextant::cholesky
