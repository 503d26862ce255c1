// SPDX-License-Identifier: BSD-3-Clause
// What the suites on a GPU share: operands on the device, kernels with their times. "cold": args rotate through at
// least 256 MB and the last cache is swept; "hot": one set of args. Both from replayed graphs (sxt_selection_time).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace tool {

struct DeviceContender {
  std::string name, chosen;  // as asked for ("choice" or a kernel), and the kernel that runs
  bool baseline = false;     // another library's
  Selection selection;
  double predicted_seconds = 0;
  std::vector<double> cold_samples, hot_samples;
  double cold = 0, hot = 0, noise = 0;  // medians; the largest spread of one sample
};

// Sets of `vectors` operands of n elements each, filled with 1/2, 1/4, 1/8.
class DeviceOperands {
 public:
  DeviceOperands(sxt_context *context, sxt_value_type type, std::int64_t n, int vectors);
  int sets() const { return sets_; }
  void *at(int vector, int set) const;

 private:
  std::vector<Vector> vectors_;
  std::int64_t stride_bytes_ = 0;
  int sets_ = 1;
};

std::int64_t bytes_of(sxt_value_type type);
const char *name_of(sxt_value_type type);
// f32, f64 for those named in --type; both by default.
std::vector<sxt_value_type> device_types(const BenchOptions &options);
bool wanted(const std::vector<std::string> &names, const std::string &name);  // or none is named
// Throws for a name in --op that is none of these.
void check_operations(const BenchOptions &options, const std::vector<std::string> &known);
// --repeat where it is given, else `usual`: each round is many replays of a graph.
int device_rounds(const BenchOptions &options, int usual);
double median(std::vector<double> values);  // 0 of none
// Powers of two from 2^10 to 2^28, and one more length between each pair from 2^11 on, spread by a fixed sequence.
std::vector<std::int64_t> device_lengths(const BenchOptions &options);

std::vector<std::string> kernels_on(const char *kind, const std::string &device);
bool is_baseline(const std::string &kernel);
// Those of these kernels ("choice": the library's own) that apply.
std::vector<DeviceContender> select_contenders(sxt_context *context, const std::vector<std::string> &kernels,
                                               const sxt_query &query);
// Fills the times, taking turns `rounds` times. One set of args is measured hot, several also cold.
void time_contenders(sxt_context *context, std::vector<DeviceContender> &contenders, std::vector<sxt_head *> args,
                     int rounds);

// Lines of cells under titles, as text for a terminal or as a table of a document.
struct Sheet {
  std::string title;
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> lines;
  std::string text() const;
  std::string markdown() const;
};
// What the rows of every suite have: {suite, case, kernel, seconds, peer, peer_seconds, ratio}. Without a peer ("" or
// no time) the last three are null.
Json comparison(const char *suite, const std::string &name, const std::string &kernel, double seconds,
                const std::string &peer, double peer_seconds);
std::string microseconds(double seconds);
std::string length_text(std::int64_t n);
// A matrix that a suite makes itself.
struct MadeMatrix {
  Generator make;
  std::int64_t rows;
};
// Calls visit(name, matrix) for the files of --matrices, then for made(options), unless files alone are named.
void for_each_matrix(const BenchOptions &options, sxt_context *context, SeveralFiles &files,
                     std::vector<MadeMatrix> (*made)(const BenchOptions &),
                     const std::function<void(const std::string &, sxt_matrix *)> &visit);
// Prints a sheet at once, unless --json keeps stdout for one object.
void show(const BenchOptions &options, const Sheet &sheet);
// Prints the rows and further results with --json; writes --markdown.
int finish_device(const BenchOptions &options, sxt_context *context, const std::vector<Sheet> &sheets, const Json &rows,
                  const Json &more = Json::object());

int bench_device_reduction(const BenchOptions &options);
int bench_device_vector(const BenchOptions &options);
int bench_device_spmv(const BenchOptions &options);
int bench_device_pcg(const BenchOptions &options);
int bench_device_dispatch(const BenchOptions &options);

}  // namespace tool
