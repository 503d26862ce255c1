// SPDX-License-Identifier: BSD-3-Clause
// Batches of Hermitian systems on a GPU: every type and layout by backward error, masks and infos on the device,
// several sets in flight, capture, bad input, and host sets that pass through device memory in pieces.
#include <complex>
#include <cstdint>
#include <cstring>

#include "support.hpp"
#include "tests/api/hermitian_support.hpp"

namespace gpu_test {
namespace {

using api_test::hermitian_options;
using api_test::hermitian_set;
using api_test::Systems;
using Batch = api_test::Hermitian;
using Complex = std::complex<double>;
using Numbers = std::vector<std::int32_t>;

class HermitianGpu : public Gpu {
 protected:
  Batch make_batch(const sxt_hermitian_options &options) {
    sxt_hermitian *made = nullptr;
    EXPECT_EQ(sxt_hermitian_create(context_.get(), &options, &made), SXT_OK) << error();
    return Batch(made);
  }
  std::string error() { return sxt_last_error(context_.get()); }

  // Values on the device, brought back on demand.
  template <class T>
  struct Array {
    sextant::Device *device;
    sextant::DeviceBuffer memory;
    std::size_t size;
    Array(sextant::Device &on, const std::vector<T> &values)
        : device(&on), memory(on, values.size() * sizeof(T)), size(values.size()) {
      put(values);
    }
    void put(const std::vector<T> &values) { device->copy(memory.data(), values.data(), size * sizeof(T)); }
    std::vector<T> get() const {
      std::vector<T> values(size);
      device->copy(values.data(), memory.data(), size * sizeof(T));
      return values;
    }
    T *data() const { return memory.as<T>(); }
  };

  // The device's copy of a set of systems.
  template <class T>
  struct OnDevice {
    Systems<T> &host;
    Array<T> a, b;
    Array<std::int32_t> info, pivots;
    OnDevice(sextant::Device &device, Systems<T> &systems)
        : host(systems),
          a(device, systems.a),
          b(device, systems.b),
          info(device, systems.info),
          pivots(device, systems.pivots) {}
    sxt_hermitian_set set() {
      sxt_hermitian_set out = host.set();
      out.a = a.data(), out.b = b.data(), out.info = info.data(), out.pivots = pivots.data();
      return out;
    }
    void bring() { host.a = a.get(), host.b = b.get(), host.info = info.get(), host.pivots = pivots.get(); }
    void reset(const Systems<T> &to) { a.put(to.a), b.put(to.b), info.put(to.info); }
  };

  static bool is_opponent(const std::string &kernel) { return kernel.find("cusolver") != std::string::npos; }
  void *new_stream() {
    void *stream = nullptr;
    EXPECT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
    return stream;
  }

  template <class T>
  void expect_solved(Systems<T> &systems, double factor = 10) {
    for (std::int64_t s = 0; s < systems.batch; ++s) {
      ASSERT_EQ(systems.info[s], 0) << "system " << s;
      ASSERT_LE(systems.backward_error(s, systems.b), factor * static_cast<double>(systems.n + 8) * systems.epsilon())
          << "system " << s << " of order " << systems.n;
    }
    systems.expect_rest_untouched();
  }

  template <class T>
  void every_layout() {
    for (const std::int64_t n : {1, 7, 32, 65, 200})
      for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
        for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE}) {
          Systems<T> systems(9, n, 2, triangle, 100, definiteness != SXT_DEFINITE, 40);
          sxt_hermitian_options options = systems.options();
          options.definiteness = definiteness;
          options.refine_steps = n == 65;
          options.equilibrate = n == 32;
          const Batch batch = make_batch(options);
          ASSERT_NE(batch, nullptr);
          OnDevice<T> there(device(), systems);
          const sxt_hermitian_set set = there.set();
          ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
          there.bring();
          expect_solved(systems);
          if (testing::Test::HasFatalFailure()) return;
        }
  }
};

TEST_F(HermitianGpu, EveryLayoutOfF32) { every_layout<float>(); }
TEST_F(HermitianGpu, EveryLayoutOfF64) { every_layout<double>(); }
TEST_F(HermitianGpu, EveryLayoutOfC64) { every_layout<std::complex<float>>(); }
TEST_F(HermitianGpu, EveryLayoutOfC128) { every_layout<Complex>(); }

// Backward errors do not grow with the condition number.
TEST_F(HermitianGpu, FromWellToIllConditioned) {
  for (const double digits : {0.0, 4.0, 8.0, 12.0, 14.0})
    for (const bool indefinite : {false, true}) {
      Systems<Complex> systems(4, 40, 1, SXT_LOWER, std::pow(10.0, digits), indefinite, 41);
      sxt_hermitian_options options = systems.options();
      options.definiteness = indefinite ? SXT_INDEFINITE : SXT_DEFINITE;
      const Batch batch = make_batch(options);
      OnDevice<Complex> there(device(), systems);
      sxt_hermitian_set set = there.set();
      Array<double> residual(device(), std::vector<double>(4, -1));
      set.residual = residual.data();
      ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
      there.bring();
      expect_solved(systems);
      const std::vector<double> told = residual.get();
      for (std::int64_t s = 0; s < 4; ++s)
        EXPECT_NEAR(told[s], systems.backward_error(s, systems.b), 0.1 * told[s] + 1e-16);
    }
}

TEST_F(HermitianGpu, EveryKernelThatAppliesGivesTheFactorsOfTheOthers) {
  Systems<Complex> original(20, 50, 1, SXT_LOWER, 100, false, 42);
  int kernels = 0;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(sxt_kernel_get(i, &info), SXT_OK);
    if (std::strcmp(info.kind, "sxt.hermitian/1") || std::strcmp(info.device, "cuda")) continue;
    Systems<Complex> systems = original;
    sxt_hermitian_options options = systems.options();
    options.kernel = info.name;
    options.may_spoil = is_opponent(info.name);
    sxt_hermitian *made = nullptr;
    if (sxt_hermitian_create(context_.get(), &options, &made) != SXT_OK) continue;  // it says what it is for elsewhere
    const Batch batch(made);
    OnDevice<Complex> there(device(), systems);
    const sxt_hermitian_set set = there.set();
    ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << info.name << ": " << error();
    ASSERT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_OK) << info.name << ": " << error();
    there.bring();
    SCOPED_TRACE(info.name);
    if (is_opponent(info.name))
      for (std::int64_t s = 0; s < 20; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 1e-13);
    else
      expect_solved(systems);
    ++kernels;
  }
  EXPECT_GT(kernels, 0);
}

TEST_F(HermitianGpu, MixedOrdersBehindPointers) {
  std::vector<std::int32_t> orders;
  std::vector<Systems<double>> each;
  for (int s = 0; s < 40; ++s) {
    orders.push_back(s * 37 % 131);
    each.emplace_back(1, orders.back(), 1, SXT_UPPER, 50, s % 5 == 0, 200 + s, s % 3);
  }
  std::vector<std::unique_ptr<OnDevice<double>>> there;
  std::vector<void *> a, b;
  std::vector<std::int64_t> ld;
  for (Systems<double> &one : each) {
    there.push_back(std::make_unique<OnDevice<double>>(device(), one));
    a.push_back(there.back()->a.data());
    b.push_back(there.back()->b.data());
    ld.push_back(one.lda);
  }
  a[7] = nullptr;
  ld[9] = orders[9] - 1;
  sxt_hermitian_options options = hermitian_options(SXT_F64, 40, 130);
  options.triangle = SXT_UPPER;
  options.orders = orders.data();
  options.pointer_array = options.leading_vary = 1;
  options.definiteness = SXT_TRY_DEFINITE;
  const Batch batch = make_batch(options);
  Array<void *> a_there(device(), a), b_there(device(), b);
  Array<std::int64_t> ld_there(device(), ld);
  Array<std::int32_t> info(device(), Numbers(40, 99));
  sxt_hermitian_set set = hermitian_set();
  set.a_array = a_there.data();
  set.b_array = b_there.data();
  set.lda_each = set.ldb_each = ld_there.data();
  set.info = info.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  const Numbers infos = info.get();
  for (int s = 0; s < 40; ++s) {
    there[s]->bring();
    EXPECT_EQ(infos[s], s == 7 ? SXT_INFO_POINTER : s == 9 ? SXT_INFO_LEADING : 0) << s;
    EXPECT_TRUE(infos[s] != 0 || each[s].backward_error(0, each[s].b) <= 1e-12) << s << ", order " << orders[s];
  }
}

TEST_F(HermitianGpu, MasksInfosAndNeighbours) {
  Systems<double> good(400, 30, 1, SXT_LOWER, 10, false, 43), bad = good;
  bad.at(3, 0, 0) = -1;
  bad.at(100, 17, 17) = -4;
  bad.at(399, 29, 4) = std::nan("");
  std::vector<std::uint8_t> active(400, 1);
  active[50] = active[51] = 0;
  const Batch batch = make_batch(good.options());
  OnDevice<double> good_there(device(), good), bad_there(device(), bad);
  sxt_hermitian_set good_set = good_there.set(), bad_set = bad_there.set();
  Array<std::uint8_t> mask(device(), active), all(device(), std::vector<std::uint8_t>(400, 1));
  good_set.active = good_set.active_out = all.data();  // the same way through the library
  bad_set.active = bad_set.active_out = mask.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &good_set), SXT_OK) << error();
  const auto before = bad;
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &bad_set), SXT_OK) << error();
  good_there.bring();
  bad_there.bring();
  const std::vector<std::uint8_t> done = mask.get();
  for (std::int64_t s = 0; s < 400; ++s) {
    const bool off = s == 50 || s == 51;
    const std::int32_t want = s == 3     ? 1
                              : s == 100 ? 18
                              : s == 399 ? SXT_INFO_NOT_FINITE
                              : off      ? SXT_INFO_NOT_ACTIVE
                                         : 0;
    ASSERT_EQ(bad.info[s], want) << s;
    ASSERT_EQ(done[s], want == 0) << s;
    if (want > 0 || want == SXT_INFO_NOT_FINITE) continue;
    const Systems<double> &like = off ? before : good;
    ASSERT_EQ(0, std::memcmp(&bad.a[s * bad.stride_a], &like.a[s * bad.stride_a], 8 * bad.stride_a)) << s;
    ASSERT_EQ(0, std::memcmp(&bad.b[s * bad.stride_b], &like.b[s * bad.stride_b], 8 * bad.stride_b)) << s;
  }
}

TEST_F(HermitianGpu, SeventyThousandSystems) {
  constexpr std::int64_t count = 70000;
  std::vector<float> a(count * 4), b(count * 2);
  for (std::int64_t s = 0; s < count; ++s) {
    const float d = static_cast<float>(1 + s % 5);
    a[4 * s] = d, a[4 * s + 1] = 1, a[4 * s + 2] = 55, a[4 * s + 3] = s == 66000 ? 0.5f / d : 2 / d;
    b[2 * s] = d + 1, b[2 * s + 1] = 1 + 2 / d;  // x = (1, 1)
  }
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_TRY_DEFINITE}) {
    Array<float> a_there(device(), a), b_there(device(), b);
    Array<std::int32_t> info(device(), Numbers(count, 99));
    sxt_hermitian_options options = hermitian_options(SXT_F32, count, 2);
    options.definiteness = definiteness;
    const Batch batch = make_batch(options);
    sxt_hermitian_set set = hermitian_set();
    set.a = a_there.data();
    set.b = b_there.data();
    set.info = info.data();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
    const Numbers infos = info.get();
    const std::vector<float> x = b_there.get();
    for (std::int64_t s = 0; s < count; ++s) {
      ASSERT_EQ(infos[s], s == 66000 && definiteness == SXT_DEFINITE ? 2 : 0) << s;
      if (s == 66000) continue;
      ASSERT_NEAR(x[2 * s], 1, 1e-5) << s;
      ASSERT_NEAR(x[2 * s + 1], 1, 1e-5) << s;
    }
  }
}

TEST_F(HermitianGpu, MoreThanTwoToThe31Values) {
  constexpr std::int64_t stride = std::int64_t{1} << 30, count = 3;
  sextant::DeviceBuffer memory;
  try {
    memory = sextant::DeviceBuffer(device(), count * stride * sizeof(double));
  } catch (const sextant::Error &problem) {
    GTEST_SKIP() << problem.what();
  }
  std::vector<double> b;
  for (std::int64_t s = 0; s < count; ++s) {
    const double one[4] = {4, 2, 0, 3 + static_cast<double>(s)};
    device().copy(memory.as<double>() + s * stride, one, sizeof one);
    b.insert(b.end(), {6, 5 + static_cast<double>(s)});
  }
  Array<double> b_there(device(), b);
  Array<std::int32_t> info(device(), Numbers(count, 99));
  const Batch batch = make_batch(hermitian_options(SXT_F64, count, 2));
  sxt_hermitian_set set = hermitian_set();
  set.a = memory.data();
  set.stride_a = stride;
  set.b = b_there.data();
  set.info = info.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  EXPECT_EQ(info.get(), Numbers(count, 0));
  for (const double x : b_there.get()) EXPECT_NEAR(x, 1, 1e-15);
}

TEST_F(HermitianGpu, SetsOnSeveralStreamsAreInFlightAtOnce) {
  constexpr int sets = 4;
  const Systems<Complex> original(60, 70, 1, SXT_LOWER, 100, true, 44);
  sxt_hermitian_options options = original.options();
  options.definiteness = SXT_TRY_DEFINITE;
  const Batch batch = make_batch(options);
  std::vector<Systems<Complex>> systems(sets, original);
  std::vector<std::unique_ptr<OnDevice<Complex>>> there;
  void *streams[sets];
  for (int k = 0; k < sets; ++k) {
    there.push_back(std::make_unique<OnDevice<Complex>>(device(), systems[k]));
    streams[k] = new_stream();
  }
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < sets; ++k) there[k]->reset(original);
    for (int k = 0; k < sets; ++k) {
      sxt_hermitian_set set = there[k]->set();
      set.stream = streams[k];
      ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
    }
    for (void *stream : streams) ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
  }
  for (int k = 0; k < sets; ++k) {
    there[k]->bring();
    expect_solved(systems[k]);
    EXPECT_EQ(0, std::memcmp(systems[k].b.data(), systems[0].b.data(), systems[0].b.size() * sizeof(Complex)));
  }
  void *nobodys = nullptr;
  sxt_hermitian_set set = there[0]->set();
  set.stream = &nobodys;
  EXPECT_LT(sxt_hermitian_factor_solve(batch.get(), &set), 0) << "an address that is no stream";
}

TEST_F(HermitianGpu, ACapturedCallReplaysOnNewNumbers) {
  const Systems<double> first(30, 64, 1, SXT_LOWER, 10, false, 45), second(30, 64, 1, SXT_LOWER, 10, false, 46);
  Systems<double> systems = first;
  OnDevice<double> there(device(), systems);
  const Batch batch = make_batch(first.options());
  void *stream = new_stream(), *graph = nullptr;
  sxt_hermitian_set set = there.set();
  set.stream = stream;
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();  // sets up
  ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
  ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
  const sxt_status captured = sxt_hermitian_factor_solve(batch.get(), &set);
  const std::string sentence = error();
  ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK) << sentence;
  ASSERT_EQ(captured, SXT_OK) << sentence;
  for (const Systems<double> *next : {&second, &first}) {
    there.reset(*next);
    ASSERT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
    ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
    systems.full = next->full;
    systems.b_before = next->b_before;
    there.bring();
    expect_solved(systems);
  }
  ops().graph_destroy(handle(), graph);
}

// Setting up asks for memory, which a capture cannot give: the call says so, and the handle is as good as new
// afterwards.
TEST_F(HermitianGpu, AFirstCallInsideACaptureIsRefused) {
  Systems<double> systems(30, 64, 1, SXT_LOWER, 10, false, 45);
  OnDevice<double> there(device(), systems);
  const Batch batch = make_batch(systems.options());
  void *stream = new_stream(), *graph = nullptr;
  sxt_hermitian_set set = there.set();
  set.stream = stream;
  ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
  EXPECT_LT(sxt_hermitian_factor_solve(batch.get(), &set), 0);
  EXPECT_NE(error(), "");
  if (ops().capture_end(handle(), stream, &graph) == SXT_OK && graph) ops().graph_destroy(handle(), graph);
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
  there.bring();
  expect_solved(systems);
}

// A set of host memory, far larger than the pieces it passes in, comes back as if the device had it all.
TEST_F(HermitianGpu, HostSetsPassThroughInPieces) {
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_TRY_DEFINITE}) {
    Systems<Complex> systems(300, 60, 2, SXT_LOWER, 100, definiteness != SXT_DEFINITE, 47);
    std::vector<std::uint8_t> active(300, 1);
    active[7] = 0;
    const auto before = systems;
    sxt_hermitian_options options = systems.options();
    options.definiteness = definiteness;
    options.space = SXT_SPACE_HOST;
    options.workspace_limit = std::uint64_t{6} << 20;
    const Batch batch = make_batch(options);
    sxt_hermitian_set set = systems.set();
    set.active = active.data();
    std::vector<double> residual(300, -1);
    set.residual = residual.data();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
    sxt_hermitian_report report{};
    report.struct_size = sizeof report;
    ASSERT_EQ(sxt_hermitian_get_report(batch.get(), &report), SXT_OK);
    EXPECT_LT(report.piece, 60);
    for (std::int64_t s = 0; s < 300; ++s) {
      ASSERT_EQ(systems.info[s], s == 7 ? SXT_INFO_NOT_ACTIVE : 0) << s;
      if (s == 7) continue;
      ASSERT_LE(systems.backward_error(s, systems.b), 1e-12) << s;
      ASSERT_LE(residual[s], 1e-12);
    }
    EXPECT_EQ(0, std::memcmp(&systems.a[7 * systems.stride_a], &before.a[7 * systems.stride_a], 16 * systems.stride_a));
    systems.expect_rest_untouched();
  }
}

TEST_F(HermitianGpu, HostSetsBehindPointers) {
  std::vector<Systems<float>> each;
  std::vector<std::int32_t> orders;
  std::vector<void *> a, b;
  for (int s = 0; s < 25; ++s) {
    orders.push_back(3 + s * 5 % 60);
    each.emplace_back(1, orders.back(), 1, SXT_LOWER, 5, false, 300 + s);
  }
  std::vector<std::int64_t> ld;
  for (Systems<float> &one : each) {
    a.push_back(one.a.data());
    b.push_back(one.b.data());
    ld.push_back(one.lda);
  }
  b[4] = nullptr;
  sxt_hermitian_options options = hermitian_options(SXT_F32, 25, 63);
  options.space = SXT_SPACE_HOST;
  options.orders = orders.data();
  options.pointer_array = options.leading_vary = 1;
  const Batch batch = make_batch(options);
  Numbers info(25, 99);
  sxt_hermitian_set set = hermitian_set();
  set.a_array = a.data();
  set.b_array = b.data();
  set.lda_each = set.ldb_each = ld.data();
  set.info = info.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  for (int s = 0; s < 25; ++s) {
    EXPECT_EQ(info[s], s == 4 ? SXT_INFO_POINTER : 0);
    EXPECT_TRUE(s == 4 || each[s].backward_error(0, each[s].b) <= 1e-5) << s;
    each[s].expect_rest_untouched();
  }
}

TEST_F(HermitianGpu, MemoryThatIsNotWhatItIsSaidToBe) {
  Systems<double> systems(3, 8, 1, SXT_LOWER, 10, false, 48);
  const Batch batch = make_batch(systems.options());
  const sxt_hermitian_set host = systems.set();
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &host), SXT_E_ARGUMENT);
  EXPECT_NE(error().find("host memory"), std::string::npos) << error();
  OnDevice<double> there(device(), systems);
  sxt_hermitian_set crooked = there.set();
  crooked.a = static_cast<char *>(crooked.a) + 4;
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &crooked), SXT_E_ARGUMENT);
  const sxt_hermitian_set good = there.set();
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &good), SXT_OK) << error();
  there.bring();
  expect_solved(systems);
}

TEST_F(HermitianGpu, InertiaConditionAndShifts) {
  Systems<Complex> systems(6, 45, 1, SXT_UPPER, 1e4, true, 49);
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_INDEFINITE;
  const Batch batch = make_batch(options);
  OnDevice<Complex> there(device(), systems);
  Array<std::int32_t> inertia(device(), Numbers(18, -1));
  Array<double> rcond(device(), std::vector<double>(6, -1));
  sxt_hermitian_set set = there.set();
  set.inertia = inertia.data();
  set.rcond = rcond.data();
  ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << error();
  const Numbers signs = inertia.get();
  for (const double r : rcond.get()) EXPECT_TRUE(r >= 1e-4 / 45 && r <= 45 * 1e-4) << r;
  for (int s = 0; s < 6; ++s) {
    EXPECT_EQ(signs[3 * s], 30);
    EXPECT_EQ(signs[3 * s + 1], 15);
    EXPECT_EQ(signs[3 * s + 2], 0);
  }
  // Indefinite, tried with rising shifts until Cholesky succeeds: eigenvalues are -1 at least.
  const double shifts[] = {0, 0.1, 1.5};
  options.definiteness = SXT_DEFINITE;
  options.shifts = shifts;
  options.n_shifts = 3;
  const Batch ladder = make_batch(options);
  Array<double> shift(device(), std::vector<double>(6, -1));
  there.reset(systems);
  set.inertia = nullptr;
  set.rcond = nullptr;
  set.shift = shift.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(ladder.get(), &set), SXT_OK) << error();
  EXPECT_EQ(shift.get(), std::vector<double>(6, 1.5));
  there.bring();
  for (std::int64_t s = 0; s < 6; ++s) {
    EXPECT_EQ(systems.info[s], 0);
    EXPECT_LE(systems.backward_error(s, systems.b, 1.5), 1e-13);
  }
}

}  // namespace
}  // namespace gpu_test
