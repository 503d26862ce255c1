// SPDX-License-Identifier: BSD-3-Clause
// An application beside the library: its captures in the global mode, its launches on the caller's stream, its work on
// the legacy stream.
#include <atomic>
#include <cstdint>
#include <thread>

#include "pcg.hpp"

namespace {

using namespace gpu_test;

class Captures : public PcgGpu {
 protected:
  using OnStream = int (*)(void *);
  void SetUp() override {
    PcgGpu::SetUp();
    if (!context_) return;
    const sextant::Device::Current current(device());
    ASSERT_EQ(runtime_function<int (*)()>("Shared", "doubler_load")(), 0);
  }
  template <class F>
  static F application(const char *name) {
    return runtime_function<F>("Shared", name);
  }
  void *new_stream(bool waits) {
    void *stream = nullptr;
    EXPECT_EQ(application<int (*)(int, void **)>("doubler_stream")(waits, &stream), 0);
    return stream;
  }
  void destroy(void *stream) { EXPECT_EQ(application<OnStream>("doubler_destroy")(stream), 0); }
  // While f runs in other threads, this thread captures in the global mode again and again: no capture is lost.
  template <class F>
  void while_captured(F &&f) {
    const auto begin = application<OnStream>("doubler_capture");
    const auto end = application<int (*)(void *, std::size_t *)>("doubler_end_capture");
    const auto count = application<int (*)(void *, unsigned long long *)>("doubler_count");
    const Vector memory = make_vector({0, 0});
    auto *const counter = static_cast<unsigned long long *>(sxt_vector_data(memory.get()));
    void *const stream = new_stream(false);
    std::atomic<bool> over{false};
    std::thread other([&] {
      f();
      over = true;
    });
    int captures = 0, lost = 0;
    while (!over || captures < 3) {
      std::size_t nodes = 0;
      ASSERT_EQ(begin(stream), 0);
      bool launched = true;
      for (int i = 0; i < 20; ++i) launched = count(stream, counter) == 0 && launched;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const int ended = end(stream, &nodes);
      lost += ended != 0 || !launched || nodes != 20;
      ++captures;
    }
    other.join();
    EXPECT_EQ(lost, 0) << "of " << captures << " captures";
    destroy(stream);
  }
};

TEST_F(Captures, WarmCallsLeaveThoseOfOtherThreadsWhole) {
  const Csr a = laplacian(60, 1);
  const Matrix matrix = matrix_of(a);
  const std::vector<double> b = waves(a.rows);
  for (const char *engine : {static_cast<const char *>(nullptr), "pcg.graph.predict-recompute.cuda", persistent}) {
    const Pcg pcg = create(matrix, engine);
    std::vector<double> x(b.size());
    ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, nullptr), SXT_OK);
    const Vector u = make_vector(b), v = make_vector(b);
    while_captured([&] {
      for (int i = 0; i < 50; ++i) {
        double norm = 0;
        EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, nullptr), SXT_OK)
            << sxt_last_error(context_.get());
        EXPECT_EQ(sxt_nrm2(u.get(), &norm), SXT_OK) << sxt_last_error(context_.get());
        EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), u.get(), nullptr, v.get()), SXT_OK);
      }
    });
    EXPECT_LE(relative_residual(a, b, x), 1e-8);
  }
}

TEST_F(Captures, OpeningAContextAndSettingUpLeaveThemWhole) {
  const Csr a = badly_scaled(40);
  const std::vector<double> b = waves(a.rows);
  while_captured([&] {
    for (int i = 0; i < 3; ++i) {
      const Context fresh = open_context();
      ASSERT_TRUE(fresh) << sxt_last_error(nullptr);
      sxt_matrix *matrix = nullptr;
      sxt_pcg *pcg = nullptr;
      ASSERT_EQ(sxt_matrix_from_csr(fresh.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), nullptr,
                                    &matrix),
                SXT_OK);
      ASSERT_EQ(sxt_pcg_create(matrix, nullptr, &pcg), SXT_OK) << sxt_last_error(fresh.get());
      std::vector<double> x(b.size());
      EXPECT_EQ(sxt_pcg_solve_array(pcg, a.rows, b.data(), x.data(), nullptr, nullptr), SXT_OK)
          << sxt_last_error(fresh.get());
      sxt_pcg_destroy(pcg);
      sxt_matrix_destroy(matrix);
    }
  });
}

// Kernels that the application launches on the caller's stream during solves run once and are not part of replays.
TEST_F(Captures, LaunchesOnTheCallersStreamRunOnce) {
  const auto count = application<int (*)(void *, unsigned long long *)>("doubler_count");
  const Csr a = laplacian(60, 0.1);
  const Matrix matrix = matrix_of(a);
  const Vector memory = make_vector({0, 0});
  auto *const counter = static_cast<unsigned long long *>(sxt_vector_data(memory.get()));
  unsigned long long launched = 0;
  for (const char *engine : engines) {
    void *const stream = new_stream(false);
    ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK) << sxt_last_error(context_.get());
    const Vector b = make_vector(waves(a.rows)), x = make_vector(waves(a.rows));
    std::atomic<bool> over{false};
    std::thread application_thread([&] {
      while (!over) {
        EXPECT_EQ(count(stream, counter), 0);
        ++launched;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
    std::vector<Pcg> solvers;  // fresh ones: their first solves capture
    for (int i = 0; i < 6; ++i) solvers.push_back(create(matrix, engine, engine == pair_m ? "fsai" : nullptr));
    std::vector<std::thread> others;
    for (int t = 0; t < 2; ++t)
      others.emplace_back([&, t] {
        for (int i = t; i < 6; i += 2) {
          const Vector own = make_vector(waves(a.rows));
          for (int k = 0; k < 3; ++k)
            EXPECT_EQ(sxt_pcg_solve(solvers[static_cast<std::size_t>(i)].get(), b.get(), own.get(), nullptr, nullptr),
                      SXT_OK)
                << engine << ": " << sxt_last_error(context_.get());
        }
      });
    for (std::thread &other : others) other.join();
    over = true;
    application_thread.join();
    ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
    ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
    unsigned long long ran = 0;
    device().copy(&ran, counter, sizeof ran);
    EXPECT_EQ(ran, launched) << engine;
    solvers.clear();
    destroy(stream);
  }
}

TEST_F(Captures, AStreamThatIsCapturedCannotBeTakenFromTheContext) {
  void *const stream = new_stream(false);
  std::size_t nodes = 9;
  const Csr a = laplacian(20, 1);
  const Matrix matrix = matrix_of(a);
  const Vector x = make_vector(waves(a.rows)), y = make_vector(waves(a.rows));
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
  ASSERT_EQ(application<OnStream>("doubler_capture")(stream), 0);
  EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_E_STATE);
  EXPECT_EQ(device().callers_stream(), stream);
  // First calls: their set-up cannot be captured, and nothing of them is.
  sxt_pcg *pcg = nullptr;
  double dot = 0;
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_E_STATE);
  EXPECT_EQ(sxt_spmv(SXT_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_E_STATE);
  EXPECT_EQ(sxt_multiply(x.get(), x.get(), y.get()), SXT_E_STATE);
  EXPECT_EQ(sxt_dot(x.get(), y.get(), &dot), SXT_E_STATE);
  EXPECT_EQ(sxt_pcg_create(matrix.get(), nullptr, &pcg), SXT_E_STATE) << sxt_last_error(context_.get());
  EXPECT_EQ(application<int (*)(void *, std::size_t *)>("doubler_end_capture")(stream, &nodes), 0);
  EXPECT_EQ(nodes, 0u);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_OK)
      << sxt_last_error(context_.get());
  EXPECT_EQ(sxt_multiply(x.get(), x.get(), y.get()), SXT_OK) << sxt_last_error(context_.get());
  ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  destroy(stream);
}

// Without a stream of the caller, a call runs after the work enqueued on the legacy stream before it, and before the
// work enqueued there later.
TEST_F(Captures, CallsWaitForTheLegacyStream) {
  const auto write_late = application<int (*)(void *, std::int64_t, double, double *)>("doubler_write_late");
  const Vector x = make_vector(std::vector<double>(1000, 1)), y = make_vector(std::vector<double>(1000, 0));
  double sum = 0;
  ASSERT_EQ(sxt_sum(x.get(), &sum), SXT_OK);
  for (int round = 2; round < 6; ++round) {
    {
      const sextant::Device::Current current(device());
      ASSERT_EQ(write_late(nullptr, 1000, round, static_cast<double *>(sxt_vector_data(x.get()))), 0);
    }
    ASSERT_EQ(sxt_copy(x.get(), y.get()), SXT_OK);
    EXPECT_EQ(values_of(y), std::vector<double>(1000, round));
    ASSERT_EQ(sxt_sum(x.get(), &sum), SXT_OK);
    EXPECT_EQ(sum, 1000.0 * round);
  }
}

// A capture of a stream that waits for the legacy one forbids every use of the legacy stream: the library does not use
// it.
TEST_F(Captures, OfABlockingStreamIsNotDisturbed) {
  void *const stream = new_stream(true);
  const Vector x = make_vector(std::vector<double>(1000, 1));
  double sum = 0;
  ASSERT_EQ(sxt_sum(x.get(), &sum), SXT_OK);
  ASSERT_EQ(application<OnStream>("doubler_capture")(stream), 0);
  std::thread([&] {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(sxt_sum(x.get(), &sum), SXT_OK) << sxt_last_error(context_.get());
  }).join();
  std::size_t nodes = 9;
  EXPECT_EQ(application<int (*)(void *, std::size_t *)>("doubler_end_capture")(stream, &nodes), 0);
  destroy(stream);
}

TEST_F(Captures, AMatrixWithoutRowsIsSolved) {
  const std::int32_t ptr[1] = {0}, col[1] = {0};
  const double values[1] = {0};
  double b = 1, x = 2;
  const Matrix matrix = api_test::make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_from_csr(context_.get(), 0, 0, ptr, col, values, nullptr, out); });
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), &b, nullptr, &x), SXT_OK);
  for (const char *preconditioner : {"none", "jacobi", static_cast<const char *>(nullptr)}) {
    const Pcg pcg = create(matrix, nullptr, preconditioner);
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 0, &b, &x, nullptr, nullptr), SXT_OK) << sxt_last_error(context_.get());
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 0, nullptr, nullptr, nullptr, nullptr), SXT_OK);
  }
  EXPECT_EQ(x, 2);
}

}  // namespace
