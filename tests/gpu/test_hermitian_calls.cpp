// SPDX-License-Identifier: BSD-3-Clause
// Calls for Hermitian batches on a GPU: several sets in flight, captures, host sets that pass through device memory in
// pieces, and memory that is not what it is said to be.
#include <cstdint>
#include <cstring>
#include <vector>

#include "hermitian_batches.hpp"

namespace gpu_test {
namespace {

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
  void *no_stream = nullptr;
  sxt_hermitian_set set = there[0]->set();
  set.stream = &no_stream;
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

// A set-up allocates memory, which is not possible inside a capture: the call is refused with a message, and the handle
// still works afterwards.
TEST_F(HermitianGpu, AFirstCallInsideACaptureIsRefused) {
  Systems<double> systems(30, 64, 1, SXT_LOWER, 10, false, 45);
  OnDevice<double> there(device(), systems);
  const Batch batch = make_batch(systems.options());
  void *stream = new_stream(), *graph = nullptr;
  sxt_hermitian_set set = there.set();
  set.stream = stream;
  ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_E_STATE) << error();
  if (ops().capture_end(handle(), stream, &graph) == SXT_OK && graph) ops().graph_destroy(handle(), graph);
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  ASSERT_EQ(ops().stream_synchronize(handle(), stream), SXT_OK);
  there.bring();
  expect_solved(systems);
}

// A set in host memory, far larger than its pieces, gives the answers of a set in device memory.
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

// Values that are not aligned to their size are refused as on the CPU, though their bytes could be copied.
TEST_F(HermitianGpu, MembersOfHostSetsThatAreNotAligned) {
  std::vector<Systems<Complex>> each;
  for (int s = 0; s < 4; ++s) each.emplace_back(1, 9, 1, SXT_LOWER, 5, false, 300 + s);
  std::vector<char> misaligned(each[1].a.size() * sizeof(Complex) + 16);
  std::vector<void *> a, b;
  for (Systems<Complex> &one : each) a.push_back(one.a.data()), b.push_back(one.b.data());
  a[1] = misaligned.data() + 4 - reinterpret_cast<std::uintptr_t>(misaligned.data()) % 4;
  while (reinterpret_cast<std::uintptr_t>(a[1]) % 8 == 0) a[1] = static_cast<char *>(a[1]) + 4;
  std::memcpy(a[1], each[1].a.data(), each[1].a.size() * sizeof(Complex));
  b[2] = static_cast<char *>(b[2]) + 1;
  sxt_hermitian_options options = hermitian_options(SXT_C128, 4, 9);
  options.space = SXT_SPACE_HOST;
  options.pointer_array = 1;
  const Batch batch = make_batch(options);
  Numbers info(4, 99);
  sxt_hermitian_set set = hermitian_set();
  set.a_array = a.data();
  set.b_array = b.data();
  set.lda = set.ldb = each[0].lda;
  set.info = info.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  EXPECT_EQ(info, (Numbers{0, SXT_INFO_POINTER, SXT_INFO_POINTER, 0}));
  for (const std::size_t s : {0, 3}) EXPECT_LE(each[s].backward_error(0, each[s].b), 1e-14) << s;
}

TEST_F(HermitianGpu, MemoryThatIsNotWhatItIsSaidToBe) {
  Systems<double> systems(3, 8, 1, SXT_LOWER, 10, false, 48);
  const Batch batch = make_batch(systems.options());
  const sxt_hermitian_set host = systems.set();
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &host), SXT_E_ARGUMENT);
  EXPECT_NE(error().find("host memory"), std::string::npos) << error();
  OnDevice<double> there(device(), systems);
  sxt_hermitian_set misaligned = there.set();
  misaligned.a = static_cast<char *>(misaligned.a) + 4;
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &misaligned), SXT_E_ARGUMENT);
  const sxt_hermitian_set good = there.set();
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &good), SXT_OK) << error();
  there.bring();
  expect_solved(systems);
}

}  // namespace
}  // namespace gpu_test
