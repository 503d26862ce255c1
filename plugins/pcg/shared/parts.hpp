// SPDX-License-Identifier: BSD-3-Clause
// For engines of kind sxt.pcg/1 that leave the steps of an iteration to other kernels: their slots, which of them each
// recurrence needs, the queries of parts, and the kernels that fill them in one session. Header-only, no part of the
// ABI.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/pcg_columns.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/plugin/order.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::pcg {

// Instances of the "vector" slot.
enum VectorInstance : std::uint64_t { vector_axpby = 0, vector_copy = 1, vector_instances = 2 };

// The constants of one recurrence: its parts, and the numbers that describe them.
struct Recurrence {
  std::int32_t id;     // SXT_RECURRENCE_*
  const char *name;    // for messages
  std::int32_t group;  // SXT_GROUP_*: the fused update of an iteration
  sxt_slot slots[5];
  std::uint64_t n_slots;

  // Inner products that go with A x, and the distinct arrays among them; [1]: with a preconditioner.
  std::int32_t apply_dots[2], apply_arrays[2];
  // Inner products of the slot "dots", which only some recurrences have; always with r among them.
  std::int32_t dots[2], dots_arrays[2];
  // Work vectors of a session.
  std::int32_t vectors[2];

  // The slot with this role; -1: the recurrence has none.
  std::int64_t find(const char *role) const {
    for (std::uint64_t i = 0; i < n_slots; ++i)
      if (std::strcmp(slots[i].role, role) == 0) return static_cast<std::int64_t>(i);
    return -1;
  }
};

// The three, with parts that promise `flags` (SXT_KERNEL_*).
template <std::uint32_t flags>
const Recurrence &recurrence(std::int32_t id) {
  static const char *const apply[] = {SXT_KIND_SPMV_DOTS, SXT_KIND_SPMV "+" SXT_KIND_MULTIDOT, nullptr};
  static const char *const group[] = {SXT_KIND_VECTOR_GROUP, nullptr};
  static const char *const vector[] = {SXT_KIND_VECTOR, nullptr};
  static const char *const multidot[] = {SXT_KIND_MULTIDOT, nullptr};
  static const char *const preconditioner[] = {SXT_KIND_PRECONDITIONER, nullptr};
  static const sxt_slot apply_slot{"A", apply, flags, 1, 1, 0}, update_slot{"update", group, flags, 1, 1, 0},
      vector_slot{"vector", vector, flags, vector_instances, vector_instances, 0},
      dots_slot{"dots", multidot, flags, 1, 1, 0}, m_slot{"M", preconditioner, flags, 0, 1, 0};

  static const Recurrence recurrences[] = {{.id = SXT_RECURRENCE_CLASSICAL,
                                            .name = "classical",
                                            .group = SXT_GROUP_CLASSICAL_XR,
                                            .slots = {apply_slot, update_slot, vector_slot, dots_slot, m_slot},
                                            .n_slots = 5,
                                            .apply_dots = {1, 1},
                                            .apply_arrays = {2, 2},  // p.q
                                            .dots = {1, 2},
                                            .dots_arrays = {1, 2},  // r.r and, with M, r.z
                                            .vectors = {3, 4}},     // r p q, z
                                           {.id = SXT_RECURRENCE_CHRONOPOULOS_GEAR,
                                            .name = "chronopoulos-gear",
                                            .group = SXT_GROUP_CHRONOPOULOS_GEAR,
                                            .slots = {apply_slot, update_slot, vector_slot, m_slot, {}},
                                            .n_slots = 4,
                                            .apply_dots = {2, 3},
                                            .apply_arrays = {2, 3},  // u.w, u.u; with M: u.w, r.u, r.r
                                            .dots = {0, 0},
                                            .dots_arrays = {0, 0},
                                            .vectors = {4, 5}},  // r w p s, u
                                           {.id = SXT_RECURRENCE_PREDICT_RECOMPUTE,
                                            .name = "predict-recompute",
                                            .group = SXT_GROUP_PREDICT_RECOMPUTE,
                                            .slots = {apply_slot, update_slot, vector_slot, dots_slot, m_slot},
                                            .n_slots = 5,
                                            .apply_dots = {4, 4},
                                            .apply_arrays = {3, 4},  // p.q, r.q, q.q, r.r; with M: p.q, z.q, r.z, r.r
                                            .dots = {1, 1},
                                            // r.r where its prediction is not reliable; with M: q.t, and r.z there
                                            .dots_arrays = {1, 2},
                                            .vectors = {3, 5}}};  // r p q, z t
  return recurrences[id - SXT_RECURRENCE_CLASSICAL];
}

// The kernels of one session, copied from core's filled slots. A missing part has run == NULL.
struct Parts {
  sxt_bound apply{};       // spmv, or spmv_dots when `fused`
  sxt_bound apply_dots{};  // the multidot beside a plain spmv
  sxt_bound update{}, axpby{}, copy{}, dots{}, precondition{};
  bool fused = false;
};

inline Parts collect(const Recurrence &recurrence, const sxt_filled *slots) {
  Parts parts;
  const sxt_filled &apply = slots[recurrence.find("A")];
  parts.fused = apply.alternative == 0;
  parts.apply = *apply.parts[0];
  if (!parts.fused) parts.apply_dots = *apply.parts[1];

  parts.update = *slots[recurrence.find("update")].parts[0];
  const sxt_filled &vector = slots[recurrence.find("vector")];
  parts.axpby = *vector.parts[vector_axpby];
  parts.copy = *vector.parts[vector_copy];

  if (const auto dots = recurrence.find("dots"); dots >= 0) parts.dots = *slots[dots].parts[0];
  // M may stay empty: the preconditioner is then the identity.
  if (const auto m = recurrence.find("M"); m >= 0 && slots[m].alternative >= 0 && slots[m].instances > 0)
    parts.precondition = *slots[m].parts[0];
  return parts;
}

// ---- queries of engine and parts -----------------------------------------------------------------------------

// Assumed when the number of iterations of a solve is not known.
inline constexpr double default_iterations = 100;
inline double iterations_of(const sxt_pcg_query &query) {
  return query.iterations > 0 ? query.iterations : default_iterations;
}

// Right-hand sides of a run.
inline std::int32_t columns_of(const sxt_pcg_query &query) {
  const bool several = (query.m.q.flags & SXT_QUERY_COLUMNS) && SXT_HAS(&query.m.q.h, sxt_pcg_columns_query, n_rhs);
  return several ? reinterpret_cast<const sxt_pcg_columns_query &>(query).n_rhs : 1;
}

// Refuses queries that conjugate gradients in this recurrence cannot serve.
inline sxt_status check_query(const Recurrence &recurrence, const sxt_pcg_query &query, sxt_message *reason) {
  if (query.recurrence != 0 && query.recurrence != recurrence.id)
    return refuse(reason, "this is recurrence %d (%s), the query asks for %d", recurrence.id, recurrence.name,
                  query.recurrence);
  if (query.m.rows != query.m.cols)
    return refuse(reason, "the matrix is not square: %lld rows, %lld columns", (long long)query.m.rows,
                  (long long)query.m.cols);
  const bool complex = query.m.q.value_type == SXT_C64 || query.m.q.value_type == SXT_C128;
  if (query.m.symmetry == SXT_SKEW || (complex && query.m.symmetry == SXT_SYMMETRIC))
    return refuse(reason, "the matrix is %s, conjugate gradients need it Hermitian",
                  query.m.symmetry == SXT_SKEW ? "skew-symmetric" : "complex symmetric");
  return SXT_OK;
}

// The args of an element-wise operation on vectors of n elements.
inline sxt_vector_args vector_args(std::int64_t n, std::int32_t operation, sxt_scalar alpha, const void *x,
                                   sxt_scalar beta, void *y) {
  sxt_vector_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR};
  args.n = n;
  args.operation = operation;
  args.alpha = alpha;
  args.beta = beta;
  args.x = x;
  args.y = y;
  return args;
}

// Predict-and-recompute with M = identity, for engines with their own iteration.
inline sxt_status check_predict_recompute(const sxt_pcg_query &query, sxt_message *reason) {
  const Recurrence &own = recurrence<0>(SXT_RECURRENCE_PREDICT_RECOMPUTE);
  if (const sxt_status status = check_query(own, query, reason); status != SXT_OK) return status;
  if (query.preconditioned)
    return refuse(reason, "it is for M = identity (a matrix scaled beforehand), the query has preconditioned = 1");
  if (query.m.q.value_type == SXT_F32 && query.m.matrix_type != SXT_F32)
    return refuse(reason, "f32 vectors need A in f32");
  return SXT_OK;
}

// SXT_OK, or the status that an engine's run returns for invalid args.
inline sxt_status check_args(const sxt_head *head, std::int64_t n, const sxt_exec *exec) {
  if (!head || !SXT_HAS(head, sxt_pcg_args, reductions))
    return error(exec, SXT_E_ARGUMENT, "the args are not a complete sxt_pcg_args");
  const auto &args = as<sxt_pcg_args>(head);
  if (exec->flags & SXT_EXEC_CAPTURING)
    return error(exec, SXT_E_STATE, "a solve asks the host when to stop, so it cannot be captured");
  if (args.n != n)
    return error(exec, SXT_E_DIMENSION, "the args have n = %lld, the engine was prepared for %lld", (long long)args.n,
                 (long long)n);
  if (!args.confirm) return error(exec, SXT_E_ARGUMENT, "confirm is NULL: an engine cannot decide convergence");
  if (n > 0 && (!args.b || !args.x)) return error(exec, SXT_E_ARGUMENT, "b or x is NULL");
  // Written so that NaN fails.
  if (!(args.tolerance >= 0) || args.max_iterations < 0)
    return error(exec, SXT_E_ARGUMENT, "tolerance %g and max_iterations %lld must not be negative", args.tolerance,
                 (long long)args.max_iterations);
  return SXT_OK;
}

// The head of every part's query. Parts run once an iteration of every solve.
inline sxt_query part_query(const sxt_pcg_query &query, std::uint64_t size, const char *kind) {
  sxt_query q = query.m.q;
  q.h = {size, kind};
  q.expected_runs = std::max(1.0, q.expected_runs) * iterations_of(query);
  q.flags &= ~(static_cast<std::uint32_t>(SXT_QUERY_MATRIX) | SXT_QUERY_COLUMNS);
  return q;
}

// The same for parts that ask about the matrix; core fills in its storage.
inline sxt_matrix_query part_matrix_query(const sxt_pcg_query &query, std::uint64_t size, const char *kind) {
  sxt_matrix_query m = query.m;
  m.q = part_query(query, size, kind);
  m.q.flags |= SXT_QUERY_MATRIX;
  return m;
}

template <class Query>
sxt_status write_query(const Query &query, void *out, std::uint64_t capacity) {
  if (capacity < sizeof query) return SXT_E_ARGUMENT;
  std::memcpy(out, &query, sizeof query);
  return SXT_OK;
}

inline sxt_spmv_query part_spmv_query(const sxt_pcg_query &query, std::uint64_t size, const char *kind) {
  sxt_spmv_query spmv{};
  spmv.m = part_matrix_query(query, size, kind);
  spmv.op = SXT_NO_TRANSPOSE;
  spmv.n_rhs = columns_of(query);
  return spmv;
}

inline sxt_multidot_query part_multidot_query(const sxt_pcg_query &query, std::int32_t dots, std::int32_t arrays) {
  return {part_query(query, sizeof(sxt_multidot_query), SXT_KIND_MULTIDOT), query.m.rows, dots, arrays};
}

// M's query; SXT_NOT_APPLICABLE where the slot stays empty: the identity.
inline sxt_status preconditioner_query(const sxt_pcg_query &query, void *out, std::uint64_t capacity) {
  if (!query.preconditioned) return SXT_NOT_APPLICABLE;
  sxt_preconditioner_query q{part_matrix_query(query, sizeof(sxt_preconditioner_query), SXT_KIND_PRECONDITIONER), {}};
  q.m.q.flags &= ~static_cast<std::uint32_t>(SXT_QUERY_ONE_ORDER);  // all engines apply M with the same kernel
  static_assert(sizeof q.method == sizeof query.preconditioner);
  std::memcpy(q.method, query.preconditioner, sizeof q.method);
  return write_query(q, out, capacity);
}

// sxt_kernel.slot_query.
inline sxt_status slot_query(const Recurrence &recurrence, const sxt_pcg_query &query, std::uint64_t slot,
                             std::uint64_t instance, const char *kind, void *out, std::uint64_t capacity) {
  if (slot >= recurrence.n_slots || !kind || !out) return SXT_E_ARGUMENT;
  if (instance >= recurrence.slots[slot].max_count) return SXT_NOT_APPLICABLE;
  const bool m = query.preconditioned != 0;
  const auto is = [kind](const char *other) { return std::strcmp(kind, other) == 0; };
  const bool in_a = static_cast<std::int64_t>(slot) == recurrence.find("A");

  if (is(SXT_KIND_SPMV))
    return write_query(part_spmv_query(query, sizeof(sxt_spmv_query), SXT_KIND_SPMV), out, capacity);
  const std::int32_t columns = columns_of(query);
  if (is(SXT_KIND_SPMV_DOTS)) {
    if (columns > 1) return SXT_NOT_APPLICABLE;  // offered for one right-hand side
    const sxt_spmv_dots_query fused{part_spmv_query(query, sizeof(sxt_spmv_dots_query), SXT_KIND_SPMV_DOTS),
                                    recurrence.apply_dots[m], 0};
    return write_query(fused, out, capacity);
  }
  if (is(SXT_KIND_MULTIDOT) && columns > 1) {  // of classical conjugate gradients, as many at once as there can be
    const std::int32_t dots = std::min<std::int32_t>(SXT_MULTIDOT_MAX, columns * (in_a ? 1 : 1 + m));
    return write_query(part_multidot_query(query, dots, 2 * dots), out, capacity);
  }
  if (is(SXT_KIND_MULTIDOT))
    return write_query(in_a ? part_multidot_query(query, recurrence.apply_dots[m], recurrence.apply_arrays[m])
                            : part_multidot_query(query, recurrence.dots[m], recurrence.dots_arrays[m]),
                       out, capacity);
  if (is(SXT_KIND_VECTOR_GROUP)) {
    const auto q = part_query(query, sizeof(sxt_vector_group_query), SXT_KIND_VECTOR_GROUP);
    return write_query(sxt_vector_group_query{q, query.m.rows, recurrence.group, 0}, out, capacity);
  }
  if (is(SXT_KIND_VECTOR)) {
    const auto q = part_query(query, sizeof(sxt_vector_query), SXT_KIND_VECTOR);
    const std::int32_t operation = instance == vector_axpby ? SXT_VECTOR_AXPBY : SXT_VECTOR_COPY;
    return write_query(sxt_vector_query{q, query.m.rows, operation, 0}, out, capacity);
  }
  if (is(SXT_KIND_PRECONDITIONER)) return preconditioner_query(query, out, capacity);
  return SXT_E_ARGUMENT;
}

// Whether M was requested and none was found: the engine would then solve without it.
inline bool lacks_m(const Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots) {
  const auto m = recurrence.find("M");
  return query.preconditioned && (m < 0 || slots[m].alternative < 0);
}

// The seconds of a slot; 0 when the recurrence has none of that role or it stays empty.
inline double slot_seconds(const Recurrence &recurrence, const sxt_filled *slots, const char *role) {
  const auto i = recurrence.find(role);
  return i < 0 || slots[i].alternative < 0 ? 0 : slots[i].run_s;
}

// Seconds of the parts in one iteration, and of those around all of them: the first residual and the product with which
// the last one is found.
struct PartSeconds {
  double iteration, once;
};
inline PartSeconds part_seconds(const Recurrence &recurrence, const sxt_filled *slots) {
  const sxt_filled &vector = slots[recurrence.find("vector")];
  const double apply = slot_seconds(recurrence, slots, "A");
  PartSeconds out{apply + slot_seconds(recurrence, slots, "update") + slot_seconds(recurrence, slots, "M"),
                  2 * apply + 2 * vector.parts[vector_copy]->run_s};
  const auto m = recurrence.find("M");
  const bool with_m = m >= 0 && slots[m].alternative >= 0;
  // p = u + beta p, r'u; with M r -= alpha q, q't.
  if (recurrence.id == SXT_RECURRENCE_CLASSICAL || (recurrence.id == SXT_RECURRENCE_PREDICT_RECOMPUTE && with_m))
    out.iteration += slot_seconds(recurrence, slots, "dots") + vector.parts[vector_axpby]->run_s;
  return out;
}

}  // namespace sextant::plugin::pcg
