// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/setup.hpp"

#include <cstdint>
#include <set>
#include <utility>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/pcg/choosing.hpp"
#include "core/run/truth.hpp"

namespace sextant {

namespace {

// True residuals that a solve asks for: two or three in most (docs/pcg.md), and the last of what is given back.
constexpr double residuals_a_solve = 4;

// Confirmation: what is done with its answers stands in confirm.cpp.
std::unique_ptr<Runner> build_truth(const PcgProblem &problem, CostBook &costs, Notes &notes) {
  std::string passed_over;
  ChoicePtr choice = choose_truth(problem.matrix(), residuals_a_solve * problem.solves(), "pcg/truth", passed_over);
  if (!passed_over.empty()) notes.push_back(passed_over);
  costs.count(*choice);
  return std::make_unique<Runner>(problem.context(), std::move(choice), &problem.matrix());
}

// True residuals that most solves ask for.
constexpr double usual_confirmations = 2;

CostBook book_with(double seconds) {
  CostBook book;
  book.add(seconds);
  return book;
}

}  // namespace

PcgSetup::PcgSetup(TakenIn taken, const PcgSettings &settings, const NullSpace &null_space, double before_s,
                   Notes &notes)
    : taken_(std::move(taken)),
      problem_{settings, taken_, null_space},
      book_(book_with(before_s)),
      truth_(build_truth(problem_, book_, notes)),
      product_(PcgChooser(problem_, left_out_, book_, notes).product()),
      plan_(make_plan(notes)),
      watch_(taken_.callers().version()) {
  if (!plan_.engine)
    plan_.engine = PcgChooser(problem_, left_out_, book_, notes).build_engine(plan_.system, expected());
  plan_.system.answers.clear();
  const Choice &engine = plan_.engine->choice();
  costs_ = predict_solve(problem_, system().seen(), engine, truth_->choice(), expected().assumed,
                         system().order().has_value());
  book_.count(engine);
  book_.add(outlook().seconds);
  std::set<const Matrix *> all{&taken_.callers(), &taken_.matrix()};
  for (const Matrix *each : system().matrices()) all.insert(each);
  for (const Matrix *each : all)
    if (each) book_.add(each->built_seconds());
}

PcgPlan PcgSetup::make_plan(Notes &notes) {
  PcgChooser chooser(problem_, left_out_, book_, notes);
  return PcgPlanner(problem_, chooser, *product_, left_out_, book_, notes).plan();
}

WorkspaceShape PcgSetup::workspace_shape() const {
  const bool narrow = system().narrow(), ordered = system().order().has_value(), null = !problem_.null_space.empty();
  const Matrix &matrix = problem_.matrix();
  WorkspaceShape out;
  out.bytes = static_cast<std::uint64_t>(matrix.rows() * value_bytes(matrix.value_type()));
  out.truth_scratch = truth_->prepared().bound().scratch_bytes;
  out.sum = narrow;
  out.rhs = system().changes_rhs() || narrow;
  out.candidate = system().scaling() || narrow || null;
  out.solvable = null;
  out.own_order = ordered;
  return out;
}

Runner *PcgSetup::columns_engine(std::int32_t columns) {
  // Corrections of a rounded matrix are each column's own.
  if (!plan_.engine || system().narrow()) return nullptr;
  return columns_.get(problem_, system(), plan_.engine->choice(), expected(), left_out_, columns);
}

void PcgSetup::refresh(const Looked &now, bool stale, bool in_use, Notes &notes) {
  taken_.take_new_values(now);
  if (stale && !problem_.null_space.empty()) problem_.null_space.check(taken_.matrix().csr());
  plan_.system.refresh(taken_.matrix());
  truth_->prepared().refresh_if_stale();
  refresh_chosen(in_use, notes);
  wide_.refresh();
  columns_.refresh();
}

// Kernels that hold values take the new ones now; one that does not serve them is replaced by the next candidate.
void PcgSetup::refresh_chosen(bool in_use, Notes &notes) {
  const auto or_again = [&](Runner &runner, auto &&build) {
    try {
      runner.prepared().refresh_if_stale();
    } catch (const Declined &declined) {
      left_out_.try_emplace(&declined.kernel(), declined.what());
      notes.push_back(text(declined.what(), "; the next candidate took over"));
      build();
    }
  };
  or_again(*product_, [&] { product_ = PcgChooser(problem_, left_out_, book_, notes).product(); });
  if (!plan_.engine) return rebuild_engine(in_use, notes);  // the last try failed
  or_again(*plan_.engine, [&] { rebuild_engine(in_use, notes); });
}

void PcgSetup::rebuild_engine(bool in_use, Notes &notes) {
  if (plan_.engine && in_use) replaced_.push_back(std::move(plan_.engine));
  plan_.engine.reset();
  columns_.drop();
  wide_.drop();
  plan_.engine = PcgChooser(problem_, left_out_, book_, notes).build_engine(plan_.system, expected());
  plan_.system.answers.clear();
}

void PcgSetup::explain(Explanation &out) const {
  const Choice &engine = plan_.engine->choice();
  const std::string scaled = system().scaling() ? " (as symmetric scaling)" : "";
  const std::string precision = system().narrow() ? ", values in f32" : "";
  const double iterations = expected().iterations;
  out.facts = {{"device", problem_.context().describe()},
               {"preconditioner", system().method() + scaled},
               {"engine", engine.kernel->name()},
               {"order", system().order_text()},
               {"format", format_text(engine.storage) + precision},
               {"iterations", text("about ", static_cast<std::int64_t>(iterations), " (", outlook().from, ")")},
               {"predicted setup", seconds_text(predicted_seconds())},
               {"predicted solve", seconds_text(costs_.solve_s(iterations, usual_confirmations))}};
  if (!problem_.null_space.empty()) out.facts.push_back({"null space", text(problem_.null_space.count(), " given")});
  if (system().preconditioner()) out.choices.push_back(system().preconditioner_choice());
  for (Runner *each : {plan_.engine.get(), truth_.get(), product_.get()})
    out.choices.push_back(each->prepared().shared_choice());
  if (system().order()) out.choices.push_back(system().order()->choice);
  columns_.append_choices(out.choices);
}

}  // namespace sextant
