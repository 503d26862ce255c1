// SPDX-License-Identifier: BSD-3-Clause
// The reader's peak memory, measured: at most 2.5 times the matrix it returns.
#include <cstdint>

#include "tests/unit/test_matrix_market_util.hpp"

namespace sextant::test {
namespace {

struct Case {
  const char *name;
  const char *symmetry;
  sxt_value_type type;
  int per_column;
  bool shuffled;  // columns in an order that leaves the rows unsorted
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

// A banded matrix of about 20 MB of text; one triangle when symmetric.
std::string make_text(const Case &c, std::int64_t n) {
  const bool symmetric = std::string(c.symmetry) == "symmetric";
  std::string entries;
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    // 7919 is prime to n: every column comes once.
    const std::int64_t j = c.shuffled ? k * 7919 % n : k;
    for (std::int64_t d = 0; d < c.per_column; ++d) {
      const std::int64_t i = symmetric ? j + d : (j + 17 * d) % n;
      if (i >= n) continue;
      char line[64];
      const double value = 1.0 / static_cast<double>(3 + (i * 31 + j) % 1009);
      entries.append(
          line, static_cast<std::size_t>(std::snprintf(line, sizeof line, "%ld %ld %.15e\n", static_cast<long>(i + 1),
                                                       static_cast<long>(j + 1), value)));
      ++count;
    }
  }
  return text("%%MatrixMarket matrix coordinate real ", c.symmetry, "\n", n, " ", n, " ", count, "\n") + entries;
}

class PeakMemory : public testing::TestWithParam<Case> {};

TEST_P(PeakMemory, StaysBelowTwoAndAHalfTimesTheMatrix) {
  const Case &c = GetParam();
  const std::int64_t n = 600000 / c.per_column;
  const TextFile file(make_text(c, n));
  for (const int threads : {1, 2}) {
    CountingAllocator memory;
    io::ReadOptions options;
    options.value_type = c.type;
    options.threads = threads;
    const auto got = io::read_matrix(file.path(), options, memory.hooks());
    const auto matrix =
        static_cast<std::int64_t>(got.csr.row_ptr.bytes() + got.csr.col.bytes() + got.csr.values.bytes());
    // The arrays must have come through the hooks, or the peak below would mean nothing.
    EXPECT_NEAR(static_cast<double>(memory.held()), static_cast<double>(matrix), 3 * 64);
    ASSERT_GT(matrix, 4000000);
    EXPECT_LE(static_cast<double>(memory.peak()), 2.5 * static_cast<double>(matrix))
        << threads << " threads: " << static_cast<double>(memory.peak()) / static_cast<double>(matrix);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PeakMemory,
                         testing::Values(Case{"general", "general", SXT_F64, 8, false},
                                         Case{"shuffled", "general", SXT_F64, 30, true},
                                         Case{"single", "general", SXT_F32, 8, false},
                                         Case{"complex", "general", SXT_C128, 8, false},
                                         Case{"symmetric", "symmetric", SXT_F64, 5, false}),
                         [](const testing::TestParamInfo<Case> &c) { return std::string(c.param.name); });

}  // namespace
}  // namespace sextant::test
