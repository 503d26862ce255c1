// SPDX-License-Identifier: BSD-3-Clause
// The caller's communicator, checked: what it answers beside SXT_OK ends it, and every later call is refused with the
// first sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/error.hpp"
#include "sextant/world.h"

namespace sextant {

class Comm {
 public:
  // given: NULL for one process. Throws SXT_E_ARGUMENT for one that lacks a function or has no meaning.
  Comm(const sxt_comm *given, double time_limit);

  std::int32_t rank() const noexcept { return calls_.rank; }
  std::int32_t size() const noexcept { return calls_.size; }
  bool ended() const noexcept { return ended_; }
  void require_alive() const;  // throws SXT_E_COMM where it has ended
  // all: size() blocks. Throws SXT_E_COMM, also where the own block comes back changed.
  void gather(const void *mine, std::int64_t bytes, void *all);
  // To and from other ranks. What is sent and received must stay until wait() has returned, and for good where it
  // throws: messages may still be under way.
  void exchange(std::span<const sxt_message_part> sends, std::span<const sxt_message_part> receives);
  void wait();
  // What it delivered, or what became of a rank, leaves nothing to go on with: it ends, and tells other ranks, unless
  // all of them know. Throws SXT_E_COMM with `why`.
  [[noreturn]] void give_up(std::string why, bool all_know = false);
  double time_limit() const noexcept { return time_limit_; }
  // Seconds that gathers have waited.
  double waited() const noexcept { return waited_; }

 private:
  [[noreturn]] void end(const char *step, sxt_status status, double seconds);

  sxt_comm calls_{};
  double time_limit_, waited_ = 0;
  void *request_ = nullptr;
  bool under_way_ = false, ended_ = false;
  std::string why_ended_;
};

}  // namespace sextant
