// SPDX-License-Identifier: BSD-3-Clause
// One solve: blocks of captured iterations, and the work between them.
#pragma once

#include <cstdint>

#include "iteration.hpp"
#include "plugins/pcg/shared/blocks.hpp"

namespace graph {

// The engine of a sextant::plugin::pcg::Conversation. Throws cuda::Failure.
class Engine {
 public:
  Engine(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec);

  void start();
  void replace();
  pcg::Outcome run(const pcg::Block &block);
  std::int64_t longest() const { return state_.block; }
  const void *iterate() const { return session_.vector(0); }
  void finish();  // x to the caller

 private:
  void request(const pcg::Block &block);
  void turn_back(Iteration &iteration) const;
  void enqueue(Captured &block, std::int64_t iterations);
  void enqueue_each(std::int64_t iterations, const sxt_exec &exec);
  std::int64_t wanted(const pcg::Block &block) const;
  pcg::Outcome await(const pcg::Block &block);
  pcg::Ended measure();
  template <class T>
  T fetch(const void *from);

  const State &state_;
  Session &session_;
  sxt_pcg_args &args_;
  const sxt_exec &exec_;
  const sxt_device_ops &ops_;
  bool standing_ = true;  // the present iterate's numbers are missing or must not be used
  bool turned_ = false;   // p is r - p, or was that for a while
  bool renewed_ = false;  // r was computed again, and nothing that depends on it yet
  double rate_ = 0;       // logarithm by which r'r fell in an iteration of the last block
  double last_squared_ = 0;
};

}  // namespace graph
