// SPDX-License-Identifier: BSD-3-Clause
// The engine of one or several right-hand sides in captured blocks: each column has its own conversation with core, and
// all run the same block of two kernels an iteration, or of three and those of a preconditioner that takes columns side
// by side.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "columns.hpp"
#include "plugins/pcg/shared/blocks.hpp"
#include "sextant/plugin/kinds/preconditioner_columns.h"
#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/cuda/memory.hpp"
#include "side.hpp"

namespace graph {

namespace pcg = sextant::plugin::pcg;

struct ColumnsState {
  sxt_value_type type;
  std::int64_t n = 0, block = 1;  // rows; iterations of a captured block
  std::int32_t columns = 1;       // at most
  bool preconditioned = false;
  sxt_csr a{};
};

class ColumnsSession {
 public:
  // slots: NULL, or M's.
  ColumnsSession(const ColumnsState &state, const sxt_filled *slots, const sxt_exec &exec);
  ~ColumnsSession() { drop(); }
  ColumnsSession(const ColumnsSession &) = delete;
  ColumnsSession &operator=(const ColumnsSession &) = delete;

  const ColumnWork &work() const { return work_; }
  // q = A p (and M q) and the numbers from them, without waiting. Returns the number of calls.
  int evaluate(bool fresh, const sxt_exec &exec) const;
  // New directions of those columns that restart.
  int begin(const sxt_exec &exec) const;
  // Launches a block, captured before.
  void launch(std::int64_t iterations, bool is_long, const sxt_exec &exec);
  // Blocks were captured with the matrix's arrays; when those lie elsewhere they are captured again.
  void follow(const sxt_csr &a);

  std::int64_t launches = 0;               // of this solve
  std::vector<double> residuals, squares;  // lent to conversations; of a column's last block

 private:
  std::int64_t enqueue(std::int64_t iterations, const sxt_exec &exec) const;
  void precondition(const void *r, const sxt_exec &exec) const;  // t = M r
  void drop() noexcept;
  ColumnWork work_{};
  sxt_bound m_{};  // run NULL: the identity
  sextant::plugin::cuda::DeviceArray vectors_, scalars_, pinned_, scratch_;
  std::array<void *, 2> graphs_{};
  bool capture_refused_ = false;
  const sxt_device_ops *ops_;
  void *device_;
  Side side_;
};

// Bytes of a session's vectors.
std::uint64_t columns_bytes(std::int64_t n, sxt_value_type type, std::int32_t columns, bool preconditioned);
// The kernels of kind sxt.pcg/1 (lock_step_plugin.cpp): on CSR alone, and with a preconditioner.
const sxt_kernel &lock_step_kernel();
const sxt_kernel &preconditioned_lock_step_kernel();

// One run. Throws cuda::Failure.
class LockStep {
 public:
  LockStep(const ColumnsState &state, ColumnsSession &session, const sxt_pcg_columns_args &args, const sxt_exec &exec);
  void run();

 private:
  // One column in the form of an engine for its Conversation.
  struct Column {
    LockStep *all = nullptr;
    std::int32_t number = 0;
    sxt_pcg_args *args = nullptr;
    bool active = false, standing = true;  // it has not ended; its numbers are missing or must not be used
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
