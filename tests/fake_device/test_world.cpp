// SPDX-License-Identifier: BSD-3-Clause
// Worlds of GPUs over the fake libraries, with 2 and 4 devices: every call comes back, copies keep the order that
// events make, each vendor call may fail, and nothing is left. Which way values go follows what the devices can reach.
// Kernels run nothing here, so numbers are not compared.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/world/loop.hpp"
#include "core/world/pcg.hpp"
#include "tests/fake_device/fixture.hpp"
#include "tests/world/support.hpp"

namespace {

using namespace fake_test;
using namespace world_test;
using testing::HasSubstr;
using testing::Not;

Context member_on(std::int32_t ordinal) {
  sxt_context_options options = api_test::context_options();
  options.device = "cuda";
  options.device_ordinal = ordinal;
  sxt_context *context = nullptr;
  return Context(sxt_context_create(&options, &context) == SXT_OK ? context : nullptr);
}

std::vector<Context> members_on(const std::vector<int> &ordinals) {
  std::vector<Context> out;
  for (const int ordinal : ordinals) out.push_back(ordinal < 0 ? api_test::cpu(1) : member_on(ordinal));
  return out;
}

// Every call of a world, once; the first failure. told: what a solver says of itself, "": not wanted.
sxt_status all_calls(const Rank &rank, std::string *told = nullptr) {
  const Csr a = api_test::laplacian(12, 0.1);
  sxt_status first = rank.status;
  const auto good = [&](sxt_status status) {
    if (status < 0 && first == SXT_OK) {
      first = status;
      EXPECT_NE(rank.error(), "") << "a failure without a sentence, of " << fake_failed_call();
    }
    return status >= 0;
  };
  sxt_matrix *matrix = nullptr;
  if (!rank.world || !good(rows_into(rank.world.get(), a, {0, a.rows}, &matrix))) return first;
  const Matrix held(matrix);
  std::vector<std::int64_t> lengths = lengths_of(rank, held);
  sxt_vector *made[2] = {};
  for (sxt_vector *&each : made)
    if (!good(sxt_world_vector_create(rank.world.get(), lengths.data(), SXT_F64, &each))) break;
  const Vector x(made[0]), y(made[1]);
  if (!x || !y) return first;
  const std::vector<double> values = waves(a.rows);
  double found = 0;
  std::int64_t at = 0;
  std::vector<double> read(values.size());
  const sxt_vector *const left[] = {x.get(), y.get()};
  const bool operations = good(sxt_vector_write(x.get(), values.data())) && good(sxt_copy(x.get(), y.get())) &&
                          good(sxt_dot(x.get(), y.get(), &found)) && good(sxt_nrm2(x.get(), &found)) &&
                          good(sxt_iamax(x.get(), &at)) && good(sxt_multidot(2, left, left, read.data())) &&
                          good(sxt_vector_read(y.get(), read.data()));
  for (int again = 0; operations && again < 3; ++again)
    if (!good(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix, x.get(), nullptr, y.get()))) break;
  good(sxt_matrix_update_values(matrix, a.values.data(), static_cast<std::int64_t>(a.values.size())));
  sxt_pcg_options options = by_host();
  options.preconditioner = "jacobi";
  sxt_pcg *pcg = nullptr;
  if (!good(sxt_pcg_create(matrix, &options, &pcg))) return first;
  const Pcg solver(pcg);
  good(sxt_pcg_solve(pcg, x.get(), y.get(), nullptr, nullptr));
  if (told) *told = api_test::explain(solver);
  return first;
}

// ---- what runs in a process of its own

void every_call_comes_back() {
  for (const std::vector<int> &ordinals :
       {std::vector<int>{0, 1}, {0, 0}, {1, 0}, {0, -1, 1}, {-1, 1}, {0, 1, 0, 1}, {0}}) {
    const Rank rank(nullptr, members_on(ordinals));
    std::string told;
    EXPECT_EQ(all_calls(rank, &told), SXT_OK) << rank.error();
    EXPECT_EQ(faults(), "") << ordinals.size() << " members";
    if (ordinals.size() > 1) {
      EXPECT_THAT(told, HasSubstr("exchange."));
    }
  }
}

void four_devices() {
  const Rank rank(nullptr, members_on({0, 1, 2, 3}));
  std::string told;
  EXPECT_EQ(all_calls(rank, &told), SXT_OK) << rank.error();
  EXPECT_EQ(faults(), "");
  EXPECT_THAT(told, HasSubstr("4 on 1 rank"));
}

void values_are_stored_where_devices_reach_each_other() {
  const Rank rank(nullptr, members_on({0, 1}));
  std::string told;
  EXPECT_EQ(all_calls(rank, &told), SXT_OK) << rank.error();
  EXPECT_THAT(told, HasSubstr("exchange.peer.cuda"));
  EXPECT_GE(fake_count("opened pools"), 2) << "one each way at least";
}

void values_are_copied_where_they_do_not() {
  fake_join_devices(0);
  const Rank rank(nullptr, members_on({0, 1}));
  std::string told;
  EXPECT_EQ(all_calls(rank, &told), SXT_OK) << rank.error();
  EXPECT_THAT(told, HasSubstr("do not reach each other"));
  EXPECT_THAT(told, HasSubstr("exchange.copy.cuda"));
  EXPECT_EQ(fake_count("opened pools"), 0);
  EXPECT_EQ(faults(), "");
}

void forced_ways_are_gone() {
  for (const char *way : {"exchange.staged.cuda", "exchange.copy.cuda", "exchange.peer.cuda"}) {
    const Rank rank(nullptr, members_on({0, 1}));
    for (const Context &context : rank.contexts)
      EXPECT_EQ(sxt_context_force(context.get(), "sxt.exchange/1", way), SXT_OK);
    std::string told;
    EXPECT_EQ(all_calls(rank, &told), SXT_OK) << rank.error();
    EXPECT_THAT(told, HasSubstr(way));
    EXPECT_EQ(faults(), "") << way;
  }
  fake_join_devices(0);
  const Rank rank(nullptr, members_on({0, 1}));
  for (const Context &context : rank.contexts)
    EXPECT_EQ(sxt_context_force(context.get(), "sxt.exchange/1", "exchange.peer.cuda"), SXT_OK);
  EXPECT_LT(all_calls(rank), SXT_OK);
  EXPECT_THAT(rank.error(), HasSubstr("do not reach each other"));
}

// Ranks as threads, with a device each and two.
void ranks_with_devices_of_their_own() {
  const Csr a = api_test::laplacian(12, 0.1);
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, r == 0 ? members_on({0}) : members_on({1, 0}));
    ASSERT_TRUE(rank.world) << rank.error();
    const Rows rows = rows_of(shares(a.rows, 2), r);
    const Matrix matrix = rows_matrix(rank, a, rows);
    ASSERT_TRUE(matrix);
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    const Vector x = part_of(rank, lengths, waves(a.rows), rows.begin), y = part_of(rank, lengths, {}, 0);
    for (int again = 0; again < 3; ++again)
      EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_OK) << rank.error();
  });
  EXPECT_EQ(faults(), "");
}

// Iterations on the devices: set up, captured, launched on both; devices that run nothing are found out.
void iterations_are_captured() {
  for (const char *preconditioner : {"none", "jacobi"}) {
    const Csr a = api_test::laplacian(12, 0.1);
    const Rank rank(nullptr, members_on({0, 1}));
    const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
    ASSERT_TRUE(matrix);
    sxt_pcg_options options = api_test::pcg_options();
    options.engine = "world.on-devices";
    options.preconditioner = preconditioner;
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    ASSERT_TRUE(pcg) << rank.error();
    EXPECT_THAT(api_test::explain(pcg), HasSubstr("rendezvous.packets.cuda"));
    const Vector x = part_of(rank, lengths_of(rank, matrix), {}, 0);
    std::string why_not;
    const auto loop = sextant::WorldLoop::make(*pcg->world->on_all(), why_not);
    ASSERT_TRUE(loop) << why_not;
    sextant::Lanes lanes(*rank.world->world);
    const std::vector<void *> places{x->world->parts[0].data, x->world->parts[1].data};
    const std::int64_t graphs = fake_count("graphs"), launched = fake_count("graph launches");
    loop->start(places, lanes);
    EXPECT_EQ(fake_count("graphs"), graphs + 4) << "a long and a brief block of each member";
    loop->start(places, lanes);
    EXPECT_EQ(fake_count("graphs"), graphs + 4) << "nothing is captured twice";
    try {
      loop->run({1e-9, 100, true, false}, lanes);
      ADD_FAILURE() << "devices that do nothing were believed";
    } catch (const sextant::Error &error) {
      EXPECT_EQ(error.status(), SXT_E_DEVICE);
      EXPECT_THAT(error.what(), HasSubstr("the device of member 0 ran none of its iterations"));
    }
    EXPECT_EQ(fake_count("graph launches"), launched + 2);
    EXPECT_EQ(faults(), "");
  }
}

void devices_that_cannot_meet_are_refused() {
  const Csr a = api_test::laplacian(12, 0.1);
  sxt_pcg_options options = api_test::pcg_options();
  options.engine = "world.on-devices";
  const auto refused = [&](const std::vector<int> &ordinals, const char *says) {
    const Rank rank(nullptr, members_on(ordinals));
    const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
    sxt_pcg *made = nullptr;
    EXPECT_LT(sxt_pcg_create(matrix.get(), &options, &made), SXT_OK);
    EXPECT_THAT(rank.error(), HasSubstr(says));
  };
  refused({0, 0}, "share a device");
  refused({0, -1}, "no device that captures work");
  refused({0}, "there is one member");
  fake_join_devices(0);
  refused({0, 1}, "do not reach each other");
}

// Each vendor call of a world's life fails in turn: an error with a sentence, or none where the library can do without.
// With step 7 a few hundred of them are tried.
void every_call_may_fail() {
  int failed = 0;
  std::set<std::string> met;
  for (std::int64_t n = 1; n < 100000; n += 7) {
    {
      const Rank rank(nullptr, members_on({0, 1}));
      if (rank.contexts[0] && rank.contexts[1] && rank.world) {
        fake_fail(n, 2);
        failed += all_calls(rank) < 0;
      }
      const bool over = fake_failures() == 0;
      met.insert(fake_failed_call());
      fake_fail(0, 0);
      if (over) break;
    }
    ASSERT_EQ(left_behind(), "") << "call " << n << ", " << fake_failed_call();
  }
  EXPECT_GT(failed, 20);
  EXPECT_TRUE(met.count("cudaStreamWaitEvent")) << "lanes wait for each other";
}

// Ends the process with 0 on success.
[[noreturn]] void alone(void (*body)()) {
  body();
  fake_fail(0, 0);
  EXPECT_EQ(left_behind(), "");
  std::fflush(stdout);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

// In a process that has not asked for devices yet.
void with_devices(const char *count, void (*body)()) {
  if (!std::filesystem::exists(SEXTANT_PLUGIN_DIR "/device/device-cuda.so"))
    GTEST_SKIP() << "this build has no CUDA plugins";
  const char *path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::strstr(path, FAKE_FOLDER)) GTEST_SKIP() << "the fakes are not first in LD_LIBRARY_PATH";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SEXTANT_FAKE_DEVICES", count, 1);
  EXPECT_EXIT(alone(body), testing::ExitedWithCode(0), "");
  unsetenv("SEXTANT_FAKE_DEVICES");
}

TEST(FakeWorlds, EveryCallComesBack) { with_devices("2", every_call_comes_back); }
TEST(FakeWorlds, FourDevices) { with_devices("4", four_devices); }
TEST(FakeWorlds, StoreWhereDevicesReachEachOther) {
  with_devices("2", values_are_stored_where_devices_reach_each_other);
}
TEST(FakeWorlds, CopyWhereTheyDoNot) { with_devices("2", values_are_copied_where_they_do_not); }
TEST(FakeWorlds, GoTheWayThatIsForced) { with_devices("2", forced_ways_are_gone); }
TEST(FakeWorlds, RanksWithDevicesOfTheirOwn) { with_devices("2", ranks_with_devices_of_their_own); }
TEST(FakeWorlds, CaptureIterations) { with_devices("2", iterations_are_captured); }
TEST(FakeWorlds, RefuseDevicesThatCannotMeet) { with_devices("2", devices_that_cannot_meet_are_refused); }
TEST(FakeWorlds, EveryVendorCallMayFail) { with_devices("2", every_call_may_fail); }

}  // namespace
