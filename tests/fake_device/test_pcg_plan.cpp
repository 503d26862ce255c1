// SPDX-License-Identifier: BSD-3-Clause
// What a set-up of conjugate gradients leaves out on a device, by its explanation. Kernels run nothing here.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

// The explanation of a set-up with everything chosen by the library, with a probe of so many iterations.
std::string explanation(std::int32_t rows, std::int32_t probe) {
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) {
      col.push_back(j);
      values.push_back(i == j ? 2 + 0.5 * (i % 3) : -1);
    }
    ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  sxt_context *context = nullptr;
  sxt_matrix *matrix = nullptr;
  sxt_pcg *pcg = nullptr;
  EXPECT_EQ(open(&context), SXT_OK);
  EXPECT_EQ(sxt_matrix_from_csr(context, rows, rows, ptr.data(), col.data(), values.data(), nullptr, &matrix), SXT_OK);
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  options.probe = probe;
  EXPECT_EQ(sxt_pcg_create(matrix, &options, &pcg), SXT_OK) << sxt_last_error(context);
  std::int64_t length = 0;
  EXPECT_EQ(sxt_pcg_explain(pcg, SXT_TEXT, nullptr, 0, &length), SXT_OK);
  std::string text(static_cast<std::size_t>(length) + 1, ' ');
  EXPECT_EQ(sxt_pcg_explain(pcg, SXT_TEXT, text.data(), length + 1, &length), SXT_OK);
  sxt_pcg_destroy(pcg);
  sxt_matrix_destroy(matrix);
  sxt_context_destroy(context);
  return text;
}

// A short solve has no probe that costs more than any choice could gain by it, and no scaling. A probe that the options
// ask for is run (of a matrix of zeros: kernels run nothing here).
using FakePcgPlan = FakeDevice;
TEST_F(FakePcgPlan, ShortSolvesAreSparedWhatTheyCannotRepay) {
  const std::string spared = explanation(300, 0), asked = explanation(300, 20);
  EXPECT_THAT(spared, testing::HasSubstr("and knowing the iterations would gain"));
  EXPECT_THAT(spared, testing::Not(testing::HasSubstr("iterations of a probe; ")));
  EXPECT_THAT(spared, testing::HasSubstr("the diagonal's greatest entry is 1.5 times its least"));
  EXPECT_THAT(asked, testing::HasSubstr("iterations of a probe; "));
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
