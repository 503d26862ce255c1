// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_PCG_HPP
#define SEXTANT_CPP_PCG_HPP

#include <vector>

#include "sextant/cpp/matrix.hpp"
#include "sextant/cpp/vector.hpp"

namespace sextant {
inline namespace cpp {

/// What a set-up solves, how exactly, and what the choice may assume: the members of sxt_pcg_options, set to their
/// defaults.
struct PcgOptions : sxt_pcg_options {
  PcgOptions() { sxt_pcg_options_init(this, sizeof(sxt_pcg_options)); }
  /// A is semidefinite: it turns these columns into 0. They are copied when the set-up is made, and must be there until
  /// then. Pcg checks that they are of A's type and order, one after the other.
  template <Block B>
  PcgOptions &set_null_space(const B &block) {
    const auto view = detail::columns_of(block);
    detail::require(view.leading_dimension() == view.rows() || view.cols() < 2, SXT_E_ARGUMENT,
                    "null_space: its columns must lie one after the other");
    null_space = view.data();
    null_space_size = view.cols();
    null_space_type_ = value_type_of<typename decltype(view)::element_type>;
    null_space_rows_ = view.rows();
    return *this;
  }

 private:
  friend class Pcg;
  sxt_value_type null_space_type_ = 0;
  std::int64_t null_space_rows_ = 0;
};

/// What holds for one solve: the members of sxt_solve_options, set to their defaults.
struct SolveOptions : sxt_solve_options {
  SolveOptions() { sxt_solve_options_init(this, sizeof(sxt_solve_options)); }
  /// Called on the solving thread with the iteration and the relative residual. An exception that it throws cancels the
  /// solve and is thrown again by it.
  Callback<std::int64_t, double> progress;
  /// Keeps the recursive residual norms from iteration 0 on; further ones than fit are dropped. The k columns of a
  /// block share the values: those of column j begin at norms[j * (norms.size() / k)].
  SolveOptions &set_history(std::span<double> norms) {
    history = norms.data();
    history_capacity = detail::size_of(norms);
    norms_ = norms;
    return *this;
  }

 private:
  friend class Pcg;
  // Values for each column of a block. Members that were set by hand since are taken as they are.
  std::int64_t history_capacity_of(std::int64_t columns) const {
    const bool shared = history == norms_.data() && history_capacity == detail::size_of(norms_);
    return shared ? history_capacity / std::max<std::int64_t>(columns, 1) : history_capacity;
  }
  std::span<double> norms_;
};

/// A solve ended before the true residual met the tolerance. x holds the last good iterate.
class not_converged : public error {
 public:
  /// Of these reports, one for each column that was solved.
  not_converged(const std::string &sentence, std::vector<sxt_pcg_report> reports)
      : error(SXT_NOT_CONVERGED, sentence), reports_(std::move(reports)) {
    while (column_ + 1 < reports_.size() && reports_[column_].reason == SXT_REASON_CONVERGED) ++column_;
  }
  /// How the first column ended that did not converge.
  const sxt_pcg_report &report() const noexcept { return reports_[column_]; }
  /// Which column that is, from 0.
  std::int64_t column() const noexcept { return static_cast<std::int64_t>(column_); }
  /// How each column ended.
  const std::vector<sxt_pcg_report> &reports() const noexcept { return reports_; }

 private:
  std::vector<sxt_pcg_report> reports_;
  std::size_t column_ = 0;
};

/// A set-up of conjugate gradients: it chooses preconditioner, storage, kernels and engine once, and solves as often as
/// it is asked. solve() throws not_converged where the true residual did not meet the tolerance; try_solve() tells it
/// in the report. Threads may share one, each with its own b and x.
class Pcg : public detail::Object<sxt_pcg, sxt_pcg_destroy> {
 public:
  /// Checks A, chooses and builds, as sxt_pcg_create. [any-thread]
  explicit Pcg(const Matrix &a, const PcgOptions &options = {}) : Object(log_of(a)), shape_{a.rows(), a.value_type()} {
    if (options.null_space_type_ != 0 && options.null_space) {
      shape_.require("a column of null_space", options.null_space_type_, options.null_space_rows_);
    }
    make([&](sxt_pcg **made) { return sxt_pcg_create(a.get(), &options, made); });
  }

  /// Solves A x = b. [any-thread]
  sxt_pcg_report try_solve(const Vector &b, Vector &x, const SolveOptions &options = {}) const {
    return one(options, [&](const sxt_solve_options &c, sxt_pcg_report *report) {
      return sxt_pcg_solve(get(), b.get(), x.get(), &c, report);
    });
  }
  /// The same on arrays, on the host or where the context's device reaches them. [any-thread]
  template <Array B, WritableArray X>
  requires detail::SameValues<B, X> sxt_pcg_report try_solve(const B &b, X &&x, const SolveOptions &options = {})
  const {
    shape_.require("b", value_type_of<detail::element_of<B>>, detail::size_of(b));
    shape_.require("x", value_type_of<detail::element_of<X>>, detail::size_of(x));
    return one(options, [&](const sxt_solve_options &c, sxt_pcg_report *report) {
      return sxt_pcg_solve_array(get(), shape_.rows, detail::span_of(b).data(), detail::span_of(x).data(), &c, report);
    });
  }
  /// The same on several columns; a report for each. [any-thread]
  template <Block B, WritableBlock X>
  requires detail::SameBlocks<B, X> std::vector<sxt_pcg_report> try_solve(const B &b_block, X &&x_block,
                                                                          const SolveOptions &options = {})
  const {
    const auto b = detail::columns_of(b_block);
    const auto x = detail::columns_of(x_block);
    shape_.require(b, x);
    return run(options, b.cols(), [&](const sxt_solve_options &c, sxt_pcg_report *reports) {
      return sxt_pcg_solve_block(get(), shape_.rows, b.cols(), b.data(), b.leading_dimension(), x.data(),
                                 x.leading_dimension(), &c, reports);
    });
  }
  /// As try_solve(), but throws not_converged where the true residual did not meet the tolerance. [any-thread]
  sxt_pcg_report solve(const Vector &b, Vector &x, const SolveOptions &options = {}) const {
    return converged({try_solve(b, x, options)})[0];
  }
  /// The same on arrays. [any-thread]
  template <Array B, WritableArray X>
  requires detail::SameValues<B, X> sxt_pcg_report solve(const B &b, X &&x, const SolveOptions &options = {})
  const { return converged({try_solve(b, x, options)})[0]; }
  /// The same on several columns; all are solved before it throws. [any-thread]
  template <Block B, WritableBlock X>
  requires detail::SameBlocks<B, X> std::vector<sxt_pcg_report> solve(const B &b, X &&x,
                                                                      const SolveOptions &options = {})
  const { return converged(try_solve(b, x, options)); }

  /// The plan: what was chosen for each part, at what predicted cost, and why not another. form: SXT_TEXT, SXT_JSON.
  /// [any-thread]
  std::string explain(std::int32_t form = SXT_TEXT) const {
    return detail::checked_text([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_pcg_explain(get(), form, buffer, capacity, length);
    });
  }

 private:
  template <class Call>
  std::vector<sxt_pcg_report> run(const SolveOptions &options, std::int64_t count, Call call) const {
    struct Progress {
      const SolveOptions *options;
      detail::Kept kept;
      static std::int32_t call(void *user, std::int64_t iteration, double residual) noexcept {
        auto &self = *static_cast<Progress *>(user);
        return self.kept.run([&] { return self.options->progress(iteration, residual); });
      }
    } progress{&options, {}};
    sxt_solve_options c = options;
    c.history_capacity = options.history_capacity_of(count);
    if (options.progress) c.progress = Progress::call, c.progress_user = &progress;
    std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(count));
    for (sxt_pcg_report &report : reports) report.struct_size = sizeof report;
    const sxt_status status = call(c, reports.data());
    progress.kept.rethrow();
    check(status == SXT_NOT_CONVERGED ? SXT_OK : status);
    return reports;
  }
  template <class Call>
  sxt_pcg_report one(const SolveOptions &options, Call call) const {
    return run(options, 1, call)[0];
  }
  static std::vector<sxt_pcg_report> converged(std::vector<sxt_pcg_report> reports) {
    for (std::size_t j = 0; j < reports.size(); ++j) {
      const sxt_pcg_report &report = reports[j];
      if (report.reason == SXT_REASON_CONVERGED) continue;
      const std::string column = reports.size() > 1 ? detail::sentence_of("column ", j, ": ") : "";
      const std::string sentence =
          detail::sentence_of(column, reason_sentence(report.reason), ", found in iteration ", report.iterations,
                              ", with a true relative residual of ", report.true_relative_residual);
      throw not_converged(sentence, std::move(reports));
    }
    return reports;
  }

  detail::SystemShape shape_;
};

}  // namespace cpp
}  // namespace sextant
#endif
