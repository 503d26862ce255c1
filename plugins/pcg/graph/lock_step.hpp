// SPDX-License-Identifier: BSD-3-Clause
// The engine of one or several right-hand sides in captured blocks of two kernels an iteration: each column has a
// conversation with core of its own, and all run the same block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "columns.hpp"
#include "sextant/kinds/device.h"
#include "sextant/kinds/storage.h"
#include "sextant/plugin_cuda_memory.hpp"
#include "sextant/plugin_pcg_blocks.hpp"

namespace graph {

namespace pcg = sextant::plugin::pcg;

struct ColumnsState {
  sxt_value_type type;
  std::int64_t n = 0, block = 1;  // rows; iterations of a captured block
  std::int32_t columns = 1;       // at most
  sxt_csr a{};
};

class ColumnsSession {
 public:
  ColumnsSession(const ColumnsState &state, const sxt_exec &exec);
  ~ColumnsSession() { drop(); }
  ColumnsSession(const ColumnsSession &) = delete;
  ColumnsSession &operator=(const ColumnsSession &) = delete;

  const ColumnWork &work() const { return work_; }
  // Launches a block, captured before where the stream allows that.
  void launch(std::int64_t iterations, bool is_long, const sxt_exec &exec);
  // Blocks were captured with the matrix's arrays; when those lie elsewhere they are captured anew.
  void follow(const sxt_csr &a);

  std::int64_t launches = 0;               // of this solve
  std::vector<double> residuals, squares;  // lent to conversations; of a column's last block

 private:
  void enqueue(std::int64_t iterations, const sxt_exec &exec) const;
  void drop() noexcept;
  ColumnWork work_{};
  sextant::plugin::cuda::DeviceArray vectors_, scalars_, pinned_;
  std::array<void *, 2> graphs_{};
  bool capture_refused_ = false;
  const sxt_device_ops *ops_;
  void *device_;
};

// Bytes of a session's vectors.
std::uint64_t columns_bytes(std::int64_t n, sxt_value_type type, std::int32_t columns);
// The kernel of kind sxt.pcg/1 (lock_step_plugin.cpp).
const sxt_kernel &lock_step_kernel();

// One run. Throws cuda::Failure.
class LockStep {
 public:
  LockStep(const ColumnsState &state, ColumnsSession &session, const sxt_pcg_columns_args &args, const sxt_exec &exec);
  void run();

 private:
  // One column as its Conversation sees an engine.
  struct Column {
    LockStep *all = nullptr;
    std::int32_t number = 0;
    sxt_pcg_args *args = nullptr;
    bool active = false, standing = true;  // it has not ended; its numbers are not there, or not to be used
    double rate = 0, last_squared = 0;     // of r'r: its logarithm's fall in an iteration; at the end of the last block
    pcg::Block block;
    std::optional<pcg::Conversation<Column>> conversation;

    void start() const {}  // all enter together
    void replace() { all->residual(*this); }
    std::int64_t longest() const { return all->state_.block; }
    const void *iterate() { return all->solution(*this); }
    void finish() { all->finish(*this); }
  };

  void enter();
  void residual(Column &column);
  const void *solution(Column &column);
  void finish(Column &column);
  bool request();
  std::int64_t wanted() const;
  void take();

  const ColumnsState &state_;
  ColumnsSession &session_;
  const sxt_exec &exec_;
  std::int32_t active_ = 0;
  std::array<Column, most_columns> columns_;
};

}  // namespace graph
