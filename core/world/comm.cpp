// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/comm.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

namespace sextant {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Comm::Comm(const sxt_comm *given, double time_limit) : time_limit_(time_limit) {
  require(time_limit > 0 && std::isfinite(time_limit), SXT_E_ARGUMENT, "options->time_limit is ", time_limit,
          "; it must be finite and above 0");
  calls_.size = 1;
  if (!given) return;
  require(SXT_HAS(given, sxt_comm, wait), SXT_E_ARGUMENT, "comm->struct_size is ", given->struct_size,
          ", less than the functions that it must have take");
  std::memcpy(&calls_, given, std::min<std::uint64_t>(given->struct_size, sizeof calls_));
  require(calls_.size >= 1 && calls_.rank >= 0 && calls_.rank < calls_.size, SXT_E_ARGUMENT, "comm->rank ", calls_.rank,
          " is not one of comm->size ", calls_.size);
  require(calls_.gather && calls_.exchange && calls_.wait, SXT_E_ARGUMENT, "comm->",
          !calls_.gather     ? "gather"
          : !calls_.exchange ? "exchange"
                             : "wait",
          " is NULL");
}

void Comm::require_alive() const {
  if (ended()) throw Error(SXT_E_COMM, "the world has ended earlier: " + why_ended_);
}

void Comm::end(const char *step, sxt_status status, double seconds) {
  std::string why;
  try {
    why =
        text("the communicator's ", step, " answered ", status_name(status), " on rank ", rank(), " after ", seconds,
             " s (time limit ", time_limit_, " s): a rank died, stalled, gave up, or made another call than this one");
  } catch (const std::bad_alloc &) {  // it ends without a sentence
  }
  give_up(std::move(why));
}

void Comm::give_up(std::string why, bool all_know) {
  require_alive();
  ended_ = true;
  why_ended_ = std::move(why);
  if (calls_.abort && !all_know) calls_.abort(calls_.user, SXT_E_COMM, why_ended_.c_str());
  throw Error(SXT_E_COMM, why_ended_);
}

void Comm::gather(const void *mine, std::int64_t bytes, void *all) {
  require_alive();
  if (size() == 1) {
    if (bytes > 0) std::memcpy(all, mine, static_cast<std::size_t>(bytes));
    return;
  }
  const double start = now();
  const sxt_status status = calls_.gather(calls_.user, mine, bytes, all, time_limit_);
  const double took = now() - start;
  waited_ += took;
  if (status != SXT_OK) end("gather", status, took);
  // The one block whose bytes are known here.
  if (bytes > 0 && std::memcmp(static_cast<const char *>(all) + rank() * bytes, mine, static_cast<std::size_t>(bytes)))
    give_up(text("the communicator's gather gave rank ", rank(), " other bytes than it had brought"));
}

void Comm::exchange(std::span<const sxt_message_part> sends, std::span<const sxt_message_part> receives) {
  require_alive();
  if (sends.empty() && receives.empty()) return;
  request_ = nullptr;
  const sxt_status status = calls_.exchange(calls_.user, static_cast<std::int32_t>(sends.size()), sends.data(),
                                            static_cast<std::int32_t>(receives.size()), receives.data(), &request_);
  if (status != SXT_OK) end("exchange", status, 0);
  under_way_ = true;
}

void Comm::wait() {
  require_alive();
  if (!under_way_) return;
  under_way_ = false;
  const double start = now();
  const sxt_status status = calls_.wait(calls_.user, &request_, time_limit_);
  if (status != SXT_OK) end("wait", status, now() - start);
}

}  // namespace sextant
