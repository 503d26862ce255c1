// SPDX-License-Identifier: BSD-3-Clause
// Iterative refinement of right-hand sides (Wilkinson 1963; Higham 2002, chapter 12): residuals come in twice the
// working precision from the one kernel that may judge answers, corrections from the factor, also from one in single
// precision (Carson and Higham 2018). The same residual judges schedulers of third parties.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/types.hpp"
#include "core/cholesky/factor.hpp"
#include "core/choose/selector.hpp"
#include "core/device/capturing.hpp"
#include "core/device/stage.hpp"
#include "core/operations/operations.hpp"
#include "core/run/truth.hpp"
#include "sextant/plugin/kinds/convert.h"
#include "sextant/plugin/kinds/residual.h"

namespace sextant::cholesky {

namespace {

// A step that leaves more than this part of the residual does not help any more.
constexpr double least_fall = 0.5;
constexpr std::int64_t most_refined = 8;  // columns at once: each takes four vectors
// With a factor in single precision: steps until the working precision is reached, each of which halves the residual at
// least; and memory for vectors that is always there to take.
constexpr std::int32_t most_steps = 40;
// Of the most that rounding x leaves in a residual, what it often leaves: corrections go on to there while they help.
constexpr double usual_rounding = 0.25;
// Powers of two between scales of rows up to which |r| falls as |S r| does.
constexpr int narrow_spread = 3;
constexpr std::uint64_t little = std::uint64_t{256} << 20;

// 1 and -1, in an order without a pattern: n values of a type.
std::vector<char> signs(sxt_value_type type, std::int64_t n) {
  std::vector<char> out(static_cast<std::size_t>(n * value_bytes(type)));
  with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::uint64_t bits = 1;
    for (std::int64_t i = 0; i < n; ++i) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
      reinterpret_cast<T *>(out.data())[i] = bits >> 63 ? T(1) : T(-1);
    }
  });
  return out;
}

}  // namespace

// Some columns and what refining them takes, in device space, one after the other without gaps.
struct Factor::Refined {
  // single: corrections come from a factor in single precision.
  Refined(Device &on, std::int64_t n, std::int64_t each, std::int64_t columns, bool single)
      : device(on),
        single(single),
        column_bytes(static_cast<std::uint64_t>(n * each)),
        b(on, column_bytes * static_cast<std::uint64_t>(columns)),
        x(on, b.bytes()),
        best(on, b.bytes()),
        correction(on, b.bytes()),
        narrow(on, single ? b.bytes() / 2 : 0),
        norms(on, sizeof(sxt_residual_norms), on.on_host() ? SXT_SPACE_HOST : SXT_SPACE_PINNED),
        least(static_cast<std::size_t>(columns)),
        now(least.size()),
        scaled(least.size()) {
    wanting.reserve(least.size());
  }
  char *column(const DeviceBuffer &of, std::size_t j) const { return of.as<char>() + j * column_bytes; }
  // x is the best of column j so far.
  void keep(std::size_t j, const sxt_residual_norms &its) {
    least[j] = its;
    device.copy(column(best, j), column(x, j), column_bytes);
  }
  char *narrow_column(std::size_t j) const { return narrow.as<char>() + j * (column_bytes / 2); }
  Device &device;
  const bool single;
  std::uint64_t column_bytes;
  DeviceBuffer b, x, best, correction, narrow, norms;
  std::vector<sxt_residual_norms> least, now;  // of the best of each, and of x
  std::vector<double> scaled;                  // largest number of S r, of the last correction
  std::vector<std::size_t> wanting;  // columns to correct; the residual of the k-th stands in column k of correction
  std::int32_t steps = 0;            // corrections so far
  bool lacking = false;              // a column is not what the working precision would have given
};

Runner &Factor::truth() const {
  const std::lock_guard lock(mutex_);
  if (!truth_) {
    std::string ignored;
    truth_ = std::make_unique<Runner>(
        matrix_->context(), choose_truth(*matrix_, analysis_->settings().expected_solves, "cholesky/truth", ignored),
        matrix_.get());
  }
  return *truth_;
}

// x += correction, in device space.
void Factor::add(const void *correction, void *x) const {
  static constexpr double one[2] = {1, 0};
  static constexpr float one_narrow[2] = {1, 0};
  const sxt_value_type type = analysis_->value_type();
  const void *const unit = is_single(type) ? static_cast<const void *>(one_narrow) : one;
  Operations::own_of(analysis_->context())
      .vector({.operation = SXT_VECTOR_AXPBY,
               .type = type,
               .n = analysis_->symbolic().n,
               .alpha = unit,
               .beta = unit,
               .x = correction,
               .y = x});
}

// Norms of b - A x of column j; the residual itself goes where the next one that wants a correction has its own.
sxt_residual_norms Factor::residual_of(Refined &work, std::size_t j) const {
  const std::int64_t n = analysis_->symbolic().n;
  sxt_residual_args args{};
  args.h = {sizeof args, SXT_KIND_RESIDUAL};
  args.n_rhs = 1;
  args.ldx = args.ldb = args.ldr = n;
  args.x = work.column(work.x, j), args.b = work.column(work.b, j);
  args.r = work.column(work.correction, work.wanting.size());
  args.norms = work.norms.as<sxt_residual_norms>();
  truth().run(&args.h);
  if (!work.device.on_host()) work.device.wait(work.device.callers_stream());
  return *args.norms;
}

// y = alpha S' x to single precision or y += beta alpha S' x from there, S' the scale of the values.
void Factor::convert(std::int32_t operation, const void *x, void *y, double alpha, double beta) const {
  const std::int64_t n = analysis_->symbolic().n;
  std::unique_ptr<Runner> &runner = converters_[operation - SXT_CONVERT_NARROW];
  {
    const std::lock_guard lock(mutex_);
    if (!runner) {
      Context &context = analysis_->context();
      sxt_convert_query asked{};
      asked.q = {{sizeof asked, SXT_KIND_CONVERT}, analysis_->settings().expected_solves, 0, analysis_->value_type()};
      asked.n = n, asked.operation = operation;
      Selector selector(context, nullptr, {.own_only = true});
      runner = std::make_unique<Runner>(
          context, selector.propose({.query = Query(&asked.q), .role = "cholesky/convert"}), nullptr);
    }
  }
  sxt_convert_args args{};
  args.h = {sizeof args, SXT_KIND_CONVERT};
  args.n = n, args.operation = operation;
  args.alpha = alpha, args.beta = beta;
  args.scale = scale_.data() ? scale_.as<const double>() : single_->scale().data();
  args.x = x, args.y = y;
  runner->run(&args.h);
}

// Whether a column is not yet what a factor in the working precision would have given: its residual is more than
// `part` of what the rounding of x leaves at most, and than the caller allows.
bool Factor::lacks(const SolveCall &call, const sxt_residual_norms &norms, double part) const {
  const double rest = norms.norm_2 + norms.bound_2;
  if (call.refine_steps > 0 && rest <= call.refine_tolerance * norms.rhs_2) return false;
  return !(rest <= part * epsilon(analysis_->value_type()) * norms.size_2) && norms.norm_2 != 0;
}

// Whether a column is to be corrected once more, after so many corrections.
bool Factor::wants(const SolveCall &call, const Refined &work, const sxt_residual_norms &norms,
                   std::int32_t step) const {
  if (work.single && step < most_steps && lacks(call, norms, usual_rounding)) return true;
  const double tolerance = call.refine_tolerance > 0 ? call.refine_tolerance : epsilon(analysis_->value_type());
  return step < call.refine_steps + work.single && norms.norm_2 > 0 &&
         norms.norm_2 + norms.bound_2 > tolerance * norms.rhs_2;
}

// In place, in device space.
sxt_status Factor::solve_in_place(const FactorPart &part, const SolveCall &call, const DeviceBuffer &columns,
                                  std::size_t count) const {
  SolveCall inner = call;
  inner.ldb = inner.ldx = analysis_->symbolic().n;
  inner.b = inner.x = columns.data();
  DeviceBuffer none;
  return solve_columns(part, inner, 0, static_cast<std::int64_t>(count), none);
}

// The power of two next to the largest number of the k-th residual.
int Factor::size_of(const Refined &work, std::size_t k) {
  int exponent = 0;
  std::frexp(work.now[work.wanting[k]].norm_max, &exponent);
  return std::max(exponent, -1022);
}

// S r of the columns that want a correction, times a power of two that brings its numbers to 1 at most. by_scale:
// columns in which its largest number did not fall by half are left out of the list.
void Factor::narrow_residuals(Refined &work, bool by_scale) const {
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < work.wanting.size(); ++k) {
    const std::size_t j = work.wanting[k];
    convert(SXT_CONVERT_NARROW, work.column(work.correction, k), work.narrow_column(kept.size()),
            std::ldexp(1.0, -size_of(work, k)), 1);
    if (by_scale) {
      const double largest = Operations::own_of(analysis_->context())
                                 .reduce_real(SXT_REDUCTION_AMAX, own_.analysis->factor_type(), analysis_->symbolic().n,
                                              work.narrow_column(kept.size()));
      const double scaled = std::ldexp(largest, size_of(work, k));
      if (!(scaled < least_fall * work.scaled[j])) continue;
      work.scaled[j] = scaled;
    }
    kept.push_back(j);
  }
  work.wanting = std::move(kept);
}

// Corrections of the columns that want one, from their residuals, in the order of the list. In single precision a
// residual r went to the factor of S A S as S r times a power of two, and comes back as x += S (S A S)^-1 S r.
sxt_status Factor::solve_corrections(const SolveCall &call, Refined &work) const {
  const std::size_t count = work.wanting.size();
  if (!work.single) {
    const sxt_status status = solve_in_place(part(), call, work.correction, count);
    for (std::size_t k = 0; k < count && status == SXT_OK; ++k)
      add(work.column(work.correction, k), work.column(work.x, work.wanting[k]));
    return status;
  }
  const sxt_status status = solve_in_place(own_, call, work.narrow, count);
  for (std::size_t k = 0; k < count && status == SXT_OK; ++k) {
    const int back = size_of(work, k) + 2 * single_->largest();
    convert(SXT_CONVERT_ADD, work.narrow_column(k), work.column(work.x, work.wanting[k]), std::ldexp(1.0, back / 2),
            std::ldexp(1.0, back - back / 2));
  }
  return status;
}

// One correction of the columns that want it. Those that it helped, and that want another, stay in the list.
sxt_status Factor::correct(const SolveCall &call, Refined &work) const {
  // Where rows are of different sizes, |S r| falls from step to step, and |r| need not at first.
  const bool by_scale = work.single && single_->spread() > narrow_spread;
  if (work.single) narrow_residuals(work, by_scale);
  if (work.wanting.empty()) return SXT_OK;
  if (const sxt_status status = solve_corrections(call, work); status != SXT_OK) return status;
  const std::vector<std::size_t> corrected = work.wanting;
  work.wanting.clear();
  ++work.steps;
  for (const std::size_t j : corrected) {
    const sxt_residual_norms before = work.least[j], now = work.now[j] = residual_of(work, j);
    if (now.norm_2 < before.norm_2) work.keep(j, now);
    const bool falls = now.norm_2 < least_fall * before.norm_2 || (by_scale && std::isfinite(now.norm_2));
    if (falls && wants(call, work, now, work.steps)) work.wanting.push_back(j);
  }
  return SXT_OK;
}

// First solutions of some columns and their residuals: 0 in single precision, whose every step is alike.
sxt_status Factor::begin(const SolveCall &call, std::int64_t first, std::size_t count, Refined &work) const {
  const std::int64_t each = value_bytes(analysis_->value_type());
  for (std::size_t j = 0; j < count; ++j) {
    const std::int64_t at = (first + static_cast<std::int64_t>(j)) * call.ldb * each;
    work.device.copy(work.column(work.b, j), static_cast<const char *>(call.b) + at, work.column_bytes);
  }
  work.steps = 0;
  work.wanting.clear();
  if (work.single) {
    static constexpr double zero[2] = {0, 0};
    Operations::own_of(analysis_->context())
        .vector({.operation = SXT_VECTOR_FILL,
                 .type = analysis_->value_type(),
                 .n = static_cast<std::int64_t>(count) * analysis_->symbolic().n,
                 .alpha = zero,
                 .y = work.x.data()});
  } else {
    work.device.copy(work.x.data(), work.b.data(), count * work.column_bytes);
    if (const sxt_status status = solve_in_place(part(), call, work.x, count); status != SXT_OK) return status;
  }
  for (std::size_t j = 0; j < count; ++j) {
    const sxt_residual_norms norms = work.now[j] = residual_of(work, j);
    work.scaled[j] = std::numeric_limits<double>::infinity();
    require(std::isfinite(norms.rhs_2), SXT_E_NOT_FINITE, "column ", first + static_cast<std::int64_t>(j),
            " of b (counting from 0) has a value that is NaN or infinite, or its norm leaves the range");
    work.keep(j, norms);
    if (wants(call, work, norms, 0)) work.wanting.push_back(j);
  }
  return SXT_OK;
}

// The best solutions to the caller; the report takes the worst of all columns.
void Factor::give(const SolveCall &call, std::int64_t first, std::size_t count, const Refined &work,
                  sxt_cholesky_solve_report &report) const {
  const std::int64_t each = value_bytes(analysis_->value_type());
  for (std::size_t j = 0; j < count; ++j) {
    const std::int64_t at = (first + static_cast<std::int64_t>(j)) * call.ldx * each;
    work.device.copy(static_cast<char *>(call.x) + at, work.column(work.best, j), work.column_bytes);
    const sxt_residual_norms &least = work.least[j];
    const double relative = least.rhs_2 > 0 ? least.norm_2 / least.rhs_2 : least.norm_2;
    // Of the first column, and of a worse one; what is no number is the worst.
    if (first + static_cast<std::int64_t>(j) > 0 && (std::isnan(report.residual) || relative <= report.residual))
      continue;
    report.residual = relative;
    report.residual_bound = least.rhs_2 > 0 ? least.bound_2 / least.rhs_2 : least.bound_2;
  }
}

// Solves for some columns and refines each while that helps. In single precision work.lacking is left true, and x as it
// is, where a column did not reach the working precision.
sxt_status Factor::refine(const SolveCall &call, std::int64_t first, std::size_t count, Refined &work,
                          sxt_cholesky_solve_report &report) const {
  sxt_status status = begin(call, first, count, work);
  while (status == SXT_OK && !work.wanting.empty()) status = correct(call, work);
  if (status != SXT_OK) return status;
  work.lacking = false;
  for (std::size_t j = 0; j < count && work.single; ++j) work.lacking = work.lacking || lacks(call, work.least[j], 1);
  if (work.lacking) return SXT_OK;
  report.refined = std::max(report.refined, work.steps - (work.single && work.steps > 0));
  give(call, first, count, work, report);
  return SXT_OK;
}

// A factor that a third party's scheduler made or solves with must solve one system of ours first: cases that a kernel
// was proven on are small, and nothing is known of large ones. An LDLH without interchanges may lose half
// of the digits and more, so only what is far off is refused. Throws SXT_E_PLUGIN.
void Factor::try_solver(std::int64_t n_rhs) const {
  if (in_single()) return;  // every solve is judged
  const Settings &settings = analysis_->settings();
  const FactorPart &its = part();
  Runner &solver = its.analysis->solver(n_rhs);
  const registry::Kernel &maker = its.analysis->factor_kernel(), &kernel = *solver.choice().kernel;
  if (maker.plugin->own && kernel.plugin->own) return;
  if (outcome_.changed > 0 || !settings.schur_rows.empty() || analysis_->symbolic().n == 0)
    return;  // of another matrix
  Device &device = analysis_->context().device();
  {
    const std::lock_guard lock(mutex_);
    if (std::find(tried_.begin(), tried_.end(), &solver) != tried_.end()) return;
  }
  if (matrix_->version() != version_ || capturing(device)) return;
  const sxt_value_type type = analysis_->value_type();
  const std::int64_t n = analysis_->symbolic().n;
  Refined work(device, n, value_bytes(type), 1, false);
  device.copy(work.b.data(), signs(type, n).data(), work.column_bytes);
  device.copy(work.x.data(), work.b.data(), work.column_bytes);
  sxt_cholesky_args args = this->args(its, SXT_CHOLESKY_SOLVE);
  args.b = work.x.data(), args.ldb = n, args.n_rhs = 1;
  solver.ask(&args.h);
  const sxt_residual_norms norms = residual_of(work, 0);
  require(!(norms.norm_2 - norms.bound_2 > std::cbrt(epsilon(type)) * norms.size_2), SXT_E_PLUGIN, "what ",
          kernel.name(), " solves with the factor of ", maker.name(), " leaves a residual of ",
          norms.norm_2 / norms.size_2,
          " of |b| + |A| |x|: one of the two kernels is wrong; name another in "
          "options->scheduler, or leave its plugin out");
  const std::lock_guard lock(mutex_);
  tried_.push_back(&solver);
}

// In single precision as many as one call of a scheduler takes, where their vectors are little beside the factor.
std::int64_t Factor::columns_at_once(std::int64_t n_rhs, bool single) const {
  if (!single) return std::min(n_rhs, most_refined);
  const auto column = static_cast<std::uint64_t>(5 * value_bytes(analysis_->value_type()) * analysis_->symbolic().n);
  const std::uint64_t fit = std::max(little, own_.factor.bytes() / 2) / std::max<std::uint64_t>(1, column);
  return std::min(n_rhs, std::clamp(static_cast<std::int64_t>(fit), most_refined, Analysis::most_columns));
}

// Memory for so many columns: that of an earlier solve, or new.
std::shared_ptr<Factor::Refined> Factor::take_work(std::int64_t columns, bool single) const {
  std::shared_ptr<Refined> kept;
  {
    const std::lock_guard lock(mutex_);
    kept = std::move(idle_);
  }
  if (kept && kept->single == single && static_cast<std::int64_t>(kept->least.size()) >= columns) return kept;
  kept.reset();  // before the next takes memory
  return std::make_shared<Refined>(analysis_->context().device(), analysis_->symbolic().n,
                                   value_bytes(analysis_->value_type()), columns, single);
}

void Factor::keep_work(std::shared_ptr<Refined> work) const {
  if (5 * work->b.bytes() > little) return;
  const std::lock_guard lock(mutex_);
  idle_.swap(work);
}

// Where single precision does not lead to the working one, the factor is made again, and the columns that are left go
// by that one.
sxt_status Factor::solve_refined(const SolveCall &call, sxt_cholesky_solve_report &report) const {
  bool single = in_single();
  std::int64_t most = 0, first = 0;
  std::shared_ptr<Refined> work;
  const auto prepare = [&] {
    most = columns_at_once(call.n_rhs, single);
    work.reset();  // before the next takes memory
    work = take_work(most, single);
    if (!single) try_solver(most);
  };
  prepare();
  while (first < call.n_rhs) {
    const std::int64_t count = std::min(call.n_rhs - first, most);
    if (const sxt_status status = refine(call, first, static_cast<std::size_t>(count), *work, report); status != SXT_OK)
      return status;
    if (!work->lacking) {
      first += count;
      continue;
    }
    if (const sxt_status status = repeat(call.cancel); status != SXT_OK) return status;
    report.repeated = 1;
    single = false;
    prepare();
  }
  keep_work(std::move(work));
  return SXT_OK;
}

}  // namespace sextant::cholesky
