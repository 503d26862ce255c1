// SPDX-License-Identifier: BSD-3-Clause
// The engine's data: the packed matrix on the device (state), and for each concurrent caller the vectors, packets and
// pinned words of its launches (session).
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"
#include "pack.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/cuda/memory.hpp"

namespace persistent {

using sextant::plugin::cuda::DeviceArray;

struct State {
  sxt_value_type vectors, stored;
  std::int64_t n, nnz;
  std::int64_t longest;  // iterations of a launch
  Shape shape;
  std::uint64_t shared;
  bool clustered;  // the grid is one cluster
  Matrix matrix;   // its pointers lead into the arrays below
  const void *kernel;
  DeviceArray part, values, columns, diagonal, slices, row_of, packet_of, halo_row, halo_packet;
  DeviceArray entry_of, diagonal_entry;  // where new values go
  DeviceArray uniform;
  std::int64_t places;       // of `values`
  std::int64_t first_entry;  // the first place of `values` that is no padding; -1: there is none
};

// How the kernel of a state is launched: cooperatively, or as one cluster.
struct LaunchShape {
  LaunchShape(const State &state, cudaStream_t stream) {
    attribute.id = state.clustered ? cudaLaunchAttributeClusterDimension : cudaLaunchAttributeCooperative;
    if (state.clustered)
      attribute.val.clusterDim = {static_cast<unsigned>(state.matrix.parts), 1, 1};
    else
      attribute.val.cooperative = 1;
    config.gridDim = dim3(static_cast<unsigned>(state.matrix.parts));
    config.blockDim = dim3(static_cast<unsigned>(state.matrix.threads));
    config.dynamicSmemBytes = state.shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  LaunchShape(const LaunchShape &) = delete;
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
};

struct Session {
  Session(const State &state, const sxt_exec &exec);
  Work work;
  DeviceArray r, p, halo_packets, sum_packets, squared_residuals, report;
  std::vector<double> residuals;  // lent to the conversation
  std::uint64_t epoch = 0;
  bool fresh = true;  // packets are to be cleared before the next launch
};

// Fills a state from CSR on the device; in_turns: rows read their entries in the turns of turns.hpp. Throws
// cuda::Failure: SXT_E_NOT_SUPPORTED where a part does not fit a block.
void fill(State &state, const sxt_pcg_query &query, const sxt_csr &a, std::int32_t parts, bool clustered,
          std::int64_t longest, bool in_turns, const sxt_exec *exec);
// Puts values of the same pattern into their places, and updates what depends on them.
void set_values(State &state, const sxt_csr &a, const sxt_exec *exec);
// The kernel of the former alone.
void place_values(const State &state, const sxt_csr &a, const sxt_exec *exec);

// The kernel for these types, and its code loaded with that much shared memory allowed.
const void *kernel_for(sxt_value_type vectors, sxt_value_type stored, std::int32_t passes, bool clustered);

}  // namespace persistent
