// SPDX-License-Identifier: BSD-3-Clause
// What test_kernel.cpp and bench_kernel.cpp share: the plugin in a context of its own, small matrices, and problems
// that are one query, its kernel and the args of a run.
#pragma once

#include <dlfcn.h>
#include <sextant/plugin/plugin.h>
#include <sextant/sextant.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace trial {

// The file under test.
inline std::string plugin_path;

// A context on the kernel's device with the plugin in it. Without the device the program ends with exit code 77.
inline sextant::Context open(const char *plugin, const char *device) {
  sextant::ContextOptions options;
  options.device = device;
  options.plugin_paths = {plugin_path = plugin};
  try {
    return sextant::Context(options);
  } catch (const sextant::error &problem) {
    if (problem.status() != SXT_E_DEVICE) throw;
    std::printf("SKIPPED: %s\n", problem.what());
    std::exit(77);
  }
}

// The first kernel in the file, for kinds whose kernels the library alone calls. NULL: there is none.
inline const sxt_kernel *kernel_of_file() {
  void *file = dlopen(plugin_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto entry = file ? reinterpret_cast<sxt_plugin_entry_fn>(dlsym(file, "sxt_plugin_entry_0")) : nullptr;
  const sxt_plugin *plugin = nullptr;
  return entry && entry(nullptr, &plugin) == SXT_OK ? plugin->kernels[0] : nullptr;
}

// The second difference on n points: 2 on the diagonal, -1 beside it. Its rows sum to 1, 0, ..., 0, 1.
inline sextant::Matrix second_difference(const sextant::Context &context, std::int64_t n) {
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      col.push_back(static_cast<std::int32_t>(j));
      values.push_back(i == j ? 2 : -1);
    }
    row_ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  sextant::MatrixOptions options;
  options.symmetry = SXT_SYMMETRIC;
  return sextant::Matrix::from_csr(context, n, n, row_ptr, col, values, options);
}
// Its product with a vector of ones, row i.
inline double row_sum(std::int64_t i, std::int64_t n) { return n == 1 ? 2 : i == 0 || i == n - 1 ? 1 : 0; }

// A number for element i that is different from its neighbours', of size below 1 and exact in every type.
inline double number(std::int64_t i) { return static_cast<double>((i * 37) % 127 - 63) / 64; }

inline std::vector<double> numbers(std::int64_t n) {
  std::vector<double> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = number(i);
  return all;
}

// Takes the kernel for later choices: for problems whose vectors must be there before.
inline sextant::Context &forced(sextant::Context &context, const char *kind, const char *kernel) {
  context.force(kind, kernel);
  return context;
}

// The beginning of a query of kind `kind` about doubles; the rest of Q is zero.
template <class Q>
Q query_of(const char *kind) {
  Q query{};
  auto *q = reinterpret_cast<sxt_query *>(&query);
  q->h = {sizeof(Q), kind};
  q->expected_runs = 1;
  q->value_type = SXT_F64;
  return query;
}
// The same of a query about a matrix, whose sizes the library fills in.
template <class Q>
Q matrix_query_of(const char *kind) {
  Q query = query_of<Q>(kind);
  reinterpret_cast<sxt_query *>(&query)->flags = SXT_QUERY_MATRIX;
  return query;
}
template <class Q>
const sxt_query &head_of(const Q &query) {
  return *reinterpret_cast<const sxt_query *>(&query);
}

// A problem that is one selected kernel and its args, which a derived class fills in.
template <class Args>
class Selected {
 public:
  void run() {
    selection_.run(*reinterpret_cast<sxt_head *>(&args_));
    context_.synchronize();
  }
  std::string kernel() const { return std::string(selection_.kernel()); }
  double predicted() const { return selection_.cost().run_seconds; }

 protected:
  template <class Q>
  Selected(const sextant::Context &context, const char *kind, const Q &query)
      : context_(context), selection_(context, head_of(query)) {
    begin(kind);
  }
  template <class Q>
  Selected(const sextant::Context &context, const char *kind, const Q &query, const sextant::Matrix &matrix)
      : context_(context), selection_(context, head_of(query), matrix) {
    begin(kind);
  }
  const sextant::Context &context_;
  sextant::Selection selection_;
  Args args_{};

 private:
  void begin(const char *kind) { *reinterpret_cast<sxt_head *>(&args_) = {sizeof(Args), kind}; }
};

// The largest |got - want|, in units of a bound; NaN stays.
class Distance {
 public:
  explicit Distance(double bound) : bound_(bound) {}
  void add(double got, double want) {
    const double d = std::fabs(got - want) / bound_;
    if (!(d <= worst_)) worst_ = d;
  }
  double worst() const { return worst_; }

 private:
  double bound_, worst_ = 0;
};

}  // namespace trial
