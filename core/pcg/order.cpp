// SPDX-License-Identifier: BSD-3-Clause
// A better order of the rows: where gathers dominate products and the solves are many or long, the engine sees P A P^T,
// whose order is found once from the pattern. What the caller gives and gets is moved on the way; true residuals are
// those of the caller's matrix in the caller's order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/matrix/feature_index.hpp"
#include "core/matrix/renumber.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

constexpr const char *order_role = "pcg/order";
// What an order could save at most is more than it will: only where that is so many times its cost is it made.
constexpr double several = 4;
// Once it is there: what it saves is predicted, what is still to be built is certain.
constexpr double least_gain = 0.1;
// A pattern of which one level of a search holds this part has no order that keeps neighbours together.
constexpr std::int64_t widest_part = 8;
// What an element of x is brought in, on a CPU and on a GPU.
constexpr double line_bytes = 64, sector_bytes = 32;

}  // namespace

// What the plan so far stands on, to go back to.
struct PcgSolver::Matrices {
  std::shared_ptr<Matrix> base, system;
  std::unique_ptr<Runner> preconditioner;
  ChoicePtr preconditioner_choice;
  const void *scaling;
  double predicted_setup_s;
};

// From now on all that the engine sees is made of this matrix.
void PcgSolver::use_matrix(std::shared_ptr<Matrix> matrix) {
  base_ = system_ = std::move(matrix);
  scaling_ = nullptr;
  preconditioner_.reset();
  preconditioner_choice_.reset();
  engine_.reset();
  if (method_ != "none") build_preconditioner();
}

// Elements of x a second that come from the last cache, and from memory.
std::pair<double, double> PcgSolver::gather_rates() const {
  const sxt_machine &machine = matrix_->context().machine();
  if (matrix_->context().device().on_host()) return {machine.cached_gather_rate, machine.gather_rate};
  return {machine.sector_rate, machine.stream_rate / sector_bytes};
}

// What a product spends on elements of x that no near cache holds, beyond each being brought once. 0: unknown.
double PcgSolver::gather_seconds() {
  static const char *const names[] = {"x_miss_unit_cache", "x_miss_cache", "x_sector_miss_unit", "x_sector_miss_cache",
                                      nullptr};
  const std::vector<double> found = matrix_->features(names);
  const bool on_host = matrix_->context().device().on_host();
  const double nnz = static_cast<double>(matrix_->csr().nnz), piece = on_host ? line_bytes : sector_bytes;
  const double once =
      static_cast<double>(matrix_->rows()) * static_cast<double>(value_bytes(matrix_->value_type())) / piece;
  const double near = std::max(0.0, nnz * found[on_host ? 0 : 2] - once);
  const double far = std::clamp(nnz * found[on_host ? 1 : 3] - once, 0.0, near);
  const auto [near_rate, far_rate] = gather_rates();
  const double seconds = (near - far) / std::max(1.0, near_rate) + far / std::max(1.0, far_rate);
  return seconds > 0 ? seconds : 0;  // NaN where no kernel offers the features
}

// The order's way to the device, and the bandwidths that are told: before on the host, after wherever P A P^T is made.
double PcgSolver::beside_order_seconds(bool on_device) const {
  const Context &context = matrix_->context();
  const double bytes = static_cast<double>(matrix_->rows()) * (matrix_->csr().index_type == SXT_I32 ? 4 : 8);
  const double there_s = context.device().on_host() ? 0 : bytes / std::max(1.0, context.machine().copy_rate);
  return there_s + (on_device ? 1 : 2) * bandwidth_seconds(*matrix_);
}

// All that an order takes: the search, P A P^T, what goes beside them, and a way to the device for what the host made.
double PcgSolver::order_seconds(const Choice &ordering) {
  const double search_s = ordering.setup_s + ordering.storage_s + ordering.run_s, there_s = matrix_->permuted_seconds();
  if (!std::isnan(there_s))
    return search_s + there_s + beside_order_seconds(true) + matrix_->features_cost({feature_id("bandwidth")});
  const Context &context = matrix_->context();
  const CsrArrays &csr = matrix_->csr();
  const double bytes =
      static_cast<double>(csr.row_ptr.bytes() + csr.col.bytes()) + static_cast<double>(csr.values.bytes());
  const double upload_s = context.device().on_host() ? 0 : bytes / std::max(1.0, context.machine().copy_rate);
  return search_s + renumbered_seconds(*matrix_) + beside_order_seconds(false) + upload_s;
}

// "" where an order could pay several times what it costs.
std::string PcgSolver::why_no_order(const Choice &ordering) {
  if (method_ != "none" && !scaling_) return "what " + method_ + " does depends on the order";
  const double iterations = std::max(1.0, settings_.expected_solves) * assumed_iterations_;
  const double cost_s = order_seconds(ordering);
  const auto too_little = [&](const char *what, double seconds) {
    return text("another order would take about ", seconds_text(cost_s), " and could save at most ", what,
                seconds_text(seconds));
  };
  const bool on_host = matrix_->context().device().on_host();
  const double rough_s =
      on_host ? std::max(1.0, settings_.expected_solves) * select_engine(method_)->run_s : rough_total_s();
  // On a device engines have not been asked: a product that gathers takes a few times what is known by then.
  constexpr double above_rough = 8;
  const double most_s = on_host ? rough_s : above_rough * rough_s;
  if (most_s < several * cost_s) return too_little("all solves' ", most_s);
  // Even if every entry waited: to know better takes features of all columns.
  const double each_s = 1 / std::max(1.0, gather_rates().first) + 1 / std::max(1.0, gather_rates().second);
  const double waits_s = iterations * static_cast<double>(matrix_->csr().nnz) * each_s;
  if (waits_s < several * cost_s) return too_little("what products could wait for x, ", waits_s);
  const double gathers_s = std::min(most_s, iterations * gather_seconds());
  return gathers_s < several * cost_s ? too_little("what products wait for x, ", gathers_s) : "";
}

// P A P^T, with its order in order_; NULL where the search gave up.
std::shared_ptr<Matrix> PcgSolver::make_order(ChoicePtr ordering, bool asked) {
  Context &context = matrix_->context();
  const CsrArrays &csr = matrix_->csr();
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
  if (Runner(context, ordering, matrix_.get()).run(&args.h) != SXT_OK) {
    notes_.push_back(text("in the caller's order: a search through the pattern (", seconds_text(clock.seconds()),
                          ") meets more than ", args.most_width,
                          " rows in one level, so no order keeps them together"));
    return nullptr;
  }
  const double search_s = clock.seconds();
  order_.emplace(Order{std::move(ordering), DeviceBuffer(context.device(), bytes), csr.index_type});
  context.device().copy(order_->index.data(), perm.data(), bytes);
  std::shared_ptr<Matrix> matrix = bring_into_order(perm.data());
  notes_.push_back(text("another order took ", seconds_text(search_s), ", and ", seconds_text(order_->took_s),
                        " (predicted ", seconds_text(order_->move_s), ") to bring the entries into it",
                        order_->on_device ? "" : " on the host"));
  return matrix;
}

// On the device if a kernel does that there and the memory suffices; else on the host.
std::shared_ptr<Matrix> PcgSolver::bring_into_order(const void *perm) {
  Context &context = matrix_->context();
  const int threads = context.threads();
  order_->bandwidth_before = bandwidth_of(matrix_->csr(), threads);
  try {
    const Clock clock;
    const std::string identity = order_->choice->kernel->name();  // which order it is follows from who found it
    std::shared_ptr<Matrix> matrix =
        matrix_->permuted(order_->index.data(), fnv1a(identity.data(), identity.size(), matrix_->pattern_hash()));
    order_->took_s = clock.seconds();
    const double bandwidth = matrix->feature("bandwidth");
    order_->on_device = true;
    order_->move_s = matrix_->permuted_seconds();
    order_->bandwidth = std::isnan(bandwidth) ? -1 : static_cast<std::int64_t>(bandwidth);
    return matrix;
  } catch (const Error &problem) {
    const sxt_status status = problem.status();
    if (status != SXT_E_MEMORY && status != SXT_E_NOT_SUPPORTED && status != SXT_E_UNKNOWN_NAME) throw;
    if (status == SXT_E_MEMORY) notes_.push_back(text("entries are moved on the host: ", problem.what()));
  }
  const Clock clock;
  std::shared_ptr<Matrix> matrix = renumbered(*matrix_, perm);
  order_->took_s = clock.seconds();
  order_->move_s = renumbered_seconds(*matrix_);
  predicted_setup_s_ += order_->move_s;
  order_->bandwidth = bandwidth_of(matrix->csr(), threads);
  return matrix;
}

// Whether what is still to be built pays, with the renumbered matrix in force; here: the engine in the caller's order.
bool PcgSolver::order_pays(const Choice &here, const Choice &ordering) {
  const Clock clock;
  const double solves = std::max(1.0, settings_.expected_solves);
  const ChoicePtr there = select_engine(method_);
  const double here_s = here.setup_s + here.storage_s + solves * here.run_s;
  const double there_s = there->setup_s + there->storage_s + solves * there->run_s;
  const bool pays = there_s < (1 - least_gain) * here_s;
  notes_.push_back(text(pays ? "renumbered by " : "in the caller's order, after a try of ", ordering.kernel->name(),
                        ": predicted ", seconds_text(there_s), " in all, ", seconds_text(here_s),
                        " in the caller's order; asking took ", seconds_text(clock.seconds())));
  return pays;
}

// Whether a loaded plan has an entry for this question about the matrix. One for an order was made by one that paid.
bool PcgSolver::planned(const std::string &role, Query question) const {
  Context &context = matrix_->context();
  if (!context.plan().loaded()) return false;
  if (context.deterministic()) question.get()->flags |= SXT_QUERY_DETERMINISTIC;
  std::string why_not;
  return context.plan()
      .find({role, question.kind(), question.hash(), matrix_->pattern_hash()}, plan_types(question),
            context.fingerprint(), why_not)
      .has_value();
}

void PcgSolver::consider_order() {
  if (settings_.reorder < 0 || matrix_->rows() < 2) return;
  Context &context = matrix_->context();
  sxt_ordering_query query{};
  query.m = matrix_->query_part(SXT_KIND_ORDERING, sizeof query, 1);
  std::strcpy(query.method, "rcm");
  const bool demanded = settings_.reorder > 0, made = planned(order_role, Query(&query.m.q)), asked = demanded || made;
  if (!asked && context.plan().required()) return;  // it names none
  Selector selector(context, matrix_.get(), {.left_out = left_out_});
  ChoicePtr ordering;
  bool again = false;
  try {
    ordering = selector.propose({Query(&query.m.q), order_role});
  } catch (const Error &problem) {
    if (asked || problem.status() != SXT_E_NO_KERNEL) throw;
    return;
  }
  if (!asked) {
    const std::string why_not = why_no_order(*ordering);
    if (!why_not.empty()) return notes_.push_back("in the caller's order: " + why_not);
  }
  const std::set<std::string> held = matrix_->storages();
  const ChoicePtr here = asked ? nullptr : select_engine(method_);
  Matrices before{base_, system_, std::move(preconditioner_), preconditioner_choice_, scaling_, predicted_setup_s_};
  try {
    if (std::shared_ptr<Matrix> matrix = make_order(ordering, asked)) {
      use_matrix(std::move(matrix));
      if (asked || order_pays(*here, *ordering)) {
        selector.record(*ordering);
        predicted_setup_s_ += ordering->setup_s + ordering->run_s + beside_order_seconds(order_->on_device);
        for (const std::string &form : matrix_->storages())  // built to be compared with
          if (!held.contains(form)) matrix_->drop(form);
        return;
      }
    }
  } catch (const Declined &declined) {  // the next ordering takes over
    again = left_out_.try_emplace(&declined.kernel(), declined.what()).second;
    if (!again) throw;
  } catch (const Error &problem) {
    if (demanded || problem.status() != SXT_E_MEMORY) throw;
    notes_.push_back(text("in the caller's order: there was no memory for another: ", problem.what()));
  }
  go_back(std::move(before));
  if (again) consider_order();
}

void PcgSolver::go_back(Matrices before) {
  // Choices are kept by the address of the matrix they were made for.
  if (base_ != before.base)
    std::erase_if(selected_, [&](const auto &each) {
      return each.first.second == base_.get() || each.first.second == system_.get();
    });
  base_ = std::move(before.base), system_ = std::move(before.system);
  preconditioner_ = std::move(before.preconditioner);
  preconditioner_choice_ = std::move(before.preconditioner_choice);
  scaling_ = before.scaling;
  predicted_setup_s_ = before.predicted_setup_s;
  order_.reset();
}

// Between the caller's vectors and the engine's, as things stand.
Crossing PcgSolver::crossing() const {
  return {Operations::of(matrix_->context()),      matrix_->value_type(),          matrix_->rows(), scaling_,
          order_ ? order_->index.data() : nullptr, order_ ? order_->index_type : 0};
}

std::string PcgSolver::order_text() const {
  if (!order_) return "the caller's";
  const std::string bandwidth = order_->bandwidth < 0 ? "one unknown" : text(order_->bandwidth);
  return text(order_->choice->kernel->name(), ", bandwidth ", order_->bandwidth_before, " to ", bandwidth);
}

}  // namespace sextant
