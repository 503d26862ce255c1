// SPDX-License-Identifier: BSD-3-Clause
// The shipped CUDA plugins over the fake libraries: nothing leaks, every single vendor call may fail, a device may be
// lost, and there may be none. Needs the plugins, so a CUDA compiler; without them each test says that it was skipped.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "abi/handles.hpp"
#include "sextant/sextant.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using testing::HasSubstr;

using namespace fake_test;

// What a program does with a device, step by step. Any step may fail: then its status is negative and there is a
// message.
class Program {
 public:
  void run() {
    sxt_context *context = nullptr;
    if (!good(open(&context), nullptr)) return;
    use(context);
    sxt_context_destroy(context);
  }
  int failed() const { return failed_; }

 private:
  bool good(sxt_status status, const sxt_context *context) {
    if (status >= 0) return true;
    ++failed_;
    EXPECT_NE(std::string(sxt_last_error(context)), "") << "a failure without a sentence, of " << fake_failed_call();
    return false;
  }
  void use(sxt_context *context) {
    sxt_vector *x = nullptr, *y = nullptr;
    const double two = 2;
    if (good(sxt_vector_create(context, 5000, SXT_F64, &x), context) &&
        good(sxt_vector_create(context, 5000, SXT_F64, &y), context)) {
      good(sxt_fill(&two, x), context);
      good(sxt_axpy(&two, x, y), context);
      on_the_callers_stream(context, x, y);
      sxt_vector *wrapped = nullptr;
      if (good(sxt_vector_wrap(context, 5000, SXT_F64, SXT_SPACE_DEVICE, sxt_vector_data(x), &wrapped), context))
        good(sxt_copy(wrapped, y), context);
      sxt_vector_destroy(wrapped);
      memory(context->context->device());
    }
    sxt_vector_destroy(x);
    sxt_vector_destroy(y);
  }
  // A stream of the caller: first used directly, then captured.
  void on_the_callers_stream(sxt_context *context, sxt_vector *x, sxt_vector *y) {
    const sxt_device_ops &ops = context->context->device().ops();
    void *device = context->context->device().handle(), *stream = nullptr, *graph = nullptr;
    const double two = 2;
    if (ops.stream_create(device, &stream) != SXT_OK) return;
    if (good(sxt_context_set_stream(context, stream), context)) {
      good(sxt_axpy(&two, x, y), context);
      good(sxt_context_synchronize(context), context);
      if (ops.capture_begin(device, stream) == SXT_OK) {
        good(sxt_axpy(&two, x, y), context);
        if (ops.capture_end(device, stream, &graph) == SXT_OK) {
          ops.graph_launch(device, stream, graph);
          ops.graph_destroy(device, graph);
        }
      }
      // Ends the use of the stream even when waiting for it fails.
      good(sxt_context_set_stream(context, nullptr), context);
    }
    ops.stream_destroy(device, stream);
  }
  void memory(sextant::Device &device) {
    const sxt_device_ops &ops = device.ops();
    for (const sxt_space space : {SXT_SPACE_DEVICE, SXT_SPACE_PINNED, SXT_SPACE_MANAGED})
      for (const std::uint64_t bytes : {std::uint64_t{64}, std::uint64_t{1} << 16}) {
        void *memory = nullptr;
        if (ops.alloc(device.handle(), nullptr, space, bytes, 64, &memory) == SXT_OK)
          ops.free(device.handle(), nullptr, space, memory);
        else
          EXPECT_EQ(memory, nullptr);
      }
    void *events[2] = {};
    double seconds = 0;
    for (void *&event : events)
      if (ops.event_create(device.handle(), &event) == SXT_OK) ops.event_record(device.handle(), event, nullptr);
    if (events[0] && events[1]) ops.event_elapsed(device.handle(), events[0], events[1], &seconds);
    for (void *event : events)
      if (event) ops.event_destroy(device.handle(), event);
  }

  int failed_ = 0;
};

TEST_F(FakeDevice, AProgramLeavesNothingBehind) {
  const std::int64_t launches = fake_count("launches");
  Program program;
  program.run();
  EXPECT_EQ(program.failed(), 0);
  EXPECT_GT(fake_count("launches"), launches);
  EXPECT_EQ(left_behind(), "");
}

TEST_F(FakeDevice, EveryCallMayFail) {
  for (const int error : {int{FAKE_INVALID_VALUE}, int{FAKE_NO_MEMORY}}) {
    std::int64_t n = 1, failures = 1;
    int noticed = 0;
    for (; failures > 0; ++n) {
      ASSERT_LT(n, 5000);
      fake_fail(n, error);
      Program program;
      program.run();
      failures = fake_failures();
      fake_fail(0, 0);
      noticed += program.failed() > 0;
      ASSERT_EQ(left_behind(), "") << "after call " << n << " (" << fake_failed_call() << ") failed with " << error;
    }
    EXPECT_GT(n, 100);        // so many calls there are
    EXPECT_GT(noticed, n / 5);  // failures that matter are returned as a status; the other calls only release or query
    std::printf("[ failures ] error %d: %lld calls failed one by one, %d programs noticed\n", error,
                static_cast<long long>(n - 2), noticed);
  }
}

// Runs in a separate process, because a lost device stays lost. The exit code says which expectation failed.
[[noreturn]] void lose_the_device_at(std::int64_t n) {
  sxt_context *context = nullptr;
  if (open(&context) != SXT_OK) std::_Exit(1);
  const double two = 2;
  sxt_vector *x = nullptr;
  if (sxt_vector_create(context, 1000, SXT_F64, &x) != SXT_OK) std::_Exit(2);
  fake_fail(n, 700);  // an illegal address
  sxt_status status = SXT_OK;
  for (int i = 0; i < 100 && status == SXT_OK; ++i) status = sxt_fill(&two, x);
  if (status != SXT_E_DEVICE) std::_Exit(3);
  for (int again = 0; again < 2; ++again)  // the first call may see the error before it is known to last
    if (sxt_fill(&two, x) != SXT_E_DEVICE) std::_Exit(4);
  if (!std::strstr(sxt_last_error(context), "failed earlier")) std::_Exit(5);
  sxt_vector *y = nullptr;
  if (sxt_vector_create(context, 1000, SXT_F64, &y) != SXT_E_DEVICE) std::_Exit(6);
  sxt_vector_destroy(x);
  sxt_context_destroy(context);
  if (left_behind() != "") std::_Exit(7);
  if (open(&context) != SXT_E_DEVICE) std::_Exit(8);
  std::_Exit(0);
}

TEST_F(FakeDevice, ALostDeviceIsReportedAndReleased) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const std::int64_t n : {1, 2, 3, 5, 8})
    EXPECT_EXIT(lose_the_device_at(n), testing::ExitedWithCode(0), "") << "lost at call " << n;
}

[[noreturn]] void open_without_a_gpu() {
  sxt_context *context = nullptr;
  if (open(&context) != SXT_E_DEVICE) std::_Exit(1);
  if (!std::strstr(sxt_last_error(nullptr), "sees no GPU")) std::_Exit(2);
  bool recorded = false;
  for (std::int64_t i = 0; i < sxt_refusal_count(); ++i) {
    sxt_refusal_info info{};
    info.struct_size = sizeof info;
    if (sxt_refusal_get(i, &info) != SXT_OK) std::_Exit(3);
    recorded = recorded || (std::strstr(info.path, "vector-cuda") && std::strstr(info.reason, "sees no GPU"));
  }
  std::_Exit(recorded ? 0 : 4);
}

TEST(NoGpu, IsARefusalRecord) {
  if (!std::filesystem::exists(SEXTANT_PLUGIN_DIR "/device/device-cuda.so"))
    GTEST_SKIP() << "this build has no CUDA plugins";
  const char *path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::strstr(path, FAKE_FOLDER)) GTEST_SKIP() << "the fakes are not first in LD_LIBRARY_PATH";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SEXTANT_FAKE_DEVICES", "0", 1);
  EXPECT_EXIT(open_without_a_gpu(), testing::ExitedWithCode(0), "");
  unsetenv("SEXTANT_FAKE_DEVICES");
}

// The other fake libraries load by SONAME, count calls and can be made to fail.
TEST(FakeLibraries, LoadByTheirSonames) {
  const struct { const char *library, *create, *destroy, *counter; } all[] = {
      {"libcublas.so.13", "cublasCreate_v2", "cublasDestroy_v2", "cublas"},
      {"libcusparse.so.12", "cusparseCreate", "cusparseDestroy", "cusparse"},
      {"libcusolver.so.12", "cusolverDnCreate", "cusolverDnDestroy", "cusolver"}};
  for (const auto &each : all) {
    void *library = dlopen((std::string(FAKE_FOLDER "/") + each.library).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto create = reinterpret_cast<int (*)(void **)>(dlsym(library, each.create));
    const auto destroy = reinterpret_cast<int (*)(void *)>(dlsym(library, each.destroy));
    ASSERT_TRUE(create && destroy) << each.library;
    void *handle = nullptr;
    fake_fail(1, 3);
    EXPECT_EQ(create(&handle), 3);
    EXPECT_EQ(fake_count(each.counter), 0);
    EXPECT_EQ(create(&handle), 0);
    EXPECT_EQ(fake_count(each.counter), 1);
    EXPECT_EQ(destroy(handle), 0);
    EXPECT_EQ(fake_count(each.counter), 0);
  }
}

}  // namespace
