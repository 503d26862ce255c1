// SPDX-License-Identifier: BSD-3-Clause
// The CPU schedulers on the kind's cases, cholesky.tasks.cpu with each pair of dense kernels and several thread counts.
#include <cstdint>

#include "plugins/cholesky/test_support.hpp"

namespace plugin_test {
namespace {

struct Made {
  Made(const sxt_kind &kind, std::uint64_t i) : kind_(kind) {
    value.struct_size = sizeof value;
    if (kind.make_case(Host::table(), 1, i, &value) != SXT_OK) throw std::runtime_error("no case");
  }
  Made(const Made &) = delete;
  ~Made() { kind_.free_case(&value); }
  sxt_cholesky_args &args() { return *reinterpret_cast<sxt_cholesky_args *>(value.args); }
  const sxt_symbolic &symbolic() const { return *reinterpret_cast<const sxt_symbolic *>(value.data); }
  const sxt_cholesky_query &query() const { return *reinterpret_cast<const sxt_cholesky_query *>(value.query); }
  sxt_case value{};

 private:
  const sxt_kind &kind_;
};

void check_cases(const sxt_kernel &kernel, const std::string &small, const std::string &large, int threads) {
  const sxt_plugin *references = load_own("cholesky-reference");
  const sxt_kernel &reference = find_kernel(references, "cholesky.reference.cpu");
  const sxt_kind &kind = *references->kinds[0];
  for (std::uint64_t i = 0; i < kind.n_cases; ++i) {
    Made want(kind, i), got(kind, i);
    SCOPED_TRACE("case " + std::to_string(i) + ": " + want.value.description);
    Scheduler expected(reference, want.symbolic(), want.query(), 1);
    ASSERT_EQ(expected.run(want.args()), SXT_OK) << Host::sentence;
    sxt_cholesky_query query = got.query();
    if (got.args().phase == SXT_CHOLESKY_PIVOTS) query.phase = i % 2 ? SXT_CHOLESKY_FACTOR : SXT_CHOLESKY_SOLVE;
    Scheduler scheduler(kernel, got.symbolic(), query, threads, small, large);
    ASSERT_EQ(scheduler.status(), SXT_OK) << Host::sentence;
    ASSERT_EQ(scheduler.run(got.args()), SXT_OK) << Host::sentence;
    char text[512] = "";
    sxt_message message{text, sizeof text};
    double error = 1e300;
    ASSERT_EQ(kind.compare(&got.value, &want.value, &error, &message), SXT_OK);
    EXPECT_LE(error, 1) << text;
  }
}

const sxt_kernel &tasks() { return find_kernel(load_own("cholesky-tasks"), "cholesky.tasks.cpu"); }

TEST(CholeskyTasks, AgreesWithTheReferenceAlone) {
  check_cases(tasks(), "dense.reference.cpu", "dense.reference.cpu", 1);
}
TEST(CholeskyTasks, AgreesWithTheReferenceOnATeam) { check_cases(tasks(), "dense.loops.cpu", "dense.loops.cpu", 3); }
TEST(CholeskyColumns, AgreesWithTheReference) {
  check_cases(find_kernel(load_own("cholesky-columns"), "cholesky.columns.cpu"), "dense.loops.cpu", "dense.loops.cpu",
              1);
}
TEST(CholeskyTasks, AgreesWithTheReferenceThroughBlas) {
  if (const std::string why = why_no_openblas(); !why.empty()) GTEST_SKIP() << why;
  check_cases(tasks(), "dense.openblas.cpu", "dense.openblas.cpu", 2);
}

}  // namespace
}  // namespace plugin_test
