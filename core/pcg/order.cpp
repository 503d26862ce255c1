// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/hash.hpp"
#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/explain/explain.hpp"
#include "core/matrix/feature_index.hpp"
#include "core/matrix/renumber.hpp"
#include "core/pcg/clock.hpp"
#include "sextant/plugin/kinds/ordering.h"

namespace sextant {

namespace {

constexpr const char *order_role = "pcg/order";
// What an order could save at most is more than it will: only where that is so many times its cost is it made.
constexpr double several = 4;
// A pattern of which one level of a search holds this part has no order that keeps neighbours together.
constexpr std::int64_t widest_part = 8;
// On a device engines have not been asked by then: a product that gathers takes a few times what is known of it.
constexpr double above_rough = 8;
// What an element of x is brought in, on a CPU and on a GPU.
constexpr double line_bytes = 64, sector_bytes = 32;

// Little bandwidth keeps neighbours together: other methods are for little fill.
sxt_ordering_query ordering_query(Matrix &matrix) {
  sxt_ordering_query query{};
  query.m = matrix.query_part(SXT_KIND_ORDERING, sizeof query, 1);
  std::strcpy(query.method, "rcm");
  return query;
}

}  // namespace

// Elements of x a second that come from the last cache, and from memory.
std::pair<double, double> OrderSearch::gather_rates() const {
  const sxt_machine &machine = problem_.context().machine();
  if (problem_.on_host()) return {machine.cached_gather_rate, machine.gather_rate};
  return {machine.sector_rate, machine.stream_rate / sector_bytes};
}

// What a product spends on elements of x that no near cache holds, beyond each being brought once. 0: unknown.
double OrderSearch::gather_seconds() const {
  static const char *const names[] = {"x_miss_unit_cache", "x_miss_cache", "x_sector_miss_unit", "x_sector_miss_cache",
                                      nullptr};
  Matrix &matrix = problem_.matrix();
  const std::vector<double> found = matrix.features(names);
  const bool on_host = problem_.on_host();
  const double nnz = static_cast<double>(matrix.csr().nnz), piece = on_host ? line_bytes : sector_bytes;
  const double once =
      static_cast<double>(matrix.rows()) * static_cast<double>(value_bytes(matrix.value_type())) / piece;
  const double near = std::max(0.0, nnz * found[on_host ? 0 : 2] - once);
  const double far = std::clamp(nnz * found[on_host ? 1 : 3] - once, 0.0, near);
  const auto [near_rate, far_rate] = gather_rates();
  const double seconds = (near - far) / std::max(1.0, near_rate) + far / std::max(1.0, far_rate);
  return seconds > 0 ? seconds : 0;  // NaN where no kernel offers the features
}

// The order's way to the device, and the bandwidths that are told: before on the host, after wherever P A P^T is made.
double OrderSearch::beside_seconds(bool on_device) const {
  Matrix &matrix = problem_.matrix();
  const Context &context = problem_.context();
  const double bytes = static_cast<double>(matrix.rows()) * (matrix.csr().index_type == SXT_I32 ? 4 : 8);
  const double there_s = context.device().on_host() ? 0 : bytes / std::max(1.0, context.machine().copy_rate);
  return there_s + (on_device ? 1 : 2) * bandwidth_seconds(matrix);
}

// All that an order takes: the search, P A P^T, what goes beside them, and a way to the device for what the host made.
double OrderSearch::seconds_of(const Choice &ordering) const {
  Matrix &matrix = problem_.matrix();
  const double search_s = ordering.setup_s + ordering.storage_s + ordering.run_s, there_s = matrix.permuted_seconds();
  if (!std::isnan(there_s))
    return search_s + there_s + beside_seconds(true) + matrix.features_cost({feature_id("bandwidth")});
  const Context &context = problem_.context();
  const CsrArrays &csr = matrix.csr();
  const double bytes =
      static_cast<double>(csr.row_ptr.bytes() + csr.col.bytes()) + static_cast<double>(csr.values.bytes());
  const double upload_s = context.device().on_host() ? 0 : bytes / std::max(1.0, context.machine().copy_rate);
  return search_s + renumbered_seconds(matrix) + beside_seconds(false) + upload_s;
}

// "" where an order could pay several times what it costs.
std::string OrderSearch::why_not(EngineSystem &here, const std::string &method, const Expectation &expected,
                                 const Choice &ordering) {
  if (method != "none" && !here.scaling()) return "what " + method + " does may depend on the order";
  const double iterations = problem_.solves() * expected.assumed;
  const double cost_s = seconds_of(ordering);
  const auto too_little = [&](const char *what, double seconds) {
    return text("another order would take about ", seconds_text(cost_s), " and could save at most ", what,
                seconds_text(seconds));
  };
  const double most_s = problem_.on_host() ? problem_.solves() * chooser_.engine(here, method, expected)->run_s
                                           : above_rough * rough_total_s(problem_, expected);
  if (most_s < several * cost_s) return too_little("all solves' ", most_s);
  // Even if every entry waited: a better estimate takes features of all columns.
  const double each_s = 1 / std::max(1.0, gather_rates().first) + 1 / std::max(1.0, gather_rates().second);
  const double waits_s = iterations * static_cast<double>(problem_.matrix().csr().nnz) * each_s;
  if (waits_s < several * cost_s) return too_little("what products could wait for x, ", waits_s);
  const double gathers_s = std::min(most_s, iterations * gather_seconds());
  return gathers_s < several * cost_s ? too_little("what products wait for x, ", gathers_s) : "";
}

// The system in the order that a search finds, without a preconditioner; nothing where the search gave up.
std::optional<EngineSystem> OrderSearch::make(const ChoicePtr &ordering, bool asked) {
  Context &context = problem_.context();
  const CsrArrays &csr = problem_.matrix().csr();
  const std::uint64_t bytes = static_cast<std::uint64_t>(csr.rows) * (csr.index_type == SXT_I32 ? 4 : 8);
  Buffer perm(bytes, context.device().host_memory());
  sxt_ordering_args args{};
  args.h = {sizeof args, SXT_KIND_ORDERING};
  args.n = csr.rows;
  args.index_type = csr.index_type;
  args.offset_type = csr.offset_type;
  args.row_ptr = csr.row_ptr.data();
  args.col = csr.col.data();
  args.perm = perm.data();
  args.most_width = asked ? 0 : std::max<std::int64_t>(1, csr.rows / widest_part);
  const Clock clock;
  if (Runner(context, ordering, &problem_.matrix()).ask(&args.h) != SXT_OK) {
    notes_.push_back(text("in the caller's order: a search through the pattern (", seconds_text(clock.seconds()),
                          ") meets more than ", args.most_width,
                          " rows in one level, so no order keeps them together"));
    return std::nullopt;
  }
  const double search_s = clock.seconds();
  RowOrder order{ordering, DeviceBuffer(context.device(), bytes), csr.index_type};
  context.device().copy(order.index.data(), perm.data(), bytes);
  EngineSystem there = bring_into_order(std::move(order), perm.data());
  notes_.push_back(text("another order took ", seconds_text(search_s), ", and ", seconds_text(there.order()->took_s),
                        " (predicted ", seconds_text(there.order()->move_s), ") to bring the entries into it",
                        there.order()->on_device ? "" : " on the host"));
  return there;
}

// On the device if a kernel does that there and the memory suffices; else on the host.
EngineSystem OrderSearch::bring_into_order(RowOrder order, const void *perm) {
  Matrix &from = problem_.matrix();
  const int threads = problem_.context().threads();
  order.bandwidth_before = bandwidth_of(from.csr(), threads);
  try {
    const Clock clock;
    const std::string identity = order.choice->kernel->name();  // the kernel that found an order names it
    std::shared_ptr<Matrix> matrix =
        from.permuted(order.index.data(), fnv1a(identity.data(), identity.size(), from.pattern_hash()));
    order.took_s = clock.seconds();
    const double bandwidth = matrix->feature("bandwidth");
    order.on_device = true;
    order.move_s = from.permuted_seconds();
    order.bandwidth = std::isnan(bandwidth) ? -1 : static_cast<std::int64_t>(bandwidth);
    return {std::move(matrix), std::move(order)};
  } catch (const Error &problem) {
    const sxt_status status = problem.status();
    if (!out_of_memory(problem) && status != SXT_E_NOT_SUPPORTED && status != SXT_E_UNKNOWN_NAME) throw;
    if (out_of_memory(problem)) notes_.push_back(text("entries are moved on the host: ", problem.what()));
  }
  const Clock clock;
  std::shared_ptr<Matrix> matrix = renumbered(from, perm);
  order.took_s = clock.seconds();
  order.move_s = renumbered_seconds(from);
  costs_.add(order.move_s);
  order.bandwidth = bandwidth_of(matrix->csr(), threads);
  return {std::move(matrix), std::move(order)};
}

// Whether what is still to be built pays; here and there: the engines in the caller's order and in the other.
bool OrderSearch::pays(const Choice &here, const Choice &there, const Choice &ordering, double asking_s) {
  const double here_s = total_of(here, problem_.solves()), there_s = total_of(there, problem_.solves());
  const bool pays = there_s < (1 - least_gain) * here_s;
  notes_.push_back(text(pays ? "renumbered by " : "in the caller's order, after a try of ", ordering.kernel->name(),
                        ": predicted ", seconds_text(there_s), " in all, ", seconds_text(here_s),
                        " in the caller's order; asking took ", seconds_text(asking_s)));
  return pays;
}

// The kernel that would find an order; NULL where no kernel can.
ChoicePtr OrderSearch::propose(Selector &selector, Asked asked) const {
  const sxt_ordering_query query = ordering_query(problem_.matrix());
  try {
    return selector.propose({Query(&query.m.q), order_role});
  } catch (const Error &problem) {
    if (asked.any() || problem.status() != SXT_E_NO_KERNEL) throw;
    return nullptr;
  }
}

std::optional<EngineSystem> OrderSearch::try_order(EngineSystem &here, const std::string &method,
                                                   const Expectation &expected, const ChoicePtr &ordering,
                                                   Selector &selector, Asked asked) {
  Matrix &matrix = problem_.matrix();
  const std::set<std::string> held = matrix.storages();
  const ChoicePtr engine_here = asked.any() ? nullptr : chooser_.engine(here, method, expected);
  const CostBook before = costs_;
  std::optional<EngineSystem> there;
  try {
    there = make(ordering, asked.any());
    if (there && method != "none") chooser_.precondition(*there, method, expected);
    if (there && !asked.any()) {
      const Clock clock;
      const ChoicePtr engine_there = chooser_.engine(*there, method, expected);
      if (!pays(*engine_here, *engine_there, *ordering, clock.seconds())) there.reset();
    }
  } catch (...) {
    costs_ = before;
    throw;
  }
  if (!there) {
    costs_ = before;
    return there;
  }
  selector.record(*ordering);
  costs_.add(ordering->setup_s + ordering->run_s + beside_seconds(there->order()->on_device));
  for (const std::string &form : matrix.storages())  // built to be compared with
    if (!held.contains(form)) matrix.drop(form);
  return there;
}

EngineSystem OrderSearch::consider(EngineSystem here, const std::string &method, const Expectation &expected) {
  if (problem_.settings.reorder < 0 || problem_.matrix().rows() < 2) return here;
  const sxt_ordering_query query = ordering_query(problem_.matrix());
  SelectorOptions options{.asked = named_by_hand(problem_.settings)};
  const Selector plans(problem_.context(), &problem_.matrix(), options);
  const Asked asked{problem_.settings.reorder > 0, plans.is_planned({Query(&query.m.q), order_role})};
  if (!asked.any() && problem_.context().plan().required()) return here;  // it names none
  for (;;) {
    options.left_out = left_out_;
    Selector selector(problem_.context(), &problem_.matrix(), options);
    const ChoicePtr ordering = propose(selector, asked);
    if (!ordering) return here;
    if (const std::string why = asked.any() ? "" : why_not(here, method, expected, *ordering); !why.empty()) {
      notes_.push_back("in the caller's order: " + why);
      return here;
    }
    try {
      std::optional<EngineSystem> there = try_order(here, method, expected, ordering, selector, asked);
      return there ? std::move(*there) : std::move(here);
    } catch (const Declined &declined) {  // the next ordering takes over
      if (!chooser_.leave_out(declined)) throw;
    } catch (const Error &problem) {
      if (asked.demanded || !out_of_memory(problem)) throw;
      notes_.push_back(text("in the caller's order: there was no memory for another: ", problem.what()));
      return here;
    }
  }
}

}  // namespace sextant
