// SPDX-License-Identifier: BSD-3-Clause
// Applicability, the queries of the parts, and the cost of a solve as the sum of its parts.
#include "model.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "session.hpp"

namespace host_loop {
namespace {

namespace plugin = sextant::plugin;

// Assumed when nobody knows how many iterations a solve takes.
constexpr double default_iterations = 100;
// Scalars, tests and callbacks of an iteration.
constexpr double overhead_s = 2e-7;

double iterations(const sxt_pcg_query &query) { return query.iterations > 0 ? query.iterations : default_iterations; }

// How the query of every part begins. Parts run once an iteration of every solve.
sxt_query part_query(const sxt_pcg_query &query, std::uint64_t size, const char *kind) {
  sxt_query q = query.m.q;
  q.h = {size, kind};
  q.expected_runs = std::max(1.0, q.expected_runs) * iterations(query);
  q.flags &= ~static_cast<std::uint32_t>(SXT_QUERY_MATRIX);
  return q;
}

// The same for parts that ask about the matrix; its storage is core's to fill in.
sxt_matrix_query matrix_query(const sxt_pcg_query &query, std::uint64_t size, const char *kind) {
  sxt_matrix_query m = query.m;
  m.q = part_query(query, size, kind);
  m.q.flags |= SXT_QUERY_MATRIX;
  return m;
}

template <class Query>
sxt_status write(const Query &query, void *out, std::uint64_t capacity) {
  if (capacity < sizeof query) return SXT_E_ARGUMENT;
  std::memcpy(out, &query, sizeof query);
  return SXT_OK;
}

sxt_spmv_query spmv_query(const sxt_pcg_query &query, std::uint64_t size, const char *kind) {
  sxt_spmv_query spmv{};
  spmv.m = matrix_query(query, size, kind);
  spmv.op = SXT_NO_TRANSPOSE;
  spmv.n_rhs = 1;
  return spmv;
}

sxt_multidot_query multidot_query(const sxt_pcg_query &query, std::int32_t dots, std::int32_t arrays) {
  return {part_query(query, sizeof(sxt_multidot_query), SXT_KIND_MULTIDOT), query.m.rows, dots, arrays};
}

// The seconds of a slot; 0 when the recurrence has none of that role or it stays empty.
double slot_s(const Recurrence &recurrence, const sxt_filled *slots, const char *role) {
  const auto i = recurrence.find(role);
  return i < 0 || slots[i].alternative < 0 ? 0 : slots[i].run_s;
}

double solve_s(const Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots) {
  const sxt_filled &vector = slots[recurrence.find("vector")];
  const double apply = slot_s(recurrence, slots, "A"), copy = vector.parts[vector_copy]->run_s;
  const double axpby = vector.parts[vector_axpby]->run_s;

  double iteration = apply + slot_s(recurrence, slots, "update") + slot_s(recurrence, slots, "M") + overhead_s;
  if (recurrence.id == SXT_RECURRENCE_CLASSICAL) iteration += slot_s(recurrence, slots, "dots") + axpby;
  // The first residual, and the product with which the last one is found.
  return iterations(query) * iteration + 2 * apply + 2 * copy;
}

}  // namespace

sxt_status applicable(const Recurrence &recurrence, const sxt_pcg_query &query, sxt_message *reason) {
  if (query.recurrence != 0 && query.recurrence != recurrence.id)
    return plugin::refuse(reason, "this is recurrence %d (%s), the query asks for %d", recurrence.id, recurrence.name,
                          query.recurrence);
  if (query.m.rows != query.m.cols)
    return plugin::refuse(reason, "the matrix is not square: %lld rows, %lld columns",
                          static_cast<long long>(query.m.rows), static_cast<long long>(query.m.cols));
  const bool complex = query.m.q.value_type == SXT_C64 || query.m.q.value_type == SXT_C128;
  if (query.m.symmetry == SXT_SKEW || (complex && query.m.symmetry == SXT_SYMMETRIC))
    return plugin::refuse(reason, "the matrix is %s, conjugate gradients need it Hermitian",
                          query.m.symmetry == SXT_SKEW ? "skew-symmetric" : "complex symmetric");
  if (query.preconditioned && !recurrence.takes_preconditioner)
    return plugin::refuse(reason,
                          "%s is for M = identity (a matrix scaled beforehand), the query has preconditioned = 1",
                          recurrence.name);
  return SXT_OK;
}

sxt_status candidates(const Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  plugin::CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.run_s = solve_s(recurrence, query, slots);
  candidate.state_bytes = vector_bytes(query.m.rows, query.m.q.value_type) *
                          static_cast<std::uint64_t>(recurrence.vectors[query.preconditioned != 0]);
  candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
  // Parts run one after the other and share the scratch.
  for (std::uint64_t i = 0; i < recurrence.n_slots; ++i)
    candidate.scratch_bytes = std::max(candidate.scratch_bytes, slots[i].scratch_bytes);
  return SXT_OK;
}

sxt_status slot_query(const Recurrence &recurrence, const sxt_pcg_query &query, std::uint64_t slot,
                      std::uint64_t instance, const char *kind, void *out, std::uint64_t capacity) {
  if (slot >= recurrence.n_slots || !kind || !out) return SXT_E_ARGUMENT;
  if (instance >= recurrence.slots[slot].max_count) return SXT_NOT_APPLICABLE;
  const bool m = query.preconditioned != 0;
  const auto is = [kind](const char *other) { return std::strcmp(kind, other) == 0; };
  const bool in_a = static_cast<std::int64_t>(slot) == recurrence.find("A");

  if (is(SXT_KIND_SPMV)) return write(spmv_query(query, sizeof(sxt_spmv_query), SXT_KIND_SPMV), out, capacity);
  if (is(SXT_KIND_SPMV_DOTS)) {
    const sxt_spmv_dots_query fused{spmv_query(query, sizeof(sxt_spmv_dots_query), SXT_KIND_SPMV_DOTS),
                                    recurrence.apply_dots[m], 0};
    return write(fused, out, capacity);
  }
  if (is(SXT_KIND_MULTIDOT))
    return write(in_a ? multidot_query(query, recurrence.apply_dots[m], recurrence.apply_arrays[m])
                      : multidot_query(query, recurrence.dots[m], recurrence.dots_arrays[m]),
                 out, capacity);
  if (is(SXT_KIND_VECTOR_GROUP)) {
    const auto q = part_query(query, sizeof(sxt_vector_group_query), SXT_KIND_VECTOR_GROUP);
    return write(sxt_vector_group_query{q, query.m.rows, recurrence.group, 0}, out, capacity);
  }
  if (is(SXT_KIND_VECTOR)) {
    const auto q = part_query(query, sizeof(sxt_vector_query), SXT_KIND_VECTOR);
    const std::int32_t operation = instance == vector_axpby ? SXT_VECTOR_AXPBY : SXT_VECTOR_COPY;
    return write(sxt_vector_query{q, query.m.rows, operation, 0}, out, capacity);
  }
  if (is(SXT_KIND_PRECONDITIONER)) {
    if (!m) return SXT_NOT_APPLICABLE;  // M stays empty: the identity
    sxt_preconditioner_query q{matrix_query(query, sizeof(sxt_preconditioner_query), SXT_KIND_PRECONDITIONER), {}};
    static_assert(sizeof q.method == sizeof query.preconditioner);
    std::memcpy(q.method, query.preconditioner, sizeof q.method);
    return write(q, out, capacity);
  }
  return SXT_E_ARGUMENT;
}

}  // namespace host_loop
