// SPDX-License-Identifier: BSD-3-Clause
// One solve: launches that each run until the host is needed.
#pragma once

#include <cstdint>

#include "plugins/pcg/shared/blocks.hpp"
#include "state.hpp"

namespace persistent {

// The engine of a sextant::plugin::pcg::Conversation. Throws cuda::Failure.
class Engine {
 public:
  Engine(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec)
      : state_(state), session_(session), args_(args), exec_(exec) {}

  void start();
  void replace() { residual(); }
  sextant::plugin::pcg::Outcome run(const sextant::plugin::pcg::Block &block);
  std::int64_t longest() const { return state_.longest; }
  const void *iterate() const { return args_.x; }
  void finish() {}

 private:
  void residual();  // r = b - A x
  void launch(const Run &run);
  void await();

  const State &state_;
  Session &session_;
  sxt_pcg_args &args_;
  const sxt_exec &exec_;
  bool at_zero_ = false;  // x = 0 and r = b need no separate launch
  double nothing_ = 0;    // r'r where there are no rows
};

}  // namespace persistent
