// SPDX-License-Identifier: BSD-3-Clause
// Suite spmv on a GPU: y = A x by every kernel that applies, the library's choice, and the vendor baseline, all in this
// process. Hot: the matrix and its vectors are what the run before used. Cold: vectors rotate through at least 256 MB.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "bench/device/device.hpp"
#include "input/matrix_input.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace tool {
namespace {

constexpr double agreement = 1e-11;     // of f64 answers, beside the largest element
constexpr std::int64_t most_cold = 64;  // sets of vectors

// What one kernel gave on one matrix.
struct Result {
  std::string name;
  bool baseline = false;
  double hot = 0, cold = 0, noise = 0, predicted = 0, setup = 0, difference = 0;
  std::string why_not;  // where it could not be measured
};

struct Case {
  std::string name, chosen;
  std::int64_t rows = 0, nnz = 0;
  std::vector<Result> results;  // the choice first
};

// Vectors on the device: x is filled, y as long as the matrix has rows.
struct DeviceVectors {
  DeviceVectors(sxt_context *context, std::int64_t rows, std::int64_t cols) : context_(context) {
    const std::int64_t bytes = 8 * (rows + cols);
    sets = std::clamp<std::int64_t>((std::int64_t{256} << 20) / std::max<std::int64_t>(1, bytes) + 1, 2, most_cold);
    x = make(cols * sets, 0.75);
    y = make(rows * sets, 0);
    want = make(rows, 0);
    difference = make(rows, 0);
    vary(cols);
  }
  Vector make(std::int64_t n, double value) const {
    sxt_vector *made = nullptr;
    check(sxt_vector_create(context_, n, SXT_F64, &made), context_);
    Vector owned(made);
    check(sxt_fill(&value, made), context_);
    return owned;
  }
  std::int64_t sets;
  Vector x, y, want, difference;

 private:
  // Stretches of the first x get distinct values, so that a wrong column is detected.
  void vary(std::int64_t cols) const {
    const std::int64_t step = cols / 997 + 1;
    for (std::int64_t begin = 0, i = 1; begin < cols; begin += step, ++i) {
      const double value = 0.5 + std::fmod(static_cast<double>(i) * 0.6180339887498949, 1.0);
      sxt_vector *part = nullptr;
      check(sxt_vector_wrap(context_, std::min(step, cols - begin), SXT_F64, SXT_SPACE_DEVICE,
                            static_cast<double *>(sxt_vector_data(x.get())) + begin, &part),
            context_);
      const Vector owned(part);
      check(sxt_fill(&value, part), context_);
    }
  }
  sxt_context *context_;
};

// One product for each set of vectors.
std::vector<sxt_spmv_args> args_for(const DeviceVectors &vectors, std::int64_t rows, std::int64_t cols) {
  static const double one = 1, zero = 0;
  std::vector<sxt_spmv_args> all(static_cast<std::size_t>(vectors.sets));
  for (std::size_t set = 0; set < all.size(); ++set) {
    sxt_spmv_args &args = all[set];
    args.h = {sizeof args, SXT_KIND_SPMV};
    args.op = SXT_NO_TRANSPOSE;
    args.n_rhs = 1;
    args.ldx = cols;
    args.ldy = rows;
    args.alpha.value = &one;
    args.beta.value = &zero;
    args.x = static_cast<const double *>(sxt_vector_data(vectors.x.get())) + static_cast<std::int64_t>(set) * cols;
    args.y = static_cast<double *>(sxt_vector_data(vectors.y.get())) + static_cast<std::int64_t>(set) * rows;
  }
  return all;
}

// The measurements on one matrix.
class DeviceSpmv {
 public:
  DeviceSpmv(sxt_context *context, sxt_matrix *matrix, std::int64_t rows, std::int64_t cols, int rounds)
      : context_(context),
        matrix_(matrix),
        rounds_(rounds),
        vectors_(context, rows, cols),
        args_(args_for(vectors_, rows, cols)) {
    sxt_vector *y = nullptr;
    check(sxt_vector_wrap(context, rows, SXT_F64, SXT_SPACE_DEVICE, args_[0].y, &y), context);
    y_ = Vector(y);
  }

  Result measure(const std::string &kernel, std::string *chosen) {
    Result result;
    result.name = kernel;
    std::string reason;
    Selection selection;
    result.setup =
        seconds_of([&] { selection = select_kernel(context_, kernel, product_query().m.q, matrix_, reason); });
    if (!selection) {
      if (kernel == own_choice) fail(exit_not_solved, "nothing can be chosen: {}", reason);
      result.why_not = reason;
      return result;
    }
    if (chosen) *chosen = sxt_selection_kernel(selection.get());
    result.baseline = is_baseline(sxt_selection_kernel(selection.get()));
    check(sxt_selection_cost(selection.get(), nullptr, &result.predicted), context_);
    result.difference = difference_of(selection);
    result.hot = time(selection, 1, result.noise);
    double noise = 0;
    result.cold = time(selection, static_cast<std::int64_t>(args_.size()), noise);
    return result;
  }

 private:
  static constexpr double most_seconds = 10e-3;
  // The median of the rounds; noise: the largest.
  double time(const Selection &selection, std::int64_t count, double &noise) {
    std::vector<sxt_head *> heads;
    for (sxt_spmv_args &args : args_) heads.push_back(&args.h);
    std::vector<double> samples;
    for (int round = 0; round < rounds_; ++round) {
      double seconds = 0, own_noise = 0;
      check(sxt_selection_time(selection.get(), heads.data(), count, most_seconds, &seconds, &own_noise), context_);
      samples.push_back(seconds);
      noise = std::max(noise, own_noise);
    }
    return median(std::move(samples));
  }
  // Against the first kernel that ran, on the device; elements that a run leaves unwritten are NaN.
  double difference_of(const Selection &selection) {
    const double none = std::numeric_limits<double>::quiet_NaN(), minus = -1;
    check(sxt_fill(&none, y_.get()), context_);
    check(sxt_kernel_run(selection.get(), &args_[0].h), context_);
    if (!has_want_) {
      check(sxt_copy(y_.get(), vectors_.want.get()), context_);
      has_want_ = true;
    }
    double size = 0, distance = 0;
    check(sxt_copy(y_.get(), vectors_.difference.get()), context_);
    check(sxt_axpy(&minus, vectors_.want.get(), vectors_.difference.get()), context_);
    check(sxt_amax(vectors_.want.get(), &size), context_);
    check(sxt_amax(vectors_.difference.get(), &distance), context_);
    return size > 0 ? distance / size : distance;
  }

  sxt_context *context_;
  sxt_matrix *matrix_;
  int rounds_;
  DeviceVectors vectors_;
  std::vector<sxt_spmv_args> args_;
  Vector y_;
  bool has_want_ = false;
};

Case measure_case(sxt_context *context, const std::string &name, sxt_matrix *matrix, int rounds) {
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  check(sxt_matrix_get_info(matrix, &info), context);
  Case one;
  one.name = name;
  one.rows = info.rows;
  one.nnz = info.nnz;
  DeviceSpmv bench(context, matrix, info.rows, info.cols, rounds);
  one.results.push_back(bench.measure(own_choice, &one.chosen));
  for (const std::string &kernel : kernels_on(SXT_KIND_SPMV, "cuda")) {
    try {
      one.results.push_back(bench.measure(kernel, nullptr));
    } catch (const ToolError &error) {  // it does not fit, or the vendor's library is missing
      Result result;
      result.name = kernel;
      result.why_not = error.what();
      one.results.push_back(result);
    }
  }
  return one;
}

const Result *best_of(const Case &one, bool baselines) {
  const Result *best = nullptr;
  for (std::size_t i = 1; i < one.results.size(); ++i) {
    const Result &each = one.results[i];
    if (each.baseline == baselines && each.hot > 0 && each.difference <= agreement && (!best || each.hot < best->hot))
      best = &each;
  }
  return best;
}

Json json_of(const Case &one) {
  const Result &choice = one.results[0];
  const Result *peer = best_of(one, true), *own = best_of(one, false);
  Json kernels = Json::array();
  for (const Result &each : one.results) {
    if (!each.why_not.empty()) {
      kernels.push_back({{"kernel", each.name}, {"reason", each.why_not}});
      continue;
    }
    kernels.push_back({{"kernel", each.name},
                       {"seconds", each.hot},
                       {"cold_seconds", each.cold},
                       {"noise", each.noise},
                       {"predicted_seconds", each.predicted},
                       {"setup_seconds", each.setup},
                       {"difference", each.difference},
                       {"baseline", each.baseline}});
  }
  Json row = comparison("spmv", one.name, one.chosen, choice.hot, peer ? peer->name : "", peer ? peer->hot : 0);
  row.update({{"rows", one.rows},
              {"nnz", one.nnz},
              {"cold_seconds", choice.cold},
              {"predicted_seconds", choice.predicted},
              {"best_own", own ? Json(own->name) : Json()},
              {"best_own_seconds", own ? Json(own->hot) : Json()},
              {"kernels", kernels}});
  return row;
}

Sheet sheet_of(const Case &one) {
  Sheet sheet;
  sheet.title = fmt::format("{}: {} rows, {} entries, us (a run); the choice is {}", one.name, count_text(one.rows),
                            count_text(one.nnz), one.chosen);
  sheet.titles = {"kernel", "hot", "cold", "predicted", "GFLOP/s", "difference"};
  std::vector<const Result *> sorted;
  for (const Result &each : one.results)
    if (each.why_not.empty()) sorted.push_back(&each);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Result *a, const Result *b) { return a->hot < b->hot; });
  for (const Result *each : sorted)
    sheet.lines.push_back({each->name, microseconds(each->hot), microseconds(each->cold), microseconds(each->predicted),
                           fmt::format("{:.0f}", 2e-9 * static_cast<double>(one.nnz) / each->hot),
                           fmt::format("{:.0e}{}", each->difference, each->difference <= agreement ? "" : " WRONG")});
  return sheet;
}

// Over all matrices on which another library was measured: the best of them over the choice.
struct Summary {
  double log_sum = 0, worst = std::numeric_limits<double>::infinity(), regret_sum = 0;
  int count = 0, all = 0;
  std::string worst_case;
  bool agree = true;
  void add(const Case &one) {
    const Result *peer = best_of(one, true), *own = best_of(one, false);
    for (const Result &each : one.results) agree = agree && (!each.why_not.empty() || each.difference <= agreement);
    const Result *best = own && (!peer || own->hot < peer->hot) ? own : peer;
    if (best) regret_sum += std::log(std::max(1.0, one.results[0].hot / best->hot)), ++all;
    if (!peer) return;
    const double ratio = peer->hot / one.results[0].hot;
    log_sum += std::log(ratio);
    ++count;
    if (ratio < worst) worst = ratio, worst_case = one.name;
  }
  double mean() const { return count ? std::exp(log_sum / count) : 0; }
  double regret() const { return all ? std::exp(regret_sum / all) : 0; }
};

// What is measured when nothing is named: the stencils and power laws of docs/measurements/gpu_products.md.
std::vector<MadeMatrix> usual_cases() {
  return {{stencil_3d, 32 * 32 * 32},    {stencil_3d, 64 * 64 * 64},    {stencil_3d, 128 * 128 * 128},
          {stencil_3d, 256 * 256 * 256}, {stencil_27, 128 * 128 * 128}, {power_law, 1 << 19},
          {power_law, 1 << 22}};
}

std::vector<MadeMatrix> made_matrices(const BenchOptions &options) {
  if (options.generate.empty() && options.sizes.empty()) return usual_cases();
  std::vector<MadeMatrix> made;
  for (const std::int64_t rows : options.sizes.empty() ? std::vector<std::int64_t>{250'000} : options.sizes)
    for (const Generator make : generators(options.generate)) made.push_back({make, rows});
  return made;
}

}  // namespace

int bench_device_spmv(const BenchOptions &options) {
  const Context context = open_context(options.context);
  if (!options.markdown.empty()) check_writable(options.markdown);
  std::vector<Sheet> sheets;
  Json rows = Json::array();
  Summary summary;
  SeveralFiles files(options.matrices.size());
  for_each_matrix(options, context.get(), files, made_matrices, [&](const std::string &name, sxt_matrix *matrix) {
    const Case one = measure_case(context.get(), name, matrix, device_rounds(options, 1));
    summary.add(one);
    rows.push_back(json_of(one));
    sheets.push_back(sheet_of(one));
    show(options, sheets.back());
    if (!options.verbose) return;
    for (const Result &each : one.results)
      if (!each.why_not.empty()) message(fmt::format("{}: {} left out: {}", name, each.name, each.why_not));
  });
  const Json total = {{"geometric_mean_ratio", summary.mean()},
                      {"worst_ratio", summary.count ? Json(summary.worst) : Json()},
                      {"worst_case", summary.worst_case},
                      {"regret_geometric_mean", summary.regret()},
                      {"cases", rows.size()}};
  if (!options.json && summary.count)
    print(
        "best of the vendor's over the choice: geometric mean {:.3f}, worst {:.3f} ({}); choice over the best of all: "
        "{:.3f}\n",
        summary.mean(), summary.worst, summary.worst_case, summary.regret());
  const int code =
      finish_device(options, context.get(), sheets, rows, {{"summary", total}, {"left_out", files.left_out()}});
  return files.exit_code(summary.agree ? code : exit_not_solved);
}

}  // namespace tool
