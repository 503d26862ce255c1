// SPDX-License-Identifier: BSD-3-Clause
// The engine's data: the matrix as its storage lends it and the members' rows (state), and for each concurrent caller
// the work vectors and the barrier (session).
#pragma once

#include <cstdint>
#include <vector>

#include "barrier.hpp"
#include "partition.hpp"
#include "plugins/formats/row_products.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/kernel.hpp"
#include "sextant/sdk/tree.hpp"
#include "steps_table.hpp"

namespace team {

namespace plugin = sextant::plugin;

// y = alpha A x + beta y for some rows at a time.
class Product {
 public:
  // Throws Refused where this storage cannot be read in blocks of this many rows.
  Product(const sxt_head &a, sxt_value_type vectors, std::int64_t block, int level);
  void set(const sxt_head &a);  // the same pattern, perhaps at another address

  // Stored entries and rows before this row, as work.
  std::int64_t work(std::int64_t row) const;

  // With vectors and factors, ready for rows().
  struct Call {
    plugin::RowsCall rows;
    plugin::DiaProduct dia;
  };
  Call call(const void *x, void *y, double alpha, double beta) const;
  void rows(const Call &call, std::int64_t begin, std::int64_t end) const {
    if (rows_)
      rows_(call.rows, begin, end);
    else
      dia_rows_(call.dia, begin, end);
  }

 private:
  void set_csr(const sxt_csr &a);
  void set_sell(const sxt_sell &a);
  void set_dia(const sxt_dia &a);

  std::int64_t block_;
  plugin::RowsCall compressed_{};
  plugin::DiaProduct diagonals_{};
  plugin::Rows rows_ = nullptr;  // NULL: diagonals
  plugin::DiaRows dia_rows_ = nullptr;
  bool long_offsets_ = false;
  int per_start_ = 1;  // rows that an offset represents
};

// A reason not to take a matrix, as prepare returns it.
struct Refused {
  sxt_status status;
  std::string sentence;
};

// Terms of an inner product that are added together. In deterministic mode the leaf of the library's one tree; else
// fewer where that would leave a team little to share, though a window of sorted slices must fit. Independent of the
// number of threads, as are the bits.
inline std::int64_t block_rows(const sxt_pcg_query &query) {
  constexpr std::int64_t many = 1 << 18, small = 256, small_in_slices = 512;
  const bool fixed = (query.m.q.flags & SXT_QUERY_DETERMINISTIC) != 0 || query.m.rows >= many;
  const bool slices = query.m.storage && plugin::is_kind({0, query.m.storage}, SXT_KIND_STORAGE_SELL);
  return fixed ? plugin::tree::leaf_size : slices ? small_in_slices : small;
}

struct State {
  State(const sxt_pcg_query &query, const sxt_head &a, bool predicting, int threads, int level);

  sxt_value_type type;
  std::int64_t n, block, blocks;  // blocks of `block` rows
  bool predicting;                // predict-and-recompute; else classical
  Product product;
  const Steps &steps;
  std::vector<Part> parts;
};

// Inner products of an iteration, each with an array of the blocks' sums.
enum Dot { p_q, r_q, q_q, r_r, dots };

class Session {
 public:
  Session(const State &state, const sxt_exec &exec);

  template <class T>
  T *vector(int i) const {
    return reinterpret_cast<T *>(memory_.as<char>() + stride_ * static_cast<std::uint64_t>(i));
  }
  template <class T>
  T *block_sums(Dot dot) const {
    return vector<T>(3) + static_cast<std::int64_t>(dot) * blocks_;
  }

  Barrier barrier;
  std::vector<double> squared, residuals;  // r'r of a block's iterates; for the conversation

 private:
  std::uint64_t stride_;
  std::int64_t blocks_;
  plugin::Memory memory_;  // r p q and the sums
};

// Iterations in one region: entering it costs little beside them.
inline constexpr std::int64_t longest_block = 256;

// Bytes of a session's vectors.
std::uint64_t session_bytes(std::int64_t n, std::int64_t blocks, sxt_value_type type);

}  // namespace team
