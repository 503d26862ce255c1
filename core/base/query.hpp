// SPDX-License-Identifier: BSD-3-Clause
// An owned copy of a query of any kind. Queries are plain data whose only pointers are the kind, the storage and the
// matrix, which core sets, so that they can be copied, hashed and compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/base/error.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace sextant {

class Query {
 public:
  static constexpr std::uint64_t capacity = 512;

  Query() = default;
  // Throws SXT_E_ARGUMENT for NULL, a size that cannot be, or a missing kind, SXT_E_TYPE for no value type.
  explicit Query(const sxt_query *query) : Query(query, [](const char *) {}) {}
  // known: throws for a kind that is not, whose name is then not kept for the life of the process.
  Query(const sxt_query *query, const std::function<void(const char *kind)> &known);

  const sxt_query *get() const noexcept { return reinterpret_cast<const sxt_query *>(bytes_.data()); }
  sxt_query *get() noexcept { return reinterpret_cast<sxt_query *>(bytes_.data()); }
  void *buffer() noexcept { return bytes_.data(); }
  const char *kind() const noexcept { return get()->h.kind; }
  sxt_value_type value_type() const noexcept { return get()->value_type; }
  // No finite total may leave the range by it.
  static constexpr double most_runs = 1e60;
  double expected_runs() const noexcept { return get()->expected_runs > 1 ? get()->expected_runs : 1; }
  bool has(std::uint32_t flag) const noexcept { return (get()->flags & flag) != 0; }
  bool about_matrix() const noexcept { return has(SXT_QUERY_MATRIX); }
  // A product with the transpose of a matrix that is not its own, so that features of the transpose matter.
  bool transposes() const noexcept;
  const sxt_matrix_query &matrix_part() const noexcept {
    return *reinterpret_cast<const sxt_matrix_query *>(bytes_.data());
  }
  sxt_matrix_query &matrix_part() noexcept { return *reinterpret_cast<sxt_matrix_query *>(bytes_.data()); }

  // Call after a kernel wrote into buffer(): checks what it wrote and takes the kind's name over.
  void adopt(const char *kernel);

  // Equal for equal questions in any process: covers every byte but the pointers, and the kind's name. The storage
  // under consideration is part of the answer, not of the question.
  std::uint64_t hash() const noexcept;

 private:
  void check(const char *author) const;
  alignas(16) std::array<std::byte, capacity> bytes_{};
};

}  // namespace sextant
