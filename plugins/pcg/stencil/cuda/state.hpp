// SPDX-License-Identifier: BSD-3-Clause
// The engine's data: the matrix as planes with its launch (state) and, for each concurrent caller, vectors and numbers
// on the device (session).
#pragma once

#include <cstdint>
#include <vector>

#include "forms.hpp"
#include "layout.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/cuda/memory.hpp"

namespace stencil {

namespace cuda = sextant::plugin::cuda;

struct State {
  Stencil stencil{};
  Tiling tiling{};
  Form form{};
  sxt_value_type vectors, stored;
  std::int64_t n = 0;
  std::int64_t block = 1;  // iterations of a launch
  std::uint32_t blocks = 1, threads = 32;
  std::size_t shared = 0;
  cuda::DeviceArray all;  // Main
};

// A candidate's division of the planes.
struct Wish {
  std::int64_t block, width, blocks_a_unit, stages;
};

// Throws cuda::Failure: SXT_E_NOT_SUPPORTED where the diagonals are no stencil or a tile does not fit a block.
void fill(State &state, const sxt_pcg_query &query, const sxt_dia &a, const Wish &wish, const sxt_exec &exec);
// The arrays of new values of the same pattern.
void point_at(State &state, const sxt_dia &a, const sxt_exec &exec);

// Where blocks meet: the word of the exchange, on a line of its own, then packets of sums.
inline constexpr std::uint64_t epoch_bytes = 64;

class Session {
 public:
  Session(const State &state, const sxt_exec &exec);
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  Vectors vectors{};
  Output output{};
  const Report &report() const { return *output.report; }
  void *packets() const { return exchange_.as<char>() + epoch_bytes; }
  void *epoch() const { return exchange_.data(); }

  std::vector<double> residuals, squares;  // lent to the conversation; of the last block, in order

 private:
  cuda::DeviceArray arrays_, control_, exchange_, pinned_;
};

}  // namespace stencil
