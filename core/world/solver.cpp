// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/solver.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/units.hpp"
#include "core/pcg/choosing.hpp"
#include "core/pcg/clock.hpp"
#include "core/world/loop.hpp"

namespace sextant {

namespace {

constexpr const char *call = "sxt_pcg_create";
// What more members must save: what they cost is certain, what they save is predicted, by models that are some per cent
// off.
constexpr double least_saved = 0.05;
// Of an iteration on one member at least: its vectors read and written, and a part of A.
constexpr double passes_at_best = 7, part_of_values = 0.5;
// Launches of one on several devices at least.
constexpr double launches_at_best = 6;

}  // namespace

// ---- on fewer members

struct WorldSolver::Fewer {
  Regrouped to;
  std::shared_ptr<Matrix> whole;  // of one member
  std::unique_ptr<PcgSolver> solver;
  std::shared_ptr<WorldMatrix> regrouped;  // of several
  std::unique_ptr<WorldPcg> world;
  std::unique_ptr<MovedVector> b, x;
  std::uint64_t version = 0;  // of the caller's values

  sxt_pcg_report solve(const SolveSettings &settings, const std::vector<void *> &rhs, const std::vector<void *> &to_x) {
    if (solver) return solver->solve(rhs[0], to_x[0], settings);
    return world->solve({rhs.begin(), rhs.end()}, to_x, settings);
  }
  void take_values(const WorldMatrix &from) {
    if (version == from.version()) return;
    const Buffer &values = from.own_rows().values;
    if (whole)
      whole->rewrite_values([&](Buffer &to_values) { std::memcpy(to_values.data(), values.data(), values.bytes()); },
                            false);
    else
      regrouped->update_values(values.data(), from.own_rows().nnz);
    version = from.version();
  }
};

std::unique_ptr<WorldSolver::Fewer> WorldSolver::make_fewer(std::int32_t count) const {
  auto out = std::make_unique<Fewer>();
  World &world = matrix_->world();
  out->to.members.assign(fastest_.begin(), fastest_.begin() + count);
  std::sort(out->to.members.begin(), out->to.members.end());
  if (count == 1) {
    const std::shared_ptr<Context> &context = world.shared_context(out->to.members[0]);
    Assembled assembled;
    assembled.csr = copied(matrix_->own_rows(), context->allocator());
    out->whole = std::make_shared<Matrix>(context, std::move(assembled), matrix_->given().symmetry,
                                          matrix_->given().check_finite);
    PcgSettings settings = settings_;
    settings.engine.clear();
    settings.recurrence.clear();
    out->solver = std::make_unique<PcgSolver>(out->whole, settings);
    out->to.begin = {0, matrix_->given().rows};
  } else {
    World::Contexts contexts;
    for (const std::size_t i : out->to.members) contexts.push_back(world.shared_context(i));
    const auto smaller = std::make_shared<World>([&] { return contexts; }, nullptr, world.comm().time_limit());
    out->regrouped = matrix_->among(smaller);
    out->world = std::make_unique<WorldPcg>(out->regrouped, settings_);
    out->to.begin = out->regrouped->begin();
  }
  out->b = std::make_unique<MovedVector>(*matrix_, out->to);
  out->x = std::make_unique<MovedVector>(*matrix_, out->to);
  out->version = matrix_->version();
  return out;
}

// ---- how many

WorldSolver::WorldSolver(std::shared_ptr<WorldMatrix> matrix, const PcgSettings &settings)
    : matrix_(std::move(matrix)), settings_(settings) {
  if (settings_.rtol < 0) settings_.rtol = default_rtol(matrix_->value_type());
  fastest_.resize(matrix_->world().own());
  std::iota(fastest_.begin(), fastest_.end(), std::size_t{0});
  const World &world = matrix_->world();
  const auto rate = [&](std::size_t i) { return world.rates()[static_cast<std::size_t>(world.first()) + i]; };
  std::stable_sort(fastest_.begin(), fastest_.end(), [&](std::size_t a, std::size_t b) { return rate(a) > rate(b); });
  why_ = why_no_choice();
  if (why_.empty())
    choose();
  else
    all_ = std::make_unique<WorldPcg>(matrix_, settings_);
}

WorldSolver::~WorldSolver() = default;

std::int32_t WorldSolver::members_asked(const std::string &engine, const World &world) {
  if (engine.rfind(on_members, 0) != 0) return 0;
  const char *const digits = engine.c_str() + std::strlen(on_members), *const end = engine.c_str() + engine.size();
  std::int32_t count = 0;
  const auto [stop, problem] = std::from_chars(digits, end, count);
  require(problem == std::errc() && stop == end && count >= 1 && count <= world.members(), SXT_E_NOT_SUPPORTED,
          "options->engine is ", engine, ", but the world has ", world.members(), " members: world.members:1 to ",
          world.members());
  require(world.ranks() == 1 || count == world.members(), SXT_E_NOT_SUPPORTED, "options->engine is ", engine,
          ", but rows of other ranks stay with them: all ", world.members(), " members are used");
  return count;
}

std::string WorldSolver::why_no_choice() const {
  const World &world = matrix_->world();
  if (settings_.engine == WorldLoop::by_host || settings_.engine == WorldLoop::on_devices)
    return "options->engine is " + settings_.engine;
  if (world.ranks() > 1) return "rows of other ranks stay with them";
  if (world.context(0).deterministic() && settings_.engine.empty())
    return "contexts are deterministic: bits do not depend on how members are grouped into ranks";
  return "";
}

// Seconds of an iteration on all members at best: launches of each device. The CPU's members work one after the other.
double WorldSolver::least_of_all() const {
  const World &world = matrix_->world();
  double least = 0;
  for (std::size_t i = 0; i < world.own(); ++i) {
    const sxt_machine &machine = world.context(i).machine();
    if (matrix_->rows_of(i) > 0 && !world.context(i).device().on_host())
      least = std::max(least, launches_at_best * machine.launch_s);
  }
  return least;
}

void WorldSolver::weigh_one() {
  one_considered_.members = 1;
  try {
    fewer_ = make_fewer(1);
  } catch (const Error &error) {
    if (error.status() != SXT_E_MEMORY && error.status() != SXT_E_NO_KERNEL) throw;
    one_considered_.why = error.what();
    return;
  } catch (const std::bad_alloc &) {
    one_considered_.why = "there is no memory for the whole matrix";
    return;
  }
  const double iterations = std::max(1.0, fewer_->solver->expected_iterations());
  const SolveCosts costs = fewer_->solver->costs();
  one_considered_.iteration_s = costs.iteration_s;
  one_considered_.solve_s = costs.engine_s + iterations * costs.iteration_s;
  one_considered_.why = text("about ", static_cast<std::int64_t>(iterations), " iterations on member ",
                             fewer_->to.members[0] + static_cast<std::size_t>(matrix_->world().first()));
}

// Iterations with the members' preconditioner, from those that one member expects with its own: by what the kernels of
// both say that they typically take beside the diagonal.
double WorldSolver::iterations_of_all() const {
  if (settings_.expected_iterations > 0) return settings_.expected_iterations;
  if (!fewer_ || !fewer_->solver) return usual_iterations;
  const auto share = [&](const std::string &method) {
    for (const PreconditionerMethod &each : preconditioner_methods(matrix_->world().context(fastest_[0])))
      if (each.name == method && each.typical_iterations > 0) return each.typical_iterations;
    return 1.0;
  };
  return std::max(1.0, fewer_->solver->expected_iterations()) * share(all_->method()) / share(fewer_->solver->method());
}

void WorldSolver::weigh_all() {
  if (!all_) all_ = std::make_unique<WorldPcg>(matrix_, settings_);
  price_of_all_ = all_->price();
  all_considered_.members = matrix_->world().members();
  all_considered_.iteration_s = price_of_all_.seconds();
  all_considered_.solve_s = iterations_of_all() * all_considered_.iteration_s;
  all_considered_.why = price_of_all_.parts();
}

// Fewer than all but several: worth building where the formula says that they end soonest by far.
void WorldSolver::weigh_between() {
  const std::int32_t members = matrix_->world().members();
  const double launch_s = matrix_->world().context(fastest_[0]).machine().launch_s;
  for (std::int32_t count = 2; count < members; ++count) {
    MembersConsidered each{count, price_of_all_.on(count, members, launch_s), 0, "as a share of all members' work"};
    each.solve_s = all_considered_.solve_s * each.iteration_s / std::max(1e-300, all_considered_.iteration_s);
    if (between_.members == 0 || each.iteration_s < between_.iteration_s) between_ = each;
    considered_.push_back(each);
  }
}

// Seconds of an iteration on one member at best.
double WorldSolver::least_of_one() const {
  const sxt_machine &best = matrix_->world().context(fastest_[0]).machine();
  const auto value = static_cast<double>(value_bytes(matrix_->value_type()));
  return value *
         (passes_at_best * static_cast<double>(matrix_->given().rows) +
          part_of_values * static_cast<double>(matrix_->nnz())) /
         std::max(1.0, best.stream_rate);
}

// What is out by a bound alone is not built.
void WorldSolver::choose() {
  WorldPcg::check_settings_of_world(*matrix_, settings_);
  check_settings(settings_, matrix_->value_type());
  const std::int32_t members = matrix_->world().members(), asked = members_asked(settings_.engine, matrix_->world());
  if (asked > 0) why_ = "options->engine is " + std::exchange(settings_.engine, "");
  if (members == 1) why_ = "there is one member";
  if (asked > 1 && asked < members) {
    fewer_ = make_fewer(asked);
  } else if (asked > 1) {
    all_ = std::make_unique<WorldPcg>(matrix_, settings_);
  } else if (!why_.empty()) {
    weigh_one();
    require(fewer_ != nullptr, SXT_E_MEMORY, one_considered_.why);
  }
  if (!why_.empty()) return;
  const double least_one_s = least_of_one(), least_all_s = least_of_all();
  if (least_one_s > 4 * least_all_s) weigh_all();
  if (all_ && all_considered_.iteration_s < (1 - least_saved) * least_one_s) {
    one_considered_ = {1, least_one_s, 0, "at best, by its vectors and half of the entries alone"};
  } else {
    weigh_one();
    if (fewer_ && one_considered_.iteration_s <= least_all_s)
      all_considered_ = {matrix_->world().members(), least_all_s, 0, "at best, by launches alone"};
    else
      weigh_all();
  }
  if (all_) weigh_between();
  settle();
}

void WorldSolver::settle() {
  const double one_s = fewer_ ? one_considered_.solve_s : std::numeric_limits<double>::infinity();
  const bool all_pay = all_ && all_considered_.solve_s < (1 - least_saved) * one_s;
  if (why_.empty()) why_ = all_pay ? "predicted to end soonest" : "more members are not predicted to save 5 %";
  if (all_pay || !fewer_) {
    fewer_.reset();
    if (between_.members > 1 && between_.iteration_s < (1 - least_saved) * all_considered_.iteration_s) {
      fewer_ = make_fewer(between_.members);
      all_.reset();
    }
  } else {
    all_.reset();
  }
  considered_.insert(considered_.begin(), one_considered_);
  considered_.push_back(all_considered_);
}

// ---- solves

sxt_pcg_report WorldSolver::solve(const std::vector<const void *> &b, const std::vector<void *> &x,
                                  const SolveSettings &settings) {
  if (all_) return all_->solve(b, x, settings);
  const Clock clock;
  sxt_pcg_report report{};
  World &world = matrix_->world();
  world.together("sxt_pcg_solve", 5, [&](Frame &) {
    fewer_->take_values(*matrix_);
    std::vector<void *> rhs;
    for (const void *part : b) rhs.push_back(const_cast<void *>(part));  // read only
    {
      const Lanes lanes(world);
      fewer_->b->bring(rhs, lanes);
      if (settings.use_initial_guess) fewer_->x->bring(x, lanes);
      lanes.finish();
    }
    report = fewer_->solve(settings, fewer_->b->parts(rhs), fewer_->x->parts(x));
    const Lanes lanes(world);
    fewer_->x->give_back(x, lanes);
  });
  solve_s_ = clock.seconds();
  return report;
}

// ---- what is told

void WorldSolver::tell(Explanation &out) const {
  const World &world = matrix_->world();
  const std::size_t used = fewer_ ? fewer_->to.members.size() : static_cast<std::size_t>(world.members());
  out.facts.insert(out.facts.begin(), {"members used", text(used, " of ", world.members(), ": ", why_)});
  out.facts.insert(out.facts.begin() + 1,
                   {"imbalance", text(std::round(100 * matrix_->imbalance()) / 100,
                                      ": memory traffic of the slowest member over the mean, of this process")});
  if (matrix_->partition_choice()) out.choices.push_back(matrix_->partition_choice());
  for (const MembersConsidered &each : considered_) {
    if (each.members == 0) continue;
    const bool chosen = static_cast<std::size_t>(each.members) == used;
    std::string line = text(each.members, each.members == 1 ? " member" : " members", chosen ? ", used: " : ": ");
    if (each.iteration_s > 0) line += seconds_text(each.iteration_s) + " an iteration predicted, ";
    out.notes.push_back(line + each.why);
  }
}

Explanation WorldSolver::explain() const {
  Explanation out;
  if (all_) {
    out = all_->explain();
  } else if (fewer_->solver) {
    out = fewer_->solver->explain();
    out.title =
        "Conjugate gradients in a world, on one member: " +
        text(matrix_->given().rows, " unknowns, ", matrix_->nnz(), " nonzeros, ", value_name(matrix_->value_type()));
  } else {
    out = fewer_->world->explain();
  }
  tell(out);
  return out;
}

// Rows and blocks are those of the caller's division, whichever members solve.
sxt_member_report WorldSolver::member(std::size_t own) const {
  if (all_) return all_->member(own);
  sxt_member_report out = member_blocks(*matrix_, own);
  const auto at = std::find(fewer_->to.members.begin(), fewer_->to.members.end(), own);
  if (at == fewer_->to.members.end()) return out;
  if (fewer_->solver) {
    out.product_seconds = solve_s_;
    return out;
  }
  const sxt_member_report inner = fewer_->world->member(static_cast<std::size_t>(at - fewer_->to.members.begin()));
  out.product_seconds = inner.product_seconds;
  out.exchange_seconds = inner.exchange_seconds;
  out.waiting_seconds = inner.waiting_seconds;
  return out;
}

}  // namespace sextant
