// SPDX-License-Identifier: BSD-3-Clause
// Every candidate of every CUDA reduction around the borders of its warps, blocks, clusters and loops; unaligned
// operands; NaN, infinities and denormals; equal bits in repeated runs and in replays of a graph.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/reduction.h"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant;

// Around powers of two, multiples of a block's and of the whole device's work, and the limits of small-n kernels.
std::vector<std::int64_t> borders() {
  std::vector<std::int64_t> lengths = {0, 1, 2, 3, 4, 5};
  for (std::int64_t base : {32, 128, 1024, 4096, 8192, 16384, 32768, 131072, 1 << 20, 132 * 256, 132 * 512 * 4, 132 * 512 * 16})
    for (std::int64_t near : {-1, 0, 1}) lengths.push_back(base + near);
  return lengths;
}

class Reductions : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (context_) result_ = DeviceBuffer(device(), 64);
  }

  template <class T>
  static sxt_value_type type_of() { return sizeof(T) == 4 ? SXT_F32 : SXT_F64; }

  static sxt_reduction_query query(sxt_value_type type, std::int32_t operation, std::int64_t n) {
    sxt_reduction_query q{};
    q.q.h = {sizeof q, SXT_KIND_REDUCTION};
    q.q.expected_runs = 1;
    q.q.value_type = type;
    q.n = n;
    q.operation = operation;
    return q;
  }

  // Calls visit(name with its launch, session) for every candidate; baselines only on request.
  void each_candidate(const sxt_reduction_query &q, bool baselines,
                      const std::function<void(const std::string &, Session &)> &visit) {
    for (const ChoicePtr &choice : Selector(*context_->context, nullptr).every({Query(&q.q), SXT_KIND_REDUCTION})) {
      if (!baselines && choice->kernel->has(SXT_KERNEL_BASELINE)) continue;
      const std::int64_t *launch = choice->candidate.launch;
      Prepared prepared(*context_->context, choice, nullptr, nullptr);
      const std::unique_ptr<Session> session = prepared.open();
      visit(std::string(choice->kernel->name()) + " " + std::to_string(launch[0]) + " x " + std::to_string(launch[1]), *session);
    }
  }

  sxt_reduction_args args(std::int32_t operation, std::int64_t n, const void *x, const void *y) const {
    sxt_reduction_args a{};
    a.h = {sizeof a, SXT_KIND_REDUCTION};
    a.n = n;
    a.operation = operation;
    a.result_on_device = 1;
    a.x = x;
    a.y = y;
    a.result = result_.data();
    return a;
  }

  template <class R>
  R run(Session &session, sxt_reduction_args a) {
    const std::int64_t nothing = -7;
    device().copy(result_.data(), &nothing, sizeof nothing);
    EXPECT_NO_THROW(session.run(&a.h));
    R result{};
    device().copy(&result, result_.data(), sizeof result);
    return result;
  }

  template <class T>
  void check_borders();
  template <class T>
  void check_unaligned();

  DeviceBuffer result_;
};

// Small integers: every order of additions gives the same bits, so a result is right or wrong.
template <class T>
void Reductions::check_borders() {
  const std::vector<std::int64_t> lengths = borders();
  const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<T> x(longest), y(longest);
  for (std::size_t i = 0; i < longest; ++i) {
    x[i] = static_cast<T>(static_cast<int>(i * 7 % 13) - 6);
    y[i] = static_cast<T>(static_cast<int>(i * 5 % 3) - 1);
  }
  DeviceBuffer dx(device(), longest * sizeof(T)), dy(device(), longest * sizeof(T));
  device().copy(dx.data(), x.data(), dx.bytes());
  device().copy(dy.data(), y.data(), dy.bytes());
  for (const std::int64_t n : lengths) {
    double sum = 0, dot = 0, asum = 0, squares = 0, most = -INFINITY, least = INFINITY, amax = 0;
    std::int64_t place = -1;
    for (std::int64_t i = 0; i < n; ++i) {
      const double a = x[static_cast<std::size_t>(i)], b = y[static_cast<std::size_t>(i)];
      sum += a, dot += a * b, asum += std::fabs(a), squares += a * a;
      most = std::max(most, a), least = std::min(least, a);
      if (place < 0 || std::fabs(a) > amax) amax = std::fabs(a), place = i;
    }
    const std::pair<std::int32_t, double> wanted[] = {{SXT_REDUCTION_SUM, sum},   {SXT_REDUCTION_DOT, dot},
                                                      {SXT_REDUCTION_ASUM, asum}, {SXT_REDUCTION_AMAX, amax},
                                                      {SXT_REDUCTION_MIN, least}, {SXT_REDUCTION_MAX, most}};
    for (const auto &[operation, want] : wanted)
      each_candidate(query(type_of<T>(), operation, n), true, [&](const std::string &name, Session &session) {
        EXPECT_EQ(static_cast<double>(run<T>(session, args(operation, n, dx.data(), dy.data()))), want)
            << name << ", operation " << operation << ", n = " << n;
      });
    each_candidate(query(type_of<T>(), SXT_REDUCTION_IAMAX, n), true, [&](const std::string &name, Session &session) {
      EXPECT_EQ(run<std::int64_t>(session, args(SXT_REDUCTION_IAMAX, n, dx.data(), nullptr)), place) << name << ", n = " << n;
    });
    each_candidate(query(type_of<T>(), SXT_REDUCTION_NRM2, n), true, [&](const std::string &name, Session &session) {
      const double got = run<T>(session, args(SXT_REDUCTION_NRM2, n, dx.data(), nullptr));
      EXPECT_NEAR(got, std::sqrt(squares), 4 * std::numeric_limits<T>::epsilon() * std::sqrt(squares)) << name << ", n = " << n;
    });
  }
}

TEST_F(Reductions, EveryBorderSingle) { check_borders<float>(); }
TEST_F(Reductions, EveryBorderDouble) { check_borders<double>(); }

// Operands one element past an aligned place give the bits that an aligned copy of them gives, run after run.
template <class T>
void Reductions::check_unaligned() {
  std::mt19937 random(7);
  for (const std::int64_t n : {1, 5, 1023, 4097, 100003, 1000001}) {
    std::vector<T> x(static_cast<std::size_t>(n)), y(x.size());
    for (T &value : x) value = static_cast<T>(random()) / static_cast<T>(4294967296.0) - static_cast<T>(0.5);
    for (T &value : y) value = static_cast<T>(random()) / static_cast<T>(4294967296.0);
    const std::size_t bytes = x.size() * sizeof(T);
    DeviceBuffer here(device(), bytes), there(device(), bytes + 16), y_here(device(), bytes), y_there(device(), bytes + 16);
    char *off = there.as<char>() + sizeof(T), *y_off = y_there.as<char>() + sizeof(T);
    device().copy(here.data(), x.data(), bytes), device().copy(off, x.data(), bytes);
    device().copy(y_here.data(), y.data(), bytes), device().copy(y_off, y.data(), bytes);
    for (const std::int32_t operation : {SXT_REDUCTION_SUM, SXT_REDUCTION_DOT, SXT_REDUCTION_NRM2})
      each_candidate(query(type_of<T>(), operation, n), false, [&](const std::string &name, Session &session) {
        const T aligned = run<T>(session, args(operation, n, here.data(), y_here.data()));
        EXPECT_EQ(run<T>(session, args(operation, n, off, y_off)), aligned) << name << ", n = " << n;
        for (int again = 0; again < 3; ++again)
          EXPECT_EQ(run<T>(session, args(operation, n, here.data(), y_here.data())), aligned) << name << ", n = " << n;
      });
  }
}

TEST_F(Reductions, UnalignedOperandsSingle) { check_unaligned<float>(); }
TEST_F(Reductions, UnalignedOperandsDouble) { check_unaligned<double>(); }

TEST_F(Reductions, NumbersThatAreNone) {
  constexpr std::int64_t n = 5000;
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  DeviceBuffer dx(device(), n * sizeof(double));
  for (const std::int64_t place : {0, 31, 32, 2047, 4096, 4999}) {
    std::vector<double> x(n, 1);
    const auto here = static_cast<std::size_t>(place);
    const auto check = [&](std::int32_t operation, double want) {
      device().copy(dx.data(), x.data(), dx.bytes());
      each_candidate(query(SXT_F64, operation, n), false, [&](const std::string &name, Session &session) {
        const double got = run<double>(session, args(operation, n, dx.data(), dx.data()));
        EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
            << name << ", operation " << operation << ", place " << place << ": " << got << ", not " << want;
      });
    };
    x[here] = nan;
    for (const std::int32_t operation : {SXT_REDUCTION_SUM, SXT_REDUCTION_DOT, SXT_REDUCTION_NRM2, SXT_REDUCTION_ASUM,
                                         SXT_REDUCTION_AMAX, SXT_REDUCTION_MIN, SXT_REDUCTION_MAX})
      check(operation, nan);
    x[(here + 1) % n] = inf;  // the position of the first NaN, for any other values
    device().copy(dx.data(), x.data(), dx.bytes());
    each_candidate(query(SXT_F64, SXT_REDUCTION_IAMAX, n), false, [&](const std::string &name, Session &session) {
      EXPECT_EQ(run<std::int64_t>(session, args(SXT_REDUCTION_IAMAX, n, dx.data(), nullptr)), place) << name;
    });
    x[(here + 1) % n] = 1;
    x[here] = -inf;
    check(SXT_REDUCTION_SUM, -inf);
    check(SXT_REDUCTION_DOT, inf);  // of x with itself
    check(SXT_REDUCTION_ASUM, inf);
    check(SXT_REDUCTION_NRM2, inf);
    check(SXT_REDUCTION_AMAX, inf);
    check(SXT_REDUCTION_MIN, -inf);
    x[(here + 700) % n] = inf;
    check(SXT_REDUCTION_SUM, nan);
  }
}

TEST_F(Reductions, DenormalsCount) {
  constexpr std::int64_t n = 4099;
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<double> x(n, least);
  DeviceBuffer dx(device(), n * sizeof(double));
  device().copy(dx.data(), x.data(), dx.bytes());
  each_candidate(query(SXT_F64, SXT_REDUCTION_SUM, n), false, [&](const std::string &name, Session &session) {
    EXPECT_EQ(run<double>(session, args(SXT_REDUCTION_SUM, n, dx.data(), nullptr)), n * least) << name;
  });
  each_candidate(query(SXT_F64, SXT_REDUCTION_NRM2, n), false, [&](const std::string &name, Session &session) {
    EXPECT_EQ(run<double>(session, args(SXT_REDUCTION_NRM2, n, dx.data(), nullptr)), 64 * least) << name;
  });
}

TEST_F(Reductions, ReplaysGiveTheSameBits) {
  constexpr std::int64_t n = 300007;
  std::mt19937 random(11);
  std::vector<float> x(n);
  for (float &value : x) value = static_cast<float>(random()) / 4294967296.0F - 0.5F;
  DeviceBuffer dx(device(), n * sizeof(float));
  device().copy(dx.data(), x.data(), dx.bytes());
  void *stream = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  each_candidate(query(SXT_F32, SXT_REDUCTION_SUM, n), false, [&](const std::string &name, Session &session) {
    sxt_reduction_args a = args(SXT_REDUCTION_SUM, n, dx.data(), nullptr);
    const float first = run<float>(session, a);
    ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
    void *graph = nullptr;
    ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
    for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(session.run(&a.h)) << name;
    ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
    for (int replay = 0; replay < 10; ++replay) {
      const std::int64_t nothing = -7;
      device().copy(result_.data(), &nothing, sizeof nothing);
      ASSERT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
      ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
      float again = 0;
      device().copy(&again, result_.data(), sizeof again);
      EXPECT_EQ(again, first) << name << ", replay " << replay;
    }
    ops().graph_destroy(handle(), graph);
    ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  });
  ops().stream_destroy(handle(), stream);
}

// Launches begin early: a sum must wait for the operation before it, and the next one must not overwrite what is summed.
TEST_F(Reductions, SumsBetweenOperationsThatOverwriteWhatIsSummed) {
  constexpr int rounds = 24;
  for (const std::int64_t n : {1000, 30000, 1 << 20}) {
    const Vector x = make_vector(std::vector<double>(static_cast<std::size_t>(n), -1));
    const DeviceBuffer sums(device(), rounds * sizeof(double));
    void *stream = nullptr, *graph = nullptr;
    ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
    each_candidate(query(SXT_F64, SXT_REDUCTION_SUM, n), false, [&](const std::string &name, Session &session) {
      sxt_reduction_args a = args(SXT_REDUCTION_SUM, n, sxt_vector_data(x.get()), nullptr);
      ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
      const double warm = 0;  // what the first fill loads must not be loaded inside the capture
      ASSERT_EQ(sxt_fill(&warm, x.get()), SXT_OK);
      ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
      for (int i = 0; i < rounds; ++i) {
        const double value = i + 1;
        EXPECT_EQ(sxt_fill(&value, x.get()), SXT_OK) << sxt_last_error(context_.get());
        a.result = sums.as<double>() + i;
        EXPECT_NO_THROW(session.run(&a.h)) << name;
      }
      ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
      for (int replay = 0; replay < 3; ++replay) {
        ASSERT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
        ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
        const std::vector<double> got = read(sums.data(), rounds);
        for (int i = 0; i < rounds; ++i)
          EXPECT_EQ(got[static_cast<std::size_t>(i)], static_cast<double>(n) * (i + 1)) << name << ", n = " << n;
      }
      ops().graph_destroy(handle(), graph);
      ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
    });
    ops().stream_destroy(handle(), stream);
  }
}

// Operands in host memory that the device reaches: prefetched data lies in host memory, too.
TEST_F(Reductions, OperandsInPinnedMemory) {
  for (const std::int64_t n : {1000, 30000, 300007}) {
    const DeviceBuffer x(device(), static_cast<std::uint64_t>(n) * sizeof(double), SXT_SPACE_PINNED);
    std::fill_n(x.as<double>(), n, 3.0);
    each_candidate(query(SXT_F64, SXT_REDUCTION_DOT, n), false, [&](const std::string &name, Session &session) {
      EXPECT_EQ(run<double>(session, args(SXT_REDUCTION_DOT, n, x.data(), x.data())), 9.0 * static_cast<double>(n))
          << name << ", n = " << n;
    });
  }
}

// A result for the host is not possible inside a capture; the refusal does not end the capture.
TEST_F(Reductions, AHostResultIsRefusedInACapture) {
  constexpr std::int64_t n = 1000;
  const Vector x = make_vector(std::vector<double>(n, 1));
  double sum = 0;
  ASSERT_EQ(sxt_sum(x.get(), &sum), SXT_OK);
  EXPECT_EQ(sum, n);
  void *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
  ASSERT_EQ(sxt_sum(x.get(), &sum), SXT_OK);
  ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
  EXPECT_NE(sxt_sum(x.get(), &sum), SXT_OK);
  EXPECT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
  ops().graph_destroy(handle(), graph);
  EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  ops().stream_destroy(handle(), stream);
}

// Several products in one pass: nothing and one element, a NaN, operands that overlap, unaligned ones, and a capture.
TEST_F(Reductions, ProductsInOnePassOnOddInput) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t n : {0u, 1u, 5u, 5000u, 70000u, 300001u}) {
    const Vector memory = make_vector(std::vector<double>(n + 1, 2)), other = make_vector(std::vector<double>(n, 3));
    std::vector<double> holes(n, 1);
    if (n > 0) holes[n - 1] = nan;
    const Vector bad = make_vector(holes);
    sxt_vector *low = nullptr, *high = nullptr;
    auto *data = static_cast<double *>(sxt_vector_data(memory.get()));
    const auto length = static_cast<std::int64_t>(n);
    ASSERT_EQ(sxt_vector_wrap(context_.get(), length, SXT_F64, SXT_SPACE_DEVICE, data, &low), SXT_OK);
    ASSERT_EQ(sxt_vector_wrap(context_.get(), length, SXT_F64, SXT_SPACE_DEVICE, data + 1, &high), SXT_OK);
    const Vector first(low, sxt_vector_destroy), second(high, sxt_vector_destroy);
    const sxt_vector *x[] = {low, low, bad.get()}, *y[] = {high, other.get(), other.get()};
    double results[] = {-1, -1, -1};
    ASSERT_EQ(sxt_multidot(3, x, y, results), SXT_OK) << sxt_last_error(context_.get());
    EXPECT_EQ(results[0], 4.0 * static_cast<double>(n));
    EXPECT_EQ(results[1], 6.0 * static_cast<double>(n));
    EXPECT_TRUE(n == 0 ? results[2] == 0 : std::isnan(results[2]));
  }
}

// What cannot be summed in single precision: the compensated kernel's error stays below its bound,
// |got - sum| <= u |sum| + n^2 u^2 sum |x| with u half the distance from 1 to the next number.
TEST_F(Reductions, CompensatedSumsOfIllConditionedNumbers) {
  std::mt19937_64 random(3);
  for (const std::int64_t half : {50, 1000, 20000}) {
    std::vector<float> x;
    double exact = 0, total = 0;
    for (std::int64_t i = 0; i < half; ++i) {
      const auto big = static_cast<float>(std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, static_cast<int>(random() % 20)));
      x.push_back(big);
      x.push_back(-big);
    }
    x.push_back(1e-3F);
    std::shuffle(x.begin(), x.end(), random);
    for (const float value : x) exact += value, total += std::fabs(value);
    const auto n = static_cast<std::int64_t>(x.size());
    DeviceBuffer dx(device(), x.size() * sizeof(float));
    device().copy(dx.data(), x.data(), dx.bytes());
    sxt_reduction_query q = query(SXT_F32, SXT_REDUCTION_SUM, n);
    q.accuracy = SXT_ACCURACY_DOUBLED;
    const double u = 0x1p-24, bound = u * 1e-3F + static_cast<double>(n) * static_cast<double>(n) * u * u * total;
    int seen = 0;
    each_candidate(q, false, [&](const std::string &name, Session &session) {
      const double got = run<float>(session, args(SXT_REDUCTION_SUM, n, dx.data(), nullptr));
      EXPECT_LE(std::fabs(got - 1e-3F), bound) << name << ", n = " << n << ", condition " << total / 1e-3;
      ++seen;
    });
    EXPECT_GT(seen, 0);
  }
}

}  // namespace
}  // namespace gpu_test
