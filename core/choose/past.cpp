// SPDX-License-Identifier: BSD-3-Clause
#include "core/choose/past.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

namespace {

constexpr std::int64_t rows_looked_at = 32, entries_looked_at = 16;
constexpr double golden = 0.6180339887498949;

class Digest {
 public:
  void add(std::int64_t number) { hash_ = fnv1a(&number, sizeof number, hash_); }
  void add(std::string_view text) { hash_ = fnv1a(text.data(), text.size(), hash_); }
  // To the nearest of so many steps an octave.
  void add_size(double size, double steps) {
    add(size > 0 ? std::llround(steps * std::log2(size)) : std::int64_t{-1} << 40);
  }
  void add_share(double part, double whole) { add(whole > 0 ? std::llround(8 * part / whole) : -1); }
  std::uint64_t value() const { return hash_ ? hash_ : 1; }

 private:
  std::uint64_t hash_ = fnv1a(nullptr, 0);
};

// Row lengths, exactly: one long row among many decides against some storages.
template <class Offset>
void add_lengths(Digest &digest, const Offset *row_ptr, std::int64_t rows) {
  // Without a number that is handed from row to row, so that compilers take several at once.
  Offset longest = row_ptr[1] - row_ptr[0];
  std::int64_t changes = 0, empty = 0;
  for (std::int64_t i = 0; i < rows; ++i) longest = std::max(longest, row_ptr[i + 1] - row_ptr[i]);
  for (std::int64_t i = 0; i < rows; ++i) empty += row_ptr[i + 1] == row_ptr[i];
  for (std::int64_t i = 1; i < rows; ++i) changes += row_ptr[i + 1] - row_ptr[i] != row_ptr[i] - row_ptr[i - 1];
  digest.add_size(static_cast<double>(longest), 4);
  digest.add_share(static_cast<double>(changes), static_cast<double>(rows));
  digest.add_share(static_cast<double>(empty), static_cast<double>(rows));
}

// Where the entries of some rows and of those below them lie.
template <class Offset, class Index>
void add_places(Digest &digest, const Offset *row_ptr, const Index *col, std::int64_t rows) {
  std::bitset<256> offsets;  // the more bits, the more diagonals
  std::int64_t seen = 0, pairs = 0, neighbours = 0, shifted = 0, repeated = 0;
  std::array<double, rows_looked_at> widths{}, away{};
  std::size_t count = 0;
  for (std::int64_t r = 0; r < std::min(rows_looked_at, rows); ++r) {
    const double turn = golden * static_cast<double>(r + 1);
    const auto i = static_cast<std::int64_t>((turn - std::floor(turn)) * static_cast<double>(rows));
    const std::int64_t begin = row_ptr[i], length = row_ptr[i + 1] - begin;
    if (length == 0) continue;
    const bool has_next = i + 1 < rows && row_ptr[i + 2] - row_ptr[i + 1] == length;
    for (std::int64_t k = 0; k < std::min(length, entries_looked_at); ++k) {
      const std::int64_t here = col[begin + k];
      offsets.set(static_cast<std::size_t>((here - i) * 0x9e3779b1 >> 7 & 255));
      ++seen;
      neighbours += k > 0 && col[begin + k - 1] + 1 == here;
      if (!has_next) continue;
      ++pairs;
      shifted += col[begin + length + k] == here + 1;
      repeated += col[begin + length + k] == here;
    }
    widths[count] = static_cast<double>(col[begin + length - 1] - col[begin]);
    away[count++] = std::abs(static_cast<double>(col[begin + length / 2] - i));
  }
  digest.add_size(static_cast<double>(offsets.count()), 2);
  digest.add_share(static_cast<double>(neighbours), static_cast<double>(seen));
  digest.add_share(static_cast<double>(shifted), static_cast<double>(pairs));
  digest.add_share(static_cast<double>(repeated), static_cast<double>(pairs));
  for (auto &all : {&widths, &away}) {
    std::nth_element(all->begin(), all->begin() + count / 2, all->begin() + count);
    digest.add_size(1 + (*all)[count / 2], 1);
  }
}

// Tables by profile. One that no context uses any more goes with the next that comes.
struct Shelf {
  std::mutex lock;
  std::map<const Profile *, std::pair<std::weak_ptr<const Profile>, std::shared_ptr<PastChoices>>> tables;
};
Shelf &shelf() {
  static Shelf *const the = new Shelf;  // contexts may be made until the process ends
  return *the;
}

}  // namespace

std::shared_ptr<PastChoices> PastChoices::of(const Context &context) {
  const std::shared_ptr<const Profile> &profile = context.held_profile();
  const std::lock_guard lock(shelf().lock);
  auto &tables = shelf().tables;
  if (const auto found = tables.find(profile.get()); found != tables.end() && !found->second.first.expired())
    return found->second.second;
  std::erase_if(tables, [](const auto &each) { return each.second.first.expired(); });
  auto made = std::make_shared<PastChoices>();
  tables[profile.get()] = {profile, made};
  return made;
}

std::optional<PlanEntry> PastChoices::find(std::uint64_t likeness) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(likeness);
  return found == answers_.end() ? std::nullopt : std::optional(found->second);
}

void PastChoices::keep(std::uint64_t likeness, const PlanEntry &entry) {
  const std::lock_guard lock(mutex_);
  if (answers_.size() >= most) answers_.clear();
  answers_[likeness] = entry;
}

void PastChoices::forget(std::uint64_t likeness) {
  const std::lock_guard lock(mutex_);
  answers_.erase(likeness);
}

std::uint64_t likeness_of(const Context &context, const Query &query, const Matrix &matrix) {
  const CsrArrays &csr = matrix.csr();
  if (std::string_view(query.kind()) != SXT_KIND_SPMV || !csr.row_ptr.data() || !csr.col.data() || csr.rows < 1)
    return 0;
  const auto &asked = reinterpret_cast<const sxt_spmv_query &>(*query.get());
  Digest digest;
  digest.add(context.device_name());
  digest.add(context.machine().units);
  digest.add(static_cast<std::int64_t>(context.choices()));
  digest.add(static_cast<std::int64_t>(context.scope().all_kernels().size()));
  digest.add_size(query.expected_runs(), 2);
  for (const std::int64_t word : {std::int64_t{asked.m.q.flags}, std::int64_t{asked.m.q.value_type},
                                  std::int64_t{asked.m.matrix_type}, std::int64_t{asked.op}, std::int64_t{asked.n_rhs}})
    digest.add(word);
  digest.add(matrix.known_symmetry());
  for (const std::string &held : matrix.storages()) digest.add(held);
  digest.add_size(static_cast<double>(csr.rows), 4);
  digest.add_size(static_cast<double>(csr.cols), 4);
  digest.add_size(static_cast<double>(csr.nnz), 4);
  with_index_type(csr.offset_type, [&](auto offset) {
    using Offset = typename decltype(offset)::type;
    const auto *const row_ptr = static_cast<const Offset *>(csr.row_ptr.data());
    add_lengths(digest, row_ptr, csr.rows);
    with_index_type(csr.index_type, [&](auto index) {
      using Index = typename decltype(index)::type;
      add_places(digest, row_ptr, static_cast<const Index *>(csr.col.data()), csr.rows);
    });
  });
  return digest.value();
}

}  // namespace sextant
