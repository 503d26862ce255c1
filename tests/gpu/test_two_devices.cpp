// SPDX-License-Identifier: BSD-3-Clause
// Two GPUs in one process, a context on each: memory of one refused by the other, copies between them in the order of
// streams, solves on both at once, work that both share. Skipped where there is one alone.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pcg.hpp"
#include "tests/api/two_devices.hpp"

namespace {

using namespace gpu_test;
using api_test::matrix_on;
using api_test::zeros_on;

class TwoDevices : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    second_ = open_context("cuda", 1);
    if (!second_) GTEST_SKIP() << "no further GPU: " << sxt_last_error(nullptr);
  }
  sxt_context *on(int i) const { return i == 0 ? context_.get() : second_.get(); }
  sextant::Device &device(int i) { return on(i)->context->device(); }
  // y of device `to` = x of the other one.
  sxt_status peer(int to, void *stream, void *y, const void *x, std::uint64_t bytes) {
    return device(to).ops().copy_peer(device(to).handle(), stream, y, device(1 - to).handle(), x, bytes);
  }
  static std::vector<double> numbers(std::int64_t n) {  // whole ones, whose sums are exact
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 7 + 3) % 1001) - 500;
    return values;
  }
  static api_test::Vector vector_on(sxt_context *context, const double *values, std::int64_t n) {
    api_test::Vector made = zeros_on(context, n);
    EXPECT_EQ(sxt_vector_write(made.get(), values), SXT_OK) << sxt_last_error(context);
    return made;
  }
  static std::vector<double> values_of(const api_test::Vector &vector) {
    std::vector<double> values(static_cast<std::size_t>(sxt_vector_length(vector.get())));
    EXPECT_EQ(sxt_vector_read(vector.get(), values.data()), SXT_OK);
    return values;
  }
  // f(0) and f(1), each in a separate thread.
  template <class F>
  static void at_once(F &&f) {
    std::thread other([&] { f(1); });
    f(0);
    other.join();
  }
  Context second_{nullptr, sxt_context_destroy};
};

TEST_F(TwoDevices, RefuseWhatBelongsToTheOther) {
  api_test::refuses_the_other_device(on(0), on(1), 1);
  api_test::refuses_the_other_device(on(1), on(0), 0);
}

// Lengths and addresses of every alignment, in both directions, with and without a stream; neighbouring values do not
// change.
TEST_F(TwoDevices, CopiesArriveWhole) {
  constexpr std::size_t beside = 64;
  const std::pair<std::size_t, std::size_t> cases[] = {{1, 0}, {8, 24}, {4097, 1}, {(1u << 20) + 3, 7}, {48u << 20, 0}};
  for (const int to : {0, 1}) {
    void *stream = nullptr;
    ASSERT_EQ(device(to).ops().stream_create(device(to).handle(), &stream), SXT_OK);
    for (const auto &[bytes, place] : cases) {
      std::vector<unsigned char> values(place + bytes + beside);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i * 131 + i / 256 + 1);
      std::vector<unsigned char> expected(values.size(), 0), back(values.size());
      std::copy_n(&values[place], bytes, &expected[place]);
      const sextant::DeviceBuffer x(device(1 - to), values.size()), y(device(to), values.size());
      device(1 - to).copy(x.data(), values.data(), values.size());
      for (void *order : {static_cast<void *>(nullptr), stream}) {
        std::fill(back.begin(), back.end(), 0);
        device(to).copy(y.data(), back.data(), back.size());
        ASSERT_EQ(peer(to, order, y.as<char>() + place, x.as<char>() + place, bytes), SXT_OK);
        if (order) ASSERT_EQ(device(to).ops().stream_synchronize(device(to).handle(), order), SXT_OK);
        device(to).copy(back.data(), y.data(), back.size());
        EXPECT_TRUE(back == expected) << bytes << " bytes from place " << place << " to device " << to;
      }
    }
    device(to).ops().stream_destroy(device(to).handle(), stream);
  }
}

// y of one device += x of the other, twenty times, while x doubles each time: only events define the order.
TEST_F(TwoDevices, CopiesFollowEventsOfTheOtherDevice) {
  constexpr std::int64_t n = 3'000'000;
  const std::vector<double> start = numbers(n);
  for (const int to : {0, 1}) {
    const int from = 1 - to;
    const sxt_device_ops &ours = device(to).ops(), &theirs = device(from).ops();
    void *const here = device(to).handle(), *const there = device(from).handle();
    const api_test::Vector x = vector_on(on(from), start.data(), n), came = zeros_on(on(to), n),
                           y = zeros_on(on(to), n);
    std::array<void *, 2> streams{}, events{};
    ASSERT_EQ(ours.stream_create(here, &streams[0]), SXT_OK);
    ASSERT_EQ(theirs.stream_create(there, &streams[1]), SXT_OK);
    ASSERT_EQ(ours.event_create(here, &events[0]), SXT_OK);
    ASSERT_EQ(theirs.event_create(there, &events[1]), SXT_OK);
    ASSERT_EQ(sxt_context_set_stream(on(to), streams[0]), SXT_OK);
    ASSERT_EQ(sxt_context_set_stream(on(from), streams[1]), SXT_OK);
    const double one = 1, two = 2;
    double weight = 0;
    for (int k = 1; k <= 20; ++k) {
      ASSERT_EQ(sxt_scale(&two, x.get()), SXT_OK);
      ASSERT_EQ(theirs.event_record(there, events[1], streams[1]), SXT_OK);
      ASSERT_EQ(ours.event_wait(here, events[1], streams[0]), SXT_OK);
      ASSERT_EQ(peer(to, streams[0], sxt_vector_data(came.get()), sxt_vector_data(x.get()), n * sizeof(double)),
                SXT_OK);
      ASSERT_EQ(ours.event_record(here, events[0], streams[0]), SXT_OK);
      ASSERT_EQ(theirs.event_wait(there, events[0], streams[1]), SXT_OK);
      ASSERT_EQ(sxt_axpy(&one, came.get(), y.get()), SXT_OK);
      weight += std::ldexp(1, k);
    }
    EXPECT_EQ(sxt_context_set_stream(on(to), nullptr), SXT_OK);
    EXPECT_EQ(sxt_context_set_stream(on(from), nullptr), SXT_OK);
    std::vector<double> expected = start;
    for (double &value : expected) value *= weight;
    EXPECT_EQ(values_of(y), expected) << "to device " << to;
    ours.event_destroy(here, events[0]);
    theirs.event_destroy(there, events[1]);
    ours.stream_destroy(here, streams[0]);
    theirs.stream_destroy(there, streams[1]);
  }
}

// Pinned memory of one device and managed memory are reached by both.
TEST_F(TwoDevices, PinnedAndManagedMemoryServeBoth) {
  constexpr std::int64_t n = 10000;
  const std::vector<double> start = numbers(n);
  for (const sxt_space space : {SXT_SPACE_PINNED, SXT_SPACE_MANAGED}) {
    const sextant::DeviceBuffer memory(device(0), n * sizeof(double), space);
    device(0).copy(memory.data(), start.data(), memory.bytes());
    const double two = 2, three = 3;
    for (const int i : {0, 1}) {
      const api_test::Vector wrapped = api_test::make<api_test::Vector>(
          [&](sxt_vector **out) { return sxt_vector_wrap(on(i), n, SXT_F64, space, memory.data(), out); });
      EXPECT_EQ(sxt_scale(i == 0 ? &two : &three, wrapped.get()), SXT_OK) << sxt_last_error(on(i));
    }
    std::vector<double> expected = start, found(start.size());
    for (double &value : expected) value *= 6;
    device(1).copy(found.data(), memory.data(), memory.bytes());
    EXPECT_EQ(found, expected) << "space " << space;
  }
}

// A thread keeps its current device through calls on the other device; a thread without one gets none.
TEST_F(TwoDevices, CallsGiveTheThreadItsDeviceBack) {
  using GetCurrent = int (*)(void **);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(driver, nullptr);
  const auto get = reinterpret_cast<GetCurrent>(dlsym(driver, "cuCtxGetCurrent"));
  ASSERT_NE(get, nullptr);
  const auto current = [get] {
    void *context = nullptr;
    EXPECT_EQ(get(&context), 0);
    return context;
  };
  const auto use = [this](int i) {
    const std::vector<double> values = numbers(1000);
    const api_test::Vector x = vector_on(on(i), values.data(), 1000);
    double sum = 0;
    EXPECT_EQ(sxt_sum(x.get(), &sum), SXT_OK);
    EXPECT_EQ(sum, std::accumulate(values.begin(), values.end(), 0.0));
  };
  std::thread([&] {
    std::array<void *, 2> own{};
    for (const int mine : {0, 1}) {
      const sextant::Device::Current entered(device(mine));
      own[static_cast<std::size_t>(mine)] = current();
      use(1 - mine);
      EXPECT_EQ(current(), own[static_cast<std::size_t>(mine)]);
    }
    EXPECT_NE(own[0], own[1]);
    use(0), use(1);
    EXPECT_EQ(current(), nullptr);
  }).join();
  dlclose(driver);
}

// The same answers, to the last bit, with and without solves on the other device at the same time.
TEST_F(TwoDevices, SolvesAtOnceHaveTheBitsOfSolvesAlone) {
  const Csr matrices[] = {uneven(20000), shuffled(laplacian(120, 0.01))};
  for (const char *engine : engines) {
    std::array<Matrix, 2> a;
    std::array<Pcg, 2> pcg;
    std::array<std::vector<double>, 2> alone;
    const auto solve = [&](int i, std::vector<double> &x) {
      const std::vector<double> b = waves(matrices[i].rows);
      x.assign(b.size(), 0);
      EXPECT_EQ(sxt_pcg_solve_array(pcg[i].get(), matrices[i].rows, b.data(), x.data(), nullptr, nullptr), SXT_OK)
          << engine << " on device " << i << ": " << sxt_last_error(on(i));
    };
    for (const int i : {0, 1}) {
      sxt_pcg_options options = pcg_options();
      options.engine = engine;
      options.rtol = 1e-9;
      a[i] = matrix_on(on(i), matrices[i]);
      pcg[i] = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a[i].get(), &options, out); });
      ASSERT_TRUE(pcg[i]) << engine << ": " << sxt_last_error(on(i));
      solve(i, alone[i]);
      EXPECT_LE(relative_residual(matrices[i], waves(matrices[i].rows), alone[i]), 1.0001e-9) << engine;
    }
    at_once([&](int i) {
      for (int again = 0; again < 10; ++again) {
        std::vector<double> x;
        solve(i, x);
        EXPECT_EQ(x, alone[i]) << engine << " on device " << i;
      }
    });
  }
}

// Set-ups, too: preconditioners, orders and engines as the models choose them, from two threads.
TEST_F(TwoDevices, SetUpsAtOnce) {
  for (const char *preconditioner : {"none", "jacobi", "fsai", "ssor-ai", "block-jacobi:4", "chebyshev:5"})
    at_once([&](int i) {
      const Csr a = shuffled(laplacian(90 + 20 * i, 0.02), static_cast<unsigned>(i));
      const Matrix matrix = matrix_on(on(i), a);
      sxt_pcg_options options = pcg_options();
      options.preconditioner = preconditioner;
      options.rtol = 1e-9;
      const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
      const std::vector<double> b = waves(a.rows);
      std::vector<double> x(b.size());
      EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, nullptr), SXT_OK)
          << sxt_last_error(on(i));
      EXPECT_LE(relative_residual(a, b, x), 1.0001e-9) << preconditioner << " on device " << i;
    });
}

// Half of a sum on each device; vectors of both devices are added on either one.
TEST_F(TwoDevices, SumsOfBothAddUp) {
  constexpr std::int64_t n = 2'000'000, half = n / 2;
  const std::vector<double> x = numbers(n);
  std::array<api_test::Vector, 2> part;
  std::array<double, 2> sums{}, squares{};
  at_once([&](int i) {
    part[i] = vector_on(on(i), x.data() + i * half, half);
    EXPECT_EQ(sxt_sum(part[i].get(), &sums[i]), SXT_OK);
    EXPECT_EQ(sxt_dot(part[i].get(), part[i].get(), &squares[i]), SXT_OK);
  });
  EXPECT_EQ(sums[0] + sums[1], std::accumulate(x.begin(), x.end(), 0.0));
  EXPECT_EQ(squares[0] + squares[1], std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  std::vector<double> expected(half);
  for (std::int64_t i = 0; i < half; ++i) expected[i] = x[i] + x[half + i];
  for (const int to : {0, 1}) {
    const api_test::Vector came = zeros_on(on(to), half), sum = zeros_on(on(to), half);
    ASSERT_EQ(
        peer(to, nullptr, sxt_vector_data(came.get()), sxt_vector_data(part[1 - to].get()), half * sizeof(double)),
        SXT_OK);
    const double one = 1;
    EXPECT_EQ(sxt_waxpby(&one, came.get(), &one, part[to].get(), sum.get()), SXT_OK);
    EXPECT_EQ(values_of(sum), expected);
  }
}

// One device holds the upper rows of a matrix, the other one the lower rows: x is copied there, half of y is copied
// back.
TEST_F(TwoDevices, AProductSplitByRows) {
  Csr a = shuffled(laplacian(300));
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = static_cast<double>(k % 17) - 8;
  const std::int64_t half = a.rows / 2;
  const std::vector<double> x = numbers(a.rows);
  std::array<Matrix, 2> part;
  for (const int i : {0, 1}) {
    Csr rows;
    rows.cols = a.cols;
    rows.rows = i == 0 ? half : a.rows - half;
    for (std::int64_t row = i * half; row < i * half + rows.rows; ++row) {
      for (std::int32_t k = a.ptr[row]; k < a.ptr[row + 1]; ++k) rows.entry(a.col[k], a.values[k]);
      rows.end_row();
    }
    part[i] = matrix_on(on(i), rows);
  }
  const api_test::Vector whole = vector_on(on(0), x.data(), a.rows), its_x = zeros_on(on(1), a.rows),
                         y = zeros_on(on(0), a.rows), its_y = zeros_on(on(1), a.rows - half),
                         upper = zeros_on(on(0), half);
  ASSERT_EQ(peer(1, nullptr, sxt_vector_data(its_x.get()), sxt_vector_data(whole.get()), a.rows * sizeof(double)),
            SXT_OK);
  at_once([&](int i) {
    EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, part[i].get(), i == 0 ? whole.get() : its_x.get(), nullptr,
                       i == 0 ? upper.get() : its_y.get()),
              SXT_OK);
  });
  auto *to = static_cast<double *>(sxt_vector_data(y.get()));
  device(0).copy(to, sxt_vector_data(upper.get()), half * sizeof(double));
  ASSERT_EQ(peer(0, nullptr, to + half, sxt_vector_data(its_y.get()), (a.rows - half) * sizeof(double)), SXT_OK);
  EXPECT_EQ(values_of(y), a.times(x));
}

// In a separate process: an illegal address loses the first device. Drivers that were measured end the second one with
// it (docs/measurements/two_gpus.md); it must then say so, name the first, and leave nothing that hangs. A driver that
// keeps devices apart leaves it working.
[[noreturn]] void lose_the_first() {
  const auto sum_on = [](sxt_context *context) {
    const api_test::Vector x = zeros_on(context, 1000);
    const double one = 1;
    double sum = 0;
    if (!x || sxt_fill(&one, x.get()) != SXT_OK || sxt_sum(x.get(), &sum) != SXT_OK) return -1.0;
    return sum;
  };
  {
    const Context first = open_context("cuda", 0), second = open_context("cuda", 1);
    if (!first || !second || sum_on(first.get()) != 1000 || sum_on(second.get()) != 1000) std::_Exit(1);
    end_device(first->context->device());
    sxt_vector *lost = nullptr;
    if (sxt_vector_create(first.get(), 10, SXT_F64, &lost) != SXT_E_DEVICE) std::_Exit(5);
    if (sum_on(second.get()) == 1000) std::_Exit(0);
    for (int again = 0; again < 2; ++again) {
      if (sxt_vector_create(second.get(), 10, SXT_F64, &lost) != SXT_E_DEVICE) std::_Exit(6);
      if (!std::strstr(sxt_last_error(second.get()), "CUDA device 0 reported a failure first")) {
        std::fprintf(stderr, "the second device: %s\n", sxt_last_error(second.get()));
        std::_Exit(7);
      }
    }
  }
  std::_Exit(0);
}

TEST_F(TwoDevices, TheLossOfOneIsNamedByTheOther) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_first(), testing::ExitedWithCode(0), "");
}

}  // namespace
