// SPDX-License-Identifier: BSD-3-Clause
// One solve: blocks of captured iterations, and what stands between them.
#pragma once

#include <cstdint>

#include "sextant/plugin_pcg_blocks.hpp"
#include "state.hpp"

namespace stencil {

namespace pcg = sextant::plugin::pcg;

// The engine of a sextant::plugin::pcg::Conversation. Throws cuda::Failure.
class Engine {
 public:
  Engine(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec)
      : state_(state), session_(session), args_(args), exec_(exec) {}

  void start();
  void replace();
  pcg::Outcome run(const pcg::Block &block);
  std::int64_t longest() const { return state_.block; }
  const void *iterate() const { return args_.x; }
  void finish() {}

 private:
  void ask(const pcg::Block &block);
  void enqueue(void *&graph, std::int64_t iterations);
  void *capture(std::int64_t iterations);
  std::int64_t wanted(const pcg::Block &block) const;
  pcg::Outcome await(const pcg::Block &block);

  const State &state_;
  Session &session_;
  sxt_pcg_args &args_;
  const sxt_exec &exec_;
  bool standing_ = false;  // the numbers of the present iterate are on the device
  double rate_ = 0;        // logarithm by which r'r fell in an iteration of the last block
  double last_squared_ = 0;
};

}  // namespace stencil
