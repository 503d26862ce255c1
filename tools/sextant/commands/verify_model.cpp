// SPDX-License-Identifier: BSD-3-Clause
// sextant verify-model: every applicable kernel on real matrices, predicted against measured, and the regret of the
// choices.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "bench/measure.hpp"
#include "commands/command.hpp"
#include "commands/generate.hpp"
#include "commands/verify_model.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/matrix_input.hpp"
#include "input/numbers.hpp"
#include "input/several_files.hpp"
#include "report/model_plots.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace tool {
namespace {

struct VerifyOptions {
  ContextOptions context;
  std::vector<std::string> matrices;
  std::vector<std::string> types;
  std::string op = "spmv", svg, generate;
  std::vector<std::int64_t> sizes{100'000};
  double applies = 1000, seconds = 0.05;
  bool references = false, json = false;
};

using Lines = std::vector<sxt_verify_line>;

struct Case {
  std::string path;
  sxt_matrix_info info;
  Lines lines;
  double kept_select_s = 0;  // of a choice that an earlier one answers
};

sxt_verify_summary summary_of(const Lines &lines, double applies) {
  sxt_verify_summary summary{};
  summary.struct_size = sizeof summary;
  check(sxt_verify_summarise(lines.data(), static_cast<std::int64_t>(lines.size()), applies, &summary), nullptr);
  return summary;
}

double error_of(const sxt_verify_line &line) {
  return line.estimated ? (line.predicted_run_s - line.measured_run_s) / line.measured_run_s : std::nan("");
}

std::string launch_text(const std::int64_t *launch) {
  int used = 4;
  while (used > 0 && launch[used - 1] == 0) --used;
  std::string text;
  for (int i = 0; i < used; ++i) text += (i ? "x" : "") + std::to_string(launch[i]);
  return text.empty() ? "-" : text;
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:+.1f}%", 100 * share) : "-"; }

// type: "f64", "f32", or "" for the file's own.
Matrix from_file(sxt_context *context, const std::string &path, const std::string &type) {
  sxt_matrix_options native;
  sxt_matrix_options_init(&native, sizeof native);
  native.value_type = type == "f64" ? SXT_F64 : type == "f32" ? SXT_F32 : 0;
  sxt_matrix *handle = nullptr;
  check(sxt_matrix_from_file(context, path.c_str(), &native, &handle), context);
  return Matrix(handle);
}

// Seconds of the same choice asked for again.
double kept_select_seconds(sxt_context *context, const Matrix &matrix, sxt_value_type type,
                           const sxt_verify_options &how) {
  sxt_spmv_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_SPMV};
  query.m.q.expected_runs = how.applies;
  query.m.q.flags = SXT_QUERY_MATRIX | SXT_QUERY_PREDICT_ONLY;
  query.m.q.value_type = type;
  query.op = how.op;
  query.n_rhs = 1;
  std::vector<double> seconds;
  for (int turn = 0; turn < 6; ++turn) {
    sxt_selection *made = nullptr;
    const double took =
        seconds_of([&] { check(sxt_kernel_select(context, &query.m.q, matrix.get(), &made), context); });
    const Selection selection(made);
    if (turn > 0) seconds.push_back(took);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

Case measure_matrix(sxt_context *context, const std::string &name, const Matrix &matrix, std::int64_t number,
                    const VerifyOptions &options) {
  Case measured{name, {}, {}, 0};
  measured.info.struct_size = sizeof measured.info;
  check(sxt_matrix_get_info(matrix.get(), &measured.info), context);
  sxt_verify_options how;
  sxt_verify_options_init(&how, sizeof how);
  how.applies = options.applies;
  how.candidate_seconds = options.seconds;
  how.op = options.op == "spmv" ? SXT_NO_TRANSPOSE : SXT_TRANSPOSE;
  how.references = options.references ? 1 : 0;
  Progress progress;
  struct Sink {
    Lines &lines;
    Progress &progress;
    const std::string &name;
  } sink{measured.lines, progress, name};
  const auto take = [](void *user, const sxt_verify_line *line) -> std::int32_t {
    auto &to = *static_cast<Sink *>(user);
    to.lines.push_back(*line);
    to.progress.show(fmt::format("{}: {}", to.name, line->kernel));
    return 0;
  };
  check(sxt_verify_model(matrix.get(), &how, take, &sink), context);
  for (sxt_verify_line &line : measured.lines) line.matrix = number;
  measured.kept_select_s = kept_select_seconds(context, matrix, measured.info.value_type, how);
  return measured;
}

// The lines as they are where the choice was one that an earlier answer gives.
Lines with_kept_answer(const Case &measured) {
  Lines lines = measured.lines;
  for (sxt_verify_line &line : lines)
    if (line.chosen) line.select_s = measured.kept_select_s;
  return lines;
}

void print_case(const Case &measured, const VerifyOptions &options) {
  print("{}: {} x {}, {} entries, {}\n", measured.path, count_text(measured.info.rows), count_text(measured.info.cols),
        count_text(measured.info.nnz), value_type_name(measured.info.value_type));
  Table table({{""},
               {"kernel"},
               {"format"},
               {"launch", true},
               {"predicted", true},
               {"measured", true},
               {"error", true},
               {"believed", true},
               {"noise", true},
               {"set-up", true},
               {"measured", true}});
  for (const sxt_verify_line &line : measured.lines)
    table.add({line.chosen ? "*" : "", line.kernel, *line.format ? line.format : "-", launch_text(line.launch),
               seconds_text(line.estimated ? line.predicted_run_s : std::nan("")), seconds_text(line.measured_run_s),
               percent(error_of(line)), fmt::format("{:.0f}%", 100 * line.rel_error),
               fmt::format("{:.1f}%", 100 * line.noise), seconds_text(line.predicted_setup_s),
               seconds_text(line.measured_setup_s)},
              line.chosen ? Style::good : Style::plain);
  print_text(table.text(2));
  print("  regret at {:g} products: {:.3f}\n\n", options.applies,
        summary_of(measured.lines, options.applies).regret_geomean);
}

// Kernels in name order, each with all its lines.
std::map<std::string, Lines> by_kernel(const Lines &lines) {
  std::map<std::string, Lines> kernels;
  for (const sxt_verify_line &line : lines) kernels[line.kernel].push_back(line);
  return kernels;
}

Lines kept_lines(const std::vector<Case> &cases) {
  Lines lines;
  for (const Case &each : cases) {
    const Lines own = with_kept_answer(each);
    lines.insert(lines.end(), own.begin(), own.end());
  }
  return lines;
}

void print_summary(const std::vector<Case> &cases, const Lines &lines, const VerifyOptions &options) {
  Table table({{"kernel"}, {"candidates", true}, {"median error", true}, {"90th percentile", true}});
  for (const auto &[kernel, its_lines] : by_kernel(lines)) {
    const sxt_verify_summary own = summary_of(its_lines, options.applies);
    table.add({kernel, count_text(own.candidates), fmt::format("{:.1f}%", 100 * own.median_relative_error),
               fmt::format("{:.1f}%", 100 * own.p90_relative_error)});
  }
  print_text(table.text());
  const sxt_verify_summary all = summary_of(lines, options.applies);
  print("\nall kernels: median error {:.1f}%, 90th percentile {:.1f}%, repeat noise {:.1f}% ({} measurements)\n",
        100 * all.median_relative_error, 100 * all.p90_relative_error, 100 * all.noise_median, all.candidates);
  print(
      "choices of {} matrices at {:g} products: {:.0f}% within 3% of the best; regret {:.3f} (geometric mean), {:.3f} "
      "(95th percentile), {:.3f} (worst)\n",
      all.matrices, options.applies, 100 * all.top1_accuracy, all.regret_geomean, all.regret_p95, all.regret_max);
  print(
      "  {:.0f}% of the runs are within the error bars; where an earlier choice answers, regret {:.3f}, {:.3f} "
      "(worst)\n",
      100 * judge(lines, options.applies).within_error_bars,
      summary_of(kept_lines(cases), options.applies).regret_geomean,
      summary_of(kept_lines(cases), options.applies).regret_max);
  for (int r = 0; r < 2; ++r)
    print(
        "  after a race of {}: {:.0f}% within 3%; regret {:.3f}, {:.3f}; the race itself would take {:.0f} products\n",
        2 + r, 100 * all.race_top1_accuracy[r], all.race_regret_geomean[r], all.race_regret_p95[r], all.race_price[r]);
}

Json line_json(const sxt_verify_line &line) {
  return {{"kernel", line.kernel},
          {"format", line.format},
          {"launch", {line.launch[0], line.launch[1], line.launch[2], line.launch[3]}},
          {"predicted_setup_s", line.predicted_setup_s},
          {"predicted_run_s", line.estimated ? Json(line.predicted_run_s) : Json()},
          {"rel_error", line.rel_error},
          {"measured_setup_s", line.measured_setup_s},
          {"measured_run_s", line.measured_run_s},
          {"noise", line.noise},
          {"repeats", line.repeats},
          {"chosen", line.chosen != 0}};
}

Json case_json(const Case &measured, double applies) {
  const sxt_verify_summary own = summary_of(measured.lines, applies);
  Json candidates = Json::array(), chosen;
  double select_s = 0;
  for (const sxt_verify_line &line : measured.lines) {
    candidates.push_back(line_json(line));
    if (line.chosen) chosen = line.kernel, select_s = line.select_s;
  }
  return {{"path", measured.path},
          {"rows", measured.info.rows},
          {"cols", measured.info.cols},
          {"nnz", measured.info.nnz},
          {"value_type", value_type_name(measured.info.value_type)},
          {"chosen", chosen},
          {"select_s", select_s},
          {"kept_select_s", measured.kept_select_s},
          {"regret", own.regret_geomean},
          {"candidates", candidates}};
}

Json report_json(const std::vector<Case> &cases, const Lines &lines, const SeveralFiles &files,
                 const VerifyOptions &options) {
  Json kernels = Json::array(), matrices = Json::array();
  for (const auto &[kernel, its_lines] : by_kernel(lines)) {
    const sxt_verify_summary own = summary_of(its_lines, options.applies);
    kernels.push_back({{"kernel", kernel},
                       {"candidates", own.candidates},
                       {"median_relative_error", own.median_relative_error},
                       {"p90_relative_error", own.p90_relative_error},
                       {"noise_median", own.noise_median}});
  }
  for (const Case &each : cases) matrices.push_back(case_json(each, options.applies));
  const sxt_verify_summary all = summary_of(lines, options.applies);
  const sxt_verify_summary kept = summary_of(kept_lines(cases), options.applies);
  Json races = Json::array();
  for (int r = 0; r < 2; ++r)
    races.push_back({{"candidates", 2 + r},
                     {"top1_accuracy", all.race_top1_accuracy[r]},
                     {"regret_geomean", all.race_regret_geomean[r]},
                     {"regret_p95", all.race_regret_p95[r]},
                     {"price_products", all.race_price[r]}});
  return {{"op", options.op},
          {"applies", options.applies},
          {"kernels", kernels},
          {"median_relative_error", all.median_relative_error},
          {"p90_relative_error", all.p90_relative_error},
          {"noise_median", all.noise_median},
          {"top1_accuracy", all.top1_accuracy},
          {"regret_geomean", all.regret_geomean},
          {"regret_p95", all.regret_p95},
          {"regret_max", all.regret_max},
          {"within_error_bars", judge(lines, options.applies).within_error_bars},
          {"kept_regret_geomean", kept.regret_geomean},
          {"kept_regret_max", kept.regret_max},
          {"races", races},
          {"matrices", matrices},
          {"left_out", files.left_out()}};
}

void draw(const Lines &lines, const VerifyOptions &options, std::size_t cases) {
  write_text(options.svg, verify_svg(lines, fmt::format("Predicted and measured {} on {} matri{}", options.op, cases,
                                                        cases == 1 ? "x" : "ces")));
}

// Visits the files, then the generated matrices, in each type asked for.
void for_each_case(sxt_context *context, const VerifyOptions &options, SeveralFiles &files,
                   const std::function<void(const std::string &, const Matrix &)> &visit) {
  const std::vector<std::string> types = options.types.empty() ? std::vector<std::string>{""} : options.types;
  for (const std::string &path : options.matrices)
    files.visit(path, [&] {
      for (const std::string &type : types) visit(path, from_file(context, path, type));
    });
  files.require_some(!options.generate.empty());
  if (options.generate.empty()) return;
  for (const Generator make : generators(options.generate))
    for (const std::int64_t size : options.sizes) {
      const HostCsr made = make(size);
      for (const std::string &type : types)
        visit(made.name, matrix_of(context, made, type == "f32" ? SXT_F32 : SXT_F64));
    }
}

int verify_model(const VerifyOptions &options) {
  if (options.matrices.empty() && options.generate.empty()) fail(exit_usage, "MATRIX or --generate is required");
  if (!options.svg.empty()) check_writable(options.svg);
  const Context context = open_context(options.context);
  std::vector<Case> cases;
  Lines lines;
  SeveralFiles files(options.matrices.size());
  for_each_case(context.get(), options, files, [&](const std::string &name, const Matrix &matrix) {
    cases.push_back(measure_matrix(context.get(), name, matrix, static_cast<std::int64_t>(cases.size()), options));
    lines.insert(lines.end(), cases.back().lines.begin(), cases.back().lines.end());
    if (!options.json) print_case(cases.back(), options);
  });
  if (options.json)
    print_json(report_json(cases, lines, files, options));
  else
    print_summary(cases, lines, options);
  if (!options.svg.empty()) draw(lines, options, cases.size());
  return files.exit_code(exit_done);
}

constexpr const char *verify_footer = R"(Examples:
  sextant verify-model A.mtx B.mtx.gz --applies 1000
  sextant verify-model *.mtx --types f64,f32 --json > verify.json
  sextant verify-model --generate stencil-3d,power-law --n 100000,1000000 --svg verify.svg
A file that cannot be read is named and left out; the exit code is then 3.
Every candidate is built and timed; leave the machine alone meanwhile. error: predicted against measured run;
believed: the model's own error bar; noise: quartile distance of the repeats. Regret counts set-up and choosing.)";

}  // namespace

Judgement judge(const Lines &lines, double applies) {
  Judgement judgement;
  judgement.summary = summary_of(lines, applies);
  double predicted = 0, within = 0;
  for (const sxt_verify_line &line : lines) {
    if (!line.estimated || !(line.measured_run_s > 0)) continue;
    ++predicted;
    within += std::abs(error_of(line)) <= line.rel_error + line.noise;
  }
  judgement.within_error_bars = predicted > 0 ? within / predicted : 0;
  return judgement;
}

Json judgement_json(const Judgement &judgement) {
  const sxt_verify_summary &all = judgement.summary;
  return {{"matrices", all.matrices},
          {"candidates", all.candidates},
          {"median_relative_error", all.median_relative_error},
          {"p90_relative_error", all.p90_relative_error},
          {"within_error_bars", judgement.within_error_bars},
          {"regret_geomean", all.regret_geomean},
          {"regret_max", all.regret_max},
          {"top1_accuracy", all.top1_accuracy}};
}

std::string judgement_text(const Judgement &judgement, double applies) {
  const sxt_verify_summary &all = judgement.summary;
  return fmt::format(
      "on {} matrices that no fit has seen, {} runs: median error {:.1f}%, 90th percentile {:.1f}%, {:.0f}% within "
      "their "
      "error bars; regret at {:g} products {:.3f} (geometric mean), {:.3f} (worst)\n",
      all.matrices, all.candidates, 100 * all.median_relative_error, 100 * all.p90_relative_error,
      100 * judgement.within_error_bars, applies, all.regret_geomean, all.regret_max);
}

Judgement verify_on_generated(sxt_context *context, double applies) {
  VerifyOptions options;
  options.applies = applies;
  options.seconds = 0.005;
  options.generate = "stencil-2d,stencil-3d,banded,power-law";
  options.sizes = {1'000, 10'000, 60'000};
  Lines lines;
  SeveralFiles none(0);
  std::int64_t number = 0;
  for_each_case(context, options, none, [&](const std::string &name, const Matrix &matrix) {
    const Lines own = measure_matrix(context, name, matrix, number++, options).lines;
    lines.insert(lines.end(), own.begin(), own.end());
  });
  return judge(lines, applies);
}

void add_verify_model(CLI::App &parent, Action &action) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App *app = parent.add_subcommand("verify-model", "Predicted against measured time of every kernel on matrices");
  app->add_option("matrices", options->matrices, "Matrix Market or Harwell-Boeing files, plain or .gz")->type_name("MATRIX");
  add_file_options(*app);
  app->add_option("--generate", options->generate, generate_help);
  app->add_option("--n", options->sizes, "--generate: rows")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{200'000'000}));
  app->add_option("--applies", options->applies, "Products that set-up is spread over")
      ->capture_default_str()
      ->check(number_within(1, 1e15));
  app->add_option("--op", options->op, "spmv or spmv-transpose")
      ->capture_default_str()
      ->check(one_of({"spmv", "spmv-transpose"}));
  app->add_option("--types", options->types, "f64, f32, or both with a comma; default: as the files say")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of({"f64", "f32"}));
  app->add_option("--seconds", options->seconds, "Time to measure each candidate for")
      ->capture_default_str()
      ->check(number_within(0.0001, 60));
  app->add_flag("--references", options->references, "Measure reference kernels too");
  app->add_option("--svg", options->svg, "Draw predicted over measured time into this file")->type_name("FILE");
  app->add_flag("--json", options->json, "Everything as JSON");
  add_context_options(*app, options->context);
  app->footer(verify_footer);
  app->callback([app, options, &action] {
    if (options->generate.empty()) refuse_given(*app, {"--n"}, "needs --generate");
    action = [options] { return verify_model(*options); };
  });
}

}  // namespace tool
