// SPDX-License-Identifier: BSD-3-Clause
// The host's threads as kernels see them: every part is done once, also with concurrent callers; members that meet at
// barriers run at the same time; the caller does the shares of threads that do not come.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "sextant/sdk/hermitian.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using namespace sextant::plugin;

// How often each part was done.
std::vector<int> counts(int parts, int team) {
  take_team(Host::table());
  std::vector<int> done(static_cast<std::size_t>(parts), 0);  // a part is one thread's: no atomics
  for_each_part(parts, team, [&](int part) { ++done[static_cast<std::size_t>(part)]; });
  return done;
}

TEST(HostTeam, EveryPartIsDoneOnce) {
  for (const int parts : {0, 1, 2, 3, 7, 64, 1000, 5000})
    for (const int team : {0, 1, 2, 3, 8, 64, 2000})
      EXPECT_EQ(counts(parts, team), std::vector<int>(static_cast<std::size_t>(parts), 1)) << parts << ", " << team;
}

TEST(HostTeam, CallersAtTheSameTimeShareTheThreads) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 400; ++i)
        wrong += counts(1 + (i + caller) % 9, 1 + (i * 7 + caller) % 5) !=
                 std::vector<int>(static_cast<std::size_t>(1 + (i + caller) % 9), 1);
    });
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HostTeam, PartsMayHaveTeamsOfTheirOwn) {
  take_team(Host::table());
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i) for_each_part(4, 4, [&](int) { for_each_part(3, 3, [&](int) { ++done; }); });
  EXPECT_EQ(done, 50 * 12);
}

TEST(HostTeam, MembersThatMeetRunAtTheSameTime) {
  take_team(Host::table());
  for (int i = 0; i < 300; ++i) {
    const int most = 1 + i % 6;
    std::atomic<int> arrived{0}, sum{0}, members{0};
    in_team(most, [&](int rank, int size) {
      members = size;
      sum += rank;
      ++arrived;
      while (arrived < size) std::this_thread::yield();  // hangs unless all of them run
    });
    ASSERT_LE(members, most);
    ASSERT_EQ(arrived, members);
    ASSERT_EQ(sum, members * (members - 1) / 2) << "ranks are 0 .. size-1";
  }
}

TEST(HostTeam, SharesOfThreadsThatSleepAreDoneByTheCaller) {
  take_team(Host::table());
  counts(8, 8);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // by now all sleep
    ASSERT_EQ(counts(8, 8), std::vector<int>(8, 1));
  }
}

TEST(HostTeam, ClaimedItemsAreDoneOnceAndSharesAreApart) {
  take_team(Host::table());
  for (const int team : {1, 2, 5}) {
    std::vector<int> done(333, 0);
    std::vector<std::atomic<int>> busy(5);
    std::atomic<int> wrong{0};
    for_each_claimed(333, team, [&](std::int64_t item, int share) {
      if (share < 0 || share >= team || busy[static_cast<std::size_t>(share)]++ != 0) ++wrong;
      ++done[static_cast<std::size_t>(item)];
      --busy[static_cast<std::size_t>(share)];
    });
    EXPECT_EQ(done, std::vector<int>(333, 1));
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace plugin_test
