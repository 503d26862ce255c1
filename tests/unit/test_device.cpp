// SPDX-License-Identifier: BSD-3-Clause
// Devices, buffers, calls, and the table that plugins get.
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <thread>

#include "core/device/device.hpp"
#include "core/device/host.hpp"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::Allocator;
using sextant::Call;
using sextant::Device;
using sextant::DeviceBuffer;
using sextant::host;
using sextant::live_allocations;
using sextant::make_exec;
using testing::HasSubstr;

namespace {

// Counts what goes through a context's allocation hooks.
struct Hooks {
  std::map<void *, std::uint64_t> live;
  bool exhausted = false;
  Allocator allocator() {
    return {this,
            [](void *user, std::uint64_t bytes, std::uint64_t alignment) -> void * {
              auto &hooks = *static_cast<Hooks *>(user);
              if (hooks.exhausted) return nullptr;
              void *memory = std::aligned_alloc(alignment, bytes);
              hooks.live[memory] = bytes;
              return memory;
            },
            [](void *user, void *memory) {
              EXPECT_EQ(static_cast<Hooks *>(user)->live.erase(memory), 1u);
              std::free(memory);
            }};
  }
};

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    registry_.load_path(own_plugin("device/device-cpu.so"), {});
    registry_.load_path(mock("device-mock"), {});
    registry_.load_path(mock("device-absent"), {});
  }
  const sxt_kernel &plugin(const char *name) { return registry_.find(name)->table; }
  Registry registry_{"/nonexistent"};
  Hooks hooks_;
  Log log_;
};

TEST_F(DeviceTest, DescribesItself) {
  Device cpu(plugin("device.cpu"), 0, 2, {}, {});
  EXPECT_STREQ(cpu.machine().device, "cpu");
  EXPECT_EQ(cpu.machine().units, 2);
  EXPECT_GT(cpu.machine().stream_rate, 0);
  EXPECT_TRUE(cpu.on_host());
  EXPECT_FALSE(cpu.captures());
  Device mock_device(plugin("device.mock"), 0, 0, {}, {});
  EXPECT_STREQ(mock_device.machine().name, "Mock Device");
  EXPECT_FALSE(mock_device.on_host());
  EXPECT_TRUE(mock_device.captures());
}

TEST_F(DeviceTest, ReportsWhyItCannotBeOpened) {
  try {
    Device absent(plugin("device.absent"), 0, 0, {}, {});
    FAIL() << "opened a device that is not there";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_DEVICE);
    EXPECT_STREQ(problem.what(), "there is no device 'absent': its driver is not installed");
  }
  try {
    Device second(plugin("device.cpu"), 1, 0, {}, {});
    FAIL() << "opened the second of one";
  } catch (const sextant::Error &problem) {
    EXPECT_STREQ(problem.what(), "device 'cpu' number 1 was asked for, but there are 1, numbered from 0");
  }
  EXPECT_THROW(Device(plugin("device.cpu"), -1, 0, {}, {}), sextant::Error);
}

TEST_F(DeviceTest, HostBuffersGoThroughTheHooks) {
  Device cpu(plugin("device.cpu"), 0, 1, hooks_.allocator(), {});
  {
    DeviceBuffer buffer(cpu, 1000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
    EXPECT_EQ(buffer.bytes(), 1000u);
    EXPECT_EQ(hooks_.live.size(), 1u);
    DeviceBuffer moved = std::move(buffer), empty(cpu, 0);
    EXPECT_EQ(hooks_.live.size(), 1u);
    EXPECT_EQ(empty.data(), nullptr);
  }
  EXPECT_TRUE(hooks_.live.empty());
  hooks_.exhausted = true;
  EXPECT_THROW(DeviceBuffer(cpu, 8), sextant::Error);
}

TEST_F(DeviceTest, DeviceBuffersDoNot) {
  Device mock_device(plugin("device.mock"), 0, 0, hooks_.allocator(), {});
  DeviceBuffer on_device(mock_device, 100);
  EXPECT_NE(on_device.data(), nullptr);
  EXPECT_TRUE(hooks_.live.empty());
  DeviceBuffer on_host(mock_device, 100, SXT_SPACE_HOST);
  EXPECT_EQ(hooks_.live.size(), 1u);
}

TEST_F(DeviceTest, CallsThrowWhatAKernelSaid) {
  Device cpu(plugin("device.cpu"), 0, 1, {}, {});
  Call call(cpu);
  const sxt_exec exec = make_exec(call);
  EXPECT_NO_THROW(call.check(SXT_OK, "k", "run"));
  try {
    call.check(SXT_E_STATE, "k", "prepare");
    FAIL();
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_STATE);
    EXPECT_THAT(problem.what(), HasSubstr("kernel 'k' failed to prepare: the object is not in a state"));
  }
  host().set_error(&host(), &exec, "row 7 has no diagonal");
  try {
    call.check(SXT_E_DIAGONAL, "k", "prepare");
    FAIL();
  } catch (const sextant::Error &problem) {
    EXPECT_STREQ(problem.what(), "kernel 'k' failed to prepare: row 7 has no diagonal");
  }
}

TEST_F(DeviceTest, AnExecIsReadyToUse) {
  Device cpu(plugin("device.cpu"), 0, 2, {}, {});
  Call call(cpu);
  const sxt_exec exec = make_exec(call);
  EXPECT_EQ(exec.host, &host());
  EXPECT_EQ(exec.device, cpu.handle());
  EXPECT_EQ(exec.threads, 2);
  EXPECT_EQ(exec.stream, nullptr);
  EXPECT_EQ(exec.scratch_bytes, 0u);
}

TEST_F(DeviceTest, SentencesWithoutACallGoToTheThreadThatLoads) {
  const sextant::ErrorScope outer;
  {
    const sextant::ErrorScope inner;
    host().set_error(&host(), nullptr, "no licence");
    EXPECT_EQ(inner.sentence("?"), "no licence");
    std::thread([] { host().set_error(&host(), nullptr, "from elsewhere"); }).join();  // goes nowhere
    EXPECT_EQ(inner.sentence("?"), "no licence");
  }
  EXPECT_EQ(outer.sentence("?"), "?");
}

TEST_F(DeviceTest, PluginsAllocateThroughTheHooks) {
  Device cpu(plugin("device.cpu"), 0, 1, hooks_.allocator(), {});
  Call call(cpu);
  const sxt_exec exec = make_exec(call);
  for (const sxt_space space : {SXT_SPACE_HOST, SXT_SPACE_DEVICE, SXT_SPACE_PINNED}) {
    void *memory = host().alloc(&host(), &exec, space, 100, 128);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 128, 0u);
    EXPECT_EQ(hooks_.live.size(), 1u);
    EXPECT_EQ(live_allocations(cpu), 1u);
    host().free(&host(), &exec, space, memory);
    EXPECT_TRUE(hooks_.live.empty());
  }
  EXPECT_EQ(call.allocations, 3u);
  EXPECT_EQ(live_allocations(cpu), 0u);
  EXPECT_EQ(host().alloc(&host(), &exec, SXT_SPACE_HOST, 8, 3), nullptr);  // no power of two
  void *nothing = host().alloc(&host(), &exec, SXT_SPACE_HOST, 0, 8);
  EXPECT_NE(nothing, nullptr);  // NULL always means that there is none left
  host().free(&host(), &exec, SXT_SPACE_HOST, nothing);
  hooks_.exhausted = true;
  EXPECT_EQ(host().alloc(&host(), &exec, SXT_SPACE_HOST, 8, 8), nullptr);
}

// Memory may be freed by another call than the one that allocated it: contexts of one device share its handle.
TEST_F(DeviceTest, MemoryGoesBackToWhereItCameFrom) {
  Hooks other_hooks;
  Device first(plugin("device.cpu"), 0, 1, hooks_.allocator(), {});
  Device second(plugin("device.cpu"), 0, 1, other_hooks.allocator(), {});
  ASSERT_EQ(first.handle(), second.handle());
  Call call(second);
  const sxt_exec exec = make_exec(call);
  void *memory = host().alloc(&host(), &exec, SXT_SPACE_DEVICE, 64, 64);
  EXPECT_EQ(other_hooks.live.size(), 1u);
  sxt_exec later{};  // as plugins keep for their release
  later.host = &host();
  later.device = second.handle();
  host().free(&host(), &later, SXT_SPACE_DEVICE, memory);
  EXPECT_TRUE(other_hooks.live.empty());
  EXPECT_TRUE(hooks_.live.empty());
}

TEST_F(DeviceTest, ReportsWhatWasNotGivenBack) {
  void *forgotten = nullptr;
  {
    Device cpu(plugin("device.cpu"), 0, 1, {}, log_.sink());
    Call call(cpu);
    const sxt_exec exec = make_exec(call);
    forgotten = host().alloc(&host(), &exec, SXT_SPACE_HOST, 8, 8);
    host().free(&host(), &exec, SXT_SPACE_HOST, &forgotten);  // never lent
  }
  ASSERT_EQ(log_.lines.size(), 2u);
  EXPECT_EQ(log_.lines[0].first, SXT_LOG_MISBEHAVING);
  EXPECT_THAT(log_.lines[0].second, HasSubstr("did not lend"));
  EXPECT_EQ(log_.lines[1].first, SXT_LOG_MISBEHAVING);
  EXPECT_THAT(log_.lines[1].second, HasSubstr("1 allocation(s)"));
  host().free(&host(), nullptr, SXT_SPACE_HOST, forgotten);  // host memory may come back late
}

// A log may do anything except use the object of the call; it may allocate, for example.
TEST_F(DeviceTest, ALogMayAllocate) {
  struct Allocating {
    const sxt_exec *exec = nullptr;
    int calls = 0;
  } state;
  const sextant::LogSink sink{[](void *user, sxt_log_level, const char *) {
                                auto &mine = *static_cast<Allocating *>(user);
                                ++mine.calls;
                                void *memory = host().alloc(&host(), mine.exec, SXT_SPACE_HOST, 8, 8);
                                host().free(&host(), mine.exec, SXT_SPACE_HOST, memory);
                              },
                              &state, SXT_LOG_DEBUG};
  Device cpu(plugin("device.cpu"), 0, 1, {}, sink);
  Call call(cpu);
  const sxt_exec exec = make_exec(call);
  state.exec = &exec;
  int never_lent = 0;
  host().free(&host(), &exec, SXT_SPACE_HOST, &never_lent);
  EXPECT_EQ(state.calls, 1);
}

TEST_F(DeviceTest, MessagesGoToTheDeviceInUse) {
  Log other;
  Device first(plugin("device.cpu"), 0, 1, {}, log_.sink());
  Device second(plugin("device.cpu"), 0, 1, {}, other.sink());
  Call call(second);
  make_exec(call);
  host().log(&host(), SXT_LOG_WARNING, "spmv-csr", "a row of 10^9 entries");
  EXPECT_TRUE(log_.lines.empty());
  ASSERT_EQ(other.lines.size(), 1u);
  EXPECT_EQ(other.lines[0].second, "plugin spmv-csr: a row of 10^9 entries");
  // A thread of the plugin belongs to no call: all living contexts get its message.
  std::thread([] { host().log(&host(), SXT_LOG_INFO, "p", "from a thread"); }).join();
  EXPECT_EQ(log_.lines.size(), 1u);
  EXPECT_EQ(other.lines.size(), 2u);
}

TEST_F(DeviceTest, CopiesInTheOrderOfTheStream) {
  Device mock_device(plugin("device.mock"), 0, 0, {}, {});
  Call call(mock_device);
  sxt_exec exec = make_exec(call);
  ASSERT_EQ(mock_device.ops().stream_create(mock_device.handle(), &exec.stream), SXT_OK);
  int from = 7, to = 0;
  void *graph = nullptr;
  ASSERT_EQ(mock_device.ops().capture_begin(mock_device.handle(), exec.stream), SXT_OK);
  EXPECT_EQ(host().copy(&host(), &exec, &to, &from, sizeof to), SXT_OK);
  EXPECT_EQ(host().synchronize(&host(), &exec), SXT_E_STATE);  // not while captured
  ASSERT_EQ(mock_device.ops().capture_end(mock_device.handle(), exec.stream, &graph), SXT_OK);
  EXPECT_EQ(to, 0);
  EXPECT_EQ(mock_device.ops().graph_launch(mock_device.handle(), exec.stream, graph), SXT_OK);
  EXPECT_EQ(to, 7);
  mock_device.ops().graph_destroy(mock_device.handle(), graph);
  mock_device.ops().stream_destroy(mock_device.handle(), exec.stream);
  EXPECT_EQ(host().copy(&host(), &exec, nullptr, &from, 4), SXT_E_ARGUMENT);
  EXPECT_EQ(host().copy(&host(), &exec, nullptr, nullptr, 0), SXT_OK);
}

TEST_F(DeviceTest, ServicesByName) {
  EXPECT_EQ(host().get_service(&host(), "sxt.x/1"), nullptr);
  EXPECT_EQ(host().get_service(&host(), nullptr), nullptr);
  const auto *devices = static_cast<const sxt_devices_service *>(host().get_service(&host(), SXT_SERVICE_DEVICES));
  ASSERT_NE(devices, nullptr);
  Device mock_device(plugin("device.mock"), 0, 0, {}, {});
  Call call(mock_device);
  sxt_exec exec = make_exec(call);
  ASSERT_NE(devices->ops(&host(), &exec), nullptr);
  EXPECT_NE(devices->ops(&host(), &exec)->capture_begin, nullptr);
  EXPECT_EQ(devices->ops(&host(), &exec)->enter, nullptr);  // the mock does not offer it
  EXPECT_STREQ(devices->machine(&host(), &exec)->name, "Mock Device");
  exec.call = nullptr;  // as plugins keep for later: the handle tells
  EXPECT_STREQ(devices->machine(&host(), &exec)->name, "Mock Device");
  exec.device = nullptr;
  EXPECT_EQ(devices->ops(&host(), &exec), nullptr);
}

// Concurrent calls have different streams; all calls share a stream of the caller.
TEST_F(DeviceTest, OneStreamACall) {
  Device mock_device(plugin("device.mock"), 0, 0, {}, {});
  void *first = nullptr;
  {
    Call one(mock_device), other(mock_device);
    EXPECT_NE(one.stream, nullptr);
    EXPECT_NE(one.stream, other.stream);
    EXPECT_TRUE(one.waits);
    first = one.stream;
  }
  {
    Call again(mock_device), more(mock_device);
    EXPECT_TRUE(again.stream == first || more.stream == first);  // reused
  }
  void *mine = nullptr;
  ASSERT_EQ(mock_device.ops().stream_create(mock_device.handle(), &mine), SXT_OK);
  mock_device.set_callers_stream(mine);
  {
    Call one(mock_device), other(mock_device, Call::unless_callers);
    EXPECT_EQ(one.stream, mine);
    EXPECT_EQ(other.stream, mine);
    EXPECT_TRUE(one.waits);
    EXPECT_FALSE(other.waits);
  }
  mock_device.set_callers_stream(nullptr);
  EXPECT_NE(Call(mock_device).stream, mine);
  mock_device.ops().stream_destroy(mock_device.handle(), mine);
  Device cpu(plugin("device.cpu"), 0, 1, {}, {});
  EXPECT_EQ(Call(cpu).stream, nullptr);
  EXPECT_THROW(cpu.set_callers_stream(&cpu), sextant::Error);
}

}  // namespace
