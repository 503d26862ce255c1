// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/probe.hpp"

#include <cmath>
#include <cstdint>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/pcg/clock.hpp"
#include "sextant/kinds/preconditioner.h"
#include "sextant/kinds/spmv.h"

namespace sextant {

namespace {

// A call from the host that is waited for, beside the kernel's own time.
constexpr double call_on_device_s = 8e-6, call_on_host_s = 5e-7;
constexpr double calls_per_step = 6, vectors_per_step = 12;
// Making one value of the right-hand side, on the host.
constexpr double random_value_s = 3e-9;

// A number of the value type, as kernels want it.
struct Scalar {
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

bool usable(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

Probe::Probe(Matrix &matrix, Runner &product, const void *scaling)
    : matrix_(matrix), product_(product), scaling_(scaling), type_(matrix.value_type()), n_(matrix.rows()) {}

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
  return static_cast<double>(n_) * random_value_s + copy;
}

// Every part of the spectrum alike: the same values in every run (xorshift, Marsaglia 2003).
void Probe::random_values(void *to) {
  Buffer host(static_cast<std::uint64_t>(n_ * value_bytes(type_)), matrix_.context().device().host_memory());
  std::uint64_t state = 88172645463325252u;
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *values = host.as<T>();
    for (std::int64_t i = 0; i < n_; ++i) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      values[i] = static_cast<decltype(std::abs(T{}))>(static_cast<double>(state >> 11) * 0x1p-53 - 0.5);
    }
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

// z = M r; without M, z is r itself.
void Probe::precondition(Runner *preconditioner) {
  if (!preconditioner) return;
  sxt_preconditioner_args args{};
  args.h = {sizeof args, SXT_KIND_PRECONDITIONER};
  args.n = n_;
  args.r = r_.data();
  args.z = z_.data();
  preconditioner->run(&args.h);
}

void Probe::dots(std::int32_t count, const void *const *u, const void *const *v, double *results) {
  alignas(16) char raw[4 * 16];
  matrix_.context().operations().multidot(type_, n_, count, u, v, raw);
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int32_t i = 0; i < count; ++i) results[i] = std::real(reinterpret_cast<const T *>(raw)[i]);
  });
}

void Probe::axpby(double alpha, const void *x, double beta, void *y) {
  const Scalar a(type_, alpha), b(type_, beta);
  matrix_.context().operations().vector(
      {.operation = SXT_VECTOR_AXPBY, .type = type_, .n = n_, .alpha = a.get(), .beta = b.get(), .x = x, .y = y});
}

// r = b and p = z = M b. Scaled by the diagonal's root, so that no row outweighs the others.
void Probe::start(Runner *preconditioner) {
  Operations &operations = matrix_.context().operations();
  Device &device = matrix_.context().device();
  const auto bytes = static_cast<std::uint64_t>(n_ * value_bytes(type_));
  for (DeviceBuffer *each : {&r_, &p_, &q_})
    if (each->bytes() < bytes) *each = DeviceBuffer(device, bytes);
  if (preconditioner && z_.bytes() < bytes) z_ = DeviceBuffer(device, bytes);
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
  precondition(preconditioner);
  operations.vector({.operation = SXT_VECTOR_COPY,
                     .type = type_,
                     .n = n_,
                     .x = preconditioner ? z_.data() : r_.data(),
                     .y = p_.data()});
}

ProbeOutcome Probe::run(Runner *preconditioner, std::int64_t steps, double rtol) {
  ProbeOutcome out;
  const Clock clock;
  start(preconditioner);
  const void *const z = preconditioner ? z_.data() : r_.data();
  const void *const u[] = {r_.data(), r_.data()}, *const v[] = {z, r_.data()};
  const void *const p[] = {p_.data()}, *const q[] = {q_.data()};
  double products[2], curvature = 0;  // r'z and r'r
  dots(2, u, v, products);
  const double first = products[1];
  for (std::int64_t k = 0; k < steps && out.defect.empty() && products[1] > rtol * rtol * first; ++k) {
    const double r_z = products[0];
    multiply(p_.data(), q_.data());
    dots(1, p, q, &curvature);
    const double alpha = r_z / curvature;
    if (usable(alpha)) {
      axpby(-alpha, q_.data(), 1, r_.data());
      precondition(preconditioner);
      dots(2, u, v, products);
    }
    const double beta = products[0] / r_z, residual = std::sqrt(products[1] / first);
    if (!usable(alpha) || !(beta >= 0) || !std::isfinite(residual)) {
      out.defect = text(!(curvature > 0)             ? "p'Ap"
                        : !(r_z > 0) || !(beta >= 0) ? "r'Mr"
                                                     : "a number",
                        " is ", !(curvature > 0) ? curvature : products[0], " in iteration ", k + 1);
      break;
    }
    out.ritz.add(alpha, beta, residual);
    axpby(1, z, beta, p_.data());
  }
  out.seconds = clock.seconds();
  return out;
}

}  // namespace sextant
