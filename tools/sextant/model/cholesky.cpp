// SPDX-License-Identifier: BSD-3-Clause
// Points of schedulers of a sparse Cholesky factorisation: factorisations and solves of definite matrices.
#include <algorithm>
#include <chrono>

#include "core/model/quantile.hpp"
#include "model/matrices.hpp"
#include "report/explanation.hpp"
#include "sextant/cholesky.h"
#include "sextant/plugin/kinds/cholesky.h"

namespace tool {
namespace {

constexpr double most_factor_entries = 2e5;
constexpr std::size_t least_runs = 3, most_runs = 200;

class CholeskyTrial : public Trial {
 public:
  CholeskyTrial(sxt_context *context, Matrix matrix, std::int64_t n, bool solves)
      : context_(context), matrix_(std::move(matrix)), n_(n), solves_(solves) {}

  Json explain(const std::string &kernel, std::string &reason) override {
    const Analysis analysis = analysed(kernel, reason);
    if (!analysis) return {};
    const std::string text = get_text(context_, [&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_analysis_explain(analysis.get(), SXT_JSON, buffer, capacity, length);
    });
    Json explanation = Json::parse(text, nullptr, false);
    // The plan has the factorisation first, then the solve.
    Json &plan = explanation["plan"];
    if (!plan.is_array() || plan.size() != 2) fail(exit_internal, "an analysis does not explain its two parts");
    plan = Json::array({plan[solves_ ? 1 : 0]});
    return explanation;
  }

  std::string time(const std::string &kernel, double budget_s, double &seconds, double &noise) override {
    std::string reason;
    const Analysis analysis = analysed(kernel, reason);
    if (!analysis) return reason;
    sxt_cholesky *made = nullptr;
    check(sxt_cholesky_create(analysis.get(), &made), context_);
    const Cholesky factor(made);
    check(sxt_cholesky_factor(made, nullptr, nullptr), context_);             // the first one meets cold caches
    std::vector<double> values(static_cast<std::size_t>(n_) * 2, 1.0), runs;  // room for any value type
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    while (runs.size() < least_runs || (passed() < budget_s && runs.size() < most_runs))
      runs.push_back(solves_ ? solve(made, values) : again(made));
    seconds = sextant::quantile(runs, 0.5);
    noise = (sextant::quantile(runs, 0.75) - sextant::quantile(runs, 0.25)) / seconds;
    return "";
  }

 private:
  Analysis analysed(const std::string &kernel, std::string &reason) const {
    sxt_analysis_options options;
    sxt_analysis_options_init(&options, sizeof options);
    options.scheduler = kernel.c_str();
    options.check_symmetry = 0;  // no scheduler's time has it
    sxt_analysis *analysis = nullptr;
    const sxt_status status = sxt_analysis_create(matrix_.get(), &options, &analysis);
    if (exit_code_of(status) == exit_device) check(status, context_);
    reason = status == SXT_OK ? "" : sxt_last_error(context_);
    return Analysis(analysis);
  }
  double again(sxt_cholesky *factor) const {
    check(sxt_cholesky_factor(factor, nullptr, nullptr), context_);
    sxt_cholesky_info info{};
    info.struct_size = sizeof info;
    check(sxt_cholesky_get_info(factor, &info), context_);
    return info.factor_seconds;
  }
  // In place: the matrices are such that solutions stay of the size of ones.
  double solve(sxt_cholesky *factor, std::vector<double> &values) const {
    sxt_cholesky_solve_report report{};
    report.struct_size = sizeof report;
    std::fill(values.begin(), values.end(), 1.0);
    check(sxt_cholesky_solve(factor, n_, 1, values.data(), n_, values.data(), n_, nullptr, &report), context_);
    return report.solve_seconds;
  }

  sxt_context *context_;
  Matrix matrix_;
  std::int64_t n_;
  bool solves_;
};

class CholeskyPoints : public MatrixPoints {
 public:
  CholeskyPoints() : MatrixPoints(most_factor_entries) {}
  std::vector<std::string> operations() const override { return {"factor", "solve"}; }
  std::unique_ptr<Trial> make(sxt_context *context, const ModelSet &set, ModelPoint &point) const override {
    Matrix matrix = matrix_at(context, set, point);
    return std::make_unique<CholeskyTrial>(context, std::move(matrix), static_cast<std::int64_t>(point.sample.rows),
                                           set.operation == "solve");
  }
};

}  // namespace

std::unique_ptr<PointSource> cholesky_source() { return std::make_unique<CholeskyPoints>(); }

}  // namespace tool
