// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/explain/explain.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace sextant {

// Half of the digits that the type has, and as many more as leave the residual, which is rounded itself, a factor of
// 50 to 80 above what rounding of x makes of it: that is what the condition may cost.
double default_rtol(sxt_value_type type) { return type == SXT_F32 || type == SXT_C64 ? 1e-5 : 1e-8; }

void check_settings(const PcgSettings &settings, sxt_value_type type) {
  require(settings.rtol >= 0 && settings.atol >= 0 && std::isfinite(settings.rtol) && std::isfinite(settings.atol),
          SXT_E_ARGUMENT, "rtol (", settings.rtol, ") and atol (", settings.atol, ") must be finite and not negative");
  require(settings.norm == SXT_NORM_2 || settings.norm == SXT_NORM_MAX, SXT_E_ARGUMENT, "norm ", settings.norm,
          " is not SXT_NORM_2 (0) or SXT_NORM_MAX (1)");
  require(settings.max_iterations >= 0, SXT_E_ARGUMENT, "max_iterations is negative (", settings.max_iterations, ")");
  // Written so that NaN fails; a limit may be infinite.
  require(settings.divergence_limit > 0, SXT_E_ARGUMENT, "divergence_limit is ", settings.divergence_limit,
          "; it must be above 0");
  require(settings.stagnation_window >= 0, SXT_E_ARGUMENT, "stagnation_window is negative (",
          settings.stagnation_window, ")");
  require(settings.time_limit >= 0, SXT_E_ARGUMENT, "time_limit is ", settings.time_limit, ", no time");
  require(settings.expected_solves >= 0 && std::isfinite(settings.expected_solves), SXT_E_ARGUMENT,
          "expected_solves is ", settings.expected_solves, "; it must be finite and not negative");
  require(settings.expected_iterations >= 0 && std::isfinite(settings.expected_iterations), SXT_E_ARGUMENT,
          "expected_iterations is ", settings.expected_iterations, "; it must be finite and not negative");
  precision_wanted(settings, type);
  recurrence_wanted(settings);
}

std::uint64_t named_by_hand(const PcgSettings &settings) {
  const std::string names[] = {settings.preconditioner, settings.recurrence, settings.engine, settings.format};
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (!names[i].empty()) hash = fnv1a(names[i].data(), names[i].size(), fnv1a(&i, sizeof i, hash));
  return settings.norm == SXT_NORM_2 ? hash : fnv1a(&settings.norm, sizeof settings.norm, hash);
}

std::string storage_wanted(const PcgSettings &settings, const Context &context) {
  const std::string format = settings.format.substr(0, settings.format.find(':'));
  if (format.empty() || format == "auto") return "";
  const std::string kind = format.find('/') == std::string::npos ? "sxt.storage." + format + "/1" : format;
  if (!context.scope().kernels(kind, context.device_name()).empty()) return kind;
  std::vector<std::string> known{"auto"};
  for (const registry::Kind *each : context.scope().kinds())
    if (const std::string id = each->table.id; id.rfind("sxt.storage.", 0) == 0) known.push_back(format_text(id));
  fail(SXT_E_UNKNOWN_NAME, unknown_name("format", format, known));
}

std::string precision_wanted(const PcgSettings &settings, sxt_value_type type) {
  const std::size_t colon = settings.format.find(':');
  if (colon == std::string::npos) return "";
  const std::string wanted = settings.format.substr(colon + 1);
  require(wanted == "f32" || wanted == "f64", SXT_E_UNKNOWN_NAME, "format ", settings.format, ": values are held as ",
          "f64 or f32, not as '", wanted, "'");
  require(wanted == "f64" || type == SXT_F64, SXT_E_TYPE, "format ", settings.format,
          ": only a matrix of f64 can be held in f32");
  return wanted;
}

std::int32_t recurrence_wanted(const PcgSettings &settings) {
  const std::string &name = settings.recurrence;
  if (name.empty()) return 0;
  std::vector<std::string> known{"auto"};
#define SXT_X(suffix, value, text, source) \
  if (name == text) return value;          \
  known.emplace_back(text);
  SXT_RECURRENCE_TABLE(SXT_X)
#undef SXT_X
  fail(SXT_E_UNKNOWN_NAME, unknown_name("recurrence", name, known));
}

SolveSettings default_solve(const PcgSettings &settings, std::int64_t rows) {
  SolveSettings solve{};
  solve.rtol = settings.rtol;
  solve.atol = settings.atol;
  solve.max_iterations =
      settings.max_iterations > 0 ? settings.max_iterations : std::max<std::int64_t>(1000, 10 * rows);
  solve.time_limit = settings.time_limit;
  return solve;
}

}  // namespace sextant
