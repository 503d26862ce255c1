// SPDX-License-Identifier: BSD-3-Clause
// The patterns of factorised sparse approximate inverses, found on the host for every device: the lower triangle of A
// or of A^2, with a limit of entries a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <vector>

#include "plugins/preconditioner/shared/preconditioner.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin::precondition {

inline constexpr Method fsai_1{"fsai", nullptr, 0, 0, true, 0.41};
inline constexpr Method fsai_2{"fsai-2", nullptr, 0, 0, true, 0.25};
// Entries of a row at most, the diagonal among them: a local system of this order costs m^3 / 3 multiply-adds.
inline constexpr std::int64_t fsai_row_limit = 64;
// Paths of A^2 are not followed through another row with more entries than this: one dense row would join every pair of
// rows.
inline constexpr std::int64_t fsai_path_limit = 512;

// Rows of a lower triangle with their diagonal, columns ascending.
struct LowerPattern {
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> col;
  std::int64_t longest = 0;

  // Appends row i: the strongest of these columns below the diagonal up to the limit, and the diagonal. Permutes
  // columns.
  void append(std::int64_t i, std::vector<std::int32_t> &columns, const std::vector<double> &strength) {
    const auto own = static_cast<std::int32_t>(i);
    auto end = std::partition(columns.begin(), columns.end(), [own](std::int32_t j) { return j != own; });
    if (end - columns.begin() >= fsai_row_limit) {
      const auto last = columns.begin() + fsai_row_limit - 1;
      std::nth_element(columns.begin(), last, end, [&](std::int32_t a, std::int32_t b) {
        return strength[a] != strength[b] ? strength[a] > strength[b] : a > b;  // ties: the nearer one
      });
      end = last;
    }
    std::sort(columns.begin(), end);
    col.insert(col.end(), columns.begin(), end);
    col.push_back(own);
    longest = std::max(longest, static_cast<std::int64_t>(col.size()) - ptr.back());
    ptr.push_back(static_cast<std::int64_t>(col.size()));
  }
  void append(const LowerPattern &rows) {
    const std::int64_t before = ptr.back();
    for (std::size_t i = 1; i < rows.ptr.size(); ++i) ptr.push_back(before + rows.ptr[i]);
    col.insert(col.end(), rows.col.begin(), rows.col.end());
    longest = std::max(longest, rows.longest);
  }
};

// Appends the pattern's rows to `to`, as described for fsai_pattern.
template <class Offset, class Strength>
void append_fsai_rows(Range rows, std::int64_t n, const Offset *ptr, const std::int32_t *col, int power,
                      const Strength &strength, LowerPattern &to) {
  std::vector<double> found(static_cast<std::size_t>(n), 0);  // of the present row
  std::vector<std::int32_t> columns;
  const auto add = [&](std::int32_t j, double amount) {
    if (found[j] == 0) columns.push_back(j);
    found[j] += amount + std::numeric_limits<double>::min();  // an entry of 0 belongs to the pattern too
  };
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    for (std::int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      const std::int64_t j = col[k];
      if (power == 1 && j <= i) add(col[k], strength(k));
      if (power == 1 || (j != i && ptr[j + 1] - ptr[j] > fsai_path_limit)) continue;
      for (std::int64_t l = ptr[j]; l < ptr[j + 1] && col[l] <= i; ++l) add(col[l], strength(k) * strength(l));
    }
    to.append(i, columns, found);
    for (const std::int32_t j : columns) found[j] = 0;
    columns.clear();
  }
}

// The pattern of tril(A) (power 1) or tril(A^2) (power 2). strength(k): |a_ij| / sqrt(a_ii a_jj) of entry k, which
// decides the entries kept in rows beyond the limit; paths over two entries count with the product of theirs.
template <class Offset, class Strength>
LowerPattern fsai_pattern(std::int64_t n, const Offset *ptr, const std::int32_t *col, int power, int team,
                          Strength &&strength) {
  std::vector<LowerPattern> parts(static_cast<std::size_t>(team));
  std::vector<std::exception_ptr> failures(parts.size());  // no memory: a part must not throw
  for_each_part(team, team, [&](int part) {
    try {
      append_fsai_rows(part_of(n, team, part), n, ptr, col, power, strength, parts[part]);
    } catch (...) {
      failures[part] = std::current_exception();
    }
  });
  for (const std::exception_ptr &failure : failures)
    if (failure) std::rethrow_exception(failure);
  for (int part = 1; part < team; ++part) parts[0].append(parts[part]);
  return std::move(parts[0]);
}

// Entries of the factor that a model expects; exact for power 1 below the limit.
inline double fsai_entries(double n, double nnz, int power) {
  const double row = n > 0 ? nnz / n : 0;
  // A row of A^2 reaches the neighbours of its neighbours; on meshes about twice to thrice as many as A's.
  const double reached = power == 1 ? row : std::min(row * row, 2.5 * row);
  return n * std::min((reached + 1) / 2, static_cast<double>(fsai_row_limit));
}

}  // namespace sextant::plugin::precondition
