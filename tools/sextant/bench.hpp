// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark suites share: options, kernels of a kind, rows of results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "context_options.hpp"
#include "generate.hpp"
#include "measure.hpp"
#include "output.hpp"
#include "textbook.hpp"

namespace tool {

struct BenchOptions {
  ContextOptions context;
  std::vector<std::string> matrices;
  std::vector<std::int64_t> sizes;
  int repeat = 15;
  std::int64_t max_iterations = 500;
  double rtol = 1e-8;
  bool json = false, verbose = false, peers = false;
};

// Rows of results, and what was left out with the reason.
class BenchReport {
 public:
  explicit BenchReport(std::string suite) : suite_(std::move(suite)) {}
  // Rows of one group: contenders[0] is the peer, the others are kernels. bytes: traffic of one run.
  void add(const std::string &name, const std::vector<Contender> &contenders, double bytes,
           const Json &extra = Json::object());
  void skip(const std::string &name, const std::string &kernel, const std::string &reason);
  // Prints everything; returns the exit code: not solved when a kernel failed or its answer was wrong.
  int finish(const BenchOptions &options) const;
  // What is being measured, on stderr.
  void show(const std::string &name, const std::string &kernel) {
    progress_.show(fmt::format("{} {} {}", suite_, name, kernel), true);
  }

 private:
  bool all_good() const;
  std::string table() const;
  std::string suite_;
  Json rows_ = Json::array(), skipped_ = Json::array(), failed_ = Json::array();
  Progress progress_;
};

// Names of the loaded CPU kernels of a kind.
std::vector<std::string> kernels_of(const char *kind);
// Forces the kernel, selects it for the query and frees the choice again. Empty when it does not apply, with the
// reason.
Selection select_forced(sxt_context *context, const std::string &kernel, const sxt_query &query, sxt_matrix *matrix,
                        std::string &reason);
double predicted_run(const Selection &selection);

// A matrix under test with its CSR arrays, borrowed from the library.
struct BenchMatrix {
  std::string name;
  Matrix handle;
  textbook::Csr csr;
};
// The files, or when none is given the generated ones at each size; calls visit with one after the other.
void for_each_matrix(sxt_context *context, const BenchOptions &options, std::int64_t default_size, bool square,
                     const std::function<void(BenchMatrix &)> &visit);

// Numbers in [0.5, 1.5) that repeat with no short period; for operands.
std::vector<double> operand(std::int64_t n, double phase);
// max |got - want| / max |want|
double relative_error(const std::vector<double> &got, const std::vector<double> &want);

int bench_spmv(const BenchOptions &options);
int bench_vector(const BenchOptions &options);
int bench_reduction(const BenchOptions &options);
int bench_pcg(const BenchOptions &options);

}  // namespace tool
