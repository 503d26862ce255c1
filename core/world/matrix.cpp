// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/matrix.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/scalar.hpp"
#include "core/base/types.hpp"
#include "core/operations/operations.hpp"
#include "core/pcg/clock.hpp"
#include "core/world/partition.hpp"
#include "sextant/plugin/kinds/vector.h"

namespace sextant {

namespace {

// A number of the frame that says why ranks do not fit, with the status that is answered.
void require_equal(const std::vector<Frame> &frames, std::size_t number, sxt_status status, const char *name) {
  for (std::size_t r = 1; r < frames.size(); ++r)
    require(frames[r].numbers[number] == frames[0].numbers[number], status, "ranks disagree on ", name,
            ": rank 0 says ", frames[0].numbers[number], ", rank ", r, " ", frames[r].numbers[number]);
}

}  // namespace

void require_all_rows(const std::vector<Frame> &frames) {
  const std::int64_t rows = frames[0].numbers[said_rows];
  std::int64_t next = 0;
  for (std::size_t r = 0; r < frames.size(); ++r) {
    const std::int64_t first = frames[r].numbers[said_first], count = frames[r].numbers[said_count];
    if (count == 0) continue;
    require(count > 0 && first >= 0 && count <= rows && first <= rows - count, SXT_E_DIMENSION, "rank ", r, " brings ",
            count, " rows from ", first, ", of ", rows);
    require(first >= next, SXT_E_DIMENSION, "rank ", r, " brings rows from ", first, ", but rows up to ", next - 1,
            " came from ranks before it: rows must follow each other in the order of ranks");
    require(first <= next, SXT_E_DIMENSION, "no rank brings rows ", next, " to ", first - 1, "; rank ", r,
            " begins with row ", first);
    next = first + count;
  }
  require(next == rows, SXT_E_DIMENSION, "no rank brings rows ", next, " to ", rows - 1);
}

void WorldMatrix::build(const char *call) {
  agree_on_rows(call);
  divide_own_rows(call);
  make_blocks(call);
}

void WorldMatrix::agree_on_rows(const char *call) {
  const std::vector<Frame> &frames = world_->together(call, 1, [&](Frame &mine) {
    mine.numbers = {given_.first,         given_.count,    given_.rows,   given_.cols,
                    rows_.csr.value_type, given_.symmetry, rows_.csr.nnz, 0};
  });
  require_equal(frames, said_rows, SXT_E_DIMENSION, "the number of rows");
  require_equal(frames, said_cols, SXT_E_DIMENSION, "the number of columns");
  require_equal(frames, said_type, SXT_E_TYPE, "the type of values");
  require_equal(frames, said_symmetry, SXT_E_ARGUMENT, "the symmetry");
  require_all_rows(frames);
  for (const Frame &frame : frames) {
    const std::int64_t nnz = frame.numbers[said_nnz];
    world_->require_sound(nnz >= 0 && nnz <= std::numeric_limits<std::int64_t>::max() - nnz_, nnz, " entries");
    nnz_ += nnz;
  }
  // A rank without rows may have said any first one.
  for (std::int32_t r = 0; r < world_->rank(); ++r) first_ += frames[static_cast<std::size_t>(r)].numbers[said_count];
}

double WorldMatrix::work_before(std::int64_t row) const {
  return static_cast<double>(offset_at(rows_.csr, row)) * entry_bytes(value_type()) +
         static_cast<double>(row) * row_bytes(value_type());
}

double WorldMatrix::imbalance() const {
  double most = 0, sum = 0;
  for (std::size_t i = 0; i < world_->own(); ++i) {
    const std::int64_t first = first_row_of(i) - first_;
    const double seconds = (work_before(first + rows_of(i)) - work_before(first)) /
                           world_->rates()[static_cast<std::size_t>(world_->first()) + i];
    most = std::max(most, seconds);
    sum += seconds;
  }
  return sum > 0 ? most * static_cast<double>(world_->own()) / sum : 1;
}

// Among this process's members, by the bytes that a product reads: entries with their columns, and vectors.
void WorldMatrix::divide_own_rows(const char *call) {
  const std::vector<Frame> &frames = world_->together(call, 5, [&](Frame &mine) {
    std::vector<double> rates;
    for (std::size_t i = 0; i < world_->own(); ++i)
      rates.push_back(world_->rates()[static_cast<std::size_t>(world_->first()) + i]);
    const std::vector<std::int64_t> own =
        !wanted_begin_.empty() ? wanted_begin_
                               : divide(rows_.csr.rows, rates, [&](std::int64_t row) { return work_before(row); });
    for (std::size_t i = 0; i < world_->own(); ++i) mine.members[i].number = first_ + own[i];
    begin_.reserve(static_cast<std::size_t>(world_->members()) + 1);
  });
  take_begins(frames);
}

void WorldMatrix::take_begins(const std::vector<Frame> &frames) {
  each_member(frames, [&](const Frame::OfMember &member) {
    const std::int64_t before = begin_.empty() ? 0 : begin_.back();
    world_->require_sound(member.number >= before && member.number <= given_.rows, "a member's rows begin with ",
                          member.number, ", those of the one before it with ", before);
    begin_.push_back(member.number);
  });
  begin_.push_back(given_.rows);
  const std::int64_t first = first_row_of(0), end = begin_[static_cast<std::size_t>(world_->first()) + world_->own()];
  world_->require_sound(begin_.front() == 0 && first == first_ && end == first_ + rows_.csr.rows,
                        "this rank's rows are ", first, " to ", end - 1, " of the division");
}

RowRange WorldMatrix::range_of(std::size_t own) const {
  const std::int64_t first = first_row_of(own), count = rows_of(own);
  return {&rows_.csr, first - first_, first - first_ + count, first, first + count};
}

void WorldMatrix::make_blocks(const char *call) {
  std::vector<std::vector<std::int64_t>> ghosts;
  world_->together(call, 2, [&](Frame &) {
    ghosts.resize(world_->own());
    blocks_.resize(world_->own());
    halo_ = std::make_unique<Halo>(world_, value_type());
    require(given_.rows == given_.cols, SXT_E_NOT_SQUARE, "the matrix is ", given_.rows, " x ", given_.cols,
            "; matrices of a world are square, so that x is divided as y is");
    for (std::size_t i = 0; i < blocks_.size(); ++i) make_block(i, ghosts[i]);
  });
  halo_->connect(call, begin_, ghosts);
}

void WorldMatrix::make_block(std::size_t own, std::vector<std::int64_t> &ghosts) {
  const std::shared_ptr<Context> &context = world_->shared_context(own);
  BlockArrays arrays = split_rows(range_of(own), context->allocator());
  ghosts = std::move(arrays.ghosts);
  Block &block = blocks_[own];
  block.boundary_rows = std::move(arrays.boundary_rows);
  const auto matrix = [&](CsrArrays csr, sxt_symmetry symmetry) {
    Assembled assembled;
    assembled.csr = std::move(csr);
    return std::make_shared<Matrix>(context, std::move(assembled), symmetry, given_.check_finite);
  };
  block.interior = matrix(std::move(arrays.interior), given_.symmetry);
  block.boundary = matrix(std::move(arrays.boundary), SXT_GENERAL);
  block.own_product = std::make_unique<Products>(block.interior);
  block.boundary_product = std::make_unique<Products>(block.boundary);
  Device &device = context->device();
  const std::uint64_t count = block.boundary_rows.size();
  block.index = DeviceBuffer(device, count * sizeof(std::int64_t));
  block.values = DeviceBuffer(device, count * static_cast<std::uint64_t>(value_bytes(value_type())));
  if (count > 0) device.copy(block.index.data(), block.boundary_rows.data(), block.index.bytes());
}

std::uint64_t WorldMatrix::bytes() const {
  std::uint64_t sum = halo_->bytes();
  for (const Block &block : blocks_)
    sum +=
        block.interior->storage_bytes() + block.boundary->storage_bytes() + block.index.bytes() + block.values.bytes();
  return sum;
}

// ---- products

// y += alpha B ghosts on the rows that have any.
void WorldMatrix::add_boundary(std::size_t own, const void *alpha, void *y) const {
  const Block &block = blocks_[own];
  const auto count = static_cast<std::int64_t>(block.boundary_rows.size());
  if (count == 0) return;
  Operations &operations = Operations::of(world_->context(own));
  const sxt_value_type type = value_type();
  operations.vector({.operation = SXT_VECTOR_GATHER,
                     .type = type,
                     .n = count,
                     .x = y,
                     .y = block.values.data(),
                     .index = block.index.data(),
                     .index_type = SXT_I64});
  with_value_type(type, [&](auto tag) {
    const typename decltype(tag)::type one(1);
    block.boundary_product->multiply(SXT_NO_TRANSPOSE, alpha, halo_->ghosts(own), &one, block.values.data());
  });
  operations.vector({.operation = SXT_VECTOR_SCATTER,
                     .type = type,
                     .n = count,
                     .x = block.values.data(),
                     .y = y,
                     .index = block.index.data(),
                     .index_type = SXT_I64});
}

void WorldMatrix::multiply(const void *alpha, std::span<const void *const> x, const void *beta,
                           std::span<void *const> y, const Lanes &lanes) {
  const auto own = [&](std::size_t i) { blocks_[i].own_product->multiply(SXT_NO_TRANSPOSE, alpha, x[i], beta, y[i]); };
  multiply_by(own, alpha, x, y, lanes);
}

void WorldMatrix::multiply_by(const std::function<void(std::size_t)> &own, const void *alpha,
                              std::span<const void *const> x, std::span<void *const> y, const Lanes &lanes) {
  const Clock clock;
  halo_->begin(x, lanes);
  const double begun = clock.seconds();
  std::exception_ptr failure;
  const auto guarded = [&](auto &&step) {
    if (failure) return;
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    guarded([&] {
      if (rows_of(i) == 0) return;
      const auto scope = lanes.enter(i);
      own(i);
    });
  const double multiplied = clock.seconds();
  halo_->finish(lanes);  // also after a failure: messages are under way
  const double came = clock.seconds();
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    guarded([&] {
      const auto scope = lanes.enter(i);
      add_boundary(i, alpha, y[i]);
    });
  product_s_ += (multiplied - begun) + (clock.seconds() - came);
  exchange_s_ += begun + (came - multiplied);
  if (failure) std::rethrow_exception(failure);
}

// ---- new values

void WorldMatrix::refill_blocks() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const RowRange range = range_of(i);
    blocks_[i].interior->rewrite_values([&](Buffer &values) { split_values(range, values.data(), nullptr); }, false);
    blocks_[i].boundary->rewrite_values([&](Buffer &values) { split_values(range, nullptr, values.data()); }, false);
  }
}

void WorldMatrix::update_values(const void *values, std::int64_t count) {
  constexpr const char *call = "sxt_matrix_update_values";
  const auto bytes = static_cast<std::size_t>(rows_.csr.values.bytes());
  Buffer before;
  world_->together(call, 1, [&](Frame &) {
    std::int64_t wanted = rows_.order.kept ? rows_.order.input_nnz : rows_.csr.nnz;
    if (!sent_to_.empty()) {
      wanted = 0;
      for (const std::vector<std::int64_t> &each : sent_to_) wanted += static_cast<std::int64_t>(each.size());
    }
    require(count == wanted, SXT_E_DIMENSION, "the matrix takes ", wanted, " values of this process, count is ", count);
    require(values != nullptr || count == 0, SXT_E_ARGUMENT, "values is NULL but count is ", count);
    before = Buffer(rows_.csr.values.bytes(), world_->context(0).allocator());
    if (bytes > 0) std::memcpy(before.data(), rows_.csr.values.data(), bytes);
  });
  try {
    if (!sent_to_.empty()) route_values(values);
    world_->together(call, 2, [&](Frame &) {
      sextant::update_values(rows_.csr, rows_.order, sent_to_.empty() ? values : routed_.data(), given_.check_finite,
                             world_->context(0).threads(), world_->context(0).allocator());
    });
  } catch (...) {
    if (bytes > 0) std::memcpy(rows_.csr.values.data(), before.data(), bytes);
    throw;
  }
  ++version_;
  world_->together(call, 3, [&](Frame &) { refill_blocks(); });
}

}  // namespace sextant
