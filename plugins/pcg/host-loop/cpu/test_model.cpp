// SPDX-License-Identifier: BSD-3-Clause
// The engines before they run: whether they apply, the queries of their parts, and the cost of a solve.
#include <cstdint>

#include "test_parts.hpp"

using namespace pcg_test;

namespace {

const sxt_kernel &kernel(const std::string &recurrence) {
  return find_kernel(load_own("pcg-host-loop"), "pcg.host-loop." + recurrence + ".cpu");
}

sxt_pcg_query make_query() {
  sxt_pcg_query query{};
  query.m = grid<double>(10).query();
  query.m.q.h = {sizeof query, SXT_KIND_PCG};
  return query;
}

std::string refusal(const std::string &recurrence, const sxt_pcg_query &query) {
  char text[256] = "";
  sxt_message message{text, sizeof text};
  const sxt_machine machine = make_machine();
  return kernel(recurrence).applicable(&query.m.q, nullptr, &machine, &message) == SXT_OK ? "" : text;
}

TEST(HostLoopModel, RefusesWithTheReason) {
  sxt_pcg_query query = make_query();
  EXPECT_EQ(refusal("classical", query), "");
  EXPECT_EQ(refusal("predict-recompute", query), "");
  query.recurrence = SXT_RECURRENCE_CHRONOPOULOS_GEAR;
  EXPECT_EQ(refusal("chronopoulos-gear", query), "");
  EXPECT_NE(refusal("classical", query).find("asks for 2"), std::string::npos);

  query = make_query();
  query.preconditioned = 1;
  EXPECT_EQ(refusal("classical", query), "");
  EXPECT_EQ(refusal("predict-recompute", query), "");

  query = make_query();
  query.m.cols = 99;
  EXPECT_NE(refusal("classical", query).find("100 rows, 99 columns"), std::string::npos);

  query = make_query();
  query.m.q.value_type = query.m.matrix_type = SXT_C128;
  EXPECT_NE(refusal("classical", query).find("complex symmetric"), std::string::npos);
  query.m.symmetry = SXT_HERMITIAN;
  EXPECT_EQ(refusal("classical", query), "");
}

// The query of a part as the engine writes it.
template <class Query>
Query part(const std::string &recurrence, const sxt_pcg_query &query, const char *role, const char *kind,
           std::uint64_t instance = 0) {
  const sxt_kernel &k = kernel(recurrence);
  Query out{};
  for (std::uint64_t slot = 0; slot < k.n_slots; ++slot)
    if (std::strcmp(k.slots[slot].role, role) == 0) {
      EXPECT_EQ(k.slot_query(&query.m.q, slot, instance, kind, &out, sizeof out - 1), SXT_E_ARGUMENT) << "too small";
      EXPECT_EQ(k.slot_query(&query.m.q, slot, instance, kind, &out, sizeof out), SXT_OK);
    }
  return out;
}

TEST(HostLoopModel, AsksEachPartForWhatItWillRun) {
  sxt_pcg_query query = make_query();
  query.m.q.expected_runs = 3;
  query.m.q.flags |= SXT_QUERY_DETERMINISTIC;
  query.iterations = 50;

  const auto fused = part<sxt_spmv_dots_query>("predict-recompute", query, "A", SXT_KIND_SPMV_DOTS);
  EXPECT_EQ(fused.m.m.q.h.struct_size, sizeof(sxt_spmv_dots_query));
  EXPECT_EQ(fused.n_dots, 4);
  EXPECT_EQ(fused.m.n_rhs, 1);
  EXPECT_EQ(fused.m.m.nnz, query.m.nnz);
  EXPECT_EQ(fused.m.m.q.expected_runs, 150);
  EXPECT_EQ(fused.m.m.q.flags, SXT_QUERY_MATRIX | SXT_QUERY_DETERMINISTIC);

  const auto dots = part<sxt_multidot_query>("chronopoulos-gear", query, "A", SXT_KIND_MULTIDOT);
  EXPECT_EQ(dots.n, 100);
  EXPECT_EQ(dots.n_dots, 2);
  EXPECT_EQ(dots.distinct, 2);
  EXPECT_EQ(dots.q.flags, static_cast<std::uint32_t>(SXT_QUERY_DETERMINISTIC)) << "a vector kind is no matrix query";

  const auto group = part<sxt_vector_group_query>("chronopoulos-gear", query, "update", SXT_KIND_VECTOR_GROUP);
  EXPECT_EQ(group.group, SXT_GROUP_CHRONOPOULOS_GEAR);
  EXPECT_EQ(part<sxt_vector_query>("classical", query, "vector", SXT_KIND_VECTOR, 0).operation, SXT_VECTOR_AXPBY);
  EXPECT_EQ(part<sxt_vector_query>("classical", query, "vector", SXT_KIND_VECTOR, 1).operation, SXT_VECTOR_COPY);

  // Unknown iterations count as 100; the preconditioner's name is handed on.
  query.iterations = 0;
  query.preconditioned = 1;
  std::strcpy(query.preconditioner, "jacobi");
  const auto m = part<sxt_preconditioner_query>("classical", query, "M", SXT_KIND_PRECONDITIONER);
  EXPECT_STREQ(m.method, "jacobi");
  EXPECT_EQ(m.m.q.expected_runs, 300);
  EXPECT_EQ(part<sxt_multidot_query>("classical", query, "dots", SXT_KIND_MULTIDOT).n_dots, 2);
}

TEST(HostLoopModel, InstancesEndWhereTheyShould) {
  sxt_pcg_query query = make_query();
  const sxt_kernel &k = kernel("classical");
  char out[256];
  for (std::uint64_t slot = 0; slot < k.n_slots; ++slot) {
    const sxt_slot &s = k.slots[slot];
    const std::string kind = std::string(s.alternatives[0]);
    EXPECT_EQ(k.slot_query(&query.m.q, slot, s.max_count, kind.c_str(), out, sizeof out), SXT_NOT_APPLICABLE) << s.role;
    const bool is_m = std::strcmp(s.role, "M") == 0;
    EXPECT_EQ(k.slot_query(&query.m.q, slot, 0, kind.c_str(), out, sizeof out), is_m ? SXT_NOT_APPLICABLE : SXT_OK);
    EXPECT_EQ(s.min_count, is_m ? 0u : s.max_count) << s.role;
  }
}

TEST(HostLoopModel, CostIsTheSumOfThePartsTimesTheIterations) {
  const Matrix<double> a = grid<double>(10);
  // Every part of the test costs 1 us: A, update, dots and one axpby an iteration, and what the start takes.
  const Engine<double> classical("classical", a);
  EXPECT_NEAR(classical.candidate.run_s, 100 * 4.2e-6 + 4e-6, 1e-7);
  // A and update: without M, u is r itself.
  EXPECT_NEAR(Engine<double>("chronopoulos-gear", a).candidate.run_s, 100 * 2.2e-6 + 4e-6, 1e-7);
  EXPECT_NEAR(Engine<double>("predict-recompute", a).candidate.run_s, 100 * 2.2e-6 + 4e-6, 1e-7);
  EXPECT_EQ(classical.candidate.n_terms, 0u);
  // Three vectors of 100 numbers, each rounded up to whole cache lines; scratch of the neediest part.
  EXPECT_EQ(classical.candidate.state_bytes, 3u * 832);
  EXPECT_EQ(classical.candidate.scratch_bytes, 256u * 5);
}

}  // namespace
