// SPDX-License-Identifier: BSD-3-Clause
// What the parts of `sextant bench hermitian` share: its options, sets of systems that are made anew before each call,
// and handles that are timed on them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/device/device.hpp"
#include "commands/command.hpp"
#include "sextant/plugin/kinds/hermitian.h"

namespace tool {

using HermitianHandle = std::unique_ptr<sxt_hermitian, Destroyer<sxt_hermitian_destroy>>;

struct HermitianBenchOptions : BenchOptions {
  std::vector<std::string> phases{"factor", "solve", "factor-solve"}, definiteness{"definite"};
  std::vector<std::int64_t> mixed;  // least and largest order of sets with orders at random
  std::string type = "c128", triangle = "lower", structure = "none", kernel;
  std::vector<std::string> shortcuts;
  std::vector<std::int64_t> systems;  // in a set; empty: by device and order
  std::int64_t n_rhs = 1;
  double seconds = 0;  // 0: 40 on a GPU, without end on the CPU
  bool sweep = false, cpu_thread = false;
  bool predictions = false;  // of the choice alone, without other libraries
};

// One point of a measurement.
struct HermitianCase {
  std::int64_t n = 0, batch = 0;     // n: the largest order
  std::vector<std::int32_t> orders;  // empty: all n
  std::string definiteness, phase;
  double flops(bool complex, std::int64_t n_rhs) const;
};

std::int64_t hermitian_value_bytes(sxt_value_type type);
bool is_complex(sxt_value_type type);
sxt_value_type type_named(const std::string &name);
std::vector<std::string> hermitian_names(const std::string &what);  // "type", "phase", "definiteness", "shortcut"
sxt_definiteness definiteness_named(const std::string &name);
std::int32_t phase_named(const std::string &name);
std::int32_t shortcut_bits(const std::vector<std::string> &names);

sxt_hermitian_options hermitian_description(const HermitianBenchOptions &options, const HermitianCase &problem);
// What the case would take by LAPACK on one CPU thread: some of its systems, scaled to all.
double seconds_on_one_thread(const HermitianBenchOptions &options, const HermitianCase &problem);

// Sets on the context's device: all systems of a set hold the same random numbers, dense, with n added to the diagonal
// where they are to be definite; or Toeplitz matrices. What is factored is a copy that restore() makes anew.
class HermitianBenchSet {
 public:
  HermitianBenchSet(sxt_context *context, const HermitianBenchOptions &options, const HermitianCase &problem);

  void restore() const;      // as before the first call
  void restore_rhs() const;  // and infos 0, as a solve reads them
  sxt_hermitian_set plain() const;
  // For a kernel called directly, which need not leave a factor.
  sxt_hermitian_query query(const HermitianCase &problem, std::int32_t phase) const;
  sxt_hermitian_args args(const HermitianCase &problem) const;
  sxt_hermitian_set checked();  // reads the matrices in place, reports residuals and which took a shortcut
  double worst_error() const;   // of the last checked call; 1 where none was reported
  std::int64_t bytes() const;   // of the matrices and right-hand sides

 private:
  Vector made(std::int64_t n, sxt_value_type type) const;
  void spread(const Vector &one, std::int64_t columns, std::int32_t step, const Vector &over) const;
  void run_step(void *args) const;

  sxt_context *context_;
  sxt_value_type type_;
  std::int64_t n_, batch_, n_rhs_;
  Vector original_, matrices_, rhs_, solution_, residual_, info_, pivots_;
};

// The median of a kernel, or of the library's choice, on one set.
struct HermitianTimed {
  std::string name, chosen;
  HermitianHandle handle;
  Selection alone;          // in place of a handle: a kernel that the library never chooses,
  std::string alone_phase;  // and the phase that it does
  double predicted = 0, seconds = 0, error = 0;
  std::uint64_t extra_bytes = 0;  // beside the set
  std::vector<double> samples;
  bool others() const;  // another library's
};

// Table, drawing and verdict of orders 16, 32, ... 2048.
struct HermitianPoint {
  std::int64_t n;
  double rate, other_rate;  // flops a second; other_rate 0: no other library
  double to_neighbours = 1;
};
void judge_neighbours(std::vector<HermitianPoint> &points);
Json sweep_curve(const std::vector<HermitianPoint> &points);
std::string sweep_verdict(const std::vector<HermitianPoint> &points);
// How far predictions of each kernel that was chosen were off: predicted over measured seconds, by kernel.
using HermitianPredictions = std::map<std::string, std::vector<double>>;
Json prediction_errors(const HermitianPredictions &ratios);
std::string prediction_verdict(const Json &errors);
std::string sweep_svg(const std::string &title, const std::vector<HermitianPoint> &points);

// Measures, shows, and returns the exit code.
int bench_hermitian(const HermitianBenchOptions &options);

}  // namespace tool
