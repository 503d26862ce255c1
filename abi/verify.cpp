// SPDX-License-Identifier: BSD-3-Clause
// Predicted against measured times, to judge the models.
#include "core/calibrate/verify.hpp"
#include "core/base/intern.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "abi/handles.hpp"
#include "abi/options.hpp"
#include "abi/sized.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

sxt_verify_options verify_defaults() {
  const VerifySettings usual;
  sxt_verify_options options{};
  options.struct_size = sizeof options;
  options.applies = usual.applies;
  options.candidate_seconds = usual.candidate_s;
  options.op = usual.op;
  return options;
}

VerifySettings settings_of(const sxt_verify_options &options) {
  require(options.applies >= 1 && std::isfinite(options.applies), SXT_E_ARGUMENT, "options->applies is ",
          options.applies, "; it must be 1 or more");
  require(options.candidate_seconds > 0 && options.candidate_seconds <= 60, SXT_E_ARGUMENT,
          "options->candidate_seconds is ", options.candidate_seconds, "; it must be above 0 and at most 60");
  require(options.op >= SXT_NO_TRANSPOSE && options.op <= SXT_CONJUGATE_TRANSPOSE, SXT_E_ARGUMENT, "options->op ",
          options.op, " is not an sxt_op");
  VerifySettings settings;
  settings.applies = options.applies;
  settings.candidate_s = options.candidate_seconds;
  settings.op = options.op;
  settings.references = switched(options.references, "options->references");
  return settings;
}

sxt_verify_line to_c(const VerifyLine &from) {
  sxt_verify_line line{};
  line.struct_size = sizeof line;
  line.kernel = intern(from.kernel);
  line.format = intern(from.format);
  std::copy(from.launch, from.launch + 4, line.launch);
  line.predicted_setup_s = from.predicted_setup_s;
  line.predicted_run_s = from.predicted_run_s;
  line.rel_error = from.rel_error;
  line.measured_setup_s = from.measured_setup_s;
  line.measured_run_s = from.measured_run_s;
  line.noise = from.noise;
  line.select_s = from.select_s;
  line.repeats = from.repeats;
  line.chosen = from.chosen;
  line.estimated = from.estimated;
  return line;
}

// The i-th of a caller's lines. All have the length that the first one states.
sxt_verify_line line_at(const sxt_verify_line *lines, int64_t i) {
  const auto *at = reinterpret_cast<const char *>(lines) + static_cast<std::uint64_t>(i) * lines->struct_size;
  const auto *line = reinterpret_cast<const sxt_verify_line *>(at);
  require(line->struct_size == lines->struct_size, SXT_E_ARGUMENT, "lines[", i, "].struct_size is ", line->struct_size,
          ", but that of the first is ", lines->struct_size);
  return read_sized(line, sxt_verify_line{}, "lines");
}

VerifyLine from_c(const sxt_verify_line &from) {
  VerifyLine line;
  line.matrix = from.matrix;
  line.predicted_setup_s = from.predicted_setup_s;
  line.predicted_run_s = from.predicted_run_s;
  line.rel_error = from.rel_error;
  line.measured_setup_s = from.measured_setup_s;
  line.measured_run_s = from.measured_run_s;
  line.noise = from.noise;
  line.select_s = from.select_s;
  line.chosen = from.chosen != 0;
  line.estimated = from.estimated != 0;
  return line;
}

}  // namespace

void sxt_verify_options_init(sxt_verify_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, verify_defaults());
}

sxt_status sxt_verify_model(sxt_matrix *matrix, const sxt_verify_options *options,
                            int32_t (*line)(void *user, const sxt_verify_line *line), void *user) {
  return guarded(id_of(matrix), [&] {
    Matrix &inner = *of_context(matrix, "matrix").matrix;
    require(line != nullptr, SXT_E_ARGUMENT, "line is NULL: the measurements would be lost");
    verify_model(inner, settings_of(read_sized(options, verify_defaults(), "options")),
                 [&](const VerifyLine &measured) {
                   const sxt_verify_line told = to_c(measured);
                   return line(user, &told) == 0;
                 });
  });
}

sxt_status sxt_verify_summarise(const sxt_verify_line *lines, int64_t count, double applies,
                                sxt_verify_summary *summary) {
  return guarded(0, [&] {
    require(lines != nullptr || count == 0, SXT_E_ARGUMENT, "lines is NULL");
    require(count >= 0, SXT_E_ARGUMENT, "count is negative (", count, ")");
    require(applies >= 1 && std::isfinite(applies), SXT_E_ARGUMENT, "applies is ", applies, "; it must be 1 or more");
    std::vector<VerifyLine> own;
    for (int64_t i = 0; i < count; ++i) own.push_back(from_c(line_at(lines, i)));
    const VerifySummary found = summarise(own, applies);
    sxt_verify_summary answer{};
    answer.struct_size = sizeof answer;
    answer.matrices = found.matrices;
    answer.candidates = found.candidates;
    answer.median_relative_error = found.median_relative_error;
    answer.p90_relative_error = found.p90_relative_error;
    answer.top1_accuracy = found.top1_accuracy;
    answer.regret_geomean = found.regret_geomean;
    answer.regret_p95 = found.regret_p95;
    answer.regret_max = found.regret_max;
    answer.noise_median = found.noise_median;
    for (int r = 0; r < verify_races; ++r) {
      answer.race_top1_accuracy[r] = found.races[r].top1_accuracy;
      answer.race_regret_geomean[r] = found.races[r].regret_geomean;
      answer.race_regret_p95[r] = found.races[r].regret_p95;
      answer.race_price[r] = found.races[r].price;
    }
    answer_sized(summary, answer, "summary");
  });
}
