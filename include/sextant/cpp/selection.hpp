// SPDX-License-Identifier: BSD-3-Clause
// Any kernel of any kind, and the decision trees that vector operations look up. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_SELECTION_HPP
#define SEXTANT_CPP_SELECTION_HPP

#include <span>
#include <vector>

#include "sextant/cpp/matrix.hpp"

namespace sextant {
inline namespace cpp {

/// Predicted seconds: setup once, storage included, and one run.
struct Cost {
  double setup_seconds = 0;  ///< Once.
  double run_seconds = 0;    ///< Of each run.
};
/// Measured seconds of one run.
struct RunTime {
  double seconds = 0;  ///< The median.
  double noise = 0;    ///< Quartile distance over median.
};

/// A kernel that was predicted cheapest for a query of its kind, and built. Headers below sextant/plugin/kinds/ have
/// the query and the args of each kind.
class Selection : public detail::Object<sxt_selection, sxt_selection_destroy> {
 public:
  /// For a query that is about no matrix. [any-thread]
  Selection(const Context &context, const sxt_query &query) : Object(log_of(context)) {
    make([&](sxt_selection **made) { return sxt_kernel_select(context.get(), &query, nullptr, made); });
  }
  /// For a query about a matrix. [any-thread]
  Selection(const Context &context, const sxt_query &query, const Matrix &matrix) : Object(log_of(context)) {
    make([&](sxt_selection **made) {
      return sxt_kernel_select(context.get(), &query, detail::needed("matrix", matrix), made);
    });
  }

  /// Runs it on args of its kind. [any-thread]
  void run(sxt_head &args) const { check(sxt_kernel_run(get(), &args)); }
  /// The chosen kernel's name; lives as long as the process. [any-thread]
  std::string_view kernel() const noexcept { return sxt_selection_kernel(get()); }
  /// What it is predicted to take. [any-thread]
  Cost cost() const {
    Cost cost;
    check(sxt_selection_cost(get(), &cost.setup_seconds, &cost.run_seconds));
    return cost;
  }
  /// The candidates, their predicted costs, and why others were refused. form: SXT_TEXT, SXT_JSON. [any-thread]
  std::string explain(std::int32_t form = SXT_TEXT) const {
    return detail::checked_text([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_selection_explain(get(), form, buffer, capacity, length);
    });
  }
  /// Measures one run for about budget_seconds; several args of its kind take turns. [any-thread]
  RunTime time(std::span<sxt_head *const> args, double budget_seconds) const {
    RunTime time;
    check(sxt_selection_time(get(), args.data(), static_cast<std::int64_t>(args.size()), budget_seconds, &time.seconds,
                             &time.noise));
    return time;
  }
};

/// The kernel predicted cheapest for each range of vector lengths, as sxt_decision_tree. form: SXT_TEXT, SXT_JSON,
/// SXT_SVG, SXT_TOML. [any-thread]
inline std::string decision_tree(const Context &context, const std::string &operation, sxt_value_type type,
                                 std::int32_t form = SXT_TEXT) {
  return detail::text_of([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
    context.check(sxt_decision_tree(context.get(), operation.c_str(), type, form, buffer, capacity, length));
  });
}
/// The operations that decision_tree() takes. [any-thread]
inline std::vector<std::string_view> decision_tree_operations() {
  std::vector<std::string_view> names;
  while (const char *name = sxt_decision_tree_operation(static_cast<std::int64_t>(names.size())))
    names.emplace_back(name);
  return names;
}

}  // namespace cpp
}  // namespace sextant
#endif
