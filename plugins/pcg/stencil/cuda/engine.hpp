// SPDX-License-Identifier: BSD-3-Clause
// One solve: launches of many iterations, and the work between them.
#pragma once

#include <cstdint>

#include "plugins/pcg/shared/blocks.hpp"
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
  pcg::Outcome await(const pcg::Block &block);

  const State &state_;
  Session &session_;
  sxt_pcg_args &args_;
  const sxt_exec &exec_;
  bool standing_ = false;  // the numbers of the present iterate are on the device
};

}  // namespace stencil
