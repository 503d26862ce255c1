// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/query.hpp"

#include <cstdint>
#include <cstring>

#include "core/base/hash.hpp"
#include "core/base/intern.hpp"
#include "core/base/types.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

Query::Query(const sxt_query *query, const std::function<void(const char *kind)> &known) {
  require(query != nullptr, SXT_E_ARGUMENT, "query is NULL");
  require(query->h.struct_size >= sizeof(sxt_query) && query->h.struct_size <= capacity, SXT_E_ARGUMENT,
          "query->h.struct_size is ", query->h.struct_size, "; it must be the size of the kind's query, ",
          sizeof(sxt_query), " to ", capacity, " bytes");
  std::memcpy(bytes_.data(), query, query->h.struct_size);
  check("the caller");
  if (get()->expected_runs > most_runs) get()->expected_runs = most_runs;
  known(query->h.kind);
  get()->h.kind = intern(query->h.kind);
}

void Query::adopt(const char *kernel) {
  check(kernel);
  if (get()->expected_runs > most_runs) get()->expected_runs = most_runs;
  get()->h.kind = intern(kind());
}

void Query::check(const char *author) const {
  const std::uint64_t least = about_matrix() ? sizeof(sxt_matrix_query) : sizeof(sxt_query);
  require(get()->h.struct_size >= least && get()->h.struct_size <= capacity, SXT_E_ARGUMENT, author,
          " gave a query of ", get()->h.struct_size, " bytes where ", least, " to ", capacity, " are possible");
  require(kind() != nullptr && *kind() != 0, SXT_E_ARGUMENT, author, " gave a query without a kind");
  // Masks of types are indexed by it. 0: not filled in yet, or of a kind whose queries have none.
  if (value_type() != 0) with_value_type(value_type(), [](auto) {});
}

bool Query::transposes() const noexcept {
  if (!about_matrix() || std::strcmp(kind(), SXT_KIND_SPMV) != 0) return false;
  const auto &product = *reinterpret_cast<const sxt_spmv_query *>(bytes_.data());
  return product.op != SXT_NO_TRANSPOSE && product.m.symmetry == SXT_GENERAL;
}

std::uint64_t Query::hash() const noexcept {
  Query plain = *this;  // without the pointers, whose values differ from run to run
  plain.get()->h.kind = nullptr;
  if (about_matrix()) {
    plain.matrix_part().storage = nullptr;
    plain.matrix_part().matrix = nullptr;
  }
  return fnv1a(kind(), std::strlen(kind()), fnv1a(plain.bytes_.data(), get()->h.struct_size));
}

}  // namespace sextant
