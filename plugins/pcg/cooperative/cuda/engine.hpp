// SPDX-License-Identifier: BSD-3-Clause
// The engine's data: the matrix as its storage lends it (state), vectors and sums of each concurrent caller (session);
// and one solve: launches that each run until the host is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"
#include "plugins/pcg/shared/blocks.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/cuda/memory.hpp"

namespace cooperative {

using sextant::plugin::cuda::DeviceArray;

struct State {
  std::int64_t n, nnz;
  sxt_value_type vectors;
  std::int64_t longest;  // iterations of a launch
  std::int64_t blocks;   // of the grid, all of which the device holds at once
  const void *kernel;
  Matrix matrix;
};

// Fills a state. Throws cuda::Failure.
void fill(State &state, const sxt_pcg_query &query, const sxt_csr &a, std::int64_t blocks, std::int64_t longest);
// New values of the same pattern, perhaps at another address.
void point_at(State &state, const sxt_csr &a);

struct Session {
  Session(const State &state, const sxt_exec &exec);
  Work work;
  DeviceArray memory, pinned;
  std::vector<double> residuals;  // lent to the conversation
};

// Bytes of a session on the device.
std::uint64_t session_bytes(std::int64_t n, sxt_value_type type);

// The engine of a sextant::plugin::pcg::Conversation. Throws cuda::Failure.
class Engine {
 public:
  Engine(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec)
      : state_(state), session_(session), args_(args), exec_(exec), from_zero_(args.x_is_zero != 0) {}

  void start() { measure_ = true; }
  void replace() { measure_ = true; }
  sextant::plugin::pcg::Outcome run(const sextant::plugin::pcg::Block &block);
  std::int64_t longest() const { return state_.longest; }
  const void *iterate() const { return args_.x; }
  void finish() {}

 private:
  void launch(const Run &run);

  const State &state_;
  Session &session_;
  sxt_pcg_args &args_;
  const sxt_exec &exec_;
  bool from_zero_;        // x is still 0
  bool measure_ = false;  // the next launch begins with r = b - A x
  double nothing_ = 0;    // r'r where there are no rows
};

}  // namespace cooperative
