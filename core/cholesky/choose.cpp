// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/choose.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace sextant::cholesky {

namespace {

// Another order is taken to save at most this part of the flops of the one in hand: an assumption, not measured.
constexpr double most_saved = 0.75;

class Chooser {
 public:
  Chooser(const Graph &graph, const OrderQuestion &question) : graph_(graph), question_(question) {
    if (question.options.empty())
      options_.emplace_back();
    else
      options_ = question.options;
  }

  // Minimum degree, and a dissection where it may pay. Where a grid's order serves, and minimum degree is not better or
  // costs too much to find out (a grid with holes is not cut well by planes), nothing more is tried.
  ChosenOrder run() {
    const bool grid = attempt("grid");
    if (!grid || is_worth("amd"))
      attempt("amd");
    else
      out_.tried.push_back({"amd", "it costs more than it could save", question_.order_seconds("amd"), 0, {}, {}});
    if (out_.method != "grid") {
      const std::string why_not = why_no_dissection();
      if (why_not.empty())
        attempt("dissection");
      else
        out_.tried.push_back({"dissection", why_not, question_.order_seconds("dissection"), 0, {}, {}});
    }
    if (out_.method.empty()) attempt("metis");
    if (out_.method.empty()) attempt("natural");
    require(!out_.method.empty(), SXT_E_NO_KERNEL, "no kernel of kind sxt.ordering/2 gives an order of ", graph_.n,
            " rows", reasons());
    return std::move(out_);
  }

 private:
  // What factorisations are predicted to take in the best order so far.
  double all_factors() const { return std::max(1.0, question_.expected_factors) * best_s_; }

  // The part of the work that another order could save: none has fewer entries than A's lower triangle, and flops grow
  // at most with the square of the entries of columns.
  double savings() const {
    const double least = static_cast<double>(graph_.n) + static_cast<double>(graph_.row_ptr[graph_.n]) / 2;
    const double kept = least / static_cast<double>(std::max<std::int64_t>(1, out_.partition.nnz_l));
    return std::min(most_saved, 1 - kept * kept);
  }

  // Whether a method costs less than what it could save.
  bool is_worth(const char *method) const {
    const double cost_s = question_.order_seconds(method);
    return cost_s >= 0 && cost_s < savings() * all_factors();
  }

  std::string why_no_dissection() const {
    const double cost_s = question_.order_seconds("dissection");
    if (cost_s < 0) return "no kernel offers it";
    if (out_.method.empty() || is_worth("dissection")) return "";
    return text("it would take about ", cost_s, " s, and save at most ", savings() * all_factors(),
                " s of all factorisations in the order of ", out_.method);
  }

  bool attempt(const std::string &method) {
    TriedOrder tried{method, "", question_.order_seconds(method), 0, {}, {}};
    if (tried.order_seconds < 0) {
      tried.why_not = "no kernel offers it";
      out_.tried.push_back(std::move(tried));
      return false;
    }
    try {
      const Order order = question_.order(method);
      tried.order_seconds = order.seconds;
      compare(method, order, tried);
    } catch (const Error &problem) {
      if (problem.status() != SXT_E_NOT_SUPPORTED) throw;
      tried.why_not = problem.what();
    }
    out_.tried.push_back(std::move(tried));
    return out_.tried.back().why_not.empty();
  }

  void compare(const std::string &method, const Order &order, TriedOrder &tried) {
    Elimination elimination = eliminate(graph_, order.perm, question_.n_schur, question_.threads);
    const Partition base = fundamental(elimination);
    Partition best;
    const SupernodeOptions *done = nullptr;
    std::int64_t max_width = 0;
    for (const SupernodeOptions &options : options_) {
      if (done && gives_the_same(*done, max_width, options)) continue;
      Partition partition = amalgamate(base, options);
      const sxt_cholesky_query query = summary(partition);
      done = &options, max_width = query.max_width;
      const double seconds = question_.factor_seconds(query);
      if (best.super_ptr.size() > 0 && !(seconds < tried.factor_seconds)) continue;
      tried.factor_seconds = seconds, tried.query = query, tried.options = options;
      best = std::move(partition);
    }
    if (!out_.method.empty() && !(tried.factor_seconds < best_s_)) return;
    best_s_ = tried.factor_seconds;
    out_.method = method;
    out_.elimination = std::move(elimination);
    out_.partition = std::move(best);
  }

  std::string reasons() const {
    std::string all;
    for (const TriedOrder &each : out_.tried) all += "; " + each.method + ": " + each.why_not;
    return all;
  }

  const Graph &graph_;
  const OrderQuestion &question_;
  std::vector<SupernodeOptions> options_;
  ChosenOrder out_;
  double best_s_ = 0;
};

}  // namespace

ChosenOrder choose_order(const Graph &graph, const OrderQuestion &question) { return Chooser(graph, question).run(); }

}  // namespace sextant::cholesky
