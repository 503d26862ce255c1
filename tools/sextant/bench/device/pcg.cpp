// SPDX-License-Identifier: BSD-3-Clause
// Suite pcg on a GPU: whole solves, and the time of one iteration, by the library's choice, every engine with every
// recurrence, and a textbook's loop over cuSPARSE and cuBLAS, all in this process. One iteration is (T(2K) - T(K)) / K
// of solves that are stopped after K and 2K iterations, so that set-up, start and end drop out.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "bench/device/device.hpp"
#include "bench/device/textbook_pcg.hpp"
#include "input/matrix_input.hpp"
#include "report/explanation.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace tool {
namespace {

constexpr std::int64_t short_run = 100;   // K
constexpr int most_pairs = 12;            // of solves of K and 2 K iterations in a turn,
constexpr double enough = 5e-3;           // and the seconds that they may take
constexpr std::size_t usual_setups = 3;   // whose median counts
constexpr double enough_of_setups = 0.1;  // seconds
constexpr const char *textbook_name = "textbook cuSPARSE+cuBLAS";
// Multiples of the least total so far: a plan is given up beyond the first, and measured again, in turns, within the
// second.
constexpr double given_up_beyond = 3, close_enough = 1.25;
constexpr std::size_t most_close = 8;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One way to solve: the library's, or the textbook's where pcg is empty. Each of the library's has its own matrix, so
// that its set-up includes the storage it reads.
struct Way {
  std::string name, chosen, reason;
  bool tried = false;   // one of --plans, measured once; what it held is released
  double given_up = 0;  // seconds after which a trial was given up
  Json plan;            // what was chosen, part by part, as explain tells it
  Matrix matrix;
  Pcg pcg;
  double setup = 0, predicted_setup = 0;
  // Of a whole solve: iterations, and what the report says.
  std::int64_t iterations = 0;
  double predicted = 0, true_residual = 0, reductions = 0, launches = 0;
  double predicted_iterations = 0, probe = 0;
  bool converged = false, stopped = false;  // stopped: by a limit of time
  std::vector<double> whole, once, twice;   // seconds: a whole solve, K iterations, 2K
  double predicted_once = 0, predicted_twice = 0;
  double iteration() const { return std::max(0.0, median(twice) - median(once)) / short_run; }
  double predicted_iteration() const { return (predicted_twice - predicted_once) / short_run; }
  double total() const { return setup + median(whole); }
  bool ours() const { return pcg || tried; }
};

class DevicePcg {
 public:
  DevicePcg(const BenchOptions &options, sxt_context *context, sxt_matrix *matrix)
      : options_(options), context_(context) {
    sxt_matrix_info info{};
    info.struct_size = sizeof info;
    check(sxt_matrix_get_info(matrix, &info), context);
    if (info.value_type != SXT_F64 || info.rows != info.cols)
      fail(exit_not_solved, "bench pcg takes real square matrices");
    const void *row_ptr = nullptr, *col = nullptr, *values = nullptr;
    check(sxt_matrix_get_csr(matrix, &row_ptr, &col, &values), context);
    csr_ = {info.rows,       info.cols, info.nnz, info.offset_type,
            info.index_type, row_ptr,   col,      static_cast<const double *>(values)};
    symmetry_ = info.symmetry;
    b_ = make_vector();
    x_ = make_vector();
    fill_right_hand_side();
  }
  const textbook::Csr &csr() const { return csr_; }
  // Plans for which --plan-seconds left no time.
  const std::vector<std::string> &untried() const { return untried_; }

  std::vector<Way> measure() {
    std::vector<Way> ways;
    make({});  // costs of the first set-up of a process alone: modules of kernels, the pool's memory
    ways.push_back(make({}));
    if (!ways[0].pcg) fail(exit_not_solved, "nothing can be chosen: {}", ways[0].reason);
    for (const Request &each : requests()) {
      Way way = make(each);
      if (way.pcg || options_.verbose) ways.push_back(std::move(way));
    }
    std::vector<Way> trials = options_.plans ? try_plans(ways) : std::vector<Way>();
    std::string why;
    textbook_ = DeviceTextbookPcg::make(context_, csr_, why);
    Way vendor;
    vendor.name = vendor.chosen = textbook_name;
    vendor.reason = why;
    if (textbook_ || options_.verbose) ways.push_back(std::move(vendor));
    // Taking turns, after a first round that is not counted.
    for (int round = 0; round <= options_.repeat; ++round)
      for (Way &way : ways)
        if (way.reason.empty()) turn(way, round > 0);
    for (Way &trial : trials) ways.push_back(std::move(trial));
    return ways;
  }

 private:
  Vector make_vector() const {
    sxt_vector *made = nullptr;
    check(sxt_vector_create(context_, csr_.rows, SXT_F64, &made), context_);
    return Vector(made);
  }
  // b = A (1, ..., 1).
  void fill_right_hand_side() {
    std::vector<double> ones(static_cast<std::size_t>(csr_.rows), 1), b(ones.size());
    textbook::spmv(csr_, ones.data(), b.data());
    check(sxt_vector_write(b_.get(), b.data()), context_);
  }

  // What is asked for by name; empty: the library's choice.
  struct Request {
    std::string engine, format, preconditioner;
  };
  // Every engine, each of which has a recurrence.
  std::vector<Request> requests() const {
    std::vector<Request> all;
    const std::vector<std::string> &named = options_.engines;
    for (const std::string &engine : named.empty() ? kernels_on(SXT_KIND_PCG, "cuda") : named)
      all.push_back({engine, "", ""});
    return all;
  }
  // Every one with every storage and every preconditioner.
  std::vector<Request> plan_requests() const {
    std::vector<std::string> methods{"none"};
    for (const std::string &kernel : kernels_on(SXT_KIND_PRECONDITIONER, "cuda")) methods.push_back(method_of(kernel));
    std::vector<Request> all;
    for (const Request &engine : requests())
      for (const char *format :
           {"csr", "dia", "dia-symmetric", "ell", "sell", "bsr", "hyb", "coo", "csr:f32", "dia:f32"})
        for (const std::string &method : methods) all.push_back({engine.engine, format, method});
    return all;
  }
  // Each plan set up once and tried, and given up where it takes three times as long as the best so far. Those that
  // come close to it join `ways`; of the others only the numbers are kept.
  std::vector<Way> try_plans(std::vector<Way> &ways) {
    double best = HUGE_VAL;
    for (Way &way : ways)
      if (way.pcg) best = std::min(best, attempt(way, best));
    std::vector<std::pair<double, Request>> close;
    std::vector<Way> trials;
    const double begin = seconds_now();
    for (const Request &each : plan_requests()) {
      if (options_.plan_seconds > 0 && seconds_now() - begin > options_.plan_seconds) {
        untried_.push_back(name_of(each));
        continue;
      }
      Way way = make(each, 1);
      if (way.pcg) {
        const double total = attempt(way, best);
        best = std::min(best, total);
        if (total < HUGE_VAL) close.emplace_back(total, each);
      } else if (!options_.verbose) {
        continue;
      }
      way.tried = true;
      way.plan = Json::array();
      way.pcg.reset();
      way.matrix.reset();
      trials.push_back(std::move(way));
    }
    std::stable_sort(close.begin(), close.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (std::size_t i = 0; i < std::min(close.size(), most_close) && close[i].first <= close_enough * best; ++i) {
      const std::string name = name_of(close[i].second);
      std::erase_if(trials, [&](const Way &way) { return way.name == name; });
      ways.push_back(make(close[i].second));
    }
    return trials;
  }
  // The total of set-up and solve, infinite where it does not converge within three times the least one.
  double attempt(Way &way, double best) {
    const double left = given_up_beyond * best - way.setup;
    if (!(left > 0)) {
      way.given_up = way.setup;
      return HUGE_VAL;
    }
    double seconds = solve(way, options_.rtol, options_.max_iterations, left < HUGE_VAL ? left : -1);
    if (way.stopped) {
      way.given_up = way.setup + seconds;
      return HUGE_VAL;
    }
    // Others are measured in a solve that is not the first, too.
    if (way.setup + seconds < 2 * best) seconds = solve(way, options_.rtol, options_.max_iterations);
    way.whole = {seconds};
    return way.converged ? way.setup + seconds : HUGE_VAL;
  }
  // The second part of a kernel's name: "preconditioner.jacobi.cuda".
  static std::string method_of(const std::string &kernel) {
    const std::size_t begin = kernel.find('.') + 1;
    return kernel.substr(begin, kernel.find('.', begin) - begin);
  }
  // The matrix again, on the same arrays.
  Matrix own_matrix() const {
    sxt_matrix_options as_it_is;
    sxt_matrix_options_init(&as_it_is, sizeof as_it_is);
    as_it_is.index_type = csr_.index_type;
    as_it_is.offset_type = csr_.offset_type;
    as_it_is.symmetry = symmetry_;
    as_it_is.ownership = SXT_ADOPT;
    as_it_is.keep_order = 0;
    sxt_matrix *made = nullptr;
    check(sxt_matrix_from_csr(context_, csr_.rows, csr_.cols, csr_.row_ptr, csr_.col, csr_.values, &as_it_is, &made),
          context_);
    return Matrix(made);
  }

  static std::string name_of(const Request &request) {
    std::string name = request.engine.empty() ? std::string(own_choice) : request.engine;
    for (const std::string &part : {request.format, request.preconditioner})
      if (!part.empty()) name += " " + part;
    return name;
  }

  Way make(const Request &request, std::size_t most_setups = usual_setups) {
    Way way;
    const auto name_or_null = [](const std::string &name) { return name.empty() ? nullptr : name.c_str(); };
    way.name = name_of(request);
    sxt_pcg_options native;
    sxt_pcg_options_init(&native, sizeof native);
    native.engine = name_or_null(request.engine);
    native.format = name_or_null(request.format);
    native.preconditioner = name_or_null(request.preconditioner);
    native.rtol = options_.rtol;
    native.max_iterations = options_.max_iterations;
    native.stagnation_window = 1'000'000;
    std::vector<double> setups;
    sxt_status status = SXT_OK;
    double spent = 0;
    do {
      way.pcg.reset();
      way.matrix = own_matrix();
      sxt_pcg *pcg = nullptr;
      const double begin = seconds_now();
      status = sxt_pcg_create(way.matrix.get(), &native, &pcg);
      setups.push_back(seconds_now() - begin);
      way.pcg = Pcg(status == SXT_OK ? pcg : nullptr);
      spent += setups.back();
    } while (status == SXT_OK && setups.size() < most_setups && spent < enough_of_setups);
    way.setup = median(setups);
    if (status != SXT_OK) {
      way.reason = sxt_last_error(context_);
    } else {
      way.plan = explain_json(way.pcg.get()).value("plan", Json::array());
      const Json *chosen = find_kind(way.plan, SXT_KIND_PCG);
      way.chosen = chosen ? text_of(*chosen, "kernel", "-") : "-";
    }
    return way;
  }

  // Solves once, at most `limit` iterations and `time_limit` seconds, to rtol; the seconds it took.
  double solve(Way &way, double rtol, std::int64_t limit, double time_limit = -1) {
    if (!way.pcg) {
      const double begin = seconds_now();
      way.iterations = textbook_->solve(static_cast<const double *>(sxt_vector_data(b_.get())),
                                        static_cast<double *>(sxt_vector_data(x_.get())), rtol, limit);
      return seconds_now() - begin;
    }
    sxt_solve_options settings;
    sxt_solve_options_init(&settings, sizeof settings);
    settings.rtol = rtol;
    settings.atol = 0;
    settings.max_iterations = limit;
    settings.time_limit = time_limit;
    sxt_pcg_report report{};
    report.struct_size = sizeof report;
    const double begin = seconds_now();
    const sxt_status status = sxt_pcg_solve(way.pcg.get(), b_.get(), x_.get(), &settings, &report);
    const double seconds = seconds_now() - begin;
    if (status != SXT_NOT_CONVERGED) check(status, context_);  // the iteration limit is a fair end here
    way.iterations = report.iterations;
    way.predicted = report.predicted_solve_seconds;
    way.predicted_setup = report.predicted_setup_seconds;
    way.true_residual = report.true_relative_residual;
    way.reductions = static_cast<double>(report.reductions);
    way.launches = static_cast<double>(report.launches);
    way.predicted_iterations = report.predicted_iterations;
    way.probe = report.probe_seconds;
    way.converged = status == SXT_OK;
    way.stopped = report.reason == SXT_REASON_TIME_LIMIT;
    return seconds;
  }

  void turn(Way &way, bool counts) {
    // The difference of two short solves drowns in the host's noise, so these are repeated.
    double spent = 0;
    for (int i = 0; i < most_pairs && spent < enough; ++i) {
      const double once = solve(way, 0, short_run);
      way.predicted_once = way.predicted;
      const double twice = solve(way, 0, 2 * short_run);
      way.predicted_twice = way.predicted;
      spent += once + twice;
      if (!counts) break;
      way.once.push_back(once);
      way.twice.push_back(twice);
    }
    const double whole = solve(way, options_.rtol, options_.max_iterations);
    if (counts) way.whole.push_back(whole);
  }

  const BenchOptions &options_;
  sxt_context *context_;
  textbook::Csr csr_{};
  sxt_symmetry symmetry_ = SXT_GENERAL;
  Vector b_, x_;
  std::unique_ptr<DeviceTextbookPcg> textbook_;
  std::vector<std::string> untried_;
};

// The total of set-up and solve of the choice over that of the best way that converged; 0 when none did.
double regret(const std::vector<Way> &ways) {
  double best = 0;
  for (const Way &way : ways)
    if (way.pcg && way.converged && !way.tried && (best == 0 || way.total() < best)) best = way.total();
  return best > 0 ? ways[0].total() / best : 0;
}

Json json_of(const std::string &name, const DevicePcg &bench, const std::vector<Way> &ways) {
  const Way &choice = ways[0];
  const Way *peer = nullptr;
  Json engines = Json::array();
  for (const Way &way : ways) {
    if (!way.reason.empty()) {
      engines.push_back({{"kernel", way.name}, {"reason", way.reason}});
      continue;
    }
    if (!way.ours()) peer = &way;
    engines.push_back({{"kernel", way.name == own_choice ? way.chosen : way.name},
                       {"choice", way.name == own_choice},
                       {"seconds", median(way.whole)},
                       {"iterations", way.iterations},
                       {"seconds_per_iteration", way.iteration()},
                       {"predicted_seconds_per_iteration", way.ours() ? Json(way.predicted_iteration()) : Json()},
                       {"measured_once", way.tried},
                       {"given_up_after_seconds", way.given_up > 0 ? Json(way.given_up) : Json()},
                       {"setup_seconds", way.setup},
                       {"predicted_setup_seconds", way.predicted_setup},
                       {"predicted_seconds", way.predicted},
                       {"waits", way.reductions},
                       {"launches", way.launches},
                       {"predicted_iterations", way.predicted_iterations},
                       {"probe_seconds", way.probe},
                       {"plan", way.plan},
                       {"converged", way.ours() ? Json(way.converged) : Json()},
                       {"true_relative_residual", way.ours() ? Json(way.true_residual) : Json()}});
  }
  const double seconds = median(choice.whole);
  Json row = comparison("pcg", name, choice.chosen, seconds, peer ? peer->name : "", peer ? median(peer->whole) : 0);
  row.update({{"rows", bench.csr().rows},
              {"nnz", bench.csr().nnz},
              {"seconds_per_iteration", choice.iteration()},
              {"iterations", choice.iterations},
              {"total_over_best", regret(ways)},
              {"not_tried", bench.untried()},
              {"engines", engines}});
  return row;
}

Sheet sheet_of(const std::string &name, const DevicePcg &bench, const std::vector<Way> &ways) {
  Sheet sheet;
  sheet.title = fmt::format("{}: {} rows, {} entries; the choice is {}, {:.2f} times the total of the best", name,
                            count_text(bench.csr().rows), count_text(bench.csr().nnz), ways[0].chosen, regret(ways));
  sheet.titles = {"engine",       "us an iteration", "predicted us", "iterations", "predicted", "ms a solve",
                  "predicted ms", "ms set-up",       "ms in all",    "launches",   "waits",     "residual"};
  for (const Way &way : ways) {
    if (!way.reason.empty()) continue;
    const auto ms = [](double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); };
    const auto in_all = [&](const Way &way) { return way.given_up > 0 ? "> " + ms(way.given_up) : ms(way.total()); };
    sheet.lines.push_back({way.name, way.tried ? "-" : microseconds(way.iteration()),
                           way.ours() && !way.tried ? microseconds(way.predicted_iteration()) : "-",
                           std::to_string(way.iterations),
                           way.ours() ? fmt::format("{:.0f}", way.predicted_iterations) : "-", ms(median(way.whole)),
                           way.ours() ? ms(way.predicted) : "-", way.ours() ? ms(way.setup) : "-",
                           way.ours() ? in_all(way) : "-", way.ours() ? fmt::format("{:.0f}", way.launches) : "-",
                           way.ours() ? fmt::format("{:.0f}", way.reductions) : "-",
                           way.ours() ? fmt::format("{:.1e}", way.true_residual) : "-"});
  }
  return sheet;
}

// What is measured when nothing is named: the cubes of docs/measurements/gpu_pcg.md.
std::vector<std::int64_t> usual_sizes() { return {32 * 32 * 32, 64 * 64 * 64, 128 * 128 * 128}; }

std::vector<MadeMatrix> made_systems(const BenchOptions &options) {
  std::vector<MadeMatrix> made;
  for (const std::int64_t rows : options.sizes.empty() ? usual_sizes() : options.sizes)
    for (const Generator make : generators(options.generate.empty() ? "stencil-3d" : options.generate))
      made.push_back({make, rows});
  return made;
}

}  // namespace

int bench_device_pcg(const BenchOptions &options) {
  const Context context = open_context(options.context);
  if (!options.markdown.empty()) check_writable(options.markdown);
  std::vector<Sheet> sheets;
  Json rows = Json::array();
  SeveralFiles files(options.matrices.size());
  for_each_matrix(options, context.get(), files, made_systems, [&](const std::string &name, sxt_matrix *matrix) {
    DevicePcg bench(options, context.get(), matrix);
    const std::vector<Way> ways = bench.measure();
    rows.push_back(json_of(name, bench, ways));
    sheets.push_back(sheet_of(name, bench, ways));
    show(options, sheets.back());
    if (!bench.untried().empty())
      message(fmt::format("{}: {} plans not tried within --plan-seconds {}: {} and those after it", name,
                          bench.untried().size(), options.plan_seconds, bench.untried().front()));
    for (const Way &way : ways)
      if (!way.reason.empty()) message(fmt::format("{}: {} left out: {}", name, way.name, way.reason));
  });
  return files.exit_code(finish_device(options, context.get(), sheets, rows, {{"left_out", files.left_out()}}));
}

}  // namespace tool
