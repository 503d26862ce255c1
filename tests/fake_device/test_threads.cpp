// SPDX-License-Identifier: BSD-3-Clause
// Threads that share a context: while the work of a call is only enqueued, its resources are not lent to other calls;
// they are free once the stream was waited for. The fake runtime knows which work has an order (order.h).
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "abi/handles.hpp"
#include "core/pcg/own_stream.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/vector.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;
using sextant::Device;
using sextant::OwnStream;
using sextant::Runner;

constexpr std::uint64_t kept_bytes = 256;
std::atomic<int> opened{0};

// A kernel whose session holds memory, and whose run copies it to its scratch.
struct Kept {
  const sxt_host *host;
  void *memory;
};
sxt_status open_kept(const void *, const sxt_filled *, const sxt_exec *exec, void **session) {
  ++opened;
  auto kept = std::make_unique<Kept>(
      Kept{exec->host, exec->host->alloc(exec->host, exec, SXT_SPACE_DEVICE, kept_bytes, kept_bytes)});
  if (!kept->memory) return SXT_E_MEMORY;
  *session = kept.release();
  return SXT_OK;
}
void close_kept(void *session) {
  const std::unique_ptr<Kept> kept(static_cast<Kept *>(session));
  kept->host->free(kept->host, nullptr, SXT_SPACE_DEVICE, kept->memory);
}
sxt_status run_kept(const void *, void *session, const sxt_head *, const sxt_exec *exec) {
  void *const memory = static_cast<Kept *>(session)->memory;
  if (const sxt_status failed = exec->host->copy(exec->host, exec, exec->scratch, memory, kept_bytes)) return failed;
  return exec->host->copy(exec->host, exec, memory, exec->scratch, kept_bytes);
}

class FakeThreads : public FakeDevice {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(open(&context_), SXT_OK) << sxt_last_error(nullptr);
    kernel_.table.struct_size = sizeof kernel_.table;
    kernel_.table.name = "vector.kept.cuda";
    kernel_.table.kind = SXT_KIND_VECTOR;
    kernel_.table.device = "cuda";
    kernel_.table.open = open_kept;
    kernel_.table.close = close_kept;
    kernel_.table.run = run_kept;
    kernel_.plugin = &plugin_;
    kernel_.verdict = sextant::registry::Verdict::passed;  // no case of its kind tests what it does
    sxt_vector_query query{};
    query.q = {{sizeof query, SXT_KIND_VECTOR}, 1, 0, SXT_F64};
    query.n = 1;
    query.operation = SXT_VECTOR_FILL;
    auto choice = std::make_shared<sextant::Choice>();
    choice->query = sextant::Query(&query.q);
    choice->kernel = &kernel_;
    choice->candidate.scratch_bytes = kept_bytes;
    runner_ = std::make_unique<Runner>(*context_->context, choice, nullptr);
    opened = 0;
  }
  void TearDown() override {
    runner_.reset();
    sxt_context_destroy(context_);
    if (!IsSkipped()) {
      EXPECT_EQ(left_behind(), "");
      EXPECT_EQ(faults(), "");
    }
    FakeDevice::TearDown();
  }
  Device &device() { return context_->context->device(); }
  void run() {
    sxt_vector_args args{};
    args.h = {sizeof args, SXT_KIND_VECTOR};
    args.n = 1;
    runner_->run(&args.h);
  }
  sextant::registry::Plugin plugin_{};
  sextant::registry::Kernel kernel_{};
  sxt_context *context_ = nullptr;
  std::unique_ptr<Runner> runner_;
};

TEST_F(FakeThreads, TheRuntimeSeesWorkWithoutAnOrder) {
  void *memory = nullptr, *first = nullptr, *second = nullptr;
  const sxt_device_ops &ops = device().ops();
  ASSERT_EQ(ops.alloc(device().handle(), nullptr, SXT_SPACE_DEVICE, 64, 64, &memory), SXT_OK);
  ASSERT_EQ(ops.stream_create(device().handle(), &first), SXT_OK);
  ASSERT_EQ(ops.stream_create(device().handle(), &second), SXT_OK);
  double value = 1, there = 0;
  ASSERT_EQ(ops.copy(device().handle(), first, memory, &value, sizeof value), SXT_OK);
  ASSERT_EQ(ops.copy(device().handle(), second, &there, memory, sizeof value), SXT_OK);
  EXPECT_EQ(faults(), "races: 1 ");
  ASSERT_EQ(ops.stream_synchronize(device().handle(), first), SXT_OK);
  ASSERT_EQ(ops.copy(device().handle(), second, &there, memory, sizeof value), SXT_OK);
  void *event = nullptr;
  ASSERT_EQ(ops.event_create(device().handle(), &event), SXT_OK);
  ASSERT_EQ(ops.event_record(device().handle(), event, second), SXT_OK);
  ASSERT_EQ(ops.event_wait(device().handle(), event, first), SXT_OK);
  ASSERT_EQ(ops.copy(device().handle(), first, memory, &value, sizeof value), SXT_OK);
  ops.event_destroy(device().handle(), event);
  ops.stream_destroy(device().handle(), first);
  ops.stream_destroy(device().handle(), second);
  ops.free(device().handle(), nullptr, SXT_SPACE_DEVICE, memory);
  EXPECT_EQ(fake_count("races"), 0);
}

// A session of enqueued work stays with its stream until the owner of the stream has waited.
TEST_F(FakeThreads, SessionsInUseAreNotLentToOtherStreams) {
  {
    const OwnStream own(device());
    run();
    run();
    EXPECT_EQ(opened, 1) << "on one stream the next call may have it";
    std::thread([&] {
      const OwnStream other(device());
      run();
    }).join();
    EXPECT_EQ(opened, 2);
    std::thread([&] { run(); }).join();  // the other's work is over
    EXPECT_EQ(opened, 2);
    run();
    EXPECT_EQ(opened, 2);
  }
  run();
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(fake_count("races"), 0);
}

TEST_F(FakeThreads, ManyOfThem) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        if ((i + t) % 3 == 0) {
          run();
          continue;
        }
        const OwnStream own(device());
        for (int k = 0; k < 1 + i % 4; ++k) run();
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(fake_count("races"), 0);
  EXPECT_LE(opened, 16) << "a pool grows with the callers, not with the calls";
}

// A stream of the caller that the context no longer uses was waited for: its sessions can be lent again.
TEST_F(FakeThreads, SessionsOfACallersStreamComeBack) {
  void *streams[2] = {};
  for (void *&stream : streams) ASSERT_EQ(device().ops().stream_create(device().handle(), &stream), SXT_OK);
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(sxt_context_set_stream(context_, i % 3 == 2 ? nullptr : streams[i % 3]), SXT_OK);
    run();
    run();
  }
  ASSERT_EQ(sxt_context_set_stream(context_, nullptr), SXT_OK);
  EXPECT_EQ(opened, 1);
  for (void *stream : streams) device().ops().stream_destroy(device().handle(), stream);
}

// Every call restores the thread's capture mode.
TEST_F(FakeThreads, CapturesOfOtherThreadsAreLeftAlone) {
  run();
  EXPECT_EQ(fake_capture_mode(), 0);
  {
    const Device::Current outer(device()), inner(device());
    EXPECT_EQ(fake_capture_mode(), 2);
  }
  EXPECT_EQ(fake_capture_mode(), 0);
  EXPECT_EQ(fake_count("unsafe calls"), 0);
}

// Inside a capture every first call that needs a set-up is refused, and nothing is enqueued. The stream cannot be taken
// from the context during the capture.
TEST_F(FakeThreads, FirstCallsInsideACapture) {
  constexpr std::int32_t n = 10, columns[n] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::int32_t rows[n + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const double ones[n] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  double there[n] = {}, dot = 0;
  sxt_matrix *matrix = nullptr;
  sxt_vector *x = nullptr, *y = nullptr;
  ASSERT_EQ(sxt_matrix_from_csr(context_, n, n, rows, columns, ones, nullptr, &matrix), SXT_OK);
  ASSERT_EQ(sxt_vector_create(context_, n, SXT_F64, &x), SXT_OK);
  ASSERT_EQ(sxt_vector_create(context_, n, SXT_F64, &y), SXT_OK);
  void *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(device().ops().stream_create(device().handle(), &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(context_, stream), SXT_OK);
  ASSERT_EQ(device().ops().capture_begin(device().handle(), stream), SXT_OK);
  const std::int64_t launches = fake_count("launches"), requests = fake_count("requests");
  sxt_pcg *pcg = nullptr;
  sxt_vector *more = nullptr;
  const double two = 2;
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix, x, nullptr, y), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_spmv(SXT_TRANSPOSE, nullptr, matrix, x, nullptr, y), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix, ones, nullptr, there), SXT_E_STATE);
  EXPECT_EQ(sxt_axpy(&two, x, y), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_dot(x, y, &dot), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_vector_create(context_, n, SXT_F64, &more), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_vector_write(x, ones), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_vector_read(x, there), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_pcg_create(matrix, nullptr, &pcg), SXT_E_STATE) << sxt_last_error(context_);
  EXPECT_EQ(sxt_context_synchronize(context_), SXT_E_STATE);
  EXPECT_EQ(sxt_context_set_stream(context_, nullptr), SXT_E_STATE);
  EXPECT_EQ(device().callers_stream(), stream);
  EXPECT_EQ(fake_count("launches"), launches);
  EXPECT_EQ(fake_count("requests"), requests);
  ASSERT_EQ(device().ops().capture_end(device().handle(), stream, &graph), SXT_OK);
  device().ops().graph_destroy(device().handle(), graph);
  EXPECT_EQ(sxt_axpy(&two, x, y), SXT_OK) << sxt_last_error(context_);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix, x, nullptr, y), SXT_OK) << sxt_last_error(context_);
  EXPECT_EQ(sxt_context_set_stream(context_, nullptr), SXT_OK);
  EXPECT_EQ(device().callers_stream(), nullptr);
  device().ops().stream_destroy(device().handle(), stream);
  sxt_vector_destroy(x);
  sxt_vector_destroy(y);
  sxt_matrix_destroy(matrix);
}

}  // namespace
