// SPDX-License-Identifier: BSD-3-Clause
// Simple part kernels, and an engine driven through them exactly as by core: slot queries, candidates, prepare, open,
// run, close, release.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"
#include "test_support.hpp"

namespace pcg_test {

namespace plugin = sextant::plugin;

// The operator of one caller: counts its products and spoils the requested one.
struct Products {
  int count = 0;
  int spoil = 0;  // this product (from 1) gets a NaN; when negative, that product fails
};

template <class T>
T number(const sxt_scalar &s) {
  return plugin::scalar<T>(s, T(0));
}

template <class T>
T inner(std::int64_t n, const void *u, const void *v) {
  T sum{};
  for (std::int64_t i = 0; i < n; ++i)
    sum += plugin::conjugate(static_cast<const T *>(u)[i]) * static_cast<const T *>(v)[i];
  return sum;
}

template <class T>
sxt_status run_spmv(const void *state, void *session, const sxt_head *head, const sxt_exec *) {
  const auto &a = *static_cast<const Matrix<T> *>(state);
  const auto &args = plugin::as<sxt_spmv_args>(head);
  auto &products = *static_cast<Products *>(session);
  if (products.count + 1 == -products.spoil) return SXT_E_DEVICE;
  const T alpha = number<T>(args.alpha), beta = number<T>(args.beta);
  std::vector<T> product(static_cast<std::size_t>(a.n));
  a.multiply(static_cast<const T *>(args.x), product.data());
  T *y = static_cast<T *>(args.y);
  for (std::int64_t i = 0; i < a.n; ++i) y[i] = beta == T(0) ? alpha * product[i] : alpha * product[i] + beta * y[i];
  if (++products.count == products.spoil) y[a.n / 2] = std::numeric_limits<plugin::real_of<T>>::quiet_NaN();
  return SXT_OK;
}

template <class T>
sxt_status run_spmv_dots(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = plugin::as<sxt_spmv_dots_args>(head);
  if (const sxt_status status = run_spmv<T>(state, session, head, exec); status != SXT_OK) return status;
  for (std::int32_t i = 0; i < args.n_dots; ++i)
    static_cast<T *>(args.dots)[i] = inner<T>(static_cast<const Matrix<T> *>(state)->n,
                                              args.u[i] ? args.u[i] : args.m.y, args.v[i] ? args.v[i] : args.m.y);
  return SXT_OK;
}

template <class T>
sxt_status run_multidot(const void *, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = plugin::as<sxt_multidot_args>(head);
  for (std::int32_t i = 0; i < args.n_dots; ++i)
    static_cast<T *>(args.result)[i] = inner<T>(args.n, args.u[i], args.v[i]);
  return SXT_OK;
}

template <class T>
sxt_status run_vector(const void *, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = plugin::as<sxt_vector_args>(head);
  const T *x = static_cast<const T *>(args.x);
  T *y = static_cast<T *>(args.y);
  const T alpha = number<T>(args.alpha), beta = number<T>(args.beta);
  for (std::int64_t i = 0; i < args.n; ++i) {
    if (args.operation == SXT_VECTOR_COPY)
      y[i] = x[i];
    else if (args.operation == SXT_VECTOR_AXPBY)
      y[i] = alpha * x[i] + beta * y[i];
    else
      return SXT_E_NOT_SUPPORTED;
  }
  return SXT_OK;
}

template <class T>
sxt_status run_group(const void *, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = plugin::as<sxt_vector_group_args>(head);
  T *v[8];
  for (int i = 0; i < 8; ++i) {
    v[i] = static_cast<T *>(args.vectors[i]);
    for (int j = 0; j < i; ++j) {
      const bool u_is_r = args.group == SXT_GROUP_CHRONOPOULOS_GEAR && i == 4 && j == 1;  // the one pair that may
      if (args.n > 0 && v[i] && v[i] == v[j] && !u_is_r) return SXT_E_ARGUMENT;           // the kind forbids overlap
    }
  }
  const T alpha = number<T>(args.scalars[0]), beta = number<T>(args.scalars[1]);
  for (std::int64_t i = 0; i < args.n; ++i) {
    T &x = v[0][i], &r = v[1][i], &p = v[2][i], &q = v[3][i];
    if (args.group == SXT_GROUP_CLASSICAL_XR)
      x += alpha * p, r -= alpha * q;
    else if (args.group == SXT_GROUP_CHRONOPOULOS_GEAR)
      p = v[4][i] + beta * p, q = v[5][i] + beta * q, x += alpha * p, r -= alpha * q;
    else if (args.group == SXT_GROUP_PREDICT_RECOMPUTE)
      r -= alpha * q, x += alpha * p, p = r + beta * p;
    else
      return SXT_E_NOT_SUPPORTED;
  }
  return SXT_OK;
}

// z = r times the numbers of a vector: any diagonal preconditioner.
template <class T>
sxt_status run_diagonal(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &factors = *static_cast<const std::vector<plugin::real_of<T>> *>(state);
  const auto &args = plugin::as<sxt_preconditioner_args>(head);
  for (std::int64_t i = 0; i < args.n; ++i)
    static_cast<T *>(args.z)[i] = factors[i] * static_cast<const T *>(args.r)[i];
  return SXT_OK;
}

// A solve as core would request it; the callbacks are functions so that a test can play core.
template <class T>
struct Solve {
  std::vector<T> b, x;
  double tolerance = 1e-10;
  std::int64_t max_iterations = 10000, replace_every = 0;
  std::function<sxt_reason(std::int64_t, double)> observe = [](std::int64_t, double) { return SXT_REASON_NONE; };
  std::function<std::int32_t(std::int64_t, double, double *, sxt_reason *)> confirm = [](std::int64_t, double, double *,
                                                                                         sxt_reason *reason) {
    return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
  };
  int spoil_product = 0;
  bool x_is_zero = false;
  std::vector<double> history{};  // filled by the solve
  std::vector<T> confirmed{};     // x as confirm saw it last
  sxt_pcg_args args{};            // as they came back

  static sxt_reason observe_edge(void *user, std::int64_t first, std::int64_t count, const double *residuals) {
    auto &self = *static_cast<Solve *>(user);
    for (std::int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(first + i, static_cast<std::int64_t>(self.history.size())) << "iterations are reported once, in order";
      self.history.push_back(residuals[i]);
    }
    return self.observe(first + count - 1, residuals[count - 1]);
  }
  static std::int32_t confirm_edge(void *user, const void *x, std::int64_t k, double residual, double *tolerance,
                                   sxt_reason *reason) {
    auto &self = *static_cast<Solve *>(user);
    self.confirmed.assign(static_cast<const T *>(x), static_cast<const T *>(x) + self.b.size());
    return self.confirm(k, residual, tolerance, reason);
  }
};

// An engine with its slots filled by the parts above.
template <class T>
class Engine {
 public:
  struct Options {
    bool fused = true;
    const std::vector<plugin::real_of<T>> *diagonal = nullptr;  // the preconditioner; NULL: none
    // Where parts come from; empty: from this file.
    std::function<sxt_bound(const sxt_query &)> source{};
    bool preconditioned = false;  // with a source: fill M
  };

  Engine(const std::string &recurrence, const Matrix<T> &a, Options options = {})
      : kernel_(find_kernel(load_own("pcg-host-loop"), "pcg.host-loop." + recurrence + ".cpu")),
        a_(a),
        options_(options) {
    query_.m = a.query();
    query_.m.q.h = {sizeof query_, SXT_KIND_PCG};
    query_.preconditioned = options.diagonal != nullptr || options.preconditioned;
    std::strcpy(query_.preconditioner, "jacobi");
    for (std::uint64_t i = 0; i < kernel_.n_slots; ++i) fill(i);
    point();

    char text[256] = "";
    sxt_message message{text, sizeof text};
    const sxt_machine machine = make_machine(1);  // with one thread no vectors move between cores
    if (kernel_.applicable(&query_.m.q, nullptr, &machine, &message) != SXT_OK) throw std::runtime_error(text);
    std::uint64_t count = 0;
    EXPECT_EQ(kernel_.candidates(&query_.m.q, nullptr, &machine, filled_.data(), &candidate, 1, &count), SXT_OK);
    EXPECT_EQ(count, 1u);
    const sxt_problem problem{sizeof problem, &query_.m.q, nullptr, nullptr};
    EXPECT_EQ(kernel_.prepare(&problem, &candidate, filled_.data(), &exec_, &state_), SXT_OK);
  }
  ~Engine() { kernel_.release(state_); }
  Engine(const Engine &) = delete;

  // Runs in a separate session; `spoil`: the product that gets a NaN. [any-thread]
  sxt_status run(sxt_pcg_args &args, int spoil = 0, const volatile std::int32_t *cancel = nullptr) const {
    Products products{0, spoil};
    Bounds bounds = bounds_;
    for (auto &group : bounds)
      for (sxt_bound &part : group)
        if (part.session == this) part.session = &products;
    std::vector<std::vector<const sxt_bound *>> pointers;
    std::vector<sxt_filled> filled = filled_;
    link(bounds, pointers, filled);

    void *session = nullptr;
    sxt_exec exec = exec_;
    exec.cancel = cancel;
    exec.scratch = scratch_.data();
    exec.scratch_bytes = scratch_.size();
    sxt_status status = kernel_.open(state_, filled.data(), &exec, &session);
    if (status != SXT_OK) return status;
    status = kernel_.run(state_, session, &args.h, &exec);
    kernel_.close(session);
    return status;
  }

  sxt_status solve(Solve<T> &s, const volatile std::int32_t *cancel = nullptr) const {
    s.history.clear();
    s.args = {};
    s.args.h = plugin::head<sxt_pcg_args>(SXT_KIND_PCG);
    s.args.n = a_.n;
    s.args.b = s.b.data(), s.args.x = s.x.data(), s.args.x_is_zero = s.x_is_zero;
    s.args.tolerance = s.tolerance, s.args.max_iterations = s.max_iterations, s.args.replace_every = s.replace_every;
    s.args.user = &s, s.args.observe = Solve<T>::observe_edge, s.args.confirm = Solve<T>::confirm_edge;
    return run(s.args, s.spoil_product, cancel);
  }

  const sxt_kernel &kernel() const { return kernel_; }
  const sxt_pcg_query &query() const { return query_; }
  sxt_candidate candidate{};

 private:
  using Bounds = std::vector<std::vector<sxt_bound>>;

  // Asks the engine for this slot's query and binds a part that serves it.
  void fill(std::uint64_t slot) {
    const sxt_slot &wanted = kernel_.slots[slot];
    sxt_filled filled{
        wanted.role, std::strcmp(wanted.role, "A") == 0 && !options_.fused ? 1 : 0, 0, 1, 0, nullptr, 0, 0, 0};
    bounds_.emplace_back();
    const std::string alternative = wanted.alternatives[filled.alternative];
    std::vector<std::string> kinds;
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t plus = alternative.find('+', at);
      kinds.push_back(alternative.substr(at, plus == std::string::npos ? plus : plus - at));
      at = plus == std::string::npos ? plus : plus + 1;
    }
    filled.kinds_per_instance = static_cast<std::uint32_t>(kinds.size());
    for (; filled.instances < wanted.max_count; ++filled.instances)
      if (!bind_instance(slot, filled.instances, kinds)) break;
    if (filled.instances < wanted.min_count) throw std::runtime_error("a slot got too few instances");
    if (filled.instances == 0) filled.alternative = -1;
    filled.run_s = 1e-6 * filled.instances;
    filled.scratch_bytes = 256 * (slot + 1);
    filled_.push_back(filled);
  }

  bool bind_instance(std::uint64_t slot, std::uint64_t instance, const std::vector<std::string> &kinds) {
    for (const std::string &kind : kinds) {
      alignas(8) char memory[256] = {};
      const sxt_status status = kernel_.slot_query(&query_.m.q, slot, instance, kind.c_str(), memory, sizeof memory);
      if (status == SXT_NOT_APPLICABLE) return false;
      EXPECT_EQ(status, SXT_OK) << kind;
      const auto &q = *reinterpret_cast<const sxt_query *>(memory);
      EXPECT_EQ(kind, q.h.kind);
      EXPECT_EQ(q.value_type, query_.m.q.value_type);
      bounds_.back().push_back(options_.source ? options_.source(q) : part(kind));
    }
    return true;
  }

  sxt_bound part(const std::string &kind) {
    sxt_bound bound{};
    bound.kernel = "test";
    bound.run_s = 1e-6;
    if (kind == SXT_KIND_SPMV || kind == SXT_KIND_SPMV_DOTS) {
      bound.state = &a_;
      bound.session = this;  // replaced in each solve
      bound.run = kind == SXT_KIND_SPMV ? run_spmv<T> : run_spmv_dots<T>;
    } else if (kind == SXT_KIND_PRECONDITIONER) {
      bound.state = options_.diagonal;
      bound.run = run_diagonal<T>;
    } else {
      bound.run = kind == SXT_KIND_MULTIDOT ? run_multidot<T> : kind == SXT_KIND_VECTOR ? run_vector<T> : run_group<T>;
    }
    return bound;
  }

  static void link(Bounds &bounds, std::vector<std::vector<const sxt_bound *>> &pointers,
                   std::vector<sxt_filled> &filled) {
    pointers.resize(bounds.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      for (const sxt_bound &part : bounds[i]) pointers[i].push_back(&part);
      filled[i].parts = pointers[i].data();
    }
  }
  void point() { link(bounds_, pointers_, filled_); }

  const sxt_kernel &kernel_;
  const Matrix<T> &a_;
  Options options_;
  sxt_pcg_query query_{};
  Bounds bounds_;
  std::vector<std::vector<const sxt_bound *>> pointers_;
  std::vector<sxt_filled> filled_;
  sxt_exec exec_ = make_exec();
  // Lent to the parts, which run one after the other; only used by tests on one thread.
  mutable std::vector<char> scratch_ = std::vector<char>(1 << 16);
  void *state_ = nullptr;
};

// confirm lets the solve go on with a tighter tolerance twice, replaces once, then stops with core's own reason.
// asked: the residuals that it was given.
inline void confirm_in_turn(Solve<double> &s, std::vector<double> &asked) {
  s.x_is_zero = true;  // on entry only: the replacement needs a product
  s.confirm = [&s, &asked](std::int64_t k, double residual, double *tolerance, sxt_reason *reason) -> std::int32_t {
    EXPECT_LE(residual, *tolerance);
    EXPECT_EQ(residual, s.history[static_cast<std::size_t>(k)]);
    EXPECT_EQ(s.confirmed, s.x);
    asked.push_back(residual);
    *tolerance /= 100;
    if (asked.size() <= 2) return SXT_CONFIRM_GO_ON;
    if (asked.size() == 3) return SXT_CONFIRM_REPLACE;
    *reason = SXT_REASON_STAGNATED;
    return SXT_CONFIRM_STOP;
  };
}

// A finite error in x at iteration 10 makes the recursive residual false; confirm replaces until the true one is met.
inline void spoil_tenth(const Matrix<double> &a, Solve<double> &s) {
  s.observe = [&s](std::int64_t k, double) {
    if (k == 10) s.x[17] += 0.5;
    return SXT_REASON_NONE;
  };
  s.confirm = [&a, &s](std::int64_t, double, double *, sxt_reason *reason) -> std::int32_t {
    if (true_residual(a, s.b, s.x) > s.tolerance) return SXT_CONFIRM_REPLACE;
    return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
  };
}

}  // namespace pcg_test
