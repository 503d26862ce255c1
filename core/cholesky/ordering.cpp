// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/ordering.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/base/units.hpp"
#include "core/choose/selector.hpp"
#include "core/explain/explain.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/ordering.h"

namespace sextant::cholesky {

namespace {

using Clock = std::chrono::steady_clock;

// The rows as they are: no kernel is needed for that.
constexpr const char *natural = "natural";

// Widths that are compared where the caller names none.
constexpr std::int64_t amalgamations[] = {1, 16, 64, 128}, blocks[] = {256, 1024};

std::vector<SupernodeOptions> options_of(const Settings &settings) {
  std::vector<SupernodeOptions> out;
  for (const std::int64_t amalgamation : amalgamations)
    for (const std::int64_t block : blocks) {
      SupernodeOptions options;
      options.amalgamation = settings.amalgamation > 0 ? settings.amalgamation : amalgamation;
      options.block = settings.block > 0 ? settings.block : block;
      const auto same = [&](const SupernodeOptions &other) {
        return other.amalgamation == options.amalgamation && other.block == options.block;
      };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back(options);
    }
  return out;
}

// The graph without some of its vertices, and the vertex at each of its places.
struct Rest {
  Graph graph;
  std::vector<std::int32_t> vertex;  // of the whole graph
};

Rest without(const Graph &graph, const std::vector<std::int32_t> &rows) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(graph.n), 0);
  for (const std::int32_t row : rows) number[static_cast<std::size_t>(row)] = -1;
  Rest rest;
  for (std::int64_t i = 0; i < graph.n; ++i) {
    if (number[static_cast<std::size_t>(i)] < 0) continue;
    number[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(rest.vertex.size());
    rest.vertex.push_back(static_cast<std::int32_t>(i));
  }
  rest.graph.n = static_cast<std::int64_t>(rest.vertex.size());
  rest.graph.row_ptr = Array<std::int64_t>(rest.graph.n + 1);
  std::vector<std::int32_t> col;
  rest.graph.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < rest.graph.n; ++i) {
    const std::int32_t v = rest.vertex[static_cast<std::size_t>(i)];
    for (std::int64_t k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k)
      if (const std::int32_t j = number[static_cast<std::size_t>(graph.col[k])]; j >= 0) col.push_back(j);
    rest.graph.row_ptr[i + 1] = static_cast<std::int64_t>(col.size());
  }
  rest.graph.col = Array<std::int32_t>(static_cast<std::int64_t>(col.size()));
  std::copy(col.begin(), col.end(), rest.graph.col.begin());
  return rest;
}

// Finds orders of one graph by the kernels of a context.
class Orderer {
 public:
  Orderer(Context &context, const Graph &graph, const std::vector<std::int32_t> &last)
      : context_(context), whole_(graph), last_(last) {
    if (!last.empty()) rest_ = without(graph, last);
  }

  double predicted_seconds(const std::string &method) const {
    if (method == natural) return 0;
    const std::vector<Estimate> all = Selector(context_, nullptr).estimates(query(method));
    double least = -1;
    for (const Estimate &each : all)
      if (least < 0 || each.total_s < least) least = each.total_s;
    return least;
  }

  // Of the whole graph: the last rows come last, in their order.
  Order order(const std::string &method) const {
    const Clock::time_point start = Clock::now();
    const Graph &graph = this->graph();
    Order out{Array<std::int32_t>(whole_.n), 0};
    if (method == natural)
      std::iota(out.perm.begin(), out.perm.begin() + graph.n, 0);
    else if (graph.n > 0)
      run(method, graph, out.perm.data());
    if (!last_.empty()) {
      for (std::int64_t k = 0; k < graph.n; ++k) out.perm[k] = rest_.vertex[static_cast<std::size_t>(out.perm[k])];
      std::copy(last_.begin(), last_.end(), out.perm.begin() + graph.n);
    }
    out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return out;
  }

  // Throws SXT_E_UNKNOWN_NAME where no kernel offers the method.
  Order named(const std::string &method) const {
    try {
      return order(method);
    } catch (const Error &error) {
      if (error.status() != SXT_E_NO_KERNEL) throw;
      throw Error(SXT_E_UNKNOWN_NAME, text("no kernel offers the order '", method, "': ", error.what()));
    }
  }

 private:
  const Graph &graph() const { return last_.empty() ? whole_ : rest_.graph; }

  Query query(const std::string &method) const {
    sxt_ordering_query q{};
    q.m.q = {{sizeof q, SXT_KIND_ORDERING}, 1, 0, SXT_F64};
    q.m.rows = q.m.cols = graph().n;
    q.m.nnz = graph().row_ptr.size() > 0 ? graph().row_ptr[graph().n] : 0;
    q.m.matrix_type = SXT_F64;
    q.m.symmetry = SXT_SYMMETRIC;
    method.copy(q.method, sizeof q.method - 1);
    return Query(&q.m.q);
  }

  void run(const std::string &method, const Graph &graph, std::int32_t *perm) const {
    sxt_ordering_args args{};
    args.h = {sizeof args, SXT_KIND_ORDERING};
    args.n = graph.n;
    args.index_type = SXT_I32;
    args.offset_type = SXT_I64;
    args.row_ptr = graph.row_ptr.data();
    args.col = graph.col.data();
    args.perm = perm;
    Runner runner(context_, Selector(context_, nullptr).propose({.query = query(method), .role = "cholesky/order"}),
                  nullptr);
    const sxt_status status = runner.ask(&args.h);
    require(status == SXT_OK, SXT_E_NOT_SUPPORTED, "order ", method, " does not apply to this pattern");
  }

  Context &context_;
  const Graph &whole_;
  const std::vector<std::int32_t> &last_;
  Rest rest_;
};

// The widths of a structure on a known elimination, by predicted seconds.
Partition best_partition(const Elimination &elimination, const std::vector<SupernodeOptions> &options,
                         const std::function<double(const sxt_cholesky_query &)> &seconds) {
  const Partition base = fundamental(elimination);
  Partition best;
  double least = INFINITY;
  const SupernodeOptions *done = nullptr;
  std::int64_t max_width = 0;
  for (const SupernodeOptions &each : options) {
    if (done && gives_the_same(*done, max_width, each)) continue;
    Partition next = amalgamate(base, each);
    sxt_cholesky_query shape = summary(next);
    done = &each, max_width = shape.max_width;
    const double predicted = options.size() > 1 ? seconds(shape) : 0;
    if (!(predicted < least)) continue;
    least = predicted;
    best = std::move(next);
  }
  require(least < INFINITY, SXT_E_NO_KERNEL, "no loaded kernel of sxt.cholesky/1 serves this matrix on device ",
          "of its context");
  return best;
}

std::string note_of(const TriedOrder &tried, bool chosen) {
  if (!tried.why_not.empty()) return text("order ", tried.method, ": ", tried.why_not);
  return text("order ", tried.method, chosen ? " (chosen)" : "", ": found in ", seconds_text(tried.order_seconds), ", ",
              tried.query.nnz_l, " entries of L, ", tried.query.flops,
              " flops, each factorisation with its share of the rest predicted in ",
              seconds_text(tried.factor_seconds));
}

FoundOrder by_elimination(std::string method, Elimination elimination, const Settings &settings,
                          const std::function<double(const sxt_cholesky_query &)> &seconds) {
  FoundOrder out;
  out.method = std::move(method);
  out.partition = best_partition(elimination, options_of(settings), seconds);
  out.elimination = std::move(elimination);
  return out;
}

// The caller's own order with the rows of a Schur complement moved to its end.
std::vector<std::int32_t> with_last(const std::vector<std::int32_t> &order, const std::vector<std::int32_t> &last) {
  std::vector<char> is_last(order.size());
  for (const std::int32_t row : last) is_last[static_cast<std::size_t>(row)] = 1;
  std::vector<std::int32_t> out;
  for (const std::int32_t row : order)
    if (!is_last[static_cast<std::size_t>(row)]) out.push_back(row);
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

}  // namespace

FoundOrder find_order(Context &context, const Graph &graph, const Settings &settings,
                      const std::function<double(const sxt_cholesky_query &)> &factor_seconds) {
  const int threads = context.threads();
  const auto n_schur = static_cast<std::int64_t>(settings.schur_rows.size());
  if (!settings.permutation.empty())
    return by_elimination("given",
                          eliminate(graph, with_last(settings.permutation, settings.schur_rows), n_schur, threads),
                          settings, factor_seconds);
  const Orderer orderer(context, graph, settings.schur_rows);
  if (!settings.order.empty()) {
    const Order order = orderer.named(settings.order);
    FoundOrder out =
        by_elimination(settings.order, eliminate(graph, order.perm, n_schur, threads), settings, factor_seconds);
    out.notes.push_back(text("order ", settings.order, ": asked for, found in ", seconds_text(order.seconds)));
    return out;
  }
  OrderQuestion question;
  question.expected_factors = settings.expected_factors;
  question.n_schur = n_schur;
  question.options = options_of(settings);
  question.threads = threads;
  question.factor_seconds = factor_seconds;
  question.order = [&](const std::string &method) { return orderer.order(method); };
  question.order_seconds = [&](const std::string &method) { return orderer.predicted_seconds(method); };
  ChosenOrder chosen = choose_order(graph, question);
  FoundOrder out;
  for (const TriedOrder &tried : chosen.tried) out.notes.push_back(note_of(tried, tried.method == chosen.method));
  out.method = std::move(chosen.method);
  out.elimination = std::move(chosen.elimination);
  out.partition = std::move(chosen.partition);
  return out;
}

}  // namespace sextant::cholesky
