// SPDX-License-Identifier: BSD-3-Clause
// From what the ranks bring to the rows of each: CSR rows as they are, entries by way of the owners of their rows.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "core/base/finite.hpp"
#include "core/base/types.hpp"
#include "core/matrix/renumber.hpp"
#include "core/pcg/scale.hpp"
#include "core/world/matrix.hpp"
#include "core/world/partition.hpp"

namespace sextant {

namespace {

constexpr const char *by_csr = "sxt_matrix_from_csr_rows", *by_coo = "sxt_matrix_from_coo_rows";

// The general form: what is stated of the whole matrix does not hold of some of its rows.
AssemblyOptions of_rows(AssemblyOptions options) {
  options.symmetry = SXT_GENERAL;
  return options;
}

// Sentences of an assembly are about what it was given.
template <class F>
auto told_of(const char *what, F &&f) {
  try {
    return f();
  } catch (const Error &error) {
    throw Error(error.status(), std::string(error.what()) + what);
  }
}

// Rows begin at the sums of the counts before.
std::vector<std::int64_t> begins_of(const std::vector<Frame> &frames) {
  std::vector<std::int64_t> begin{0};
  for (const Frame &frame : frames) begin.push_back(begin.back() + frame.numbers[said_count]);
  return begin;
}

// An entry on its way to the owner of its row: two i64, then the value.
struct Entries {
  const EntryArrays &arrays;
  int base;
  std::int64_t row(std::int64_t k) const { return index_at(arrays.row, arrays.index_type, k) - base; }
  std::int64_t col(std::int64_t k) const { return index_at(arrays.col, arrays.index_type, k) - base; }
};

void check_entries(const Entries &entries, const RowsGiven &given, bool check_finite) {
  const EntryArrays &arrays = entries.arrays;
  require(arrays.nnz >= 0, SXT_E_ARGUMENT, "nnz is negative (", arrays.nnz, ")");
  require(arrays.nnz == 0 || (arrays.row && arrays.col), SXT_E_ARGUMENT, arrays.row ? "col" : "row",
          " is NULL but nnz is ", arrays.nnz);
  for (std::int64_t k = 0; k < arrays.nnz; ++k) {
    const std::int64_t row = entries.row(k), col = entries.col(k);
    require(row >= 0 && row < given.rows && col >= 0 && col < given.cols, SXT_E_INDEX, "entry ", k,
            " (counting from 0) is at row ", row, ", column ", col, ", outside a matrix of ", given.rows, " x ",
            given.cols);
  }
  if (!check_finite || !arrays.values) return;
  with_value_type(arrays.value_type, [&](auto tag) {
    const auto *values = static_cast<const typename decltype(tag)::type *>(arrays.values);
    for (std::int64_t k = 0; k < arrays.nnz; ++k)
      require(all_finite(arrays.value_type, values + k, sizeof values[k]), SXT_E_NOT_FINITE, "value ", k,
              " (counting from 0), at row ", entries.row(k), ", column ", entries.col(k), ", is not finite");
  });
}

// 1 in the caller's type, for entries without values.
void put_one(sxt_value_type type, char *at) {
  with_value_type(type, [&](auto tag) {
    const typename decltype(tag)::type one(1);
    std::memcpy(at, &one, sizeof one);
  });
}

// What each rank gets: rows, columns, values, each an array.
std::vector<char> packed_for(const std::vector<std::int64_t> &chosen, const Entries &entries) {
  const std::size_t n = chosen.size(), each = static_cast<std::size_t>(value_bytes(entries.arrays.value_type));
  std::vector<char> out(n * (2 * sizeof(std::int64_t) + each));
  char *const cols = out.data() + n * sizeof(std::int64_t), *const values = cols + n * sizeof(std::int64_t);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t row = entries.row(chosen[i]), col = entries.col(chosen[i]);
    std::memcpy(out.data() + i * sizeof row, &row, sizeof row);
    std::memcpy(cols + i * sizeof col, &col, sizeof col);
    if (entries.arrays.values)
      std::memcpy(values + i * each,
                  static_cast<const char *>(entries.arrays.values) + static_cast<std::size_t>(chosen[i]) * each, each);
    else
      put_one(entries.arrays.value_type, values + i * each);
  }
  return out;
}

std::size_t record_bytes(sxt_value_type type) {
  return 2 * sizeof(std::int64_t) + static_cast<std::size_t>(value_bytes(type));
}

// What came, rank after rank, as arrays of its own: local rows.
struct Came {
  // first, count: of this process's rows; cols: of the matrix.
  void take(const World::Parcels &in, std::int64_t first, std::int64_t count, std::int64_t cols, sxt_value_type type) {
    const auto each = static_cast<std::size_t>(value_bytes(type));
    for (const std::vector<char> &bytes : in) {
      const std::size_t n = bytes.size() / record_bytes(type), old = row.size();
      from.push_back(static_cast<std::int64_t>(n));
      if (n == 0) continue;
      row.resize(old + n), col.resize(old + n), values.resize((old + n) * each);
      std::memcpy(&row[old], bytes.data(), n * sizeof(std::int64_t));
      std::memcpy(&col[old], bytes.data() + n * sizeof(std::int64_t), n * sizeof(std::int64_t));
      std::memcpy(&values[old * each], bytes.data() + 2 * n * sizeof(std::int64_t), n * each);
      for (std::size_t k = old; k < old + n; ++k) {
        require_delivered(row[k] >= first && row[k] - first < count && col[k] >= 0 && col[k] < cols, "rank ",
                          from.size() - 1, " sends an entry at row ", row[k], ", column ", col[k]);
        row[k] -= first;
      }
    }
  }
  std::vector<std::int64_t> row, col, from;  // from: how many came from each rank
  std::vector<char> values;
};

}  // namespace

CsrArrays copied(const CsrArrays &from, const Allocator &allocator) {
  CsrArrays out;
  out.rows = from.rows;
  out.cols = from.cols;
  out.nnz = from.nnz;
  out.value_type = from.value_type;
  out.index_type = from.index_type;
  out.offset_type = from.offset_type;
  const auto copy = [&](const Buffer &buffer) {
    Buffer made(buffer.bytes(), allocator);
    if (buffer.bytes() > 0) std::memcpy(made.data(), buffer.data(), buffer.bytes());
    return made;
  };
  out.row_ptr = copy(from.row_ptr);
  out.col = copy(from.col);
  out.values = copy(from.values);
  return out;
}

void check_given(const RowsGiven &given) {
  require(given.rows >= 0 && given.cols >= 0 && given.rows <= kLargestSize && given.cols <= kLargestSize,
          SXT_E_ARGUMENT, "rows (", given.rows, ") and cols (", given.cols, ") are no sizes of a matrix");
  require(given.count >= 0 && (given.count == 0 || (given.first >= 0 && given.first <= given.rows - given.count)),
          SXT_E_DIMENSION, "row_begin ", given.first, " and row_count ", given.count, " are outside the ", given.rows,
          " rows of the matrix");
}

std::shared_ptr<WorldMatrix> WorldMatrix::from_csr(std::shared_ptr<World> world, const RowsGiven &given,
                                                   const EntryArrays &entries, const AssemblyOptions &options) {
  std::shared_ptr<WorldMatrix> made;
  world->together(by_csr, 0, [&](Frame &) {
    check_given(given);
    made.reset(new WorldMatrix(world, given));
    made->rows_ = told_of("; rows count from this process's first",
                          [&] { return assemble(entries, of_rows(options), world->context(0).allocator()); });
  });
  made->build(by_csr);
  return made;
}

// Which rows each rank owns, before entries go to each other in types that are not theirs.
static std::vector<std::int64_t> agreed_begins(World &world, const RowsGiven &given, const Entries &entries,
                                               bool check_finite) {
  const EntryArrays &arrays = entries.arrays;
  const std::vector<Frame> &frames = world.together(by_coo, 0, [&](Frame &mine) {
    check_given(given);
    check_entries(entries, given, check_finite);
    mine.numbers = {given.first, given.count, given.rows, given.cols, arrays.value_type};
  });
  for (const Frame &frame : frames)
    require(frame.numbers[said_type] == arrays.value_type, SXT_E_TYPE, "ranks disagree on the type of values");
  for (const Frame &frame : frames)
    require(frame.numbers[said_rows] == given.rows && frame.numbers[said_cols] == given.cols, SXT_E_DIMENSION,
            "ranks disagree on the number of rows or columns: one says ", frame.numbers[said_rows], " x ",
            frame.numbers[said_cols], ", rank ", world.rank(), " ", given.rows, " x ", given.cols);
  require_all_rows(frames);
  return begins_of(frames);
}

// Which of the caller's entries go to each rank.
void WorldMatrix::route_entries(const EntryArrays &arrays, int base, const std::vector<std::int64_t> &begin) {
  const Entries entries{arrays, base};
  sent_to_.resize(begin.size() - 1);
  for (std::int64_t k = 0; k < arrays.nnz; ++k) {
    const auto owner = std::upper_bound(begin.begin(), begin.end(), entries.row(k)) - begin.begin() - 1;
    sent_to_[static_cast<std::size_t>(owner)].push_back(k);
  }
}

std::shared_ptr<WorldMatrix> WorldMatrix::from_coo(std::shared_ptr<World> world, const RowsGiven &given,
                                                   const EntryArrays &arrays, const AssemblyOptions &options) {
  const Entries entries{arrays, options.index_base};
  const std::vector<std::int64_t> begin = agreed_begins(*world, given, entries, options.check_finite);
  std::shared_ptr<WorldMatrix> made;
  const World::Parcels in = world->swap(by_coo, 6, record_bytes(arrays.value_type), [&] {
    made.reset(new WorldMatrix(world, given));
    made->route_entries(arrays, options.index_base, begin);
    World::Parcels out;
    for (const std::vector<std::int64_t> &chosen : made->sent_to_) out.push_back(packed_for(chosen, entries));
    return out;
  });
  world->together(by_coo, 1, [&](Frame &) {
    Came came;
    came.take(in, begin[static_cast<std::size_t>(world->rank())], given.count, given.cols, arrays.value_type);
    EntryArrays own;
    own.layout = EntryArrays::Layout::coo;
    own.rows = given.count;
    own.cols = given.cols;
    own.nnz = static_cast<std::int64_t>(came.row.size());
    own.index_type = own.offset_type = SXT_I64;
    own.value_type = arrays.value_type;
    own.row = came.row.data();
    own.col = came.col.data();
    own.values = came.values.data();
    AssemblyOptions as = of_rows(options);
    as.index_base = 0;
    as.keep_order = true;
    made->rows_ = told_of("; rows count from this process's first, entries through those that came from all ranks",
                          [&] { return assemble(own, as, world->context(0).allocator()); });
    made->came_from_ = std::move(came.from);
  });
  made->build(by_coo);
  return made;
}

// Rows in their new order, which take values in that of the whole.
static Assembled in_order(const Matrix &whole, const std::vector<std::int64_t> &order, const Allocator &allocator) {
  const sxt_index_type type = whole.csr().index_type;
  Buffer perm(static_cast<std::uint64_t>(whole.rows() * index_bytes(type)), allocator);
  for (std::size_t k = 0; k < order.size(); ++k)
    with_index_type(type, [&](auto tag) {
      using I = typename decltype(tag)::type;
      perm.as<I>()[k] = static_cast<I>(order[k]);
    });
  const std::shared_ptr<Matrix> moved = renumbered(whole, perm.data());
  const ValueOrder &values = moved->order();
  Assembled out;
  out.csr = copied(moved->csr(), allocator);
  out.order.input_nnz = values.input_nnz;
  out.order.kept = values.kept;
  out.order.identity = values.identity;
  out.order.map_type = values.map_type;
  out.order.slot = Buffer(values.slot.bytes(), allocator);
  if (values.slot.bytes() > 0) std::memcpy(out.order.slot.data(), values.slot.data(), values.slot.bytes());
  return out;
}

std::shared_ptr<WorldMatrix> WorldMatrix::split(std::shared_ptr<World> world, Matrix &whole, const std::string &method,
                                                int index_base) {
  require(world->ranks() == 1, SXT_E_NOT_SUPPORTED, "the world has ", world->ranks(),
          " ranks; a matrix of one context is divided in a world of one process: bring rows by "
          "sxt_matrix_from_csr_rows");
  require(whole.rows() == whole.cols(), SXT_E_NOT_SQUARE, "the matrix is ", whole.rows(), " x ", whole.cols(),
          "; matrices of a world are square, so that x is divided as y is");
  RowsGiven given;
  given.rows = given.count = whole.rows();
  given.cols = whole.cols();
  given.symmetry = whole.symmetry();
  given.index_base = index_base;
  std::shared_ptr<WorldMatrix> made(new WorldMatrix(world, given));
  Partition found = partition(*world, whole, method);
  const Allocator &allocator = world->context(0).allocator();
  if (found.renumbers()) {
    made->rows_ = in_order(whole, found.order, allocator);
    made->order_ = std::move(found.order);
  } else {
    made->rows_.csr = copied(whole.csr(), allocator);
  }
  made->wanted_begin_ = std::move(found.begin);
  made->partition_ = std::move(found.choice);
  made->build("sxt_matrix_split");
  return made;
}

std::shared_ptr<WorldMatrix> WorldMatrix::among(std::shared_ptr<World> world) const {
  std::shared_ptr<WorldMatrix> made(new WorldMatrix(world, given_));
  made->rows_.csr = copied(rows_.csr, world->context(0).allocator());
  made->build("sxt_pcg_create");
  return made;
}

std::shared_ptr<WorldMatrix> WorldMatrix::scaled(int exponent, const char *call) const {
  std::shared_ptr<WorldMatrix> made;
  world_->together(call, 7, [&](Frame &) {
    made.reset(new WorldMatrix(world_, given_));
    made->rows_.csr = copied(rows_.csr, world_->context(0).allocator());
    made->nnz_ = nnz_;
    made->first_ = first_;
    made->begin_ = begin_;
    with_value_type(value_type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Power<decltype(std::abs(T{}))> power(exponent);
      T *const values = made->rows_.csr.values.as<T>();
      std::transform(values, values + rows_.csr.nnz, values, power);
    });
  });
  made->make_blocks(call);
  return made;
}

World::Parcels WorldMatrix::parcels_of(const void *values) const {
  const auto each = static_cast<std::size_t>(value_bytes(value_type()));
  const char *const from = static_cast<const char *>(values);
  World::Parcels out;
  for (const std::vector<std::int64_t> &chosen : sent_to_) {
    std::vector<char> &bytes = out.emplace_back(chosen.size() * each);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      std::memcpy(&bytes[i * each], from + static_cast<std::size_t>(chosen[i]) * each, each);
  }
  return out;
}

void WorldMatrix::route_values(const void *values) {
  constexpr const char *call = "sxt_matrix_update_values";
  const auto each = static_cast<std::size_t>(value_bytes(value_type()));
  const World::Parcels in = world_->swap(call, 4, each, [&] { return parcels_of(values); });
  world_->together(call, 6, [&](Frame &) {
    routed_.clear();
    for (std::size_t r = 0; r < in.size(); ++r) {
      require_delivered(in[r].size() / each == static_cast<std::size_t>(came_from_[r]), "rank ", r, " sends ",
                        in[r].size() / each, " values, as a matrix it had sent ", came_from_[r], " entries");
      routed_.insert(routed_.end(), in[r].begin(), in[r].end());
    }
  });
}

}  // namespace sextant
