// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>

namespace sextant {

namespace {

// Longer sentences are cut on other ranks.
constexpr std::size_t sentence_bytes = 400;
// Step of a gather in which a rank tells of a failure that the others do not wait for.
constexpr std::uint64_t about_a_failure = ~std::uint64_t{0};
constexpr const char *by_create = "sxt_world_create";

std::size_t bytes_of_frame(std::size_t members) { return sizeof(FrameHead) + members * sizeof(Frame::OfMember); }

std::string name_of(const Frame &frame) { return {frame.call, ::strnlen(frame.call, sizeof frame.call)}; }

bool may_be_wished(std::int32_t wish) {
  return wish == SXT_REASON_NONE || wish == SXT_REASON_CANCELLED || wish == SXT_REASON_TIME_LIMIT;
}

}  // namespace

// What ranks must agree on before they understand each other's frames.
struct World::Hello {
  std::int32_t version[3] = {SXT_VERSION_MAJOR, SXT_VERSION_MINOR, SXT_VERSION_PATCH};
  std::int32_t frame_bytes = sizeof(FrameHead), member_bytes = sizeof(Frame::OfMember), members = 0, status = 0;
};

sxt_status status_of(const std::exception_ptr &failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const Error &error) {
    return error.status();
  } catch (const std::bad_alloc &) {
    return SXT_E_MEMORY;
  } catch (...) {
    return SXT_E_INTERNAL;
  }
}

// Its sentence, ended by 0 and cut where there is no more room; asks for no memory.
static void write_sentence(const std::exception_ptr &failure, std::vector<char> &to) noexcept {
  const auto put = [&](const char *sentence) {
    const std::size_t length = ::strnlen(sentence, to.size() - 1);
    std::copy_n(sentence, length, to.begin());
    to[length] = '\0';
  };
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc &) {
    put(status_sentence(SXT_E_MEMORY));
  } catch (const std::exception &error) {
    put(error.what());
  } catch (...) {
    put(status_sentence(SXT_E_INTERNAL));
  }
}

// ---- the first gather

World::World(const std::function<Contexts()> &contexts, const sxt_comm *comm, double time_limit)
    : comm_(comm, time_limit) {
  meet_first(contexts);
  learn_rates();
}

void World::meet_first(const std::function<Contexts()> &contexts) {
  Hello mine;
  std::exception_ptr failure;
  std::vector<Hello> all;
  try {
    sentence_.resize(sentence_bytes);
    sentences_.resize(sentence_bytes * static_cast<std::size_t>(ranks()));
    all.resize(static_cast<std::size_t>(ranks()));
    frames_.resize(all.size());
  } catch (const std::bad_alloc &) {
    comm_.give_up(status_sentence(SXT_E_MEMORY));  // there is no room to tell it in
  }
  const auto attempt = [&](auto &&f) {
    try {
      f();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  attempt([&] { contexts_ = contexts(); });
  mine.members = static_cast<std::int32_t>(contexts_.size());
  say_hello(all, mine, failure);
  attempt([&] {
    count_members(all);
    make_room();
  });
  say_hello(all, mine, failure);
}

// All ranks' greetings into all. Throws what failed on some rank.
void World::say_hello(std::vector<Hello> &all, Hello &mine, const std::exception_ptr &failure) {
  mine.status = failure ? status_of(failure) : SXT_OK;
  comm_.gather(&mine, sizeof mine, all.data());
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (std::memcmp(&all[r], &mine, offsetof(Hello, members)) != 0)
      fail(SXT_E_STATE, "rank ", r, " runs version ", all[r].version[0], ".", all[r].version[1], ".", all[r].version[2],
           " of the library, rank ", rank(), " ", mine.version[0], ".", mine.version[1], ".", mine.version[2],
           ": all ranks need the same");
    require_sound(all[r].status == SXT_OK || is_defined(all[r].status), "rank ", r, " ends with status ",
                  all[r].status);
    frames_[r].status = all[r].status;
  }
  agree(failure);
}

void World::count_members(const std::vector<Hello> &all) {
  constexpr std::int32_t most = 1 << 20;
  first_of_.push_back(0);
  for (std::size_t r = 0; r < all.size(); ++r) {
    require_delivered(all[r].members > 0 && all[r].members <= most - first_of_.back(), "rank ", r, " with ",
                      all[r].members, " members, after ", first_of_.back(), " of the ranks before it");
    most_own_ = std::max(most_own_, static_cast<std::size_t>(all[r].members));
    first_of_.push_back(first_of_.back() + all[r].members);
    rank_of_.insert(rank_of_.end(), static_cast<std::size_t>(all[r].members), static_cast<std::int32_t>(r));
  }
}

void World::make_room() {
  const auto n = static_cast<std::size_t>(ranks());
  for (std::size_t r = 0; r < n; ++r)
    frames_[r].members.resize(static_cast<std::size_t>(first_of_[r + 1] - first_of_[r]));
  blank_.members.resize(own());
  mine_ = blank_;
  packed_.resize(bytes_of_frame(most_own_));
  all_packed_.resize(packed_.size() * n);
  own_lengths_.resize(n);
  lengths_.resize(n * n);
  rates_.reserve(static_cast<std::size_t>(members()));
}

void World::learn_rates() {
  const std::vector<Frame> &frames = together(by_create, 0, [&](Frame &mine) {
    for (std::size_t i = 0; i < own(); ++i) mine.members[i].values[0] = std::max(1.0, context(i).machine().stream_rate);
  });
  each_member(frames, [&](const Frame::OfMember &member) { rates_.push_back(member.values[0]); });
  for (const double rate : rates_)
    require_sound(std::isfinite(rate) && rate >= 1, "a memory rate of ", rate, " bytes a second");
}

// ---- gathers

void World::begin_frame(const char *call, std::uint64_t about) noexcept {
  static_cast<FrameHead &>(mine_) = FrameHead();
  std::copy(blank_.members.begin(), blank_.members.end(), mine_.members.begin());
  std::strncpy(mine_.call, call, sizeof mine_.call - 1);
  mine_.about = about;
}

void World::write_own() noexcept {
  std::memset(packed_.data(), 0, packed_.size());
  const auto &head = static_cast<const FrameHead &>(mine_);
  std::memcpy(packed_.data(), &head, sizeof head);
  std::memcpy(packed_.data() + sizeof head, mine_.members.data(), own() * sizeof(Frame::OfMember));
}

void World::read(std::size_t rank) {
  Frame &frame = frames_[rank];
  const char *const from = all_packed_.data() + rank * packed_.size();
  auto &head = static_cast<FrameHead &>(frame);
  std::memcpy(&head, from, sizeof head);
  std::memcpy(frame.members.data(), from + sizeof head, frame.members.size() * sizeof(Frame::OfMember));
  require_sound((frame.status == SXT_OK || is_defined(frame.status)) && may_be_wished(frame.wish), "rank ", rank,
                " ends with status ", frame.status, " and wish ", frame.wish);
}

void World::meet() {
  write_own();
  comm_.gather(packed_.data(), static_cast<std::int64_t>(packed_.size()), all_packed_.data());
  for (std::size_t r = 0; r < frames_.size(); ++r) read(r);
  require_one_call();
}

void World::require_one_call() {
  told_ = true;
  const Frame &first = frames_.front();
  for (std::size_t r = 1; r < frames_.size(); ++r) {
    const Frame &other = frames_[r];
    if (std::strncmp(first.call, other.call, sizeof first.call) != 0)
      fail(SXT_E_STATE, "the ranks make different calls: rank 0 is in ", name_of(first), ", rank ", r, " in ",
           name_of(other));
    if (first.about == about_a_failure || other.about == about_a_failure) continue;
    if (first.about != other.about)
      fail(SXT_E_STATE, "rank 0 and rank ", r, " call ", name_of(first), " with different options, types or objects");
  }
  told_ = false;
}

// failure: what this rank's own work threw, or NULL.
void World::agree(const std::exception_ptr &failure) {
  const auto failed =
      std::find_if(frames_.begin(), frames_.end(), [](const Frame &frame) { return frame.status != 0; });
  if (failed == frames_.end()) return;
  told_ = true;
  const auto who = static_cast<std::size_t>(failed - frames_.begin());
  if (ranks() == 1) std::rethrow_exception(failure);
  std::fill(sentence_.begin(), sentence_.end(), '\0');
  if (failure) write_sentence(failure, sentence_);
  comm_.gather(sentence_.data(), sentence_bytes, sentences_.data());
  const char *const theirs = &sentences_[who * sentence_bytes];
  const std::string said(theirs, ::strnlen(theirs, sentence_bytes));
  if (failed->status == SXT_E_COMM) comm_.give_up(said, true);  // bytes not to be trusted: see require_delivered
  // All ranks that found the same say it in their own words.
  if (failure && std::strncmp(sentence_.data(), theirs, sentence_bytes) == 0) std::rethrow_exception(failure);
  throw Error(failed->status, text("rank ", who, ": ", said));
}

void World::tell(const char *call, const std::exception_ptr &failure) {
  if (ranks() == 1) std::rethrow_exception(failure);
  begin_frame(call, about_a_failure);
  mine_.status = status_of(failure);
  meet();
  agree(failure);
}

// ---- bytes for each other

void World::require_lengths(std::size_t record) const {
  constexpr std::int64_t most = std::int64_t{1} << 48;  // more than a rank has memory for
  const auto n = static_cast<std::size_t>(ranks()), self = static_cast<std::size_t>(rank());
  for (std::size_t r = 0; r < n; ++r) {
    const std::int64_t length = lengths_[r * n + self];
    require_delivered(length >= 0 && length <= most && static_cast<std::size_t>(length) % record == 0, "rank ", r,
                      " sends ", length, " bytes, in records of ", record);
  }
}

World::Parcels World::swap(const char *call, std::uint64_t about, std::size_t record,
                           const std::function<Parcels()> &pack) {
  const auto n = static_cast<std::size_t>(ranks()), self = static_cast<std::size_t>(rank());
  // Where messages stay under way, their memory must: see Comm.
  struct Held {
    Parcels out, in;
    std::vector<sxt_message_part> sends, receives;
  };
  std::unique_ptr<Held> held;
  together(call, about, [&](Frame &) {
    held = std::make_unique<Held>(Held{pack(), Parcels(n), {}, {}});
    held->sends.reserve(n), held->receives.reserve(n);
    for (std::size_t r = 0; r < n; ++r) own_lengths_[r] = static_cast<std::int64_t>(held->out[r].size());
  });
  comm_.gather(own_lengths_.data(), static_cast<std::int64_t>(n * sizeof(std::int64_t)), lengths_.data());
  together(call, about + 1, [&](Frame &) {
    require_lengths(record);
    for (std::size_t r = 0; r < n; ++r)
      if (r != self) held->in[r].resize(static_cast<std::size_t>(lengths_[r * n + self]));
  });
  held->in[self] = std::move(held->out[self]);
  for (std::size_t r = 0; r < n; ++r) {
    if (r == self) continue;
    const auto peer = static_cast<std::int32_t>(r);
    if (own_lengths_[r] > 0) held->sends.push_back({held->out[r].data(), own_lengths_[r], peer, 0});
    if (!held->in[r].empty())
      held->receives.push_back({held->in[r].data(), static_cast<std::int64_t>(held->in[r].size()), peer, 0});
  }
  try {
    comm_.exchange(held->sends, held->receives);
    comm_.wait();
  } catch (...) {
    static_cast<void>(held.release());
    throw;
  }
  return std::move(held->in);
}

std::vector<std::int64_t> divide(std::int64_t rows, const std::vector<double> &rates,
                                 const std::function<double(std::int64_t)> &work) {
  const double all_rates = std::accumulate(rates.begin(), rates.end(), 0.0), all = work(rows);
  std::vector<std::int64_t> begin{0};
  double before = 0;
  for (std::size_t i = 0; i + 1 < rates.size(); ++i) {
    before += rates[i];
    const double wanted = all * (before / all_rates);
    std::int64_t low = begin.back(), high = rows;  // the first row with at least that much before it
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (work(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    begin.push_back(low);
  }
  begin.push_back(rows);
  return begin;
}

}  // namespace sextant
