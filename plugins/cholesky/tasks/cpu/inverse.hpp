// SPDX-License-Identifier: BSD-3-Clause
// Entries of the inverse where L has entries, from the root down, a supernode at a time: with Z the inverse, R the rows
// below and Y = L21 L11^-1,
//   Z_Rs = -Z_RR Y,   Z_ss = L11^-H D^-1 L11^-1 - Y^H Z_Rs,
// of which all entries of Z_RR stand in blocks of ancestors (K. Takahashi, J. Fagan, M.-S. Chen, 1973; A. M. Erisman
// and W. F. Tinney, 1975). Fronts above the ranges follow each other with a team on each, ranges are spread over it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "dense_calls.hpp"
#include "plan.hpp"
#include "sextant/sdk/cancel.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant_cholesky_tasks {

// What one caller works in: a square and a panel for the fronts above, and for each thread, with places of rows.
struct InverseSpace {
  std::byte *top = nullptr;
  std::byte *stacks = nullptr;
  Index *places = nullptr;  // most rows below, a thread
  std::int64_t most_below = 0;
};

template <class T>
struct InverseCall {
  const T *l;
  T *z;
  bool unit;
  sxt_value_type type;
  DenseParts parts;
};

template <class T>
class Inverse {
 public:
  Inverse(const Plan &plan, const InverseSpace &space, const InverseCall<T> &call, const sxt_exec &exec)
      : plan_(plan), space_(space), call_(call), exec_(exec) {
    exec_.threads = 1;
  }

  // False where it was cancelled.
  bool run(int threads) {
    for (std::size_t u = plan_.units.size(); u-- > 0;)
      if (plan_.units[u].kind != Unit::Kind::range) {
        if (stop()) return false;
        T *const square = reinterpret_cast<T *>(space_.top);
        supernode(plan_.units[u].first, square, square + plan_.top_square, threads, 0);
      }
    std::atomic<std::int64_t> next{static_cast<std::int64_t>(plan_.units.size())};
    sextant::plugin::in_team(threads, [&](int rank, int) {
      T *const square = reinterpret_cast<T *>(space_.stacks) + rank * (plan_.stack_square + plan_.stack_panel);
      for (std::int64_t u; !stop() && (u = next.fetch_sub(1) - 1) >= 0;) {
        const Unit &unit = plan_.units[u];
        if (unit.kind != Unit::Kind::range) continue;
        for (std::int64_t p = unit.last; p >= unit.first; --p)
          supernode(p, square, square + plan_.stack_square, 1, rank);
      }
    });
    return !stop();
  }
  sxt_status status() const { return status_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t strip = 128;  // rows that a thread takes of a large front

  bool stop() const { return sextant::plugin::is_cancelled(exec_.cancel); }
  Block<T> inverse(std::int64_t p) const { return {call_.z + plan_.s.value_ptr[p], plan_.rows(p)}; }

  template <class F>
  void in_strips(std::int64_t size, int threads, F &&f) {
    const auto parts = static_cast<int>((size + strip - 1) / strip);
    sextant::plugin::for_each_part(parts, threads, [&](int part) {
      Dense<T> dense(call_.parts, call_.type, call_.unit, exec_);
      f(part * strip, std::min(size, (part + 1) * strip), dense);
      if (dense.status() != SXT_OK) status_.store(dense.status(), std::memory_order_relaxed);
    });
  }

  void gather(std::int64_t p, Block<T> to, int rank);
  void supernode(std::int64_t p, T *square, T *panel, int threads, int rank);
  void diagonal_block(std::int64_t p, Block<T> l);

  const Plan &plan_;
  const InverseSpace &space_;
  const InverseCall<T> call_;
  sxt_exec exec_;
  std::atomic<sxt_status> status_{SXT_OK};
};

// Z_RR of supernode p, both triangles, from the blocks of the supernodes that own its rows.
template <class T>
void Inverse<T>::gather(std::int64_t p, Block<T> to, int rank) {
  const std::int64_t below = plan_.below(p);
  const Index *rows = plan_.below_rows(p);
  Index *const place = space_.places + rank * space_.most_below;
  std::int64_t owner = plan_.s.parent[p];
  for (std::int64_t j = 0; j < below;) {
    while (rows[j] >= plan_.s.super_ptr[owner + 1]) owner = plan_.s.parent[owner];
    const Index *there = plan_.s.rows + plan_.s.row_ptr[owner];
    for (std::int64_t i = j, k = 0; i < below; ++i) {
      while (there[k] != rows[i]) ++k;
      place[i] = static_cast<Index>(k);
    }
    const Block<T> z = inverse(owner);
    for (; j < below && rows[j] < plan_.s.super_ptr[owner + 1]; ++j) {
      const T *column = z.data + (rows[j] - plan_.s.super_ptr[owner]) * z.ld;
      for (std::int64_t i = j; i < below; ++i) {
        const T value = column[place[i]];
        to.data[i + j * to.ld] = value, to.data[j + i * to.ld] = sextant::plugin::conjugate(value);
      }
    }
  }
}

// L11^-H D^-1 L11^-1 in the inverse's diagonal block.
template <class T>
void Inverse<T>::diagonal_block(std::int64_t p, Block<T> l) {
  const std::int64_t width = plan_.width(p);
  const Block<T> z = inverse(p);
  for (std::int64_t j = 0; j < width; ++j)
    for (std::int64_t i = 0; i < width; ++i) z.data[i + j * z.ld] = T(i == j ? 1 : 0);
  Dense<T> dense(call_.parts, call_.type, call_.unit, exec_);
  dense.forward(l, z, width, width);
  for (std::int64_t i = 0; call_.unit && i < width; ++i) {
    const auto inverse = 1 / std::real(l.data[i * (l.ld + 1)]);
    for (std::int64_t j = 0; j < width; ++j) z.data[i + j * z.ld] *= inverse;
  }
  dense.backward(l, z, width, width);
}

template <class T>
void Inverse<T>::supernode(std::int64_t p, T *square, T *panel, int threads, int rank) {
  const std::int64_t width = plan_.width(p), below = plan_.below(p);
  const Block<T> l{const_cast<T *>(call_.l) + plan_.s.value_ptr[p], plan_.rows(p)};  // read only
  const Block<T> z = inverse(p), under = z.at(width, 0), rr{square, below}, y{panel, width};
  diagonal_block(p, l);
  if (below > 0) {
    gather(p, rr, rank);
    in_strips(below, threads, [&](std::int64_t begin, std::int64_t end, Dense<T> &dense) {  // Y^H = L11^-H L21^H
      for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          y.data[j + i * width] = sextant::plugin::conjugate(l.data[width + i + j * l.ld]);
      dense.backward(l, y.at(0, begin), width, end - begin);
    });
    in_strips(below, threads, [&](std::int64_t begin, std::int64_t end, Dense<T> &dense) {
      for (std::int64_t j = 0; j < width; ++j)
        std::memset(static_cast<void *>(under.data + begin + j * z.ld), 0,
                    static_cast<std::size_t>(end - begin) * sizeof(T));
      dense.gemm(rr.at(begin, 0), y, under.at(begin, 0), end - begin, width, below, {});
    });
    in_strips(width, threads, [&](std::int64_t begin, std::int64_t end, Dense<T> &dense) {
      dense.product(y.at(begin, 0), under, z.at(begin, 0), end - begin, width, below);
    });
  }
  for (std::int64_t j = 0; j < width; ++j) z.data[j * (z.ld + 1)] = std::real(z.data[j * (z.ld + 1)]);
}

}  // namespace sextant_cholesky_tasks
