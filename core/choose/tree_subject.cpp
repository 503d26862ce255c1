// SPDX-License-Identifier: BSD-3-Clause
// Names of what a decision tree can be about, and the queries they stand for.
#include <cstdint>

#include "core/base/types.hpp"
#include "core/choose/tree.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace sextant {

namespace {

struct Named {
  std::string name;
  TreeSubject subject;
};

bool indexed(std::int32_t operation) { return operation == SXT_VECTOR_GATHER || operation == SXT_VECTOR_SCATTER; }

std::vector<Named> all_subjects(sxt_value_type type) {
  std::vector<Named> all;
  const auto add = [&](const std::string &name, const char *kind, std::int32_t operation, sxt_index_type index = 0) {
    all.push_back({name, {kind, operation, type, index}});
  };
  const auto add_vector = [&](const std::string &name, std::int32_t operation) {
    if (!indexed(operation)) return add(name, SXT_KIND_VECTOR, operation);
    for (const sxt_index_type index : {SXT_I32, SXT_I64})
      add(name + "-" + index_name(index), SXT_KIND_VECTOR, operation, index);
  };
#define SXT_X(suffix, value, name, ...) add_vector(name, value);
  SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
#define SXT_X(suffix, value, name, ...) add(name, SXT_KIND_REDUCTION, value);
  SXT_REDUCTION_TABLE(SXT_X)
#undef SXT_X
  for (std::int32_t pairs = 1; pairs <= SXT_MULTIDOT_MAX; ++pairs)
    add(text("multidot-", pairs), SXT_KIND_MULTIDOT, pairs);
#define SXT_X(suffix, value, name, ...) add(name, SXT_KIND_VECTOR_GROUP, value);
  SXT_VECTOR_GROUP_TABLE(SXT_X)
#undef SXT_X
  return all;
}

template <class Q>
Q started(const TreeSubject &subject) {
  // Small operations are called again and again; their set-up is charged to so many calls.
  constexpr double expected_calls = 1000;
  Q query{};
  query.q.h = {sizeof(Q), subject.kind};
  query.q.expected_runs = expected_calls;
  query.q.value_type = subject.type;
  return query;
}

}  // namespace

Query TreeSubject::at(std::int64_t n) const {
  const std::string_view asked = kind;
  if (asked == SXT_KIND_VECTOR) {
    auto query = started<sxt_vector_query>(*this);
    query.n = n, query.operation = operation, query.index_type = index_type;
    return Query(&query.q);
  }
  if (asked == SXT_KIND_REDUCTION) {
    auto query = started<sxt_reduction_query>(*this);
    query.n = n, query.operation = operation;
    return Query(&query.q);
  }
  if (asked == SXT_KIND_MULTIDOT) {
    auto query = started<sxt_multidot_query>(*this);
    query.n = n, query.n_dots = operation, query.distinct = 2 * operation;
    return Query(&query.q);
  }
  require(asked == SXT_KIND_VECTOR_GROUP, SXT_E_ARGUMENT, "kind ", asked, " has no decision tree over n");
  auto query = started<sxt_vector_group_query>(*this);
  query.n = n, query.group = operation;
  return Query(&query.q);
}

std::string TreeSubject::operation_name() const {
  for (const Named &each : all_subjects(type))
    if (std::string_view(each.subject.kind) == kind && each.subject.operation == operation &&
        each.subject.index_type == index_type)
      return each.name;
  return text(kind, " operation ", operation);
}

TreeSubject tree_subject(const std::string &operation, sxt_value_type type) {
  with_value_type(type, [](auto) {});
  const std::string wanted = operation == "multidot"                           ? "multidot-2"
                             : operation == "gather" || operation == "scatter" ? operation + "-i32"
                                                                               : operation;
  for (const Named &each : all_subjects(type))
    if (each.name == wanted) return each.subject;
  fail(SXT_E_UNKNOWN_NAME, unknown_name("operation", operation, tree_operations()));
}

std::vector<std::string> tree_operations() {
  std::vector<std::string> names;
  for (const Named &each : all_subjects(SXT_F64)) names.push_back(each.name);
  return names;
}

}  // namespace sextant
