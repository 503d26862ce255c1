// SPDX-License-Identifier: BSD-3-Clause
// A solve in a graph that the application captures, over the fake libraries: two loops, one within the other, and every
// vendor call of the capture may fail without a leak and without leaving a capture open.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "sextant/plugin/kinds/pcg_record.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;
using sextant::registry::Registry;

class FakeRecord : public FakeDevice, public testing::WithParamInterface<const char *> {
 protected:
  static constexpr std::int32_t rows = 300;
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    if (!Registry::instance().find(GetParam())) GTEST_SKIP() << "this build has no " << GetParam();
    std::vector<std::int32_t> ptr{0}, col;
    std::vector<double> values;
    for (std::int32_t i = 0; i < rows; ++i) col.push_back(i), values.push_back(2 + i % 3), ptr.push_back(i + 1);
    ASSERT_EQ(open(&context_), SXT_OK);
    ASSERT_EQ(sxt_matrix_from_csr(context_, rows, rows, ptr.data(), col.data(), values.data(), nullptr, &matrix_),
              SXT_OK);
    sxt_pcg_query query{};
    query.m = matrix_->matrix->query_part(SXT_KIND_PCG, sizeof query, 1);
    sextant::Selector selector(*context_->context, matrix_->matrix.get(), {.forced = {{SXT_KIND_PCG, GetParam()}}});
    runner_ = std::make_unique<sextant::Runner>(
        *context_->context, selector.select({sextant::Query(&query.m.q), "pcg"}), matrix_->matrix.get());
    b_ = sextant::DeviceBuffer(device(), rows * sizeof(double));
    x_ = sextant::DeviceBuffer(device(), rows * sizeof(double));
    norms_ = sextant::DeviceBuffer(device(), sizeof(sxt_residual_norms));
    ASSERT_EQ(device().ops().stream_create(device().handle(), &stream_), SXT_OK);
    ASSERT_EQ(sxt_context_set_stream(context_, stream_), SXT_OK);
  }
  void TearDown() override {
    FakeDevice::TearDown();
    runner_.reset();
    b_ = sextant::DeviceBuffer();
    x_ = sextant::DeviceBuffer();
    norms_ = sextant::DeviceBuffer();
    sxt_matrix_destroy(matrix_);
    if (stream_) {
      sxt_context_set_stream(context_, nullptr);
      device().ops().stream_destroy(device().handle(), stream_);
    }
    sxt_context_destroy(context_);
    if (IsSkipped()) return;
    EXPECT_EQ(left_behind(), "");
  }
  sextant::Device &device() { return context_->context->device(); }

  // Captures a solve; returns "" or the error message.
  std::string record(sextant::Session &session) {
    const auto *ops = static_cast<const sxt_pcg_ops *>(runner_->choice().kernel->table.ops);
    sxt_pcg_record_args args{};
    args.h = {sizeof args, SXT_KIND_PCG};
    args.n = rows;
    args.b = b_.data();
    args.x = x_.data();
    args.x_is_zero = 1;
    args.rtol = 1e-8;
    args.max_iterations = 10;
    static constexpr sxt_bound residual = {
        "a true residual",
        nullptr,
        nullptr,
        [](const void *, void *, const sxt_head *, const sxt_exec *) -> sxt_status { return SXT_OK; },
        0,
        0,
        SXT_KERNEL_CAPTURABLE,
        0};
    args.residual = &residual;
    args.norms = norms_.as<sxt_residual_norms>();
    args.own_b = b_.data();
    void *graph = nullptr;
    EXPECT_EQ(device().ops().capture_begin(device().handle(), stream_), SXT_OK);
    std::string problem;
    try {
      fake_fail(failing_, 1);
      session.run_by(ops->record, &args.h);
    } catch (const sextant::Error &error) {
      problem = error.what();
      EXPECT_NE(problem, "") << "a failure without a sentence, of " << fake_failed_call();
    }
    fake_fail(0, 0);
    EXPECT_EQ(device().ops().capture_end(device().handle(), stream_, &graph), SXT_OK);
    device().ops().graph_destroy(device().handle(), graph);
    return problem;
  }

  sxt_context *context_ = nullptr;
  sxt_matrix *matrix_ = nullptr;
  std::unique_ptr<sextant::Runner> runner_;
  sextant::DeviceBuffer b_, x_, norms_;
  void *stream_ = nullptr;
  std::int64_t failing_ = 0;
};

TEST_P(FakeRecord, TwoLoopsAndNoWait) {
  const std::unique_ptr<sextant::Session> session = runner_->prepared().open();
  const std::int64_t loops = fake_count("loops"), requests = fake_count("requests");
  EXPECT_EQ(record(*session), "");
  EXPECT_EQ(fake_count("loops") - loops, 2);
  EXPECT_EQ(fake_count("requests"), requests) << "nothing may be allocated while a stream is being captured";
}

TEST_P(FakeRecord, EveryCallMayFail) {
  const std::unique_ptr<sextant::Session> session = runner_->prepared().open();
  const std::int64_t before = fake_count("calls");
  ASSERT_EQ(record(*session), "");
  const std::int64_t calls = fake_count("calls") - before;
  ASSERT_GT(calls, 20);
  int noticed = 0;
  for (failing_ = 1; failing_ <= calls; ++failing_) noticed += !record(*session).empty();
  failing_ = 0;
  EXPECT_GT(noticed, calls / 3) << "of " << calls;
  EXPECT_EQ(record(*session), "") << "the session is as good as before";
}

TEST_P(FakeRecord, AnIdleSessionIsLentForever) {
  EXPECT_EQ(runner_->take_idle(), nullptr);
  sxt_pcg_args args{};  // refused, but its session is then there
  args.h = {sizeof args, SXT_KIND_PCG};
  EXPECT_THROW(runner_->run(&args.h), sextant::Error);
  EXPECT_NE(runner_->take_idle(), nullptr);
  EXPECT_EQ(runner_->take_idle(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Engines, FakeRecord,
                         testing::Values("pcg.graph.predict-recompute.cuda", "pcg.graph.chronopoulos-gear.cuda",
                                         "pcg.graph.classical.cuda"),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (c == '.' || c == '-') c = '_';
                           return name;
                         });

}  // namespace
