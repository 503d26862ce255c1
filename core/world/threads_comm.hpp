// SPDX-License-Identifier: BSD-3-Clause
// A communicator whose ranks are threads of one process: messages are copied through boxes in its memory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sextant/world.h"

namespace sextant {

// Thread-safe.
class ThreadsComm {
 public:
  explicit ThreadsComm(std::int32_t size);  // throws SXT_E_ARGUMENT
  // The functions of one rank. Throws SXT_E_INDEX.
  sxt_comm of(std::int32_t rank);

 private:
  using Bytes = std::vector<char>;
  struct Rank {
    ThreadsComm *all;
    std::int32_t rank;
  };
  // What came together, kept until every rank has taken it.
  struct Gathered {
    explicit Gathered(std::size_t size) : blocks(size), came(size) {}
    std::vector<Bytes> blocks;
    std::vector<bool> came;
    std::size_t count = 0;
    bool unequal = false;
  };

  static sxt_status gather(void *user, const void *mine, std::int64_t bytes, void *all, double seconds);
  static sxt_status exchange(void *user, std::int32_t n_sends, const sxt_message_part *sends, std::int32_t n_receives,
                             const sxt_message_part *receives, void **request);
  static sxt_status wait(void *user, void **request, double seconds);
  static void abort(void *user, sxt_status status, const char *why);

  sxt_status gather_as(std::int32_t rank, const char *mine, std::int64_t bytes, char *all, double seconds);
  sxt_status receive(std::int32_t rank, const std::vector<sxt_message_part> &parts, double seconds);
  template <class F>
  bool wait_for(std::unique_lock<std::mutex> &lock, double seconds, F &&ready);

  std::vector<Rank> ranks_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::shared_ptr<Gathered> gathered_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::deque<Bytes>> boxes_;  // from, to
  bool ended_ = false;
};

}  // namespace sextant
