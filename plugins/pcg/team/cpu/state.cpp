// SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/threads.hpp"

SXT_ISA_TABLE(team_rows, sextant::plugin::RowsTable)
SXT_ISA_TABLE(team, StepsTable)

namespace team {

namespace {

// A row costs about as much as four entries: the vectors' share.
constexpr std::int64_t row_work = 4;

std::uint64_t stride_of(std::int64_t n, sxt_value_type type) {
  return (static_cast<std::uint64_t>(n) * plugin::value_bytes(type) + apart - 1) / apart * apart;
}

std::int64_t border_work(const Product &product, std::int64_t row) { return product.work(row) + row_work * row; }

}  // namespace

Product::Product(const sxt_head &a, sxt_value_type vectors, std::int64_t block, int level) : block_(block) {
  const auto &storage = reinterpret_cast<const sxt_storage &>(a);
  const int pair = plugin::type_pair(vectors, storage.value_type);
  if (pair < 0) throw Refused{SXT_E_TYPE, "this pair of vector and matrix types is not offered"};
  const plugin::RowsTable &table = team_rows::isa_table(level);
  if (plugin::is_kind(a, SXT_KIND_STORAGE_CSR))
    rows_ = table.csr[pair][storage.offset_type == SXT_I64];
  else if (plugin::is_kind(a, SXT_KIND_STORAGE_SELL))
    rows_ = table.sell[pair];
  else
    dia_rows_ = table.dia[pair];
  if (!rows_ && !dia_rows_) throw Refused{SXT_E_TYPE, "slices of complex numbers are not offered"};
  set(a);
}

void Product::set(const sxt_head &a) {
  if (plugin::is_kind(a, SXT_KIND_STORAGE_CSR))
    set_csr(reinterpret_cast<const sxt_csr &>(a));
  else if (plugin::is_kind(a, SXT_KIND_STORAGE_SELL))
    set_sell(reinterpret_cast<const sxt_sell &>(a));
  else
    set_dia(reinterpret_cast<const sxt_dia &>(a));
}

void Product::set_csr(const sxt_csr &a) {
  if (a.s.index_type != SXT_I32) throw Refused{SXT_E_NOT_SUPPORTED, "columns of 64 bits are not read"};
  compressed_.start = a.row_ptr;
  compressed_.col = static_cast<const std::int32_t *>(a.col);
  compressed_.values = a.values;
  long_offsets_ = a.s.offset_type == SXT_I64;
}

void Product::set_sell(const sxt_sell &a) {
  if (a.slice != 8 || a.s.index_type != SXT_I32 || a.s.offset_type != SXT_I64)
    throw Refused{SXT_E_NOT_SUPPORTED,
                  "slices of " + std::to_string(a.slice) + " rows; 8 with 32-bit columns and 64-bit offsets are read"};
  // Rows of a block must stay in its slices.
  if (a.perm && (a.sigma <= 0 || block_ % a.sigma))
    throw Refused{SXT_E_NOT_SUPPORTED, "rows are sorted within windows of " + std::to_string(a.sigma) +
                                           ", which do not divide " + std::to_string(block_)};
  compressed_.start = a.slice_ptr;
  compressed_.col = static_cast<const std::int32_t *>(a.col);
  compressed_.perm = static_cast<const std::int32_t *>(a.perm);
  compressed_.values = a.values;
  long_offsets_ = true;
  per_start_ = a.slice;
}

void Product::set_dia(const sxt_dia &a) { diagonals_ = plugin::dia_ways(a, SXT_NO_TRANSPOSE); }

std::int64_t Product::work(std::int64_t row) const {
  if (!rows_) return row * diagonals_.diagonals;
  const std::int64_t i = (row + per_start_ - 1) / per_start_;
  return long_offsets_ ? static_cast<const std::int64_t *>(compressed_.start)[i]
                       : static_cast<const std::int32_t *>(compressed_.start)[i];
}

Product::Call Product::call(const void *x, void *y, double alpha, double beta) const {
  Call call{compressed_, diagonals_};
  const auto fill = [&](auto &to) {
    to.x = x, to.y = y;
    to.alpha[0] = alpha, to.beta[0] = beta;
    to.alpha[1] = to.beta[1] = 0;
  };
  fill(call.rows);
  fill(call.dia);
  return call;
}

State::State(const sxt_pcg_query &query, const sxt_head &a, bool predicts, int threads, int level)
    : type(query.m.q.value_type),
      n(query.m.rows),
      block(block_rows(query)),
      blocks((n + block - 1) / block),
      predicting(predicts),
      product(a, type, block, level),
      steps(isa_table(level).of[type - SXT_F32]),
      parts(share_rows(n, block, threads, [this](std::int64_t row) { return border_work(product, row); })) {}

std::uint64_t session_bytes(std::int64_t n, std::int64_t blocks, sxt_value_type type) {
  return 3 * stride_of(n, type) + static_cast<std::uint64_t>(dots * blocks) * plugin::value_bytes(type);
}

// Vectors are touched first by the members that will own their rows, so that they lie in those members' memory.
Session::Session(const State &state, const sxt_exec &exec)
    : barrier(static_cast<int>(state.parts.size())),
      squared(static_cast<std::size_t>(longest_block) + 1),
      residuals(squared.size()),  // once that long, it never grows in a solve
      stride_(stride_of(state.n, state.type)),
      blocks_(state.blocks),
      memory_(&exec, SXT_SPACE_HOST, session_bytes(state.n, state.blocks, state.type)) {
  const std::vector<Part> &parts = state.parts;
  const std::uint64_t element = plugin::value_bytes(state.type);
  plugin::in_team(plugin::team_size(static_cast<int>(parts.size()), exec), [&](int index, int count) {
    for (std::size_t p = static_cast<std::size_t>(index); p < parts.size(); p += static_cast<std::size_t>(count))
      for (int v = 0; v < 3; ++v)
        std::fill_n(vector<char>(v) + static_cast<std::uint64_t>(parts[p].begin) * element,
                    static_cast<std::uint64_t>(parts[p].end - parts[p].begin) * element, char{0});
  });
}

}  // namespace team
