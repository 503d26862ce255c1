// SPDX-License-Identifier: BSD-3-Clause
// device.cuda on a GPU: its description of the machine, memory of every space, streams, events, captures, and a device
// that is lost.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "core/device/host.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using testing::HasSubstr;

TEST_F(Gpu, DescribesItself) {
  const sxt_machine &m = device().machine();
  EXPECT_STREQ(m.device, "cuda");
  EXPECT_GE(m.level, 50);
  EXPECT_GT(m.units, 0);
  EXPECT_GT(m.memory_bytes, std::uint64_t{1} << 30);
  EXPECT_GT(m.cache_bytes, 0u);
  EXPECT_EQ(m.warp, 32);
  for (const std::int64_t limit : {m.threads_per_unit, m.blocks_per_unit, m.registers_per_unit, m.shared_per_unit,
                                   m.threads_per_block, m.shared_per_block, m.blocks_per_cluster})
    EXPECT_GT(limit, 0);
  for (const double rate : {m.stream_rate, m.stream_rate_unit, m.cache_rate, m.gather_rate, m.sector_rate,
                            m.flop_rate_f64, m.flop_rate_f32, m.copy_rate, m.launch_s, m.barrier_s})
    EXPECT_GT(rate, 0);
  EXPECT_GE(m.stream_rate, m.stream_rate_unit);
  RecordProperty("stream_rate", std::to_string(m.stream_rate));
  std::printf("[ device   ] %s\n", context_->context->describe().c_str());
}

TEST_F(Gpu, KnowsWhereMemoryLies) {
  for (const sxt_space space : {SXT_SPACE_DEVICE, SXT_SPACE_PINNED, SXT_SPACE_MANAGED}) {
    for (const std::uint64_t bytes : {std::uint64_t{100}, std::uint64_t{1} << 20}) {
      void *memory = nullptr;
      ASSERT_EQ(ops().alloc(handle(), nullptr, space, bytes, 256, &memory), SXT_OK);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
      sxt_space found = SXT_SPACE_HOST;
      std::int32_t ordinal = -2;
      EXPECT_EQ(ops().locate(handle(), memory, &found, &ordinal), SXT_OK);
      EXPECT_EQ(found, space);
      EXPECT_EQ(ordinal, 0);
      EXPECT_EQ(ops().classify(handle(), memory, &found), SXT_OK);
      EXPECT_EQ(found, space);
      ops().free(handle(), nullptr, space, memory);
    }
  }
  double on_the_stack = 0;
  sxt_space found = SXT_SPACE_DEVICE;
  std::int32_t ordinal = -2;
  EXPECT_EQ(ops().locate(handle(), &on_the_stack, &found, &ordinal), SXT_OK);
  EXPECT_EQ(found, SXT_SPACE_HOST);
  EXPECT_EQ(ordinal, -1);
}

TEST_F(Gpu, CopiesBetweenAllSpaces) {
  constexpr std::size_t n = 100000, bytes = n * sizeof(double);
  std::vector<double> from(n), back(n);
  std::iota(from.begin(), from.end(), 0.5);
  const sxt_space spaces[] = {SXT_SPACE_DEVICE, SXT_SPACE_PINNED, SXT_SPACE_MANAGED};
  for (const sxt_space first : spaces)
    for (const sxt_space second : spaces) {
      sextant::DeviceBuffer a(device(), bytes, first), b(device(), bytes, second);
      device().copy(a.data(), from.data(), bytes);
      device().copy(b.data(), a.data(), bytes);
      std::fill(back.begin(), back.end(), 0);
      device().copy(back.data(), b.data(), bytes);
      EXPECT_EQ(back, from) << "from space " << first << " to " << second;
    }
}

TEST_F(Gpu, RefusesVectorsItCannotReach) {
  std::vector<double> host(8);
  sxt_vector *vector = nullptr;
  EXPECT_EQ(sxt_vector_wrap(context_.get(), 8, SXT_F64, SXT_SPACE_HOST, host.data(), &vector), SXT_E_NOT_SUPPORTED);
  for (const sxt_space claim : {SXT_SPACE_DEVICE, SXT_SPACE_PINNED, SXT_SPACE_MANAGED}) {
    EXPECT_EQ(sxt_vector_wrap(context_.get(), 8, SXT_F64, claim, host.data(), &vector), SXT_E_ARGUMENT);
    EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("ordinary host memory"));
  }
  const sextant::DeviceBuffer memory(device(), 256);
  EXPECT_EQ(sxt_vector_wrap(context_.get(), 8, SXT_F64, SXT_SPACE_DEVICE, memory.as<char>() + 4, &vector),
            SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("not aligned"));
  ASSERT_EQ(sxt_vector_wrap(context_.get(), 8, SXT_F64, SXT_SPACE_DEVICE, memory.data(), &vector), SXT_OK);
  sxt_vector_destroy(vector);
}

TEST_F(Gpu, ReportsShortMemory) {
  sxt_vector *vector = nullptr;
  const auto n = static_cast<std::int64_t>(device().machine().memory_bytes / 4);  // twice what there is
  EXPECT_EQ(sxt_vector_create(context_.get(), n, SXT_F64, &vector), SXT_E_MEMORY);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("bytes"));
  EXPECT_EQ(values_of(make_vector({1, 2, 3})), (std::vector<double>{1, 2, 3}));  // and goes on
}

TEST_F(Gpu, TimesWithEvents) {
  void *stream = nullptr, *from = nullptr, *to = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  ASSERT_EQ(ops().event_create(handle(), &from), SXT_OK);
  ASSERT_EQ(ops().event_create(handle(), &to), SXT_OK);
  const sextant::DeviceBuffer a(device(), 1u << 26), b(device(), 1u << 26);
  EXPECT_EQ(ops().event_record(handle(), from, stream), SXT_OK);
  EXPECT_EQ(ops().copy(handle(), stream, b.data(), a.data(), a.bytes()), SXT_OK);
  EXPECT_EQ(ops().event_record(handle(), to, stream), SXT_OK);
  double seconds = -1;
  EXPECT_EQ(ops().event_elapsed(handle(), from, to, &seconds), SXT_OK);
  EXPECT_GT(seconds, 0);
  EXPECT_LT(seconds, 1);
  EXPECT_EQ(ops().event_wait(handle(), to, stream), SXT_OK);
  ops().event_destroy(handle(), from);
  ops().event_destroy(handle(), to);
  ops().stream_destroy(handle(), stream);
}

// Calls that are not possible inside a capture are refused without ending the capture.
TEST_F(Gpu, ACaptureSurvivesRefusals) {
  void *stream = nullptr, *graph = nullptr, *memory = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  const sextant::DeviceBuffer a(device(), 64), b(device(), 64);
  ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
  EXPECT_EQ(ops().stream_synchronize(handle(), stream), SXT_E_STATE);
  EXPECT_EQ(ops().alloc(handle(), stream, SXT_SPACE_DEVICE, 64, 64, &memory), SXT_E_STATE);
  EXPECT_EQ(ops().copy(handle(), stream, b.data(), a.data(), 64), SXT_OK);
  ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
  const std::vector<double> ones(8, 1);
  device().copy(a.data(), ones.data(), 64);
  EXPECT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
  EXPECT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
  EXPECT_EQ(read(b.data(), 8), ones);
  ops().graph_destroy(handle(), graph);
  ops().stream_destroy(handle(), stream);
}

// Modules with their own CUDA runtime share a stream and one capture; the design depends on it.
TEST_F(Gpu, StaticAndSharedRuntimesShareACapture) {
  using Load = int (*)();
  using Run = int (*)(void *, std::int64_t, double *);
  constexpr std::int64_t n = 1000;
  const sextant::DeviceBuffer x(device(), n * sizeof(double));
  const std::vector<double> ones(n, 1);
  device().copy(x.data(), ones.data(), x.bytes());
  void *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  {
    const sextant::Device::Current current(device());  // as core encloses every call into a kernel
    for (const char *module : {"Shared", "Static"}) ASSERT_EQ(runtime_function<Load>(module, "doubler_load")(), 0);
    ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
    for (const char *module : {"Shared", "Static"})
      EXPECT_EQ(runtime_function<Run>(module, "doubler_run")(stream, n, x.as<double>()), 0) << module;
  }
  ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
  EXPECT_EQ(read(x.data(), n), ones);  // captured, not run
  for (int replay = 0; replay < 2; ++replay) ASSERT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
  ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
  EXPECT_EQ(read(x.data(), n), std::vector<double>(n, 16));
  ops().graph_destroy(handle(), graph);
  ops().stream_destroy(handle(), stream);
}

// In a separate process: exits with 0 on success, else with the number of the step.
[[noreturn]] void lose_the_device() {
  Context context = open_context();
  sxt_vector *x = nullptr;
  if (!context || sxt_vector_create(context.get(), 1000, SXT_F64, &x) != SXT_OK) std::_Exit(1);
  end_device(context->context->device());
  const double one = 1;
  for (int again = 0; again < 2; ++again) {
    if (sxt_fill(&one, x) != SXT_E_DEVICE) std::_Exit(5);
    if (!std::strstr(sxt_last_error(context.get()), "failed earlier")) std::_Exit(6);
  }
  sxt_vector *more = nullptr;
  if (sxt_vector_create(context.get(), 10, SXT_F64, &more) != SXT_E_DEVICE) std::_Exit(7);
  sxt_vector_destroy(x);
  context.reset();
  if (open_context() != nullptr) std::_Exit(8);
  std::_Exit(0);
}

TEST_F(Gpu, ALostDeviceIsReportedAndReleased) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not touched CUDA yet
  EXPECT_EXIT(lose_the_device(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gpu_test
