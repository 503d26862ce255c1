// SPDX-License-Identifier: BSD-3-Clause
// What is said of a choice and of the options beside it: equal totals, nearly equal ones, and all others.
#include <gmock/gmock.h>

#include "core/base/units.hpp"
#include "core/choose/options.hpp"

namespace {

using namespace sextant;
using ::testing::HasSubstr;

class Reasons : public testing::Test {
 protected:
  Reasons() {
    first_.table.name = "spmv.a.cpu", second_.table.name = "spmv.b.cpu";
    first_.table.device = second_.table.device = "cpu";
  }

  static Option option(const registry::Kernel &kernel, double run_s, double rel_error = 0.5) {
    Option out;
    out.kernel = &kernel;
    out.run_s = run_s;
    out.rel_error = rel_error;
    out.total_s = 1 + out.query.expected_runs() * run_s;
    return out;
  }
  // The first option wins.
  static std::string of_choice(const std::vector<Option> &options) {
    return reason_of_choice(Rules{}, options, options.front());
  }
  static std::string of_loser(const std::vector<Option> &options) {
    return describe(options.back(), &options.front()).reason;
  }

  registry::Kernel first_{}, second_{};
};

TEST_F(Reasons, EqualTotalsAreDecidedByName) {
  const std::vector<Option> equal = {option(first_, 1), option(second_, 1)};
  EXPECT_EQ(of_choice(equal), "least predicted total; next best: spmv.b.cpu, equal; decided by name");
  EXPECT_EQ(of_loser(equal), "predicted total equal to that of spmv.a.cpu; decided by name");
}

TEST_F(Reasons, EqualTotalsOfOneKernelAndOfErrorBarsThatDiffer) {
  EXPECT_EQ(of_loser({option(first_, 1), option(first_, 1)}),
            "predicted total equal to that of spmv.a.cpu as chosen; the first one offered is taken");
  EXPECT_EQ(of_choice({option(second_, 1, 0.1), option(first_, 1)}),
            "least predicted total; next best: spmv.a.cpu, equal; decided by the error bars");
}

TEST_F(Reasons, TotalsThatRoundToOneAnother) {
  const std::vector<Option> near = {option(first_, 1), option(second_, 1.002)};
  EXPECT_EQ(of_choice(near), "least predicted total; next best: spmv.b.cpu within 0.5 %");
  EXPECT_EQ(of_loser(near), "predicted total less than 0.5 % from that of spmv.a.cpu");
}

TEST_F(Reasons, AllOthersAreRatios) {
  const std::vector<Option> apart = {option(first_, 1), option(second_, 2)};
  EXPECT_EQ(of_choice(apart), "least predicted total; next best: spmv.b.cpu at 1.5 times");
  EXPECT_EQ(of_loser(apart), "predicted total 1.5 times that of spmv.a.cpu");
  EXPECT_THAT(of_choice({option(second_, 1.02, 0.1), option(first_, 1)}),
              HasSubstr("within its error bar; on average spmv.a.cpu at 0.99 times"));
}

TEST(Units, NumbersThatRoundUpToAThousandTakeTheNextUnit) {
  EXPECT_EQ(bytes_text(1020 * 1024.0), "0.996 MiB");
  EXPECT_EQ(bytes_text(999 * 1024.0), "999 KiB");
  EXPECT_EQ(seconds_text(999.7e-6), "1 ms");
  EXPECT_EQ(seconds_text(999e-6), "999 us");
}

}  // namespace
