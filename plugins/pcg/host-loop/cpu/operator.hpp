// SPDX-License-Identifier: BSD-3-Clause
// The vocabulary in which the recurrences are written: A x with inner products, M r, inner products, vector updates.
// Every step is one call of a bound kernel; the engine never touches the elements of a vector or a matrix.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "session.hpp"

namespace host_loop {

// Thrown when a part fails; its status goes to the caller, with the sentence that the part attached.
struct PartFailed {
  sxt_status status;
};

template <class T>
class Operator {
 public:
  using Real = sextant::plugin::real_of<T>;

  // An inner product conj(u) . v; nullptr stands for the vector that the step produces.
  struct Pair {
    const T *u, *v;
  };

  Operator(const State &state, const Session &session, sxt_pcg_args &args, const sxt_exec &exec)
      : state_(state), session_(session), parts_(session.parts()), args_(args), exec_(exec) {}

  const T *b() const { return static_cast<const T *>(args_.b); }
  T *x() const { return static_cast<T *>(args_.x); }
  T *vector(std::int32_t i) const { return static_cast<T *>(session_.vector(i)); }
  bool preconditioned() const { return parts_.precondition.run != nullptr; }

  // y = A x, and inner products that may include y, all waited for at once.
  template <std::size_t N>
  std::array<double, N> apply(const T *x, T *y, const Pair (&pairs)[N]) {
    multiply(1, x, 0, y, pairs, N);
    return await<N>();
  }

  // y = A x, z = M y, inner products that may include y, and y'z as the last of them: all waited for at once.
  template <std::size_t N>
  std::array<double, N + 1> apply_both(const T *x, T *y, T *z, const Pair (&pairs)[N]) {
    multiply(1, x, 0, y, pairs, N);
    std::array<double, N + 1> values;
    for (std::size_t i = 0; i < N; ++i) values[i] = real_result(i);
    precondition(y, z);
    values[N] = dots({{y, z}})[0];
    return values;
  }

  // r = b - A x.
  void residual(T *r) {
    copy(b(), r);
    // A fused kernel computes its inner products in any case; these are not used.
    const Pair unused[] = {{nullptr, nullptr}};
    if (!(first_ && args_.x_is_zero)) multiply(-1, x(), 1, r, unused, parts_.fused ? 1 : 0);
    first_ = false;
  }

  // z = M r, where there is an M.
  void precondition(const T *r, T *z) {
    sxt_preconditioner_args args{head<sxt_preconditioner_args>(SXT_KIND_PRECONDITIONER), state_.n, r, z};
    call(parts_.precondition, args.h);
  }

  template <std::size_t N>
  std::array<double, N> dots(const Pair (&pairs)[N]) {
    multidot(parts_.dots, pairs, N, state_.recurrence->dots[state_.preconditioned]);
    return await<N>();
  }

  // The fused update of the recurrence, vectors in the order of its formula.
  void update(double alpha, double beta, std::initializer_list<T *> vectors) {
    sxt_vector_group_args args{};
    args.h = head<sxt_vector_group_args>(SXT_KIND_VECTOR_GROUP);
    args.n = state_.n;
    args.group = state_.recurrence->group;
    args.scalars[0] = number(alpha_, alpha);
    args.scalars[1] = number(beta_, beta);
    std::size_t i = 0;
    for (T *vector : vectors) args.vectors[i++] = vector;
    call(parts_.update, args.h);
  }

  // y = alpha x + beta y.
  void axpby(double alpha, const T *x, double beta, T *y) {
    vector_operation(parts_.axpby, SXT_VECTOR_AXPBY, number(alpha_, alpha), number(beta_, beta), x, y);
  }
  // y = x.
  void copy(const T *x, T *y) { vector_operation(parts_.copy, SXT_VECTOR_COPY, {}, {}, x, y); }

 private:
  template <class Args>
  static sxt_head head(const char *kind) {
    return sextant::plugin::head<Args>(kind);
  }

  void call(const sxt_bound &part, const sxt_head &args) {
    if (const sxt_status status = sextant::plugin::run(part, args, exec_); status != SXT_OK) throw PartFailed{status};
  }

  // Rounds a coefficient to the value type and lends it to a part.
  sxt_scalar number(T &place, double value) {
    place = static_cast<Real>(value);
    return {&place, 0, 0};
  }

  void vector_operation(const sxt_bound &part, std::int32_t operation, sxt_scalar alpha, sxt_scalar beta, const T *x,
                        T *y) {
    const sxt_vector_args args = sextant::plugin::pcg::vector_args(state_.n, operation, alpha, x, beta, y);
    call(part, args.h);
  }

  // y = alpha A x + beta y with `count` inner products (0: none), in one kernel or two.
  void multiply(double alpha, const T *x, double beta, T *y, const Pair *pairs, std::size_t count) {
    sxt_spmv_dots_args args{};
    args.m.h = head<sxt_spmv_args>(SXT_KIND_SPMV);
    args.m.op = SXT_NO_TRANSPOSE;
    args.m.n_rhs = 1;
    args.m.ldx = args.m.ldy = state_.n;
    args.m.alpha = number(alpha_, alpha);
    args.m.beta = number(beta_, beta);
    args.m.x = x;
    args.m.y = y;
    ++args_.products;
    const std::int32_t promised = state_.recurrence->apply_dots[state_.preconditioned];
    if (!parts_.fused) {
      call(parts_.apply, args.m.h);
      // The separate kernel gets the new vector by its address.
      Pair named[SXT_MULTIDOT_MAX];
      for (std::size_t i = 0; i < count; ++i) named[i] = {pairs[i].u ? pairs[i].u : y, pairs[i].v ? pairs[i].v : y};
      if (count) multidot(parts_.apply_dots, named, count, promised);
      return;
    }
    args.m.h = head<sxt_spmv_dots_args>(SXT_KIND_SPMV_DOTS);
    args.n_dots = spread(pairs, count, promised);
    args.u = u_;
    args.v = v_;
    args.dots = result_;
    call(parts_.apply, args.m.h);
  }

  void multidot(const sxt_bound &part, const Pair *pairs, std::size_t count, std::int32_t promised) {
    sxt_multidot_args args{};
    args.h = head<sxt_multidot_args>(SXT_KIND_MULTIDOT);
    args.n = state_.n;
    args.n_dots = spread(pairs, count, promised);
    args.u = u_;
    args.v = v_;
    args.result = result_;
    call(part, args.h);
  }

  // Parts were chosen for a fixed number of inner products and always get that many: the last pair is repeated.
  std::int32_t spread(const Pair *pairs, std::size_t count, std::int32_t promised) {
    for (std::int32_t i = 0; i < promised; ++i) {
      const Pair &pair = pairs[static_cast<std::size_t>(i) < count ? i : count - 1];
      u_[i] = pair.u;
      v_[i] = pair.v;
    }
    return promised;
  }

  // The real parts of the results: every product of the recurrences is real for a Hermitian matrix.
  template <std::size_t N>
  std::array<double, N> await() {
    ++args_.reductions;
    std::array<double, N> values;
    for (std::size_t i = 0; i < N; ++i) values[i] = real_result(i);
    return values;
  }
  double real_result(std::size_t i) const { return static_cast<double>(std::real(result_[i])); }

  const State &state_;
  const Session &session_;
  const Parts &parts_;
  sxt_pcg_args &args_;
  const sxt_exec &exec_;
  bool first_ = true;
  T alpha_{}, beta_{};
  T result_[SXT_MULTIDOT_MAX]{};
  const void *u_[SXT_MULTIDOT_MAX]{}, *v_[SXT_MULTIDOT_MAX]{};
};

}  // namespace host_loop
