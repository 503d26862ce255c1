// SPDX-License-Identifier: BSD-3-Clause
// The caller's stream: work goes there, calls whose results stay on the device do not wait, and what was captured is
// replayed.
#include <cmath>
#include <cstdint>
#include <thread>

#include "support.hpp"

namespace gpu_test {
namespace {

using testing::HasSubstr;

class Streams : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (context_) ASSERT_EQ(ops().stream_create(handle(), &stream_), SXT_OK);
  }
  void TearDown() override {
    if (!stream_) return;
    EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
    ops().stream_destroy(handle(), stream_);
  }
  void *stream_ = nullptr;
};

TEST_F(Streams, WorkGoesToTheCallersStream) {
  const Vector x = make_vector(std::vector<double>(1000, 1)), y = make_vector(std::vector<double>(1000, 3));
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream_), SXT_OK) << sxt_last_error(context_.get());
  const double two = 2;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(sxt_axpy(&two, x.get(), y.get()), SXT_OK);
  EXPECT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  EXPECT_EQ(values_of(y), std::vector<double>(1000, 203));
}

TEST_F(Streams, ACapturedStreamIsReplayed) {
  const Vector x = make_vector(std::vector<double>(5000, 1)), y = make_vector(std::vector<double>(5000, 0));
  const double two = 2;
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream_), SXT_OK);
  ASSERT_EQ(sxt_axpy(&two, x.get(), y.get()), SXT_OK);  // sets the kernel up
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  void *graph = nullptr;
  ASSERT_EQ(ops().capture_begin(handle(), stream_), SXT_OK);
  EXPECT_EQ(sxt_axpy(&two, x.get(), y.get()), SXT_OK) << sxt_last_error(context_.get());
  EXPECT_EQ(sxt_axpy(&two, x.get(), y.get()), SXT_OK);
  EXPECT_EQ(sxt_context_synchronize(context_.get()), SXT_E_STATE);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("captured"));
  ASSERT_EQ(ops().capture_end(handle(), stream_, &graph), SXT_OK);
  for (int replay = 0; replay < 3; ++replay) ASSERT_EQ(ops().graph_launch(handle(), stream_, graph), SXT_OK);
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  EXPECT_EQ(values_of(y), std::vector<double>(5000, 14));
  ops().graph_destroy(handle(), graph);
}

TEST_F(Streams, TheDefaultStreamsHaveNames) {
  const Vector y = make_vector(std::vector<double>(10, 0));
  const double one = 1;
  for (const std::uintptr_t name : {1, 2}) {  // cudaStreamLegacy, cudaStreamPerThread
    ASSERT_EQ(sxt_context_set_stream(context_.get(), reinterpret_cast<void *>(name)), SXT_OK);
    EXPECT_EQ(sxt_fill(&one, y.get()), SXT_OK) << sxt_last_error(context_.get());
    EXPECT_EQ(values_of(y), std::vector<double>(10, 1));
  }
}

// Without a stream of the caller each call has its own, and its work is complete when it returns.
TEST_F(Streams, CallersInManyThreads) {
  std::vector<std::thread> threads;
  std::vector<std::vector<double>> results(4);
  std::vector<Vector> vectors;
  for (int t = 0; t < 4; ++t) vectors.push_back(make_vector(std::vector<double>(10000, 1)));
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const double factor = t + 1;
      for (int i = 0; i < 20; ++i) EXPECT_EQ(sxt_scale(&factor, vectors[static_cast<std::size_t>(t)].get()), SXT_OK);
      results[static_cast<std::size_t>(t)] = values_of(vectors[static_cast<std::size_t>(t)]);
    });
  for (std::thread &thread : threads) thread.join();
  for (int t = 0; t < 4; ++t)
    EXPECT_EQ(results[static_cast<std::size_t>(t)], std::vector<double>(10000, std::pow(t + 1.0, 20)));
}

}  // namespace
}  // namespace gpu_test
