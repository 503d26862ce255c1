// SPDX-License-Identifier: BSD-3-Clause
#include "abi/pcg_words.hpp"

#include <complex>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/explain/explain.hpp"

namespace sextant::abi {

namespace {

// Whether every row has a diagonal entry, all of them negative.
bool negative_diagonal(const CsrArrays &csr) {
  if (csr.rows == 0 || !csr.values.data()) return false;
  return with_value_type(csr.value_type, [&](auto value) {
    return with_index_type(csr.index_type, [&](auto index) {
      return with_index_type(csr.offset_type, [&](auto offset) {
        const auto *ptr = csr.row_ptr.as<typename decltype(offset)::type>();
        const auto *col = csr.col.as<typename decltype(index)::type>();
        const auto *values = csr.values.as<typename decltype(value)::type>();
        for (std::int64_t i = 0; i < csr.rows; ++i) {
          std::int64_t k = ptr[i];
          while (k < ptr[i + 1] && col[k] != i) ++k;
          if (k == ptr[i + 1] || !(std::real(values[k]) < 0)) return false;
        }
        return true;
      });
    });
  });
}

}  // namespace

std::string refusal_advice(sxt_status status, const Matrix &matrix) {
  if (status != SXT_E_DIAGONAL || !negative_diagonal(matrix.csr())) return "";
  return ". Every diagonal entry is negative: if A is negative definite, solve with -A, whose solution for -b is the "
         "same";
}

std::string ending_advice(sxt_reason reason, std::int64_t null_space_size) {
  const bool lost = reason == SXT_REASON_A_INDEFINITE || reason == SXT_REASON_STAGNATED ||
                    reason == SXT_REASON_DIVERGED || reason == SXT_REASON_BREAKDOWN;
  if (!lost) return "";
  std::string advice;
  if (null_space_size == 0)
    advice =
        ". A singular A ends so where b is not in its range: if A has a null space (constants, in a pure Neumann "
        "problem), name it by options->null_space and null_space_size";
  if (reason == SXT_REASON_A_INDEFINITE) advice += ". If A is negative definite, solve with -A and -b";
  return advice;
}

void log_setup(const PcgSolver &solver) {
  const LogSink &log = solver.matrix().context().log();
  if (!log.wants(SXT_LOG_INFO)) return;
  const Explanation explanation = solver.explain();
  std::string line = "conjugate gradients are set up:";
  for (const ChoicePtr &choice : explanation.choices)
    line += " " + choice->role + " by " + choice->kernel->name() + (choice->storage.empty() ? "" : " on ") +
            format_text(choice->storage) + ";";
  for (const auto &[name, value] : explanation.facts) line += " " + name + " " + value + ",";
  line.back() = '.';
  log(SXT_LOG_INFO, line);
}

void log_solve(const PcgSolver &solver, const sxt_pcg_report &report) {
  const LogSink &log = solver.matrix().context().log();
  if (!log.wants(SXT_LOG_INFO)) return;
  log(SXT_LOG_INFO,
      text("a solve ended: ", reason_name(report.reason), " after ", report.iterations, " iterations in ",
           seconds_text(report.solve_seconds), ", true relative residual ", report.true_relative_residual));
}

}  // namespace sextant::abi
