// SPDX-License-Identifier: BSD-3-Clause
// The three recurrences as sequences of steps.
//   predict-recompute   step: r -= alpha q, x += alpha p, p = r + beta p;  evaluation: q = A p, inner products, scalars
//                       with M step: z -= alpha t, x += alpha p, p = z + beta p, r -= alpha q;  evaluation: also t = M
//                       q
//   Chronopoulos-Gear   step: p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s;  evaluation: u = M r, w = A u
//   classical           step: p = u + beta p, q = A p, x += alpha p, r -= alpha q;  evaluation: u = M r, r'u, r'r
#include "iteration.hpp"

#include <cstdint>

#include "scalars.hpp"

namespace graph {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

// 1, 0 and -1 of each value type, on the host; complex ones with a zero imaginary part.
constexpr double one_f64[] = {1, 0}, zero_f64[] = {0, 0}, minus_f64[] = {-1, 0};
constexpr float one_f32[] = {1, 0}, zero_f32[] = {0, 0}, minus_f32[] = {-1, 0};
bool is_single(sxt_value_type type) { return type == SXT_F32 || type == SXT_C64; }
const void *one(sxt_value_type t) { return is_single(t) ? static_cast<const void *>(one_f32) : one_f64; }
const void *zero(sxt_value_type t) { return is_single(t) ? static_cast<const void *>(zero_f32) : zero_f64; }
const void *minus_one(sxt_value_type t) { return is_single(t) ? static_cast<const void *>(minus_f32) : minus_f64; }

sxt_scalar on_host(const void *value) { return {value, 0, 0}; }
sxt_scalar on_device(const void *value) { return {value, 1, 0}; }

}  // namespace

// Vectors: classical r p q (z); Chronopoulos-Gear r w p s (u); predict-recompute r p q (z t).
void *Iteration::p() const { return session_.vector(is(SXT_RECURRENCE_CHRONOPOULOS_GEAR) ? 3 : 2); }
void *Iteration::product() const { return session_.vector(is(SXT_RECURRENCE_CHRONOPOULOS_GEAR) ? 2 : 3); }
void *Iteration::u() const {
  if (!state_.preconditioned) return r();
  return session_.vector(is(SXT_RECURRENCE_CHRONOPOULOS_GEAR) ? 5 : 4);
}

void Iteration::call(const sxt_bound &part, const sxt_head &args) {
  count();
  // The part has attached its own sentence; this one names it.
  if (const sxt_status status = plugin::run(part, args, exec_); status != SXT_OK)
    throw cuda::Failure(status, "the part %s of an iteration failed", part.kernel);
}

// Kernels in a captured block are launched with it.
void Iteration::count() const {
  if (!(exec_.flags & SXT_EXEC_CAPTURING)) ++session_.launches;
}

void Iteration::copy(const void *from, void *to) {
  sxt_vector_args args{};
  args.h = plugin::head<sxt_vector_args>(SXT_KIND_VECTOR);
  args.n = state_.n;
  args.operation = SXT_VECTOR_COPY;
  args.x = from;
  args.y = to;
  call(parts_.copy, args.h);
}

void Iteration::axpby(sxt_scalar alpha, const void *x, sxt_scalar beta, void *y) {
  sxt_vector_args args{};
  args.h = plugin::head<sxt_vector_args>(SXT_KIND_VECTOR);
  args.n = state_.n;
  args.operation = SXT_VECTOR_AXPBY;
  args.alpha = alpha;
  args.beta = beta;
  args.x = x;
  args.y = y;
  call(parts_.axpby, args.h);
}

void Iteration::multidot(const sxt_bound &part, const Pair *pairs, int count, void *results) {
  const void *left[SXT_MULTIDOT_MAX], *right[SXT_MULTIDOT_MAX];
  for (int i = 0; i < count; ++i) {
    left[i] = pairs[i].u ? pairs[i].u : product();
    right[i] = pairs[i].v ? pairs[i].v : product();
  }
  sxt_multidot_args args{};
  args.h = plugin::head<sxt_multidot_args>(SXT_KIND_MULTIDOT);
  args.n = state_.n;
  args.n_dots = count;
  args.u = left;
  args.v = right;
  args.result = results;
  call(part, args.h);
}

// y = alpha A x + beta y with inner products of what it leaves, in one kernel or two. count 0: only a fused kernel,
// which computes them in any case, fills results.
void Iteration::multiply(const void *alpha, const void *x, const void *beta, void *y, const Pair *pairs, int count,
                         void *results) {
  sxt_spmv_dots_args args{};
  args.m.h = plugin::head<sxt_spmv_args>(SXT_KIND_SPMV);
  args.m.op = SXT_NO_TRANSPOSE;
  args.m.n_rhs = 1;
  args.m.ldx = args.m.ldy = state_.n;
  args.m.alpha = on_host(alpha);
  args.m.beta = on_host(beta);
  args.m.x = x;
  args.m.y = y;
  if (!parts_.fused) {
    call(parts_.apply, args.m.h);
    if (count) multidot(parts_.apply_dots, pairs, count, results);
    return;
  }
  args.m.h = plugin::head<sxt_spmv_dots_args>(SXT_KIND_SPMV_DOTS);
  const void *left[SXT_MULTIDOT_MAX] = {}, *right[SXT_MULTIDOT_MAX] = {};
  args.n_dots = state_.recurrence->apply_dots[state_.preconditioned];
  for (int i = 0; i < count; ++i) {
    left[i] = pairs[i].u;
    right[i] = pairs[i].v;
  }
  args.u = left;
  args.v = right;
  args.dots = results;
  call(parts_.apply, args.m.h);
}

void Iteration::precondition(const void *from, void *to) {
  if (!state_.preconditioned) return;
  sxt_preconditioner_args args{plugin::head<sxt_preconditioner_args>(SXT_KIND_PRECONDITIONER), state_.n, from, to};
  call(parts_.precondition, args.h);
}

void Iteration::residual(const void *b, bool x_is_zero) {
  copy(b, r());
  if (!x_is_zero) multiply(minus_one(state_.type), x(), one(state_.type), r(), nullptr, 0, session_.dots());
}

// Predict-and-recompute keeps z = M r up by recurrence; the other two apply M in every evaluation.
void Iteration::renew() {
  if (is(SXT_RECURRENCE_PREDICT_RECOMPUTE)) precondition(r(), u());
}

// The other two form p in their first step, with beta = 0 times a p that must be finite.
void Iteration::begin_direction() {
  if (is(SXT_RECURRENCE_PREDICT_RECOMPUTE))
    copy(u(), p());
  else
    clear_directions();
}

void Iteration::clear_directions() {
  cuda::fill_bytes(&exec_, p(), 0, session_.vector_stride(), "clear the direction");
  if (is(SXT_RECURRENCE_CHRONOPOULOS_GEAR)) cuda::fill_bytes(&exec_, s(), 0, session_.vector_stride(), "clear A p");
}

void Iteration::direct_by_scalars() {
  if (is(SXT_RECURRENCE_PREDICT_RECOMPUTE)) axpby(on_device(session_.alpha()), u(), on_device(session_.beta()), p());
}

void Iteration::turn_by_scalars() {
  const sxt_scalar alpha = on_device(session_.alpha()), beta = on_device(session_.beta());
  axpby(alpha, u(), beta, p());
  if (is(SXT_RECURRENCE_CHRONOPOULOS_GEAR)) axpby(alpha, product(), beta, s());
}

void Iteration::turn_over() {
  const sxt_scalar plus = on_host(one(state_.type)), minus = on_host(minus_one(state_.type));
  axpby(plus, u(), minus, p());
  if (is(SXT_RECURRENCE_CHRONOPOULOS_GEAR)) axpby(plus, product(), minus, s());
}

// The start of p and s, only where evaluations have just stopped.
void Iteration::keep_direction() {
  if (session_.kept_bytes() == 0) return;
  count();
  keep_when_ended(session_.control(), p(), session_.kept(), session_.kept_bytes(), exec_);
}

void Iteration::take_direction_back() {
  count();
  cuda::need(
      cudaMemcpyAsync(p(), session_.kept(), session_.kept_bytes(), cudaMemcpyDeviceToDevice, cuda::stream_of(exec_)),
      "take a direction back");
}

// p = u + beta p and A p in the place of A u, with p'Ap. The next evaluation computes A u again.
void Iteration::measure_curvature(double beta) {
  const double wide[] = {beta, 0};
  const float narrow[] = {static_cast<float>(beta), 0};
  const void *factor = is_single(state_.type) ? static_cast<const void *>(narrow) : wide;
  axpby(on_host(one(state_.type)), u(), on_host(factor), p());
  measure_direction();
}

void Iteration::measure_by_scalars() {
  axpby(on_device(session_.alpha()), u(), on_device(session_.beta()), p());
  measure_direction();
}

void Iteration::measure_direction() {
  const Pair pairs[] = {{p(), nullptr}, {p(), nullptr}, {p(), nullptr}};  // as many as the part was chosen for
  multiply(one(state_.type), p(), zero(state_.type), product(), pairs,
           state_.recurrence->apply_dots[state_.preconditioned], session_.dots());
}

Scalars Iteration::scalars() const {
  count();
  Scalars out{};
  out.type = state_.type;
  out.control = session_.control();
  out.dots = session_.dots();
  out.products = session_.products();
  out.alpha = session_.alpha();
  out.beta = session_.beta();
  if (state_.preconditioned && is(SXT_RECURRENCE_PREDICT_RECOMPUTE)) out.minus_alpha = session_.minus_alpha();
  out.report = session_.report_place();
  out.squared_residuals = session_.squared_residuals();
  out.room = session_.room();
  const std::int64_t cleared = vectors_of(*state_.recurrence, state_.preconditioned) - 1;
  out.clear = static_cast<float *>(r());
  out.clear_words = cleared * static_cast<std::int64_t>(session_.vector_stride() / sizeof(float));
  return out;
}

void Iteration::evaluate() {
  evaluate_iterate();
  keep_direction();
}

void Iteration::evaluate_iterate() {
  const bool m = state_.preconditioned;
  const void *const unit = one(state_.type), *const none = zero(state_.type);
  switch (state_.recurrence->id) {
    case SXT_RECURRENCE_PREDICT_RECOMPUTE: {
      const Pair plain[] = {{p(), nullptr}, {r(), nullptr}, {nullptr, nullptr}, {r(), r()}},
                 with_m[] = {{p(), nullptr}, {u(), nullptr}, {r(), u()}, {r(), r()}}, q_t[] = {{nullptr, t()}};
      multiply(unit, p(), none, product(), m ? with_m : plain, 4, session_.dots());
      precondition(product(), t());
      if (m) multidot(parts_.dots, q_t, 1, session_.products());
      return evaluate_predict_recompute(scalars(), m, exec_);
    }
    case SXT_RECURRENCE_CHRONOPOULOS_GEAR: {
      precondition(r(), u());
      const Pair plain[] = {{u(), nullptr}, {u(), u()}}, with_m[] = {{u(), nullptr}, {r(), u()}, {r(), r()}};
      multiply(unit, u(), none, product(), m ? with_m : plain, m ? 3 : 2, session_.dots());
      return evaluate_chronopoulos_gear(scalars(), m, exec_);
    }
    default: {
      precondition(r(), u());
      const Pair pairs[] = {{r(), u()}, {r(), r()}};
      multidot(parts_.dots, pairs, m ? 2 : 1, session_.dots());
      return evaluate_classical(scalars(), m, exec_);
    }
  }
}

void Iteration::update() {
  sxt_vector_group_args args{};
  args.h = plugin::head<sxt_vector_group_args>(SXT_KIND_VECTOR_GROUP);
  args.n = state_.n;
  args.group = state_.recurrence->group;
  args.scalars[0] = on_device(session_.alpha());
  args.scalars[1] = on_device(session_.beta());
  args.vectors[0] = x();
  args.vectors[1] = r();
  args.vectors[2] = p();
  const bool z = state_.preconditioned && is(SXT_RECURRENCE_PREDICT_RECOMPUTE);
  if (z) {  // which follows r, from t = M q
    args.vectors[1] = u();
    args.vectors[3] = t();
  } else if (is(SXT_RECURRENCE_CHRONOPOULOS_GEAR)) {
    args.vectors[3] = s();
    args.vectors[4] = u();
    args.vectors[5] = product();
  } else {
    args.vectors[3] = product();
  }
  call(parts_.update, args.h);
  if (z) axpby(on_device(session_.minus_alpha()), product(), on_host(one(state_.type)), r());
}

void Iteration::step() {
  if (is(SXT_RECURRENCE_CLASSICAL)) {
    axpby(on_host(one(state_.type)), u(), on_device(session_.beta()), p());
    const Pair pairs[] = {{p(), nullptr}};
    multiply(one(state_.type), p(), zero(state_.type), product(), pairs, 1, session_.products());
    step_length_classical(scalars(), exec_);
  }
  update();
}

}  // namespace graph
