// SPDX-License-Identifier: BSD-3-Clause
// The fields of each kind's query that are of its way of asking. Of kinds that are not listed here, only the types.
#include "core/conformance/asking.hpp"

#include <cstring>
#include <string_view>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/plugin/kinds/vector_group_dots.h"

#include "core/base/hash.hpp"

namespace sextant::conformance {
namespace {

template <class Q>
const Q &as(const Query &query) {
  return *reinterpret_cast<const Q *>(query.get());
}

std::vector<std::int64_t> fields_of(const Query &query) {
  const std::string_view kind = query.kind();
  if (kind == SXT_KIND_SPMV) {
    const auto &q = as<sxt_spmv_query>(query);
    return {q.op, q.n_rhs};
  }
  if (kind == SXT_KIND_SPMV_DOTS) {
    const auto &q = as<sxt_spmv_dots_query>(query);
    return {q.m.op, q.m.n_rhs, q.n_dots};
  }
  if (kind == SXT_KIND_VECTOR) {
    const auto &q = as<sxt_vector_query>(query);
    return {q.operation, q.index_type};
  }
  if (kind == SXT_KIND_REDUCTION) {
    const auto &q = as<sxt_reduction_query>(query);
    return {q.operation, q.accuracy};
  }
  if (kind == SXT_KIND_MULTIDOT) return {as<sxt_multidot_query>(query).n_dots};
  if (kind == SXT_KIND_VECTOR_GROUP) return {as<sxt_vector_group_query>(query).group};
  if (kind == SXT_KIND_VECTOR_GROUP_DOTS) return {as<sxt_vector_group_dots_query>(query).group};
  if (kind == SXT_KIND_PCG) return {as<sxt_pcg_query>(query).preconditioned};
  if (kind == SXT_KIND_HERMITIAN) return {as<sxt_hermitian_query>(query).phase};
  if (kind == SXT_KIND_DENSE) return {as<sxt_dense_query>(query).operation};
  if (kind == SXT_KIND_CHOLESKY) {
    const auto &q = as<sxt_cholesky_query>(query);
    return {q.phase, q.factors};
  }
  return {};
}

}  // namespace

std::uint64_t way_of_asking(const Query &query) {
  std::vector<std::int64_t> all = fields_of(query);
  all.push_back(query.value_type());
  all.push_back(query.get()->flags & ~std::uint32_t{SXT_QUERY_CAPTURABLE});
  const char *storage = nullptr;
  if (query.about_matrix()) {
    const sxt_matrix_query &m = query.matrix_part();
    all.push_back(m.matrix_type);
    all.push_back(m.symmetry);
    storage = m.storage;
  }
  std::uint64_t hash = fnv1a(all.data(), all.size() * sizeof all[0]);
  if (storage) hash = fnv1a(storage, std::strlen(storage), hash);
  return fnv1a(query.kind(), std::strlen(query.kind()), hash);
}

bool asks_alike(const Query &query, const Query &like) {
  if (query.value_type() != like.value_type() || query.about_matrix() != like.about_matrix()) return false;
  if (query.about_matrix() && query.matrix_part().matrix_type != like.matrix_part().matrix_type) return false;
  return fields_of(query) == fields_of(like);
}

}  // namespace sextant::conformance
