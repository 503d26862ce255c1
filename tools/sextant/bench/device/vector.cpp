// SPDX-License-Identifier: BSD-3-Clause
// Suite vector on a GPU: element-wise operations at every length, hot and cold, next to the bandwidth that the driver
// reaches when it copies a vector of the same length.
#include <cstdint>

#include "bench/device/device.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/vector.h"

namespace tool {
namespace {

struct Operation {
  std::int32_t number;
  const char *name;
  int reads, writes;
};
constexpr const char *driver = "vector.driver-copy.cuda";

// Copy first: all are held to the driver's bandwidth at it.
constexpr Operation benched_operations[] = {
    {SXT_VECTOR_COPY, "copy", 1, 1},   {SXT_VECTOR_SCALE, "scale", 1, 1},   {SXT_VECTOR_AXPY, "axpy", 2, 1},
    {SXT_VECTOR_AXPBY, "axpby", 2, 1}, {SXT_VECTOR_WAXPBY, "waxpby", 2, 1}, {SXT_VECTOR_MULTIPLY, "multiply", 2, 1}};

struct Times {
  std::string name, kernel;  // as asked for, and what runs
  double cold, hot, predicted, bytes;
};

// Each of the kernels that applies, the choice among them.
std::vector<Times> measure(sxt_context *context, const std::vector<std::string> &kernels, const Operation &operation,
                           sxt_value_type type, std::int64_t n, const DeviceOperands &operands, int rounds) {
  // Repeated in place, values neither grow nor fade.
  const double minus = -1, tiny = 1e-9, one = 1;
  const float minus_single = -1, tiny_single = 1e-9F, one_single = 1;
  const bool single = type == SXT_F32;
  const auto scalar = [&](const double &wide, const float &narrow) {
    return sxt_scalar{single ? static_cast<const void *>(&narrow) : &wide, 0, 0};
  };
  sxt_vector_query query{};
  query.q.h = {sizeof query, SXT_KIND_VECTOR};
  query.q.expected_runs = usual_runs;
  query.q.value_type = type;
  query.n = n;
  query.operation = operation.number;
  std::vector<sxt_vector_args> args(static_cast<std::size_t>(operands.sets()));
  std::vector<sxt_head *> heads;
  for (int set = 0; set < operands.sets(); ++set) {
    sxt_vector_args &each = args[static_cast<std::size_t>(set)];
    each.h = {sizeof each, SXT_KIND_VECTOR};
    each.n = n;
    each.operation = operation.number;
    each.alpha = operation.number == SXT_VECTOR_SCALE ? scalar(minus, minus_single) : scalar(tiny, tiny_single);
    each.beta = scalar(one, one_single);
    each.x = operands.at(0, set);
    each.y = operands.at(1, set);
    each.z = operands.at(2, set);
    heads.push_back(&each.h);
  }
  std::vector<DeviceContender> contenders = select_contenders(context, kernels, query.q);
  time_contenders(context, contenders, heads, rounds);
  const double bytes = static_cast<double>(n * bytes_of(type) * (operation.reads + operation.writes));
  std::vector<Times> times;
  for (const DeviceContender &each : contenders)
    times.push_back({each.name, each.chosen, each.cold, each.hot, each.predicted_seconds, bytes});
  return times;
}

}  // namespace

int bench_device_vector(const BenchOptions &options) {
  std::vector<std::string> known;
  for (const Operation &operation : benched_operations) known.emplace_back(operation.name);
  check_operations(options, known);
  const int rounds = device_rounds(options, 1);
  const Context context = open_context(options.context);
  if (!options.markdown.empty()) check_writable(options.markdown);
  const std::vector<std::string> all = kernels_on(SXT_KIND_VECTOR, options.context.device);
  std::vector<Sheet> sheets;
  Json rows = Json::array();
  for (const sxt_value_type type : device_types(options)) {
    Sheet sheet;
    sheet.title = fmt::format("vector operations of {}, us (a run)", name_of(type));
    sheet.titles = {"n", "operation", "kernel", "cold", "hot", "GB/s cold", "of the driver's copy", "predicted"};
    for (const std::int64_t n : device_lengths(options)) {
      const DeviceOperands operands(context.get(), type, n, 3);
      double driver_rate = 0;
      for (const Operation &operation : benched_operations) {
        const bool copies = operation.number == SXT_VECTOR_COPY;
        if (!copies && !wanted(options.operations, operation.name)) continue;
        std::vector<std::string> kernels = options.verbose ? all : std::vector<std::string>{};
        if (copies && !options.verbose) kernels.emplace_back(driver);
        kernels.insert(kernels.begin(), own_choice);
        const std::vector<Times> measured = measure(context.get(), kernels, operation, type, n, operands, rounds);
        const Times *copied = nullptr;  // by the driver: of this operation
        for (const Times &times : measured)
          if (times.name == driver) copied = &times, driver_rate = times.bytes / times.cold;
        for (const Times &times : measured) {
          const double rate = times.bytes / times.cold, of_driver = driver_rate > 0 ? rate / driver_rate : 0;
          sheet.lines.push_back(
              {length_text(n), operation.name, times.name == own_choice ? "choice: " + times.kernel : times.kernel,
               microseconds(times.cold), microseconds(times.hot), fmt::format("{:.0f}", rate * 1e-9),
               of_driver > 0 ? fmt::format("{:.3f}", of_driver) : "-", microseconds(times.predicted)});
          const bool has_peer = copied && copied != &times;
          Json row = comparison("vector", fmt::format("{} {} n={}", operation.name, name_of(type), n), times.name,
                                times.hot, has_peer ? copied->name : "", has_peer ? copied->hot : 0);
          row.update({{"operation", operation.name},
                      {"type", name_of(type)},
                      {"n", n},
                      {"chosen", times.kernel},
                      {"cold_seconds", times.cold},
                      {"hot_seconds", times.hot},
                      {"bytes", times.bytes},
                      {"of_driver_copy", of_driver > 0 ? Json(of_driver) : Json()},
                      {"predicted_seconds", times.predicted}});
          rows.push_back(std::move(row));
        }
      }
    }
    show(options, sheet);
    sheets.push_back(std::move(sheet));
  }
  return finish_device(options, context.get(), sheets, rows);
}

}  // namespace tool
