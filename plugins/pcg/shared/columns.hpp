// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides of one matrix in lock step, for engines with the slots of plugins/pcg/shared/parts.hpp on
// any device: classical conjugate gradients (Hestenes and Stiefel 1952) in which one product with A serves all columns,
// inner products are waited for together, and everything else is separate for each column. A column that has ended
// leaves the product: the directions of the others move up. Header-only, no part of the ABI.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>

#include "plugins/pcg/shared/monitor.hpp"
#include "plugins/pcg/shared/parts.hpp"
#include "sextant/plugin/kinds/pcg_columns.h"

namespace sextant::plugin::pcg {

inline constexpr std::int32_t most_columns = SXT_PCG_COLUMNS_MAX;
// Values that results of inner products need room for.
inline constexpr std::int32_t columns_results = 2 * most_columns + SXT_MULTIDOT_MAX;

// Memory that a session lends to a run.
struct ColumnsWork {
  sxt_value_type type;
  std::int64_t n;
  bool preconditioned;
  std::int32_t columns;  // at most
  const Parts *parts;
  char *vectors;         // `columns` of each of r, p, q and, with M, z
  std::uint64_t stride;  // bytes between vectors, a multiple of the value's size
  void *results;         // columns_results values that kernels write and the host reads
  bool on_device;        // the host must wait for them
};

// A part failed; its status goes to the caller, with the sentence that the part attached.
struct ColumnsFailed {
  sxt_status status;
};

template <class T>
struct Column {
  sxt_pcg_args *args = nullptr;
  std::optional<Monitor> monitor;
  T *x = nullptr, *r = nullptr, *z = nullptr;  // z is r where there is no M
  double gamma = 0, gamma_old = 0, r_r = 0;    // r'z of this iterate and of the one before; r'r
  bool measure = true, restart = true;         // r is to be computed from x; the direction restarts
  // Kernels read a complex scalar in one access.
  alignas(sizeof(T)) T alpha{};
  alignas(sizeof(T)) T beta{};
};

// Columns by number, in the order of their directions.
struct ColumnSet {
  std::array<std::int32_t, most_columns> at;
  std::int32_t count = 0;
  void add(std::int32_t column) { at[static_cast<std::size_t>(count++)] = column; }
  const std::int32_t *begin() const { return at.data(); }
  const std::int32_t *end() const { return at.data() + count; }
};

template <class T>
class LockStep {
 public:
  using Real = real_of<T>;

  LockStep(const ColumnsWork &work, const sxt_pcg_columns_args &args, const sxt_exec &exec)
      : work_(work), parts_(*work.parts), exec_(exec), results_(static_cast<T *>(work.results)) {
    constexpr double smallest = std::numeric_limits<Real>::min(), largest = std::numeric_limits<Real>::max();
    for (std::int32_t j = 0; j < args.n_rhs; ++j) {
      Column<T> &c = columns_[static_cast<std::size_t>(j)];
      sxt_pcg_args &own = args.columns[j];
      c.args = &own;
      c.x = static_cast<T *>(own.x);
      c.r = block(0, j);
      c.z = work.preconditioned ? block(3, j) : c.r;
      c.monitor.emplace(own, exec, smallest, largest);
      active_.add(j);
    }
  }

  void run() {
    ColumnSet judged = active_;
    for (;;) {
      judge(judged);
      if (active_.count == 0) return;
      turn();
      multiply();
      descend();
      judged = active_;
    }
  }

 private:
  // Vector `column` of block r, p, q or z.
  T *block(std::int32_t which, std::int32_t column) const {
    return reinterpret_cast<T *>(work_.vectors +
                                 work_.stride * static_cast<std::uint64_t>(which * work_.columns + column));
  }
  Column<T> &column(std::int32_t j) { return columns_[static_cast<std::size_t>(j)]; }

  // Asks core about the iterates of these columns, again after each replacement of residuals. Those that end leave
  // `active_`.
  void judge(ColumnSet pending) {
    ColumnSet ended;
    while (pending.count > 0) {
      for (const std::int32_t j : pending) {
        if (column(j).measure) residual(column(j));
        precondition(column(j));
      }
      residual_products(pending);
      ColumnSet again;
      for (const std::int32_t j : pending) {
        Column<T> &c = column(j);
        switch (c.monitor->at(c.r_r)) {
          case Next::stop: ended.add(j); continue;
          case Next::replace: c.measure = true, again.add(j); continue;
          case Next::restart: c.restart = true; break;
          case Next::step: break;
        }
        if (!c.monitor->preconditioned_residual(c.gamma)) ended.add(j);
      }
      pending = again;
    }
    leave(ended);
  }

  // p = z + beta p
  void turn() {
    for (std::int32_t s = 0; s < active_.count; ++s) {
      Column<T> &c = column(active_.at[static_cast<std::size_t>(s)]);
      c.beta = static_cast<Real>(c.restart ? 0 : c.gamma / c.gamma_old);
      c.alpha = 1;
      if (c.restart)
        vector(parts_.copy, SXT_VECTOR_COPY, {}, c.z, {}, block(1, s));
      else
        vector(parts_.axpby, SXT_VECTOR_AXPBY, {&c.alpha, 0, 0}, c.z, {&c.beta, 0, 0}, block(1, s));
    }
  }

  // Q = A P
  void multiply() {
    product(1, block(1, 0), 0, block(2, 0), active_.count);
    for (const std::int32_t j : active_) ++column(j).args->products;
  }

  // alpha = r'z / p'q; x += alpha p, r -= alpha q
  void descend() {
    pairs_ = 0;
    for (std::int32_t s = 0; s < active_.count; ++s) add_pair(block(1, s), block(2, s));
    await(parts_.apply_dots, std::min<std::int32_t>(SXT_MULTIDOT_MAX, work_.columns));
    ColumnSet ended;
    for (std::int32_t s = 0; s < active_.count; ++s) {
      const std::int32_t j = active_.at[static_cast<std::size_t>(s)];
      Column<T> &c = column(j);
      ++c.args->reductions;
      const double p_q = result(s);
      const double alpha = c.gamma / p_q;
      if (!c.monitor->curvature(p_q) || !c.monitor->step_length(alpha)) {
        ended.add(j);
        continue;
      }
      c.alpha = static_cast<Real>(alpha);
      update(c, block(1, s), block(2, s));
      c.gamma_old = c.gamma;
      c.restart = false;
      c.monitor->advance();
    }
    leave(ended);
  }

  // The others' directions move up.
  void leave(const ColumnSet &ended) {
    for (const std::int32_t j : ended) {
      column(j).args->launches = launches_;
      std::int32_t s = 0;
      while (active_.at[static_cast<std::size_t>(s)] != j) ++s;
      const std::int32_t last = --active_.count;
      if (s == last) continue;
      vector(parts_.copy, SXT_VECTOR_COPY, {}, block(1, last), {}, block(1, s));
      active_.at[static_cast<std::size_t>(s)] = active_.at[static_cast<std::size_t>(last)];
    }
  }

  // r = b - A x
  void residual(Column<T> &c) {
    vector(parts_.copy, SXT_VECTOR_COPY, {}, static_cast<const T *>(c.args->b), {}, c.r);
    const bool fresh = c.args->products == 0 && c.args->x_is_zero;
    if (!fresh) {
      product(-1, c.x, 1, c.r, 1);
      ++c.args->products;
    }
    c.measure = false;
  }

  void precondition(Column<T> &c) {
    if (!work_.preconditioned) return;
    sxt_preconditioner_args args{head<sxt_preconditioner_args>(SXT_KIND_PRECONDITIONER), work_.n, c.r, c.z};
    call(parts_.precondition, args.h);
  }

  void residual_products(const ColumnSet &of) {
    pairs_ = 0;
    for (const std::int32_t j : of) {
      add_pair(column(j).r, column(j).z);
      if (work_.preconditioned) add_pair(column(j).r, column(j).r);
    }
    const std::int32_t each = 1 + work_.preconditioned;
    await(parts_.dots, std::min<std::int32_t>(SXT_MULTIDOT_MAX, work_.columns * each));
    std::int32_t i = 0;
    for (const std::int32_t j : of) {
      Column<T> &c = column(j);
      ++c.args->reductions;
      c.gamma = result(i);
      c.r_r = result(i + each - 1);
      i += each;
    }
  }

  void update(Column<T> &c, T *p, T *q) {
    sxt_vector_group_args args{};
    args.h = head<sxt_vector_group_args>(SXT_KIND_VECTOR_GROUP);
    args.n = work_.n;
    args.group = SXT_GROUP_CLASSICAL_XR;
    args.scalars[0] = {&c.alpha, 0, 0};
    void *const vectors[] = {c.x, c.r, p, q};
    for (int i = 0; i < 4; ++i) args.vectors[i] = vectors[i];
    call(parts_.update, args.h);
  }

  void vector(const sxt_bound &part, std::int32_t operation, sxt_scalar alpha, const T *x, sxt_scalar beta, T *y) {
    const sxt_vector_args args = vector_args(work_.n, operation, alpha, x, beta, y);
    call(part, args.h);
  }

  // y = alpha A x + beta y for adjacent vectors of a block.
  void product(double alpha, const T *x, double beta, T *y, std::int32_t count) {
    alignas(sizeof(T)) const T first = static_cast<Real>(alpha), second = static_cast<Real>(beta);
    sxt_spmv_args args{};
    args.h = head<sxt_spmv_args>(SXT_KIND_SPMV);
    args.op = SXT_NO_TRANSPOSE;
    args.n_rhs = count;
    args.ldx = args.ldy = count > 1 ? static_cast<std::int64_t>(work_.stride / sizeof(T)) : work_.n;
    args.alpha = {&first, 0, 0};
    args.beta = {&second, 0, 0};
    args.x = x;
    args.y = y;
    call(parts_.apply, args.h);
  }

  void add_pair(const T *u, const T *v) {
    u_[static_cast<std::size_t>(pairs_)] = u;
    v_[static_cast<std::size_t>(pairs_++)] = v;
  }
  // All pairs, `promised` at a time: parts always get as many as they were chosen for, the last one repeated.
  void await(const sxt_bound &part, std::int32_t promised) {
    for (std::int32_t first = 0; first < pairs_; first += promised) {
      const void *u[SXT_MULTIDOT_MAX], *v[SXT_MULTIDOT_MAX];
      for (std::int32_t i = 0; i < promised; ++i) {
        const auto from = static_cast<std::size_t>(std::min(first + i, pairs_ - 1));
        u[i] = u_[from], v[i] = v_[from];
      }
      sxt_multidot_args args{};
      args.h = head<sxt_multidot_args>(SXT_KIND_MULTIDOT);
      args.n = work_.n;
      args.n_dots = promised;
      args.u = u;
      args.v = v;
      args.result = results_ + first;
      call(part, args.h);
    }
    if (!work_.on_device) return;
    if (const sxt_status status = exec_.host->synchronize(exec_.host, &exec_); status != SXT_OK)
      throw ColumnsFailed{status};
  }
  double result(std::int32_t i) const { return static_cast<double>(std::real(results_[i])); }

  void call(const sxt_bound &part, const sxt_head &args) {
    launches_ += work_.on_device;
    if (const sxt_status status = sextant::plugin::run(part, args, exec_); status != SXT_OK)
      throw ColumnsFailed{status};
  }

  const ColumnsWork &work_;
  const Parts &parts_;
  const sxt_exec &exec_;
  std::array<Column<T>, most_columns> columns_{};
  ColumnSet active_;  // those that have not ended; direction s is that of the s-th
  std::int32_t pairs_ = 0;
  std::array<const T *, 2 * most_columns> u_, v_;
  T *const results_;
  std::int32_t launches_ = 0;
};

// Args of a run of at most this many columns of n rows.
inline sxt_status check_columns(std::int64_t n, std::int32_t columns, const sxt_head *head, const sxt_exec *exec) {
  if (!head || !SXT_HAS(head, sxt_pcg_columns_args, columns))
    return error(exec, SXT_E_ARGUMENT, "the args are not a complete sxt_pcg_columns_args");
  const auto &args = as<sxt_pcg_columns_args>(head);
  if (args.n_rhs < 0 || args.n_rhs > columns || (args.n_rhs > 0 && !args.columns))
    return error(exec, SXT_E_ARGUMENT, "%d columns, the engine was prepared for at most %d", args.n_rhs, columns);
  for (std::int32_t j = 0; j < args.n_rhs; ++j)
    if (const sxt_status status = check_args(&args.columns[j].h, n, exec); status != SXT_OK) return status;
  return SXT_OK;
}

// sxt_pcg_columns_ops.run_columns, inside the guard of an engine.
inline sxt_status run_columns(const ColumnsWork &work, const sxt_head *head, const sxt_exec *exec) {
  if (const sxt_status status = check_columns(work.n, work.columns, head, exec); status != SXT_OK) return status;
  return with_value_type(work.type, [&]<class T>(Tag<T>) -> sxt_status {
    try {
      LockStep<T>(work, as<sxt_pcg_columns_args>(head), *exec).run();
    } catch (const ColumnsFailed &failure) {
      return failure.status;
    }
    return SXT_OK;
  });
}

// Seconds of the parts in one iteration of all columns together, and around all of them: one product, and everything
// else for each.
inline PartSeconds columns_seconds(const Recurrence &recurrence, const sxt_filled *slots, std::int32_t columns,
                                   bool preconditioned) {
  const auto calls = [](std::int32_t products) {
    return static_cast<double>((products + SXT_MULTIDOT_MAX - 1) / SXT_MULTIDOT_MAX);
  };
  const sxt_filled &a = slots[recurrence.find("A")], &vector = slots[recurrence.find("vector")];
  const double product = a.parts[0]->run_s, many = columns;
  const double each = slot_seconds(recurrence, slots, "update") + slot_seconds(recurrence, slots, "M") +
                      vector.parts[vector_axpby]->run_s;
  const double dots = calls(columns) * a.parts[1]->run_s +
                      calls(columns * (1 + preconditioned)) * slot_seconds(recurrence, slots, "dots");
  return {product + many * each + dots, 2 * product + 2 * many * vector.parts[vector_copy]->run_s};
}

}  // namespace sextant::plugin::pcg
