// SPDX-License-Identifier: BSD-3-Clause
// sextant bench: the command line of the suites, and what they share.
#include "bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "explanation.hpp"
#include "matrix_input.hpp"
#include "table.hpp"

namespace tool {
namespace {

// Beyond this a kernel's answer is called wrong: far above rounding, far below a mistake.
constexpr double kWrong = 1e-8;

// A ratio for people: "1.42", or "-".
std::string ratio_text(const Json &value) {
  return value.is_number() && std::isfinite(value.get<double>()) ? fmt::format("{:.2f}", value.get<double>()) : "-";
}

BenchMatrix borrowed(sxt_context *context, Matrix handle, std::string name) {
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  check(sxt_matrix_get_info(handle.get(), &info), context);
  if (info.value_type != SXT_F64) {
    fail(kNotSolved, "{}: bench takes real matrices; this one is {}", name, value_type_name(info.value_type));
  }
  BenchMatrix matrix{std::move(name), std::move(handle), {}};
  const void *row_ptr = nullptr, *col = nullptr, *values = nullptr;
  check(sxt_matrix_get_csr(matrix.handle.get(), &row_ptr, &col, &values), context);
  matrix.csr = {info.rows,       info.cols, info.nnz, info.offset_type,
                info.index_type, row_ptr,   col,      static_cast<const double *>(values)};
  return matrix;
}

BenchMatrix from_generated(sxt_context *context, const HostCsr &a) {
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  options.keep_order = 0;
  sxt_matrix *handle = nullptr;
  check(sxt_matrix_from_csr(context, a.n, a.n, a.row_ptr.data(), a.col.data(), a.values.data(), &options, &handle),
        context);
  return borrowed(context, Matrix(handle), a.name);
}

}  // namespace

void BenchReport::add(const std::string &name, const std::vector<Contender> &contenders, double bytes,
                      const Json &extra) {
  const Contender &peer = contenders.front();
  for (const Contender &contender : contenders) {
    if (&contender == &peer) continue;
    if (!contender.failure.empty()) {
      failed_.push_back({{"case", name}, {"kernel", contender.name}, {"reason", contender.failure}});
      continue;
    }
    Json row;
    row["suite"] = suite_;
    row["case"] = name;
    row["kernel"] = contender.name;
    row["seconds"] = contender.seconds;
    row["peer"] = peer.name;
    row["peer_seconds"] = peer.seconds;
    row["ratio"] = peer.seconds / contender.seconds;
    row["gb_per_s"] = bytes / contender.seconds * 1e-9;
    const bool predicted = contender.predicted_seconds > 0 && std::isfinite(contender.predicted_seconds);
    row["predicted_seconds"] = predicted ? Json(contender.predicted_seconds) : Json();
    row["predicted_over_measured"] = predicted ? Json(contender.predicted_seconds / contender.seconds) : Json();
    row["spread"] = contender.spread;
    row["result_error"] = contender.result_error;
    row.update(extra);
    rows_.push_back(std::move(row));
  }
}

void BenchReport::skip(const std::string &name, const std::string &kernel, const std::string &reason) {
  skipped_.push_back({{"case", name}, {"kernel", kernel}, {"reason", reason}});
}

// Says on stderr what went wrong; false when anything did.
bool BenchReport::all_good() const {
  bool good = failed_.empty();
  for (const Json &failed : failed_) {
    message(fmt::format("{}: {} failed: {}", text_of(failed, "case"), text_of(failed, "kernel"),
                        text_of(failed, "reason")));
  }
  for (const Json &row : rows_) {
    // Written so that a NaN counts as wrong.
    if (row["result_error"].get<double>() <= kWrong) continue;
    message(fmt::format("{}: {} differs from {} by {:.1e}, relative to the largest entry", text_of(row, "case"),
                        text_of(row, "kernel"), text_of(row, "peer"), row["result_error"].get<double>()));
    good = false;
  }
  return good;
}

std::string BenchReport::table() const {
  Table table({{"case"},
               {"kernel"},
               {"time", true},
               {"spread", true},
               {"GB/s", true},
               {"pred/meas", true},
               {"textbook", true},
               {"ratio", true}});
  for (const Json &row : rows_) {
    table.add({row["case"], row["kernel"], seconds_text(row["seconds"]),
               fmt::format("{:.0f}%", 100 * row["spread"].get<double>()), ratio_text(row["gb_per_s"]),
               ratio_text(row["predicted_over_measured"]), seconds_text(row["peer_seconds"]),
               ratio_text(row["ratio"])});
  }
  return table.text();
}

int BenchReport::finish(const BenchOptions &options) const {
  if (options.json) {
    print_json(
        {{"suite", suite_}, {"repeat", options.repeat}, {"rows", rows_}, {"skipped", skipped_}, {"failed", failed_}});
  } else {
    print_text(table());
  }
  for (const Json &skipped : skipped_) {
    if (!options.verbose) break;
    message(fmt::format("{}: {} left out: {}", text_of(skipped, "case"), text_of(skipped, "kernel"),
                        text_of(skipped, "reason")));
  }
  if (!options.json && !options.verbose && !skipped_.empty()) {
    message(fmt::format("{} combinations do not apply; --verbose says why", skipped_.size()));
  }
  return all_good() ? kDone : kNotSolved;
}

std::vector<std::string> kernels_of(const char *kind) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    if (std::string(info.kind) == kind && std::string(info.device) == "cpu") names.emplace_back(info.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Selection select_forced(sxt_context *context, const std::string &kernel, const sxt_query &query, sxt_matrix *matrix,
                        std::string &reason) {
  check(sxt_context_force(context, query.h.kind, kernel.c_str()), context);
  sxt_selection *selection = nullptr;
  const sxt_status status = sxt_kernel_select(context, &query, matrix, &selection);
  reason = status == SXT_OK ? "" : sxt_last_error(context);
  check(sxt_context_force(context, query.h.kind, nullptr), context);
  // Not applying is an answer; running out of memory is not.
  if (status == SXT_E_MEMORY || status == SXT_E_DEVICE) throw ToolError(kDevice, reason, status);
  return Selection(status == SXT_OK ? selection : nullptr);
}

double predicted_run(const Selection &selection) {
  double setup = 0, run = 0;
  check(sxt_selection_cost(selection.get(), &setup, &run), nullptr);
  return run;
}

void for_each_matrix(sxt_context *context, const BenchOptions &options, std::int64_t default_size, bool square,
                     const std::function<void(BenchMatrix &)> &visit) {
  for (const std::string &path : options.matrices) {
    LoadedMatrix loaded = read_matrix(context, path);
    if (square && loaded.info.rows != loaded.info.cols) fail(kNotSolved, "{}: the matrix is not square", path);
    BenchMatrix matrix = borrowed(context, std::move(loaded.handle), std::filesystem::path(path).filename().string());
    visit(matrix);
  }
  if (!options.matrices.empty()) return;
  for (const std::int64_t size : options.sizes.empty() ? std::vector{default_size} : options.sizes) {
    for (auto *make : {stencil_2d, stencil_3d, banded, power_law}) {
      BenchMatrix matrix = from_generated(context, make(size));
      visit(matrix);
    }
  }
}

std::vector<double> operand(std::int64_t n, double phase) {
  std::vector<double> values(static_cast<std::size_t>(n));
  // Multiples of the golden ratio modulo 1 spread evenly.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double turn = static_cast<double>(i) * 0.6180339887498949 + phase;
    values[i] = 0.5 + (turn - std::floor(turn));
  }
  return values;
}

double relative_error(const std::vector<double> &got, const std::vector<double> &want) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(got[i])) return got[i];
    difference = std::max(difference, std::abs(got[i] - want[i]));
    size = std::max(size, std::abs(want[i]));
  }
  return size > 0 ? difference / size : difference;
}

namespace {

constexpr const char *kBenchFooter =
    R"(Each kernel that applies is forced in turn and timed next to "textbook", the plain single-threaded loop of a
textbook, in the same process; samples alternate. time is the median of --repeat samples, spread their
interquartile range over the median, ratio the textbook's time over the kernel's, pred/meas the model's
prediction over the measurement. GB/s counts the least traffic the operation can have (docs/command.md).
Examples:
  sextant bench spmv A.mtx B.mtx --threads 2
  sextant bench vector --n 1000,1000000 --json
Exit code 4: a kernel failed, or its answer differs from the textbook's.)";

using Suite = int (*)(const BenchOptions &);

void add_suite(CLI::App &parent, const char *name, const char *text, bool matrices, Suite suite, Action &action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *app = parent.add_subcommand(name, text);
  if (matrices) {
    app->add_option("matrices", options->matrices, "Matrix Market files; none: generated matrices")
        ->type_name("MATRIX.mtx");
  }
  app->add_option("--n", options->sizes, matrices ? "Rows of the generated matrices" : "Lengths of the vectors")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{200'000'000}));
  app->add_option("--repeat", options->repeat, "Samples of each kernel")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app->add_flag("--peers", options->peers,
                "Compare with other libraries; this version knows only textbook, always measured");
  if (suite == bench_pcg) {
    app->add_option("--max-iterations", options->max_iterations, "Iterations of one solve at most")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    app->add_option("--rtol", options->rtol, "Relative residual at which a solve ends")->capture_default_str();
  }
  app->add_flag("--json", options->json, "The rows as JSON");
  app->add_flag("-v,--verbose", options->verbose, "Say why kernels were left out");
  add_context_options(*app, options->context);
  app->footer(kBenchFooter);
  app->callback([options, suite, &action] {
    action = [options, suite] {
      if (options->context.device == "auto") options->context.device = "cpu";
      if (options->context.device != "cpu") fail(kUsage, "bench measures the CPU in this version; leave out --device");
      if (options->peers) message("no peer library in this version: comparing with the textbook loop");
      return suite(*options);
    };
  });
}

}  // namespace

void add_bench(CLI::App &parent, Action &action) {
  CLI::App *app = parent.add_subcommand("bench", "Measure every kernel that applies, next to its prediction");
  app->require_subcommand(0, 1);
  add_suite(*app, "spmv", "Sparse matrix times vector", true, bench_spmv, action);
  add_suite(*app, "vector", "Element-wise vector operations", false, bench_vector, action);
  add_suite(*app, "reduction", "Sums, dot products, norms", false, bench_reduction, action);
  add_suite(*app, "pcg", "Whole solves: every engine with every recurrence", true, bench_pcg, action);
}

}  // namespace tool
