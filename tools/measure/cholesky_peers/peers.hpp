// SPDX-License-Identifier: BSD-3-Clause
// What the parts of gpu_cholesky_peers share: its options, a row of its table, clocks, right-hand sides and their
// error.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/cholesky/factor.hpp"
#include "tools/measure/cholesky_plan.hpp"
#include "tools/measure/cholesky_problems.hpp"

namespace peers {

using namespace sextant;
using gpu_test::Problem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string cudss, order, only;
  std::optional<gpu_test::CholeskyLaunch>
      launch;  // of cholesky.levels.cuda: block columns, KiB of small fronts, products
  std::int64_t amalgamation = 0;
  int cpu_threads = 0;      // of a row of the CPU; 0: none
  bool calls = false;       // rows of whole calls, in the working and in single precision
  std::vector<int> single;  // rows of cholesky.levels.cuda in f32: TF32 products for one (0: none)
  int repeat = 7;
  std::vector<std::string> problems;
};

inline void need(sxt_status status) {
  if (status < 0) throw std::runtime_error(sxt_last_error(nullptr));
}

inline double ms_of(const std::function<void()> &work) {
  const auto start = Clock::now();
  work();
  return 1e3 * std::chrono::duration<double>(Clock::now() - start).count();
}
inline double median_ms(int repeat, const std::function<void()> &before, const std::function<void()> &work) {
  std::vector<double> times;
  for (int k = 0; k < repeat; ++k) before(), times.push_back(ms_of(work));
  std::nth_element(times.begin(), times.begin() + repeat / 2, times.end());
  return times[static_cast<std::size_t>(repeat / 2)];
}

struct Row {
  double order_s = NAN, first = NAN, refactor = NAN, solve = NAN, solve8 = NAN, solve64 = NAN, error = NAN;
  std::int64_t nnz_l = 0, supers = 0;
  double flops = 0, device_gb = 0, refined = NAN, predicted = NAN, predicted_solve = NAN;  // ms
};

struct InContext {
  sxt_context *handle = nullptr;
  explicit InContext(const char *device, int threads = 0) {
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = device, options.threads = threads;
    need(sxt_context_create(&options, &handle));
  }
  ~InContext() { sxt_context_destroy(handle); }
  InContext(const InContext &) = delete;
  Device &device() const { return handle->context->device(); }
};

inline std::vector<double> right_sides(const Problem &a, std::int64_t columns) {
  std::vector<double> b(static_cast<std::size_t>(a.n() * columns));
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = 1 + static_cast<double>(k * 2654435761u % 1000) * 1e-3;
  return b;
}

// The largest entry of b - A x over that of |A| |x| + |b|, of the last column.
inline double error_of(const Problem &a, const std::vector<double> &b, const std::vector<double> &x) {
  const std::size_t n = static_cast<std::size_t>(a.n()), base = b.size() - n;
  double rest = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double r = b[base + i], s = std::abs(r);
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const double term = a.values[static_cast<std::size_t>(k)] *
                          x[base + static_cast<std::size_t>(a.col[static_cast<std::size_t>(k)])];
      r -= term, s += std::abs(term);
    }
    if (std::isnan(r)) return r;
    rest = std::max(rest, std::abs(r)), size = std::max(size, s);
  }
  return rest / size;
}

// Refactorisations and solves of a scheduler with everything in device memory. products: in f32, with so many TF32
// products for one; -1: in f64.
Row by_kernel(const InContext &context, const Problem &a, const Options &options, const char *scheduler, int products);
// The same through calls of core with A's values on the host and vectors in device memory; single: by a factor in
// single precision. scheduler "": the model chooses.
Row by_calls(const InContext &context, const Problem &a, const Options &options, const char *scheduler, bool single);

}  // namespace peers
