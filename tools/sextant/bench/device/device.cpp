// SPDX-License-Identifier: BSD-3-Clause
#include "bench/device/device.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "input/hints.hpp"
#include "input/matrix_input.hpp"
#include "names/names.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

constexpr std::int64_t cold_bytes = std::int64_t{256} << 20;
// Runs of one replay at most, twice and once (K and 2K): further sets would not be used by any run.
constexpr std::int64_t most_sets = 600;
// For one sample of one contender; at least 15 replays of K and 2K runs unless they take far longer.
constexpr double sample_seconds = 5e-3;
constexpr std::int64_t least_length = 1 << 10, most_length = std::int64_t{1} << 28;

void fill_with(sxt_context *context, sxt_vector *vector, sxt_value_type type, double value) {
  const auto single = static_cast<float>(value);
  check(sxt_fill(type == SXT_F32 ? static_cast<const void *>(&single) : &value, vector), context);
}

}  // namespace

std::int64_t bytes_of(sxt_value_type type) { return type == SXT_F32 ? 4 : 8; }
const char *name_of(sxt_value_type type) { return type == SXT_F32 ? "f32" : "f64"; }
bool wanted(const std::vector<std::string> &names, const std::string &name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void check_operations(const BenchOptions &options, const std::vector<std::string> &known) {
  for (const std::string &name : options.operations)
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(exit_usage, "--op: {}", sextant::unknown_name("operation", name, known));
}

int device_rounds(const BenchOptions &options, int usual) { return options.repeat_given ? options.repeat : usual; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<sxt_value_type> device_types(const BenchOptions &options) {
  std::vector<sxt_value_type> types;
  for (const sxt_value_type type : {SXT_F32, SXT_F64}) {
    if (wanted(options.types, name_of(type))) types.push_back(type);
  }
  return types;
}

std::vector<std::int64_t> device_lengths(const BenchOptions &options) {
  if (!options.sizes.empty()) return options.sizes;
  std::vector<std::int64_t> lengths;
  double turn = 0;
  for (std::int64_t n = least_length; n <= most_length; n *= 2) {
    lengths.push_back(n);
    turn = std::fmod(turn + 0.6180339887498949, 1.0);
    if (n < most_length) lengths.push_back(n + 1 + static_cast<std::int64_t>(turn * static_cast<double>(n - 2)));
  }
  return lengths;
}

DeviceOperands::DeviceOperands(sxt_context *context, sxt_value_type type, std::int64_t n, int vectors) {
  const std::int64_t bytes = (n * bytes_of(type) + 255) / 256 * 256;
  sets_ = static_cast<int>(std::clamp<std::int64_t>((cold_bytes + bytes - 1) / bytes, 2, most_sets));
  stride_bytes_ = std::max(bytes, cold_bytes / sets_ / 256 * 256);
  for (int k = 0; k < vectors; ++k) {
    sxt_vector *vector = nullptr;
    check(sxt_vector_create(context, stride_bytes_ * sets_ / bytes_of(type), type, &vector), context);
    vectors_.emplace_back(vector);
    fill_with(context, vector, type, std::ldexp(1.0, -1 - k));
  }
}

void *DeviceOperands::at(int vector, int set) const {
  return static_cast<char *>(sxt_vector_data(vectors_[static_cast<std::size_t>(vector)].get())) + stride_bytes_ * set;
}

std::vector<std::string> kernels_on(const char *kind, const std::string &device) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    if (info.kind == std::string(kind) && info.device == device) names.emplace_back(info.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_baseline(const std::string &kernel) {
  return kernel.find(".cub.") != std::string::npos || kernel.find(".cublas.") != std::string::npos ||
         kernel.find(".cusparse.") != std::string::npos || kernel.find(".driver-copy.") != std::string::npos;
}

std::vector<DeviceContender> select_contenders(sxt_context *context, const std::vector<std::string> &kernels,
                                               const sxt_query &query) {
  std::vector<DeviceContender> contenders;
  for (const std::string &kernel : kernels) {
    DeviceContender contender;
    std::string reason;
    contender.name = kernel;
    contender.baseline = is_baseline(kernel);
    contender.selection = select_kernel(context, kernel, query, nullptr, reason);
    if (!contender.selection) {
      if (kernel == own_choice) fail(exit_not_solved, "nothing can be chosen: {}", reason);
      continue;
    }
    contender.chosen = sxt_selection_kernel(contender.selection.get());
    check(sxt_selection_cost(contender.selection.get(), nullptr, &contender.predicted_seconds), context);
    contenders.push_back(std::move(contender));
  }
  return contenders;
}

void time_contenders(sxt_context *context, std::vector<DeviceContender> &contenders, std::vector<sxt_head *> args,
                     int rounds) {
  const auto time = [&](DeviceContender &contender, std::int64_t count, std::vector<double> &samples) {
    double seconds = 0, noise = 0;
    check(sxt_selection_time(contender.selection.get(), args.data(), count, sample_seconds, &seconds, &noise), context);
    samples.push_back(seconds);
    contender.noise = std::max(contender.noise, noise);
  };
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      DeviceContender &contender = contenders[(turn + static_cast<std::size_t>(round)) % contenders.size()];
      time(contender, 1, contender.hot_samples);
      if (args.size() > 1) time(contender, static_cast<std::int64_t>(args.size()), contender.cold_samples);
    }
  }
  for (DeviceContender &contender : contenders) {
    contender.hot = median(contender.hot_samples);
    contender.cold = median(contender.cold_samples);
  }
}

std::string Sheet::text() const {
  std::vector<Table::Column> columns;
  for (std::size_t i = 0; i < titles.size(); ++i) columns.push_back({titles[i], i > 0});
  Table table(columns);
  for (const auto &line : lines) table.add(line);
  return title + "\n" + table.text() + "\n";
}

std::string Sheet::markdown() const {
  const auto row = [](const std::vector<std::string> &cells) {
    std::string line = "|";
    for (const std::string &cell : cells) line += " " + cell + " |";
    return line + "\n";
  };
  std::string out = title + "\n\n" + row(titles) + "|---" + std::string();
  for (std::size_t i = 1; i < titles.size(); ++i) out += "|--:";
  out += "|\n";
  for (const auto &line : lines) out += row(line);
  return out + "\n";
}

Json comparison(const char *suite, const std::string &name, const std::string &kernel, double seconds,
                const std::string &peer, double peer_seconds) {
  const bool compared = !peer.empty() && peer_seconds > 0 && seconds > 0;
  return {{"suite", suite},
          {"case", name},
          {"kernel", kernel},
          {"seconds", seconds},
          {"peer", compared ? Json(peer) : Json()},
          {"peer_seconds", compared ? Json(peer_seconds) : Json()},
          {"ratio", compared ? Json(peer_seconds / seconds) : Json()}};
}

std::string microseconds(double seconds) { return seconds > 0 ? fmt::format("{:.2f}", seconds * 1e6) : "-"; }

std::string length_text(std::int64_t n) {
  const auto bits = static_cast<std::uint64_t>(n);
  return std::has_single_bit(bits) && n > 512 ? fmt::format("2^{}", std::countr_zero(bits)) : count_text(n);
}

void for_each_matrix(const BenchOptions &options, sxt_context *context, SeveralFiles &files,
                     std::vector<MadeMatrix> (*made)(const BenchOptions &),
                     const std::function<void(const std::string &, sxt_matrix *)> &visit) {
  for (const std::string &path : options.matrices)
    files.visit(path, [&] {
      const LoadedMatrix matrix = read_matrix(context, path);
      visit(path, matrix.handle.get());
    });
  files.require_some(!options.generate.empty());
  if (!options.matrices.empty() && options.generate.empty()) return;
  for (const MadeMatrix &each : made(options)) {
    const HostCsr host = each.make(each.rows);
    const Matrix matrix = matrix_of(context, host);
    visit(host.name, matrix.get());
  }
}

void show(const BenchOptions &options, const Sheet &sheet) {
  if (options.json) return;
  print_text(sheet.text());
  finish_stdout();  // another process may end a long run
}

int finish_device(const BenchOptions &options, sxt_context *context, const std::vector<Sheet> &sheets, const Json &rows,
                  const Json &more) {
  const std::string device = described(context);
  if (options.json) {
    Json all = {{"device", device}, {"rows", rows}};
    all.update(more);
    print_json(all);
  } else {
    print("{}\n", device);
  }
  if (options.markdown.empty()) return exit_done;
  OutputFile file(options.markdown);
  file.write(fmt::format("On {}: `{}`.\n\n", device, options.command_line));
  for (const Sheet &sheet : sheets) file.write(sheet.markdown());
  file.commit();
  return exit_done;
}

}  // namespace tool
