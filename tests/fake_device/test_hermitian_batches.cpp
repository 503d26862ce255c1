// SPDX-License-Identifier: BSD-3-Clause
// Batches of Hermitian systems through the C interface over the fake device: work is enqueued and counted, host sets
// pass through the device in pieces, every vendor call may fail, and nothing leaks.
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "abi/handles.hpp"
#include "tests/fake_device/fixture.hpp"

namespace {

using fake_test::FakeDevice;
using fake_test::left_behind;
using testing::HasSubstr;

struct Failed {
  sxt_status status = SXT_OK;
  std::string sentence;
};

// Systems of order 4 in memory that the fake device lends or in host memory; the fake computes nothing.
class HermitianBatches : public FakeDevice {
 protected:
  sxt_hermitian_options description(std::int64_t batch) {
    sxt_hermitian_options options;
    sxt_hermitian_options_init(&options, sizeof options);
    options.batch = batch;
    options.n = 4;
    return options;
  }
  // One call on a new context; everything is destroyed afterwards.
  Failed call(const sxt_hermitian_options &options, bool in_device_memory) {
    Failed failed;
    sxt_context *context = nullptr;
    sxt_hermitian *hermitian = nullptr;
    sxt_vector *memory = nullptr;
    const auto good = [&](sxt_status status) {
      if (status >= 0 || failed.status < 0) return status >= 0 && failed.status >= 0;
      failed = {status, sxt_last_error(context)};
      return false;
    };
    std::vector<double> host(static_cast<std::size_t>(options.batch) * 20 + 1);
    std::vector<std::int32_t> info(static_cast<std::size_t>(options.batch) + 1);
    sxt_hermitian_set set;
    sxt_hermitian_set_init(&set, sizeof set);
    if (good(fake_test::open(&context)) && good(sxt_hermitian_create(context, &options, &hermitian)) &&
        (!in_device_memory || good(sxt_vector_create(context, options.batch * 32, SXT_F64, &memory)))) {
      double *values = in_device_memory ? static_cast<double *>(sxt_vector_data(memory)) : host.data();
      set.a = values;
      set.b = values + options.batch * 16;
      set.info = in_device_memory ? reinterpret_cast<std::int32_t *>(values + options.batch * 20) : info.data();
      good(sxt_hermitian_factor_solve(hermitian, &set));
      sxt_hermitian_report report{};
      report.struct_size = sizeof report;
      if (failed.status == SXT_OK && good(sxt_hermitian_get_report(hermitian, &report))) report_ = report;
    }
    sxt_hermitian_destroy(hermitian);
    sxt_vector_destroy(memory);
    sxt_context_destroy(context);
    return failed;
  }
  void every_call_may_fail(const sxt_hermitian_options &options, bool in_device_memory) {
    ASSERT_EQ(call(options, in_device_memory).status, SXT_OK);
    int noticed = 0;
    std::int64_t failures = 1;
    for (std::int64_t n = 1; failures > 0; ++n) {
      ASSERT_LT(n, 5000);
      fake_fail(n, FAKE_NO_MEMORY);
      const Failed failed = call(options, in_device_memory);
      failures = fake_failures();
      noticed += failed.status < 0;
      EXPECT_TRUE(failed.status >= 0 || !failed.sentence.empty()) << fake_failed_call();
      fake_fail(0, 0);
      ASSERT_EQ(left_behind(), "") << "after call " << n << ", " << fake_failed_call();
    }
    EXPECT_GT(noticed, 5);
  }
  sxt_hermitian_report report_{};
};

TEST_F(HermitianBatches, PlainCallsAreEnqueued) {
  const std::int64_t launches = fake_count("launches");
  ASSERT_EQ(call(description(10), true).status, SXT_OK);
  EXPECT_GT(fake_count("launches"), launches);
  EXPECT_EQ(report_.workspace_bytes, 0u);
  EXPECT_EQ(left_behind(), "");
}

// Each kernel of the library is offered for the sets that it supports, for every type: its model predicts a time.
TEST_F(HermitianBatches, EveryKernelOfOursCanBeTaken) {
  struct {
    const char *kernel;
    std::int64_t n;
    sxt_definiteness definiteness;
  } const all[] = {{"hermitian.block.cuda", 64, SXT_DEFINITE},
                   {"hermitian.tile.cuda", 100, SXT_DEFINITE},
                   {"hermitian.panel.cuda", 350, SXT_DEFINITE},
                   {"hermitian.pivoted.cuda", 200, SXT_INDEFINITE},
                   {"hermitian.pivoted_tile.cuda", 50, SXT_INDEFINITE}};
  sxt_context *context = nullptr;
  ASSERT_EQ(fake_test::open(&context), SXT_OK) << sxt_last_error(nullptr);
  for (const auto &each : all)
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
      sxt_hermitian_options options = description(100);
      options.value_type = type, options.n = each.n, options.definiteness = each.definiteness;
      options.kernel = each.kernel;
      sxt_hermitian *hermitian = nullptr;
      EXPECT_EQ(sxt_hermitian_create(context, &options, &hermitian), SXT_OK) << sxt_last_error(context);
      sxt_hermitian_destroy(hermitian);
    }
  sxt_context_destroy(context);
  EXPECT_EQ(left_behind(), "");
}

TEST_F(HermitianBatches, OptionsAreStepsOnTheDevice) {
  const std::int64_t launches = fake_count("launches");
  sxt_hermitian_options options = description(10);
  options.equilibrate = 1;
  options.refine_steps = 2;
  options.definiteness = SXT_TRY_DEFINITE;
  ASSERT_EQ(call(options, true).status, SXT_OK);
  EXPECT_GT(fake_count("launches"), launches + 10);
  EXPECT_GT(report_.workspace_bytes, 10u * 16 * 8);
  EXPECT_EQ(left_behind(), "");
}

TEST_F(HermitianBatches, HostSetsPassInPieces) {
  sxt_hermitian_options options = description(1000);
  options.space = SXT_SPACE_HOST;
  options.workspace_limit = 60000;
  ASSERT_EQ(call(options, false).status, SXT_OK);
  EXPECT_LT(report_.piece, 500);
  EXPECT_GT(report_.piece, 0);
  EXPECT_EQ(left_behind(), "");
}

// Memory for a third of the set: pieces that do not fit are halved.
TEST_F(HermitianBatches, AHostSetThatDoesNotFitGoesInSmallerPieces) {
  sxt_hermitian_options options = description(1000);
  options.space = SXT_SPACE_HOST;
  fake_limit_memory(50000);
  EXPECT_EQ(call(options, false).status, SXT_OK);
  fake_limit_memory(3000);
  const Failed failed = call(options, false);
  EXPECT_EQ(failed.status, SXT_E_MEMORY);
  EXPECT_THAT(failed.sentence, HasSubstr("bytes"));
  fake_limit_memory(-1);
  EXPECT_EQ(left_behind(), "");
}

// A limit that suffices also suffices when it is larger; one piece needs no further threads.
TEST_F(HermitianBatches, ALargerLimitServesAsWell) {
  sxt_hermitian_options options = description(200);
  options.space = SXT_SPACE_HOST;
  options.shortcuts = SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS;
  options.refine_steps = 2;
  bool served = false;
  int refused = 0;
  for (options.workspace_limit = 1000; options.workspace_limit < 40000; options.workspace_limit += 700) {
    const Failed failed = call(options, false);
    EXPECT_TRUE(failed.status == SXT_OK || (failed.status == SXT_E_MEMORY && !served))
        << options.workspace_limit << ": " << failed.sentence;
    served = served || failed.status == SXT_OK;
    refused += failed.status != SXT_OK;
  }
  EXPECT_TRUE(served);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(left_behind(), "");
}

// An invalid leading dimension is reported in its system's info; nothing of that system is copied.
TEST_F(HermitianBatches, NegativeLeadingDimensionsOfHostSystems) {
  constexpr std::int64_t n = 4, batch = 3;
  sxt_context *context = nullptr;
  sxt_hermitian *hermitian = nullptr;
  ASSERT_EQ(fake_test::open(&context), SXT_OK);
  sxt_hermitian_options options = description(batch);
  options.space = SXT_SPACE_HOST;
  options.leading_vary = 1;
  std::vector<double> values(batch * 64);
  std::vector<std::int64_t> ld{4, -1000, 8};
  std::vector<std::int32_t> info(batch);
  void *a[batch], *b[batch];
  for (std::int64_t s = 0; s < batch; ++s) a[s] = &values[s * 64], b[s] = &values[s * 64 + 8 * n];
  for (const bool pointers : {true, false}) {
    options.pointer_array = pointers;
    ASSERT_EQ(sxt_hermitian_create(context, &options, &hermitian), SXT_OK) << sxt_last_error(context);
    sxt_hermitian_set set;
    sxt_hermitian_set_init(&set, sizeof set);
    set.a_array = a, set.b_array = b;
    set.a = a[0], set.b = b[0], set.stride_a = set.stride_b = 64;
    set.lda_each = set.ldb_each = ld.data();
    set.info = info.data();
    EXPECT_EQ(sxt_hermitian_factor_solve(hermitian, &set), SXT_OK) << sxt_last_error(context);
    sxt_hermitian_destroy(hermitian);
  }
  sxt_context_destroy(context);
  EXPECT_EQ(left_behind(), "");
}

// Calls of two threads on one stream take turns.
TEST_F(HermitianBatches, ThreadsShareAStream) {
  sxt_context *context = nullptr;
  sxt_hermitian *hermitian = nullptr;
  sxt_vector *memory = nullptr;
  ASSERT_EQ(fake_test::open(&context), SXT_OK);
  const sxt_hermitian_options options = description(2);
  ASSERT_EQ(sxt_hermitian_create(context, &options, &hermitian), SXT_OK) << sxt_last_error(context);
  ASSERT_EQ(sxt_vector_create(context, 2 * 32, SXT_F64, &memory), SXT_OK);
  void *stream = context->context->device().take_stream();
  std::latch both(2);
  const auto work = [&] {
    double *values = static_cast<double *>(sxt_vector_data(memory));
    sxt_hermitian_set set;
    sxt_hermitian_set_init(&set, sizeof set);
    set.a = values, set.b = values + 32, set.info = reinterpret_cast<std::int32_t *>(values + 40);
    set.stream = stream;
    both.arrive_and_wait();
    for (int i = 0; i < 20000; ++i) EXPECT_EQ(sxt_hermitian_factor_solve(hermitian, &set), SXT_OK);
  };
  std::thread other(work);
  work();
  other.join();
  sxt_hermitian_destroy(hermitian);
  context->context->device().give_stream(stream);
  sxt_vector_destroy(memory);
  sxt_context_destroy(context);
  EXPECT_EQ(left_behind(), "");
}

TEST_F(HermitianBatches, HostMemorySaidToBeTheDevicesIsRefused) {
  const Failed failed = call(description(10), false);
  EXPECT_EQ(failed.status, SXT_E_ARGUMENT);
  EXPECT_THAT(failed.sentence, HasSubstr("host memory"));
}

TEST_F(HermitianBatches, EveryCallMayFail) {
  sxt_hermitian_options options = description(6);
  options.definiteness = SXT_TRY_DEFINITE;
  every_call_may_fail(options, true);
}

TEST_F(HermitianBatches, EveryCallOfAHostSetMayFail) {
  sxt_hermitian_options options = description(6);
  options.space = SXT_SPACE_HOST;
  every_call_may_fail(options, false);
}

TEST_F(HermitianBatches, CuSolverIsOpenedWhenItIsForcedAndEachOfItsCallsMayFail) {
  sxt_hermitian_options options = description(6);
  options.kernel = "hermitian.cusolver.cuda";
  EXPECT_EQ(call(options, true).status, SXT_E_NOT_SUPPORTED) << "it spoils the other triangle, which was not allowed";
  options.may_spoil = 1;
  every_call_may_fail(options, true);
}

// Toeplitz systems by their kernel, then single precision, then the rest: all of it only enqueued.
TEST_F(HermitianBatches, ShortcutsAreEnqueuedAndEachOfTheirCallsMayFail) {
  sxt_hermitian_options options = description(6);
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS;
  const std::int64_t launches = fake_count("launches");
  ASSERT_EQ(call(options, true).status, SXT_OK);
  EXPECT_GT(fake_count("launches"), launches + 20);
  EXPECT_STREQ(report_.toeplitz_kernel, "hermitian_toeplitz.recursion.cuda");
  EXPECT_STRNE(report_.mixed_kernel, "");
  every_call_may_fail(options, true);
}

// Indefinite systems are mixed by butterflies and factored by the fast kernels for definite ones; the rest is factored
// with pivoting.
TEST_F(HermitianBatches, ButterfliesAreEnqueuedAndEachOfTheirCallsMayFail) {
  sxt_hermitian_options options = description(6);
  options.definiteness = SXT_INDEFINITE;
  options.shortcuts = SXT_SHORTCUT_BUTTERFLY | SXT_SHORTCUT_ALWAYS;
  const std::int64_t launches = fake_count("launches");
  ASSERT_EQ(call(options, true).status, SXT_OK);
  EXPECT_GT(fake_count("launches"), launches + 20);
  EXPECT_STREQ(report_.butterfly_kernel, "hermitian.panel.cuda");
  EXPECT_STREQ(report_.mixed_kernel, "");
  EXPECT_GT(report_.workspace_bytes, 6u * (16 + 3 * 4) * sizeof(double));
  every_call_may_fail(options, true);
}

// A set-up allocates memory, which is not possible inside a capture.
TEST_F(HermitianBatches, AFirstCallInsideACaptureIsRefused) {
  sxt_context *context = nullptr;
  sxt_hermitian *hermitian = nullptr;
  sxt_vector *memory = nullptr;
  const sxt_hermitian_options options = description(6);
  ASSERT_EQ(fake_test::open(&context), SXT_OK);
  ASSERT_EQ(sxt_hermitian_create(context, &options, &hermitian), SXT_OK) << sxt_last_error(context);
  ASSERT_EQ(sxt_vector_create(context, 6 * 32, SXT_F64, &memory), SXT_OK) << sxt_last_error(context);
  const sxt_device_ops &ops = context->context->device().ops();
  void *device = context->context->device().handle(), *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(ops.stream_create(device, &stream), SXT_OK);
  auto *values = static_cast<double *>(sxt_vector_data(memory));
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a = values, set.b = values + 96, set.info = reinterpret_cast<std::int32_t *>(values + 120), set.stream = stream;
  ASSERT_EQ(ops.capture_begin(device, stream), SXT_OK);
  EXPECT_EQ(sxt_hermitian_factor_solve(hermitian, &set), SXT_E_STATE) << sxt_last_error(context);
  if (ops.capture_end(device, stream, &graph) == SXT_OK && graph) ops.graph_destroy(device, graph);
  EXPECT_EQ(sxt_hermitian_factor_solve(hermitian, &set), SXT_OK) << sxt_last_error(context);
  sxt_hermitian_destroy(hermitian);
  ops.stream_destroy(device, stream);
  sxt_vector_destroy(memory);
  sxt_context_destroy(context);
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
