// SPDX-License-Identifier: BSD-3-Clause
// The interface of host and device: the data of one launch, its input, and its output. Plain data; included from C++
// and from CUDA.
#pragma once

#include <cstdint>

#include "plugins/pcg/shared/ended.hpp"

namespace cooperative {

namespace pcg = sextant::plugin::pcg;

inline constexpr int threads = 1024;   // a row each: a leaf of the tree at a time
inline constexpr int sums = 4;         // p'q, r'q, q'q, r'r
inline constexpr int most_levels = 5;  // of the tree, that one of a sum's threads adds alone
inline constexpr std::int64_t most_rows = (std::int64_t{threads / sums} << most_levels) * threads;

struct Matrix {
  std::int64_t rows;
  const void *row_ptr;
  const std::int32_t *col;
  const void *values;
};

struct Work {
  void *r, *p, *q;
  void *leaves;               // of each sum, one after the other
  unsigned *arrived;          // blocks at barriers; zero when a launch begins
  double *squared_residuals;  // pinned: of iterates first .. iterate of this launch
  struct Report *report;
};

struct Report {  // pinned
  std::int64_t iterate;
  pcg::Ended ended;  // why the launch ended
  std::int32_t reserved;
};

struct Run {
  std::int32_t from_zero;  // x = 0 and r = b
  std::int32_t measure;    // r = b - A x
  std::int32_t restart;    // p = r
  std::int32_t test_first;
  std::int64_t first, last;
  double tolerance_squared;
  double replaced_from;  // the residual before r was replaced; negative: it was not
  const void *b;
  void *x;
};

}  // namespace cooperative
