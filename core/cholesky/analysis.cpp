// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/analysis.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/cholesky/ordering.hpp"
#include "core/cholesky/single_values.hpp"
#include "core/choose/make_choice.hpp"
#include "core/choose/selector.hpp"
#include "core/conformance/conformance.hpp"
#include "core/matrix/checks.hpp"
#include "core/matrix/symmetric_enough.hpp"

namespace sextant::cholesky {

namespace {

using Clock = std::chrono::steady_clock;

const char *role_of(const Asked &asked) {
  const bool sets = asked.n_sets > 1;
  return asked.phase == SXT_CHOLESKY_FACTOR  ? (sets ? "cholesky/sets/factor" : "cholesky/factor")
         : asked.phase == SXT_CHOLESKY_SOLVE ? (sets ? "cholesky/sets/solve" : "cholesky/solve")
                                             : "cholesky/inverse";
}

Pattern pattern_of(const Matrix &matrix) {
  const CsrArrays &csr = matrix.csr();
  return {csr.rows, csr.index_type, csr.offset_type, csr.row_ptr.data(), csr.col.data(), Triangles::both};
}

SelectorOptions forced_scheduler(const std::string &name) {
  SelectorOptions options;
  if (!name.empty()) options.forced[SXT_KIND_CHOLESKY] = name;
  return options;
}

// Solves with a factor in single precision until a solution has the accuracy of the working one: each adds six to seven
// digits less those that the condition takes.
constexpr double solves_to_refine = 3;

}  // namespace

std::int64_t columns_class(std::int64_t n_rhs) {
  constexpr std::array<std::int64_t, 3> classes = {1, 8, Analysis::most_columns};
  return *std::lower_bound(classes.begin(), classes.end(), n_rhs);
}

Analysis::Analysis(std::shared_ptr<Matrix> matrix, Settings settings, const std::string &saved)
    : matrix_(std::move(matrix)), settings_(std::move(settings)), factor_type_(matrix_->value_type()) {
  const Clock::time_point start = Clock::now();
  if (settings_.precision != SXT_PRECISION_AUTO) choose_precision();
  saved.empty() ? find_structure() : load_structure(saved);
  shape_ = symbolic_->summary();
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  if (settings_.precision == SXT_PRECISION_AUTO) choose_precision();
  find_scheduler();
}

sxt_cholesky_query Analysis::query_of(const Asked &asked, const sxt_cholesky_query &shape) const {
  sxt_cholesky_query out = shape;
  const double runs = asked.phase == SXT_CHOLESKY_FACTOR ? settings_.expected_factors : settings_.expected_solves;
  out.m = matrix_->query_part(SXT_KIND_CHOLESKY, sizeof out, runs);
  out.m.q.flags &= ~std::uint32_t{SXT_QUERY_MATRIX};  // the structure is the problem; kernels read no storage
  if (single()) out.m.q.value_type = out.m.matrix_type = factor_type_;
  if (single() && settings_.precision == SXT_PRECISION_ROUNDED) out.m.q.flags |= SXT_QUERY_ROUNDED;
  out.phase = asked.phase;
  out.factors = settings_.factorization;
  out.n_rhs = asked.phase == SXT_CHOLESKY_SOLVE ? asked.n_rhs : 0;
  out.n_sets = asked.n_sets;
  return out;
}

// What is corrected takes, beside solves: residuals of all right-hand sides.
double Analysis::correction_seconds() const {
  return (solves_to_refine + 1) * settings_.expected_solves * static_cast<double>(settings_.expected_rhs) * residual_s_;
}

// Whether `solver` works on a factor that `maker` made.
bool serves(const registry::Kernel &solver, const registry::Kernel &maker) {
  return &solver == &maker || (solver.has(SXT_KERNEL_COMMON_FACTOR) &&
                               (maker.has(SXT_KERNEL_COMMON_FACTOR) || maker.has(SXT_KERNEL_PLAIN_FACTOR)));
}

// Seconds of all that is expected, by the scheduler that factors: all factorisations, and all solves by the best
// scheduler that takes its factors.
std::map<const registry::Kernel *, double> Analysis::totals(const sxt_cholesky_query &shape,
                                                            std::int64_t n_sets) const {
  Selector selector(context(), nullptr, forced_scheduler(settings_.scheduler));
  std::map<const registry::Kernel *, double> factor, solve;
  const auto least = [&](std::int32_t phase, std::map<const registry::Kernel *, double> &out) {
    const Asked about{phase, settings_.expected_rhs, n_sets};
    const sxt_cholesky_query asked = query_of(about, shape);
    for (const ChoicePtr &choice : selector.every({.query = Query(&asked.m.q), .role = role_of(about)}))
      out.try_emplace(choice->kernel, choice->total_s);  // the least comes first
  };
  least(SXT_CHOLESKY_FACTOR, factor);
  least(SXT_CHOLESKY_SOLVE, solve);
  for (auto &[maker, seconds] : factor) {
    double best = std::numeric_limits<double>::infinity();
    for (const auto &[solver, its] : solve)
      if (serves(*solver, *maker)) best = std::min(best, its);
    seconds += single() ? solves_to_refine * best + correction_seconds() : best;
  }
  return factor;
}

double Analysis::least_seconds(const sxt_cholesky_query &shape) const {
  double least = std::numeric_limits<double>::infinity(), reference = least;
  for (const auto &[kernel, seconds] : totals(shape, 1)) {
    if (!settings_.scheduler.empty() && settings_.scheduler != kernel->name()) continue;
    double &best = kernel->has(SXT_KERNEL_REFERENCE) ? reference : least;
    best = std::min(best, seconds);
  }
  return (least < std::numeric_limits<double>::infinity() ? least : reference) / settings_.expected_factors;
}

LeftOut Analysis::others(std::int64_t n_sets, bool own_only) const {
  LeftOut out;
  const char *by = "";
  if (!settings_.scheduler.empty() || !context().forced(SXT_KIND_CHOLESKY, &by).empty()) return out;
  for (const registry::Kernel *kernel : context().scope().kernels(SXT_KIND_CHOLESKY, context().device_name()))
    if (own_only && !kernel->plugin->own) out.emplace(kernel, text("a third party's: sets take the library's own alone"));
  if (context().plan().loaded()) return out;
  std::map<const registry::Kernel *, double> all = totals(shape_, n_sets);
  std::erase_if(all, [&](const auto &each) { return out.contains(each.first); });
  const auto better = [](const auto &a, const auto &b) {
    const bool a_reference = a.first->has(SXT_KERNEL_REFERENCE), b_reference = b.first->has(SXT_KERNEL_REFERENCE);
    return a_reference != b_reference ? b_reference : a.second < b.second;
  };
  // One that is not proven to be right keeps no other one out.
  const sxt_cholesky_query asked = query_of({SXT_CHOLESKY_FACTOR, 0, n_sets}, shape_);
  auto best = all.end();
  while (!all.empty()) {
    best = std::min_element(all.begin(), all.end(), better);
    const Query factoring(&asked.m.q);
    std::string why_not = conformance::self_test(*best->first, context().device(), &factoring, context().scope());
    if (why_not.empty()) break;
    out.emplace(best->first, std::move(why_not));
    all.erase(best);
  }
  for (const auto &[kernel, seconds] : all) {
    if (kernel == best->first) continue;
    if (kernel->has(SXT_KERNEL_REFERENCE))
      out.emplace(kernel, text("reference kernel: taken only when nothing else applies"));
    else
      out.emplace(kernel, text("factorisations and solves are predicted to take ", seconds_text(seconds), " together, ",
                               best->first->name(), " ", seconds_text(best->second)));
  }
  return out;
}

ChoicePtr Analysis::choose(const Asked &asked, const LeftOut &left_out, bool record) const {
  const Choice *const maker = asked.maker.get();
  SelectorOptions options = forced_scheduler(settings_.scheduler);
  options.left_out = left_out;
  const char *by = "";
  const std::string asked_for = context().forced(SXT_KIND_CHOLESKY, &by);
  const auto kernels = registry::Registry::instance().kernels(SXT_KIND_CHOLESKY, context().device_name());
  if (maker && asked.phase == SXT_CHOLESKY_INVERSE && maker->kernel->has(SXT_KERNEL_PLAIN_FACTOR)) {
    // Such a scheduler leaves the inverse to one that reads its factor, also where it was forced.
    for (const registry::Kernel *kernel : kernels)
      if (kernel != maker->kernel && serves(*kernel, *maker->kernel))
        options.forced[SXT_KIND_CHOLESKY] = kernel->name();
  } else if (maker && maker->forced) {
    options.forced[SXT_KIND_CHOLESKY] = maker->kernel->name();
  } else if (maker) {
    for (const registry::Kernel *kernel : kernels)
      if (!serves(*kernel, *maker->kernel)) {
        options.left_out.try_emplace(kernel, text("factored by ", maker->kernel->name()));
        // Forced after the factor was made: what is there stays solvable.
        if (kernel->name() == asked_for) options.forced[SXT_KIND_CHOLESKY] = maker->kernel->name();
      }
  }
  Selector selector(context(), nullptr, std::move(options));
  const sxt_cholesky_query query = query_of(asked, shape_);
  Question question{.query = Query(&query.m.q), .role = role_of(asked)};
  return record ? selector.select(std::move(question)) : selector.propose(std::move(question));
}

void Analysis::find_scheduler() {
  LeftOut left_out = others(1, false);
  prepared_ = make_choice(
      context(), left_out, [&](const LeftOut &out) { return choose({SXT_CHOLESKY_FACTOR}, out, settings_.recorded); },
      [&](ChoicePtr choice) {
        return std::make_unique<Prepared>(context(), std::move(choice), nullptr, &symbolic_->view().h);
      });
  factor_choice_ = prepared_->shared_choice();
  const std::int64_t columns = columns_class(std::min(settings_.expected_rhs, most_columns));
  solve_choice_ = choose({SXT_CHOLESKY_SOLVE, columns, 1, factor_choice_}, {}, settings_.recorded);
}

void Analysis::find_structure() {
  const Pattern pattern = pattern_of(*matrix_);
  const int threads = context().threads();
  const Graph graph = make_graph(pattern, threads);
  FoundOrder found =
      find_order(context(), graph, settings_, [this](const sxt_cholesky_query &shape) { return least_seconds(shape); });
  method_ = std::move(found.method);
  notes_ = std::move(found.notes);
  symbolic_ = std::make_shared<const Symbolic>(pattern, graph, std::move(found.elimination), found.partition, threads);
}

void Analysis::load_structure(const std::string &path) {
  require(
      settings_.order.empty() && settings_.permutation.empty() && settings_.amalgamation == 0 && settings_.block == 0,
      SXT_E_ARGUMENT, "options say an order or widths, which ", path, " says, too: leave them out");
  symbolic_ = std::make_shared<const Symbolic>(
      Symbolic::load(path, pattern_of(*matrix_), matrix_->pattern_hash(), context().threads()));
  const sxt_symbolic &s = symbolic_->view();
  const auto n_schur = static_cast<std::int64_t>(settings_.schur_rows.size());
  require(s.n - s.n_factored == n_schur, SXT_E_PLAN, path, " leaves ", s.n - s.n_factored,
          " rows unfactored, options->schur_rows ", n_schur);
  for (const std::int32_t row : settings_.schur_rows)
    require(s.inverse[row] >= s.n_factored, SXT_E_PLAN, "row ", row,
            " (counting from 0) of options->schur_rows is factored by ", path);
  method_ = "saved";
  notes_.push_back("order: read from " + path);
}

void Analysis::save(const std::string &path) const { symbolic_->save(path, matrix_->pattern_hash()); }

std::unique_ptr<Session> Analysis::open_factor() const { return prepared_->open(); }

Runner &Analysis::runner(std::int32_t phase, std::int64_t n_rhs) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Runner> &held = runners_[{phase, n_rhs}];
  if (!held)
    held = std::make_unique<Runner>(context(), choose({phase, n_rhs, 1, factor_choice_}, {}, false), nullptr,
                                    &symbolic_->view().h);
  return *held;
}

Runner &Analysis::solver(std::int64_t n_rhs) const { return runner(SXT_CHOLESKY_SOLVE, columns_class(n_rhs)); }

Runner &Analysis::inverter() const { return runner(SXT_CHOLESKY_INVERSE, 0); }

double Analysis::solve_seconds(std::int64_t n_rhs) const {
  const std::int64_t groups = n_rhs / most_columns, rest = n_rhs % most_columns;
  return (groups > 0 ? static_cast<double>(groups) * group_seconds(most_columns) : 0) +
         (rest > 0 ? group_seconds(rest) : 0);
}

// Of right-hand sides that one call takes; sessions are made for classes of them.
double Analysis::group_seconds(std::int64_t n_rhs) const {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = seconds_of_.try_emplace(n_rhs);
  if (is_new) {
    try {
      known->second = choose({SXT_CHOLESKY_SOLVE, n_rhs, 1, factor_choice_}, {}, false)->run_s;
    } catch (...) {
      seconds_of_.erase(known);
      throw;
    }
  }
  return known->second;
}

std::int64_t Analysis::place_of(std::int64_t row, std::int64_t col) const {
  const sxt_symbolic &s = symbolic();
  const std::int64_t super = std::upper_bound(s.super_ptr, s.super_ptr + s.n_super + 1, col) - s.super_ptr - 1;
  const std::int32_t *const begin = s.rows + s.row_ptr[super], *const end = s.rows + s.row_ptr[super + 1];
  const std::int32_t *const at = std::lower_bound(begin, end, static_cast<std::int32_t>(row));
  if (at == end || *at != row) return -1;
  return s.value_ptr[super] + (at - begin) + (col - s.super_ptr[super]) * (end - begin);
}

void Analysis::check_same_pattern(Matrix &matrix) const {
  if (&matrix == matrix_.get()) return;
  require(matrix.context().id() == context().id(), SXT_E_ARGUMENT, "a belongs to another context than the analysis");
  require(matrix.value_type() == value_type(), SXT_E_TYPE, "a holds ", value_name(matrix.value_type()),
          ", the matrix analysed ", value_name(value_type()));
  require(
      matrix.rows() == matrix_->rows() && matrix.cols() == matrix_->cols() && matrix.csr().nnz == matrix_->csr().nnz,
      SXT_E_DIMENSION, "a has ", matrix.rows(), " rows and ", matrix.csr().nnz, " entries, the matrix analysed ",
      matrix_->rows(), " and ", matrix_->csr().nnz);
  // Entry by entry: a hash of a large pattern is one of samples.
  const auto same = [](const Buffer &one, const Buffer &other) {
    return one.bytes() == other.bytes() && std::memcmp(one.data(), other.data(), one.bytes()) == 0;
  };
  const CsrArrays &own = matrix_->csr(), &its = matrix.csr();
  require(own.nnz == 0 || (same(its.row_ptr, own.row_ptr) && same(its.col, own.col)), SXT_E_DIMENSION,
          "a has as many entries as the matrix analysed, but not in the same places: analyse it, too");
}

bool Analysis::compares(const Matrix &matrix) const { return settings_.check_symmetry && !matrix.surely_hermitian(); }

void Analysis::reserve_for_values(Buffer &work) const {
  if (compares(*matrix_)) reserve_for_check(matrix_->csr(), context().threads(), work);
}

void Analysis::check_values(const Matrix &matrix, Buffer &work) const {
  if (!compares(matrix)) return;
  check_hermitian(matrix.csr(), context().threads(), work,
                  SymmetryTolerance(settings_.symmetry_tolerance, value_type()));
}

std::pair<std::uint64_t, std::uint64_t> session_bytes(const Choice &choice, const sxt_symbolic &symbolic,
                                                      const sxt_machine &machine) {
  std::uint64_t host = 0, device = 0;
  if (const auto *ops = static_cast<const sxt_cholesky_ops *>(choice.kernel->table.ops); ops && ops->bytes)
    ops->bytes(choice.query.get(), &symbolic, &machine, &choice.candidate, &host, &device);
  return {host, device};
}

sxt_analysis_info Analysis::info() const {
  const sxt_symbolic &s = symbolic();
  sxt_analysis_info info{};
  info.struct_size = sizeof info;
  info.n = s.n;
  info.nnz_a = matrix_->csr().nnz;
  info.nnz_l = s.nnz_l;
  info.stored_values = s.values;
  info.supernodes = s.n_super;
  info.largest_front = s.max_rows;
  info.flops = s.flops;
  info.factor_bytes = static_cast<std::uint64_t>(s.values * value_bytes(factor_type_));
  info.factor_type = factor_type_;
  for (const ChoicePtr &choice : {factor_choice_, solve_choice_}) {
    const auto [host, device] = session_bytes(*choice, s, context().machine());
    info.host_bytes += host;
    info.device_bytes += device;
  }
  const auto values_bytes = static_cast<std::uint64_t>(info.nnz_a * value_bytes(factor_type_));
  info.host_bytes += symbolic_->bytes();
  if (single()) info.host_bytes += values_bytes + SingleValues::bytes_a_row * static_cast<std::uint64_t>(s.n);
  if (context().device().on_host())
    info.host_bytes += info.factor_bytes + std::exchange(info.device_bytes, 0);
  else
    info.device_bytes += info.factor_bytes + values_bytes + (single() ? 8 * static_cast<std::uint64_t>(s.n) : 0);
  info.analysis_seconds = seconds_;
  info.predicted_factor_seconds = factor_choice_->run_s;
  info.predicted_solve_seconds = solve_seconds(settings_.expected_rhs);
  info.amalgamation = symbolic_->options().amalgamation;
  info.block = symbolic_->options().block;
  return info;
}

void Analysis::check_memory() const {
  const sxt_analysis_info about = info();
  check_memory("a factor", context().device().on_host() ? about.host_bytes : about.device_bytes);
}

void Analysis::check_memory(const char *what, std::uint64_t takes) const {
  const std::uint64_t there = settings_.memory_limit ? settings_.memory_limit : context().machine().memory_bytes;
  require(there == 0 || takes <= there, SXT_E_MEMORY, what, " takes ", takes, " bytes (",
          bytes_text(static_cast<double>(takes)), "), and ",
          settings_.memory_limit ? "options->memory_limit is " : "the device has ", there, ": ", takes - there,
          " bytes are missing");
}

Explanation Analysis::explain() const {
  const sxt_analysis_info about = info();
  const auto bytes = [](std::uint64_t count) { return bytes_text(static_cast<double>(count)); };
  Explanation out;
  out.title = "sparse Cholesky";
  out.facts = {
      {"device", context().describe()},
      {"matrix", text(about.n, " rows, ", about.nnz_a, " entries of ", value_name(value_type()))},
      {"order", method_},
      {"factor", text(about.nnz_l, " entries of L, ", about.stored_values, " numbers stored (",
                      bytes(about.factor_bytes), "), ", about.supernodes, " supernodes, ", about.flops, " flops")},
      {"widths",
       text("supernodes narrower than ", about.amalgamation, " may be joined, block columns of ", about.block)},
      {"precision",
       single() ? text("factors in ", value_name(factor_type_), ", solutions refined to ", value_name(value_type()))
                : text(value_name(factor_type_))},
      {"memory", text(bytes(about.host_bytes), " on the host, ", bytes(about.device_bytes), " on the device")},
      {"analysis", seconds_text(about.analysis_seconds)}};
  out.notes = notes_;
  out.choices = {factor_choice_, solve_choice_};
  return out;
}

}  // namespace sextant::cholesky
