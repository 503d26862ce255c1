// SPDX-License-Identifier: BSD-3-Clause
// exchange.reference.cpu on numbers a person can check, and the kind's suite itself: it must find values that are
// missing, in the wrong place, or beside what was given.
#include "sextant/plugin/kinds/exchange.h"
#include "tests/plugins/conformance.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &reference() { return find_kernel(load_own("exchange-reference"), "exchange.reference.cpu"); }

sxt_exchange_query query_of(std::int64_t n, std::int32_t links) {
  sxt_exchange_query query{};
  query.q = {{sizeof query, SXT_KIND_EXCHANGE}, 1, 0, SXT_F64};
  query.n = n;
  query.links = links;
  query.reach = SXT_REACH_PROCESS;
  return query;
}

TEST(ExchangeReference, HandChecked) {
  const double x[] = {10, 11, 12, 13};
  const std::int64_t index[] = {3, 0, 0, 2};
  double first[] = {-1, -1}, second[] = {-1, -1, -1};
  const sxt_exchange_link links[] = {{0, 1, first}, {1, 3, second}};
  const sxt_exchange_query query = query_of(4, 2);
  sxt_exchange_args args{{sizeof args, SXT_KIND_EXCHANGE}, 4, x, index, nullptr, links, 2, 0};
  Ready ready(reference(), &query.q, candidate_of(reference(), &query.q, 1));
  ASSERT_EQ(ready.run(&args.h), SXT_OK);
  EXPECT_EQ(std::vector<double>(first, first + 2), (std::vector<double>{13, -1}));
  EXPECT_EQ(std::vector<double>(second, second + 3), (std::vector<double>{10, 10, 12}));
  const sxt_exchange_link beyond[] = {{0, 1, first}, {1, 4, second}};
  args.links = beyond;
  EXPECT_EQ(ready.run(&args.h), SXT_E_ARGUMENT);
  EXPECT_NE(Host::sentence.find("link 1 has values 1 to 4 of 4"), std::string::npos) << Host::sentence;
}

TEST(ExchangeKind, EveryExchangePassesTheSuite) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_EXCHANGE);
  ASSERT_NE(kind, nullptr);
  int kernels = 0;
  for (const sxt_kernel *kernel : plugins.kernels)
    if (std::string(kernel->kind) == SXT_KIND_EXCHANGE && std::string(kernel->device) == "cpu") {
      EXPECT_EQ(check_kernel(plugins, *kind, *kernel).run, static_cast<int>(kind->n_cases));
      ++kernels;
    }
  EXPECT_GE(kernels, 1);
}

TEST(ExchangeKind, TheSuiteRejectsWrongExchanges) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_EXCHANGE);
  ASSERT_NE(kind, nullptr);
  constexpr std::uint64_t several_links = 9;  // of f64
  const auto error_of = [&](auto &&spoil) {
    Case got(*kind, several_links), want(*kind, several_links);
    Ready ready(reference(), got.value.query, candidate_of(reference(), got.value.query, 1));
    EXPECT_EQ(ready.run(want.value.args), SXT_OK);
    auto &args = *reinterpret_cast<sxt_exchange_args *>(got.value.args);
    EXPECT_GT(args.n_links, 1);
    EXPECT_EQ(ready.run(&args.h), SXT_OK);
    spoil(args);
    char text[256] = "";
    sxt_message message{text, sizeof text};
    double error = 0;
    EXPECT_EQ(kind->compare(&got.value, &want.value, &error, &message), SXT_OK);
    return error;
  };
  const auto values = [](const sxt_exchange_args &args, int link) {
    return static_cast<double *>(args.links[link].to);
  };
  EXPECT_LE(error_of([](auto &) {}), 1);
  EXPECT_GT(error_of([&](auto &args) { values(args, 1)[0] += 1e-9; }), 1);
  EXPECT_GT(error_of([&](auto &args) { values(args, 0)[args.links[0].count - 1] = 0; }), 1);
  EXPECT_GT(error_of([&](auto &args) { values(args, 0)[args.links[0].count] = 1; }), 1);
  EXPECT_GT(error_of([&](auto &args) { values(args, 1)[-1] = 1; }), 1);
  EXPECT_GT(error_of([&](auto &args) { const_cast<double *>(static_cast<const double *>(args.x))[2] = 7; }), 1);
}

}  // namespace
}  // namespace plugin_test
