// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/settings.hpp"

#include <cmath>

#include "core/base/aligned.hpp"
#include "core/base/error.hpp"

namespace sextant::cholesky {

std::string why_not_single(const Settings &settings) {
  if (!settings.schur_rows.empty()) return "options->schur_rows, which leave a complement that nothing refines";
  if (settings.pivot_policy != SXT_PIVOT_FAIL) return "an options->pivot_policy, which changes the matrix";
  return settings.pivot_tolerance > 0 ? "an options->pivot_tolerance, which is for unscaled pivots" : "";
}

void check(const Settings &settings, std::int64_t n) {
  const auto is_one_of = [](std::int32_t value, std::int32_t least, std::int32_t most, const char *name,
                            const char *which) {
    require(value >= least && value <= most, SXT_E_ARGUMENT, "options->", name, " is ", value, "; it must be ", which);
  };
  is_one_of(settings.factorization, SXT_LLH, SXT_LDLH, "factorization", "SXT_LLH (1) or SXT_LDLH (2)");
  is_one_of(settings.pivot_policy, SXT_PIVOT_FAIL, SXT_PIVOT_REPLACE, "pivot_policy",
            "SXT_PIVOT_FAIL (0), SXT_PIVOT_PERTURB (1) or SXT_PIVOT_REPLACE (2)");
  is_one_of(settings.precision, SXT_PRECISION_WORKING, SXT_PRECISION_ROUNDED, "factor_precision",
            "SXT_PRECISION_WORKING (0), SXT_PRECISION_SINGLE (1), SXT_PRECISION_AUTO (2) or SXT_PRECISION_ROUNDED (3)");
  const std::string not_single = why_not_single(settings);
  require(not_single.empty() || settings.precision == SXT_PRECISION_WORKING || settings.precision == SXT_PRECISION_AUTO,
          SXT_E_ARGUMENT, "options->factor_precision is ", settings.precision, ", single precision, with ", not_single,
          ": leave it SXT_PRECISION_WORKING");
  const auto is_size = [](double value, const char *name) {
    require(value >= 0 && std::isfinite(value), SXT_E_ARGUMENT, "options->", name, " is ", value,
            "; it must be finite and not negative");
  };
  is_size(settings.pivot_tolerance, "pivot_tolerance");
  is_size(settings.symmetry_tolerance, "symmetry_tolerance");
  require(std::isfinite(settings.pivot_value), SXT_E_ARGUMENT, "options->pivot_value is not finite");
  require(settings.factorization == SXT_LDLH || settings.pivot_value >= 0, SXT_E_ARGUMENT, "options->pivot_value is ",
          settings.pivot_value, "; L L^H needs positive pivots");
  require(settings.expected_rhs >= 1, SXT_E_ARGUMENT, "options->expected_rhs is ", settings.expected_rhs,
          "; it must be 1 or more");
  require(settings.amalgamation >= 0, SXT_E_ARGUMENT, "options->amalgamation is negative (", settings.amalgamation,
          ")");
  require(settings.block >= 0, SXT_E_ARGUMENT, "options->block is negative (", settings.block, ")");
  require(settings.permutation.empty() || settings.order.empty(), SXT_E_ARGUMENT,
          "options->order and options->permutation are both given: leave one of them NULL");
  require(settings.permutation.empty() || static_cast<std::int64_t>(settings.permutation.size()) == n, SXT_E_DIMENSION,
          "options->permutation has ", settings.permutation.size(), " rows, the matrix ", n);
}

std::vector<std::int32_t> rows_of(const std::int64_t *rows, std::int64_t count, std::int64_t n, std::int64_t base,
                                  const char *name, bool all) {
  require(count >= 0 && count <= n, SXT_E_ARGUMENT, name, " has ", count, " rows; the matrix has ", n);
  require(rows != nullptr || count == 0, SXT_E_ARGUMENT, name, " is NULL, and ", count, " rows are announced");
  require_aligned(rows, sizeof *rows, name);
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  std::vector<std::int32_t> seen(static_cast<std::size_t>(n), -1);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t row = rows[k] - base;
    require(rows[k] >= base && row < n, SXT_E_ARGUMENT, name, "[", k, "] is ", rows[k], ", not a row from ", base,
            " to ", n - 1 + base);
    std::int32_t &before = seen[static_cast<std::size_t>(row)];
    require(before < 0, SXT_E_ARGUMENT, name, "[", k, "] is ", rows[k], ", as ", name, "[", before, "] is",
            all ? "; a permutation has each row once" : "");
    before = static_cast<std::int32_t>(k);
    out[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(row);
  }
  return out;
}

}  // namespace sextant::cholesky
