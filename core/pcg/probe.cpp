// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/matrix/assemble_internal.hpp"
#include "core/operations/operations.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/own_stream.hpp"
#include "core/threads/pool.hpp"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

namespace {

constexpr double calls_per_step = 6, vectors_per_step = 12;
// Making one value of the right-hand side, on one thread of the host; so many make a block.
constexpr double random_value_s = 3e-9;
constexpr std::int64_t values_a_block = 1 << 15;
constexpr std::int64_t least_timed = 10;  // iterations that a clock does not end
int random_threads(const Context &context, std::int64_t n) { return detail::useful_threads(context.threads(), n); }

// A number of the value type, as kernels want it.
struct alignas(2 * sizeof(double)) Scalar {
  Scalar(sxt_value_type type, double value) {
    if (type == SXT_F32 || type == SXT_C64)
      single[0] = static_cast<float>(value);
    else
      wide[0] = value;
  }
  const void *get() const { return this; }
  union {
    double wide[2] = {0, 0};
    float single[2];
  };
};

// A predicted r'z below this part of the one before has lost its digits to cancellation.
constexpr double cancelled = 1e-6;

// Why iteration k does not lead on; "": it does.
std::string defect_of(double p_q, double r_z, double alpha, double next, std::int64_t k) {
  const auto says = [&](const char *what, double value) { return text(what, " is ", value, " in iteration ", k); };
  if (!(p_q > 0)) return says("p'Ap", p_q);
  if (!(r_z > 0)) return says("r'Mr", r_z);
  if (!(alpha > 0) || !std::isfinite(alpha)) return says("r'Mr / p'Ap", alpha);
  return next >= 0 && std::isfinite(next) ? "" : says("r'Mr of the next residual", next);
}

}  // namespace

Probe::Probe(Matrix &matrix, Runner &product, const void *scaling, const NullSpace &null_space)
    : matrix_(matrix),
      product_(product),
      scaling_(scaling),
      null_space_(null_space),
      type_(matrix.value_type()),
      n_(matrix.rows()) {}

double Probe::step_seconds(const Choice *preconditioner) const {
  const sxt_machine &machine = matrix_.context().machine();
  const double bytes = static_cast<double>(n_) * static_cast<double>(value_bytes(type_)) * vectors_per_step;
  const double call = matrix_.context().device().on_host() ? call_on_host_s : call_on_device_s;
  return product_.choice().run_s + (preconditioner ? preconditioner->run_s : 0) +
         bytes / std::max(1.0, machine.stream_rate) + calls_per_step * call;
}

double Probe::start_seconds() const {
  const sxt_machine &machine = matrix_.context().machine();
  const double bytes = static_cast<double>(n_) * static_cast<double>(value_bytes(type_));
  const double copy = matrix_.context().device().on_host() ? 0 : bytes / std::max(1.0, machine.copy_rate);
  return static_cast<double>(n_) * random_value_s / detail::useful_threads(matrix_.context().model_threads(), n_) +
         copy;
}

// Every part of the spectrum alike: the same values in every run (xorshift, Marsaglia 2003), each block of them from a
// beginning of its own, so that threads can share them out.
void Probe::random_values(void *to) {
  Buffer host(static_cast<std::uint64_t>(n_ * value_bytes(type_)), matrix_.context().device().host_memory());
  const std::int64_t blocks = (n_ + values_a_block - 1) / values_a_block;
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *values = host.as<T>();
    const int team = random_threads(matrix_.context(), n_);
    threads::for_parts(static_cast<int>(std::min<std::int64_t>(blocks, 1 << 20)), team, [&](int part) {
      for (std::int64_t block = part; block < blocks; block += 1 << 20) {
        std::uint64_t state = 88172645463325252u + static_cast<std::uint64_t>(block) * 0x9e3779b97f4a7c15u;
        const std::int64_t end = std::min(n_, (block + 1) * values_a_block);
        for (std::int64_t i = block * values_a_block; i < end; ++i) {
          state ^= state << 13, state ^= state >> 7, state ^= state << 17;
          values[i] = static_cast<decltype(std::abs(T{}))>(static_cast<double>(state >> 11) * 0x1p-53 - 0.5);
        }
      }
    });
  });
  matrix_.context().device().copy(to, host.data(), host.bytes());
}

void Probe::multiply(const void *x, void *y) {
  const Scalar one(type_, 1), zero(type_, 0);
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.n_rhs = 1;
  args.ldx = args.ldy = n_;
  args.alpha.value = one.get();
  args.beta.value = zero.get();
  args.x = x;
  args.y = y;
  product_.run(&args.h);
}

void Probe::precondition(Runner &preconditioner, const void *from, void *to) {
  sxt_preconditioner_args args{};
  args.h = {sizeof args, SXT_KIND_PRECONDITIONER};
  args.n = n_;
  args.r = from;
  args.z = to;
  preconditioner.run(&args.h);
}

void Probe::dots(std::int32_t count, const void *const *u, const void *const *v, double *results) {
  alignas(16) char raw[SXT_MULTIDOT_MAX * 16];
  Operations::of(matrix_.context()).multidot(type_, n_, count, u, v, raw);
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int32_t i = 0; i < count; ++i) results[i] = std::real(reinterpret_cast<const T *>(raw)[i]);
  });
}

void Probe::axpby(double alpha, const void *x, double beta, void *y) {
  const Scalar a(type_, alpha), b(type_, beta);
  Operations::of(matrix_.context())
      .vector(
          {.operation = SXT_VECTOR_AXPBY, .type = type_, .n = n_, .alpha = a.get(), .beta = b.get(), .x = x, .y = y});
}

// r = b and p = z = M b. Scaled by the diagonal's root, so that no row outweighs the others.
void Probe::start(Runner *preconditioner) {
  Operations &operations = Operations::of(matrix_.context());
  Device &device = matrix_.context().device();
  const auto bytes = static_cast<std::uint64_t>(n_ * value_bytes(type_));
  for (DeviceBuffer *each : {&r_, &p_, &q_})
    if (each->bytes() < bytes) *each = DeviceBuffer(device, bytes);
  for (DeviceBuffer *each : {&z_, &s_})
    if (preconditioner && each->bytes() < bytes) *each = DeviceBuffer(device, bytes);
  random_values(q_.data());
  operations.vector(scaling_
                        ? Operations::VectorCall{.operation = SXT_VECTOR_REAL_DIVIDE,
                                                 .type = type_,
                                                 .n = n_,
                                                 .x = scaling_,
                                                 .y = q_.data(),
                                                 .z = r_.data()}
                        : Operations::VectorCall{
                              .operation = SXT_VECTOR_COPY, .type = type_, .n = n_, .x = q_.data(), .y = r_.data()});
  null_space_.remove_from(operations, r_.data());
  if (preconditioner) precondition(*preconditioner, r_.data(), z_.data());
  operations.vector({.operation = SXT_VECTOR_COPY,
                     .type = type_,
                     .n = n_,
                     .x = preconditioner ? z_.data() : r_.data(),
                     .y = p_.data()});
}

// By the wall clock: a probe on cores that are busy with something else ends after many times what it was predicted to
// take. In a deterministic context no clock counts.
double Probe::most_seconds(const Runner *preconditioner, std::int64_t steps) const {
  constexpr double times = 10, always_s = 0.02;
  if (matrix_.context().deterministic()) return HUGE_VAL;
  return always_s +
         times * static_cast<double>(steps) * step_seconds(preconditioner ? &preconditioner->choice() : nullptr);
}

// Predict-and-recompute (Chen and Carson 2020): all inner products of an iteration at once, so that it waits once. r'z
// of the next residual follows from them, and is measured in the next iteration together with r'r.
void Probe::iterate(Runner *preconditioner, std::int64_t steps, double rtol, ProbeOutcome &out) {
  const void *const p = p_.data(), *const q = q_.data(), *const r = r_.data();
  const void *const z = preconditioner ? z_.data() : r, *const s = preconditioner ? s_.data() : q;
  const void *const u[] = {p, q, q, r, r}, *const v[] = {q, z, s, z, r};
  double products[5], &squared = products[4], alpha = 0, beta = 0;
  const Clock clock;
  const double most_s = most_seconds(preconditioner, steps);
  for (std::int64_t k = 0; k < steps; ++k) {
    multiply(p, q_.data());
    if (preconditioner) precondition(*preconditioner, q, s_.data());
    dots(preconditioner ? 5 : 4, u, v, products);
    const double p_q = products[0], r_z = products[3];
    if (!preconditioner) squared = r_z;
    if (first_ < 0) first_ = squared;
    if (k > 0) out.ritz.add(alpha, beta, std::sqrt(squared / first_));
    if (!(squared > rtol * rtol * first_)) return;

    alpha = r_z / p_q;
    double next = r_z - 2 * alpha * products[1] + alpha * alpha * products[2];
    axpby(-alpha, q, 1, r_.data());
    if (preconditioner) axpby(-alpha, s, 1, z_.data());
    if (!(next > cancelled * r_z)) dots(1, u + 3, v + 3, &next);
    beta = next / r_z;
    out.defect = defect_of(p_q, r_z, alpha, next, out.ritz.steps() + 1);
    if (!out.defect.empty()) return;
    axpby(1, z, beta, p_.data());
    if (k + 1 >= least_timed && clock.seconds() > most_s) break;
  }
  if (steps < 1) return;
  dots(1, u + 4, v + 4, &squared);
  if (std::isfinite(squared)) out.ritz.add(alpha, beta, std::sqrt(squared / first_));
}

ProbeOutcome Probe::run(Runner *preconditioner, std::int64_t steps, double rtol) {
  ProbeOutcome out;
  const Clock clock;
  {
    const OwnStream own(matrix_.context().device());
    first_ = -1;
    start(preconditioner);
  }
  out.seconds = clock.seconds();
  go_on(preconditioner, steps, rtol, out);
  return out;
}

void Probe::go_on(Runner *preconditioner, std::int64_t steps, double rtol, ProbeOutcome &out) {
  const Clock clock;
  const OwnStream own(matrix_.context().device());
  iterate(preconditioner, steps, rtol, out);
  out.seconds += clock.seconds();
}

}  // namespace sextant
