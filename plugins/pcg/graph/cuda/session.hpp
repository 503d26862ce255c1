// SPDX-License-Identifier: BSD-3-Clause
// The engine's data: the shape of its problem (state) and, for each concurrent caller, the bound parts, the work
// vectors, the scalars on the device and the captured blocks (session).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "control.hpp"
#include "plugins/pcg/shared/blocks.hpp"
#include "plugins/pcg/shared/parts.hpp"
#include "plugins/pcg/shared/told.hpp"
#include "record.hpp"
#include "sextant/plugin/kinds/device.h"
#include "sextant/sdk/cuda/memory.hpp"
#include "side.hpp"

namespace graph {

namespace pcg = sextant::plugin::pcg;

// Every part must support capture.
inline const pcg::Recurrence &recurrence(std::int32_t id) { return pcg::recurrence<SXT_KERNEL_CAPTURABLE>(id); }

struct State {
  const pcg::Recurrence *recurrence;
  sxt_value_type type;
  std::int64_t n;
  bool preconditioned;
  std::int64_t block;  // iterations of a captured block
  bool one_order;      // bits are those of other engines (sextant/plugin/order.h)
  std::int32_t
      columns;  // right-hand sides in one run; several are driven from the host (plugins/pcg/shared/columns.hpp)
  std::string
      view;  // the part of the matrix that captured products hold by value: the view of its storage, byte by byte
  std::int64_t views;  // number of views so far
};

// Bytes of one work vector, rounded up so that each begins on a line.
inline std::uint64_t vector_bytes(std::int64_t n, sxt_value_type type) {
  return (static_cast<std::uint64_t>(n) * sextant::plugin::value_bytes(type) + 255) / 256 * 256;
}
// The recurrence's vectors, and x.
inline std::int64_t vectors_of(const pcg::Recurrence &recurrence, bool preconditioned) {
  return recurrence.vectors[preconditioned] + 1;
}
// Directions that are saved while evaluations are stopped, where a rounding of idle steps would be visible: p, and with
// Chronopoulos-Gear s behind it.
inline std::int64_t kept_of(const pcg::Recurrence &recurrence, bool one_order) {
  return !one_order ? 0 : recurrence.id == SXT_RECURRENCE_CHRONOPOULOS_GEAR ? 2 : 1;
}
// The vectors of a session.
inline std::int64_t vectors_in_all(const pcg::Recurrence &recurrence, bool preconditioned, bool one_order,
                                   std::int32_t columns) {
  if (columns > 1) return std::int64_t{columns} * recurrence.vectors[preconditioned];
  return vectors_of(recurrence, preconditioned) + kept_of(recurrence, one_order);
}
// Short blocks serve where convergence is near.
inline std::int64_t short_block(std::int64_t block) { return block < 4 ? 1 : block / 4; }

// A captured block. Its captured arguments must still be valid when it is launched.
struct Captured {
  void *graph = nullptr;
  std::int64_t iterations = 0;
};

// Room for a number of any value type.
struct alignas(2 * sizeof(double)) Number {
  double parts[2];
};

// The scalars of a session, in device memory. What one kernel writes begins on a line of its own (256 bytes, as vectors
// do).
struct SessionScalars {
  alignas(256) Control control;
  alignas(256) Number dots[16];      // results of inner products
  alignas(256) Number products[16];  // those of A p, where they are not among them
  alignas(256) Number alpha;         // coefficients
  Number beta, minus_alpha;
  alignas(256) Record record;  // of a captured solve
  alignas(256) double sums[2 * norm_blocks];
};

class Session {
 public:
  Session(const State &state, const sxt_filled *slots, const sxt_exec &exec);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const pcg::Parts &parts() const { return parts_; }
  // 0: x; from 1: the recurrence's.
  void *vector(std::int32_t i) const { return vectors_.as<char>() + stride_ * static_cast<std::uint64_t>(i); }
  std::uint64_t vector_stride() const { return stride_; }
  std::uint64_t kept_bytes() const { return kept_bytes_; }  // 0: nothing is saved
  void *kept() const { return vectors_.as<char>() + vectors_.bytes() - kept_bytes_; }
  // Places on the device.
  Control *control() const { return &scalars()->control; }
  void *dots() const { return scalars()->dots; }
  void *products() const { return scalars()->products; }
  void *alpha() const { return &scalars()->alpha; }
  void *beta() const { return &scalars()->beta; }
  void *minus_alpha() const { return &scalars()->minus_alpha; }
  Record *record() const { return &scalars()->record; }
  double *sums() const { return scalars()->sums; }
  // For blocks of iterations and for the bodies of loops in a caller's graph: the outer one, the inner one.
  cudaStream_t side(int i) const { return static_cast<cudaStream_t>(sides_[i].stream()); }
  // Pinned.
  const Report &report() const { return told()->report; }
  Report *report_place() const { return &told()->report; }
  double *squared_residuals() const { return told()->squares(); }
  std::int64_t room() const { return room_; }
  void *column_results() const { return column_results_.data(); }  // pinned; of several right-hand sides

  // Blocks that were captured with this scratch and this view of the matrix; drops them when either has changed.
  void keep_blocks_of(const State &state, const sxt_exec &exec);
  Captured long_block, short_block;
  bool capture_refused = false;  // no capture could be begun: iterations are launched one by one

  mutable std::int64_t launches = 0;  // of this solve: kernels, captured blocks, runs of parts
  std::vector<double> residuals;      // lent to the conversation
  std::vector<double> squares;        // of the last block, in order

 private:
  void drop(Captured &block);
  SessionScalars *scalars() const { return scalars_.as<SessionScalars>(); }
  pcg::Told<Report> *told() const { return pinned_.as<pcg::Told<Report>>(); }

  pcg::Parts parts_;
  std::uint64_t stride_, kept_bytes_;
  std::int64_t room_;
  sextant::plugin::cuda::DeviceArray vectors_, scalars_, pinned_, column_results_;
  const sxt_device_ops *ops_;
  void *device_;
  const void *scratch_ = nullptr;
  std::int64_t views_ = 0;
  Side sides_[2];
};

// Captures the work of enqueue(exec) on `side`, as a graph that may be launched on any stream. NULL where no capture
// could be begun. Throws what enqueue throws, and cuda::Failure.
template <class F>
void *capture(const sxt_exec &exec, void *side, F &&enqueue) {
  const sxt_device_ops &ops = device_ops(exec);
  if (ops.capture_begin(exec.device, side) != SXT_OK) return nullptr;
  sxt_exec capturing = exec;
  capturing.stream = side;
  capturing.flags |= SXT_EXEC_CAPTURING;
  void *graph = nullptr;
  try {
    enqueue(capturing);
  } catch (...) {
    if (ops.capture_end(exec.device, side, &graph) == SXT_OK && graph) ops.graph_destroy(exec.device, graph);
    throw;
  }
  if (const sxt_status status = ops.capture_end(exec.device, side, &graph))
    throw sextant::plugin::cuda::Failure(status, "a block of iterations could not be captured");
  return graph;
}

// Iterations that a block may still take, by the rate at which the last one's r'r fell, and the limit.
inline std::int64_t iterations_left(const pcg::Block &block, double rate, double last_squared) {
  const std::int64_t left = block.last - block.first;
  if (!(rate > 0 && block.tolerance > 0 && last_squared > 0)) return left;
  const double steps = std::log(last_squared / (block.tolerance * block.tolerance)) / rate;
  return steps < static_cast<double>(left) ? static_cast<std::int64_t>(std::ceil(std::fmax(1, steps))) : left;
}

}  // namespace graph
