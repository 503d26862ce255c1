// SPDX-License-Identifier: BSD-3-Clause
// A communicator that lies: on one rank, what it delivers is not what was sent. Lengths, counts and indices are checked
// before they are used, all ranks hear of it, and the world has ended.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support.hpp"

namespace world_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// Changes what the k-th gather, or the k-th wait for messages, has brought. 0: none.
struct Lying {
  sxt_comm inner{};
  std::function<bool(std::int64_t bytes)> is_gather = [](std::int64_t) { return true; };  // that counts
  int at_gather = 0, at_wait = 0;
  std::function<void(char *data, std::int64_t bytes)> change;
  std::atomic<int> gathers{0}, waits{0};
  sxt_message_part received{};  // the first of the exchange under way

  sxt_comm comm() {
    sxt_comm out = inner;
    out.user = this;
    out.gather = [](void *user, const void *mine, std::int64_t bytes, void *all, double seconds) {
      auto &self = *static_cast<Lying *>(user);
      const sxt_status status = self.inner.gather(self.inner.user, mine, bytes, all, seconds);
      if (status == SXT_OK && self.is_gather(bytes) && ++self.gathers == self.at_gather)
        self.change(static_cast<char *>(all), bytes * self.inner.size);
      return status;
    };
    out.exchange = [](void *user, std::int32_t sends, const sxt_message_part *s, std::int32_t receives,
                      const sxt_message_part *r, void **request) {
      auto &self = *static_cast<Lying *>(user);
      self.received = receives > 0 ? r[0] : sxt_message_part{};
      return self.inner.exchange(self.inner.user, sends, s, receives, r, request);
    };
    out.wait = [](void *user, void **request, double seconds) {
      auto &self = *static_cast<Lying *>(user);
      const sxt_status status = self.inner.wait(self.inner.user, request, seconds);
      if (status == SXT_OK && self.received.data && ++self.waits == self.at_wait)
        self.change(static_cast<char *>(self.received.data), self.received.bytes);
      return status;
    };
    out.abort = [](void *user, sxt_status status, const char *why) {
      auto &self = *static_cast<Lying *>(user);
      self.inner.abort(self.inner.user, status, why);
    };
    return out;
  }
};

// Sets the i-th number of what came.
auto number(std::int64_t i, std::int64_t value) {
  return [i, value](char *data, std::int64_t bytes) {
    ASSERT_GE(bytes, (i + 1) * 8);
    std::memcpy(data + i * 8, &value, sizeof value);
  };
}

// f(rank) on two ranks, the second of which is lied to: both answer SXT_E_COMM, and their worlds have ended.
void all_end(Lying &lying, const char *says, const std::function<sxt_status(const Rank &, int)> &f) {
  const Comms comms = new_comms(2);
  lying.inner = comm_of(comms, 1);
  const auto start = std::chrono::steady_clock::now();
  on_ranks(2, [&](int r) {
    const sxt_comm comm = r == 1 ? lying.comm() : comm_of(comms, r);
    Rank rank(&comm, 1, 60);
    ASSERT_EQ(rank.status, SXT_OK) << rank.error();
    EXPECT_EQ(f(rank, r), SXT_E_COMM);
    if (r == 1) {
      EXPECT_THAT(rank.error(), HasSubstr(says));
    }
    EXPECT_EQ(sxt_world_get_info(rank.world.get(), &rank.info), SXT_OK);
    EXPECT_EQ(rank.info.ended, 1);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40)) << "waited for the time limit";
}

sxt_status make_rows(const Rank &rank, int r) {
  static const Csr a = api_test::laplacian(6, 1);
  sxt_matrix *made = nullptr;
  const sxt_status status = rows_into(rank.world.get(), a, rows_of({18, 18}, r), &made);
  sxt_matrix_destroy(made);
  return status;
}

// Rank 0 wants rows 18 to 23 of member 1 for member 0.
TEST(WorldBytes, RequestsForRowsAreChecked) {
  const std::vector<std::array<std::int64_t, 2>> changes = {
      {0, 7}, {0, -1}, {0, 0},  {1, 1},  {1, 99}, {1, -1}, {2, -1}, {2, 0}, {2, std::int64_t{1} << 40},
      {2, 5}, {3, 0},  {3, 36}, {4, 18}, {8, 17}};
  for (const auto &[at, value] : changes) {
    SCOPED_TRACE(testing::Message() << "number " << at << " is " << value);
    Lying lying;
    lying.at_wait = 1;
    lying.change = number(at, value);
    all_end(lying, "delivered what no rank sent: rank 0 wants", make_rows);
  }
}

// The gather of a swap has a number for each rank: how many bytes each sends to each.
TEST(WorldBytes, LengthsAreChecked) {
  for (const std::int64_t length : {std::int64_t{-8}, std::int64_t{12}, std::int64_t{1} << 60, INT64_MIN}) {
    SCOPED_TRACE(length);
    Lying lying;
    lying.is_gather = [](std::int64_t bytes) { return bytes == 16; };
    lying.at_gather = 1;
    lying.change = number(1, length);
    all_end(lying, "delivered what no rank sent: rank 0 sends", make_rows);
  }
}

// Entries that belong to this rank's rows, and mirror images.
TEST(WorldBytes, EntriesAreChecked) {
  const auto entries = [](const Rank &rank, int r) {
    const std::int32_t row[] = {0, 1}, col[] = {0, 1};  // both ranks bring both
    const double values[] = {1, 1};
    sxt_matrix *made = nullptr;
    const sxt_status status =
        sxt_matrix_from_coo_rows(rank.world.get(), 2, 2, r, 1, 2, row, col, values, nullptr, &made);
    sxt_matrix_destroy(made);
    return status;
  };
  for (const auto &[at, value] : std::vector<std::array<std::int64_t, 2>>{{0, 0}, {0, 2}, {0, -5}, {1, 2}, {1, -1}}) {
    SCOPED_TRACE(testing::Message() << "number " << at << " is " << value);
    Lying lying;
    lying.at_wait = 1;
    lying.change = number(at, value);
    all_end(lying, "delivered what no rank sent: rank 0 sends an entry", entries);
  }
  const auto set_up = [](const Rank &rank, int r) {
    static const Csr a = api_test::laplacian(6, 1);
    const Matrix matrix = rows_matrix(rank, a, rows_of({18, 18}, r));
    sxt_pcg *made = nullptr;
    const sxt_status status = sxt_pcg_create(matrix.get(), nullptr, &made);
    sxt_pcg_destroy(made);
    return status;
  };
  for (const auto &[at, value] : std::vector<std::array<std::int64_t, 2>>{{0, -1}, {0, 36}, {1, 17}, {1, 36}}) {
    SCOPED_TRACE(testing::Message() << "mirror image, number " << at << " is " << value);
    Lying lying;
    lying.at_wait = 2;  // the first asked for rows
    lying.change = number(at, value);
    all_end(lying, "delivered what no rank sent: rank 0 sends the entry", set_up);
  }
}

// A rank knows what it brought itself.
TEST(WorldBytes, TheOwnBlockMustComeBack) {
  Lying lying;
  lying.at_gather = 5;
  lying.change = [](char *data, std::int64_t bytes) { data[bytes - 1] ^= 1; };
  all_end(lying, "other bytes than it had brought", make_rows);
}

// Anything else that is wrong ends, too: with a status, in time, and touching no memory but its own.
TEST(WorldBytes, WhateverIsDeliveredEnds) {
  const Csr a = api_test::laplacian(5, 1);
  for (const bool gathered : {true, false})
    for (const unsigned char fill : {0xff, 0x7f, 0x00})
      for (int at = 1; at < 60; ++at) {
        SCOPED_TRACE(testing::Message() << (gathered ? "gather " : "message ") << at << " of " << int{fill});
        const Comms comms = new_comms(2);
        Lying lying;
        lying.inner = comm_of(comms, 1);
        (gathered ? lying.at_gather : lying.at_wait) = at;
        // What the other rank sent: the first half of what is gathered.
        lying.change = [&](char *data, std::int64_t bytes) {
          std::memset(data, fill, static_cast<std::size_t>(gathered ? bytes / 2 : bytes));
        };
        on_ranks(2, [&](int r) {
          const sxt_comm comm = r == 1 ? lying.comm() : comm_of(comms, r);
          std::string sentence;
          const sxt_status status = whole_program(Rank(&comm, 1, 0.2), a, 2, &sentence);
          EXPECT_STRNE(sxt_status_name(status), "SXT_UNKNOWN") << status;
          EXPECT_TRUE(status == SXT_OK || !sentence.empty());
          EXPECT_NE(status, SXT_E_INTERNAL) << sentence;
        });
        if ((gathered ? lying.gathers : lying.waits) < at) break;
      }
}

}  // namespace
}  // namespace world_test
