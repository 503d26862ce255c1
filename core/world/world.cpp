// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/world.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

namespace sextant {

namespace {

// What ranks must agree on before they understand each other's frames.
struct Hello {
  std::int32_t version[3] = {SXT_VERSION_MAJOR, SXT_VERSION_MINOR, SXT_VERSION_PATCH};
  std::int32_t frame_bytes = sizeof(Frame), members = 0;
};

// Longer sentences are cut on other ranks.
constexpr std::size_t sentence_bytes = 400;

}  // namespace

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

std::string sentence_of(const std::exception_ptr &failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc &) {
    return status_sentence(SXT_E_MEMORY);
  } catch (const std::exception &error) {
    return error.what();
  } catch (...) {
    return status_sentence(SXT_E_INTERNAL);
  }
}

World::World(std::vector<std::shared_ptr<Context>> contexts, const sxt_comm *comm, double time_limit)
    : contexts_(std::move(contexts)), comm_(comm, time_limit), frames_(static_cast<std::size_t>(comm_.size())) {
  meet_first();
  std::vector<double> mine(most_own_, 0), all(most_own_ * static_cast<std::size_t>(ranks()));
  for (std::size_t i = 0; i < own(); ++i) mine[i] = std::max(1.0, context(i).machine().stream_rate);
  comm_.gather(mine.data(), static_cast<std::int64_t>(most_own_ * sizeof(double)), all.data());
  for (std::int32_t m = 0; m < members(); ++m) {
    const auto block = static_cast<std::size_t>(rank_of(m)) * most_own_;
    rates_.push_back(all[block + static_cast<std::size_t>(m - first_of(rank_of(m)))]);
  }
}

void World::meet_first() {
  Hello mine;
  mine.members = static_cast<std::int32_t>(contexts_.size());
  std::vector<Hello> all(static_cast<std::size_t>(ranks()));
  comm_.gather(&mine, sizeof mine, all.data());
  first_of_.push_back(0);
  for (std::size_t r = 0; r < all.size(); ++r) {
    require(std::memcmp(&all[r], &mine, offsetof(Hello, members)) == 0 && all[r].members > 0, SXT_E_STATE, "rank ", r,
            " runs version ", all[r].version[0], ".", all[r].version[1], ".", all[r].version[2],
            " of the library, rank ", rank(), " ", mine.version[0], ".", mine.version[1], ".", mine.version[2],
            ": all ranks need the same");
    most_own_ = std::max(most_own_, static_cast<std::size_t>(all[r].members));
    first_of_.push_back(first_of_.back() + all[r].members);
    rank_of_.insert(rank_of_.end(), static_cast<std::size_t>(all[r].members), static_cast<std::int32_t>(r));
  }
}

const std::vector<Frame> &World::meet(const Frame &mine) {
  comm_.gather(&mine, sizeof mine, frames_.data());
  for (std::size_t r = 1; r < frames_.size(); ++r) {
    const Frame &first = frames_.front(), &other = frames_[r];
    const auto name = [](const Frame &frame) {
      return std::string(frame.call, ::strnlen(frame.call, sizeof frame.call));
    };
    require(name(first) == name(other), SXT_E_STATE, "the ranks make different calls: rank 0 is in ", name(first),
            ", rank ", r, " in ", name(other));
    require(first.about == other.about, SXT_E_STATE, "rank 0 and rank ", r, " call ", name(first),
            " with different options, types or objects");
  }
  return frames_;
}

const std::vector<Frame> &World::together(const char *call, std::uint64_t about,
                                          const std::function<void(Frame &)> &f) {
  Frame mine;
  std::strncpy(mine.call, call, sizeof mine.call - 1);
  mine.about = about;
  std::exception_ptr failure;
  try {
    f(mine);
  } catch (...) {
    failure = std::current_exception();
    mine.status = status_of(failure);
  }
  const std::vector<Frame> &frames = meet(mine);
  agree(frames, failure);
  return frames;
}

void World::agree(const std::vector<Frame> &frames, const std::exception_ptr &failure) {
  const auto failed = std::find_if(frames.begin(), frames.end(), [](const Frame &frame) { return frame.status != 0; });
  if (failed == frames.end()) return;
  const auto who = static_cast<std::size_t>(failed - frames.begin());
  const sxt_status status = failed->status;
  if (ranks() == 1) std::rethrow_exception(failure);
  std::vector<char> mine(sentence_bytes, 0), all(sentence_bytes * frames.size());
  const std::string own = failure ? sentence_of(failure) : "";
  std::copy_n(own.c_str(), std::min(own.size(), sentence_bytes - 1), mine.data());
  comm_.gather(mine.data(), sentence_bytes, all.data());
  if (who == static_cast<std::size_t>(rank())) std::rethrow_exception(failure);
  throw Error(status, text("rank ", who, ": ", &all[who * sentence_bytes]));
}

std::vector<std::vector<char>> World::swap(const std::vector<std::vector<char>> &out) {
  const auto n = static_cast<std::size_t>(ranks()), self = static_cast<std::size_t>(rank());
  std::vector<std::int64_t> bytes(n), all(n * n);
  for (std::size_t r = 0; r < n; ++r) bytes[r] = static_cast<std::int64_t>(out[r].size());
  comm_.gather(bytes.data(), static_cast<std::int64_t>(n * sizeof(std::int64_t)), all.data());
  // Where messages stay under way, their memory must: see Comm.
  struct Held {
    std::vector<std::vector<char>> out, in;
  };
  auto held = std::make_unique<Held>(Held{out, std::vector<std::vector<char>>(n)});
  std::vector<sxt_message_part> sends, receives;
  for (std::size_t r = 0; r < n; ++r) {
    held->in[r].resize(static_cast<std::size_t>(all[r * n + self]));
    if (r == self) continue;
    const auto peer = static_cast<std::int32_t>(r);
    if (bytes[r] > 0) sends.push_back({held->out[r].data(), bytes[r], peer, 0});
    if (!held->in[r].empty())
      receives.push_back({held->in[r].data(), static_cast<std::int64_t>(held->in[r].size()), peer, 0});
  }
  held->in[self] = held->out[self];
  try {
    comm_.exchange(sends, receives);
    comm_.wait();
  } catch (...) {
    static_cast<void>(held.release());
    throw;
  }
  return std::move(held->in);
}

std::vector<std::int64_t> World::gather_members(const std::vector<std::int64_t> &own_numbers) {
  std::vector<std::int64_t> mine(own_numbers), all(most_own_ * static_cast<std::size_t>(ranks())), out;
  mine.resize(most_own_);
  comm_.gather(mine.data(), static_cast<std::int64_t>(most_own_ * sizeof(std::int64_t)), all.data());
  for (std::int32_t m = 0; m < members(); ++m)
    out.push_back(
        all[static_cast<std::size_t>(rank_of(m)) * most_own_ + static_cast<std::size_t>(m - first_of(rank_of(m)))]);
  return out;
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
