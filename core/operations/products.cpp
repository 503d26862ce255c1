// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/operations/products.hpp"

#include "core/base/scalar.hpp"
#include "core/base/shortage.hpp"
#include "core/base/thread_cache.hpp"
#include "core/base/types.hpp"
#include "core/choose/make_choice.hpp"
#include "core/context/context.hpp"
#include "core/device/stage.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

namespace {

// A caller who multiplies once usually multiplies again: storage and set-up are charged to so many products.
constexpr double expected_products = 100;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Products::Products(std::shared_ptr<Matrix> matrix) : id_(next_id()), matrix_(std::move(matrix)) {
  matrix_->follow(*this);
}

Products::~Products() { matrix_->unfollow(*this); }

// Captured products read these states. What fails now is tried again, and told, by the next product.
void Products::values_changed() noexcept {
  for (const auto &[which, runner] : runners_) try {
      runner->prepared().refresh_if_stale();
    } catch (...) {
    }
}

std::shared_ptr<Runner> Products::runner(sxt_op op, std::int32_t columns) {
  // Read before anything is chosen: what is built from older choices is then not found under the newer number.
  const std::uint64_t epoch = matrix_->context().epoch();
  const std::pair which{op, columns};
  const CacheKey key{id_, epoch, static_cast<std::uint64_t>(op) + 4 * static_cast<std::uint64_t>(columns)};
  if (const auto *last = ThreadCache<std::weak_ptr<Runner>>::find(key))
    if (auto known = last->lock()) return known;
  std::shared_ptr<Runner> found;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = runners_.find(which); at != runners_.end() && epoch_ == epoch) found = at->second;
  }
  if (!found) {
    found = make_runner(op, columns, {});
    const std::lock_guard lock(mutex_);
    if (epoch_ < epoch) runners_.clear(), epoch_ = epoch;
    if (epoch_ == epoch) found = runners_.try_emplace(which, std::move(found)).first->second;
  }
  ThreadCache<std::weak_ptr<Runner>>::keep(key, found);
  return found;
}

sxt_spmv_query Products::query(sxt_op op, std::int32_t columns) const {
  sxt_spmv_query query{};
  query.m = matrix_->query_part(SXT_KIND_SPMV, sizeof query, expected_products);
  query.op = op;
  query.n_rhs = columns;
  return query;
}

sxt_spmv_query Products::query_of_pass(sxt_op op, std::int64_t columns) const {
  return query(op, static_cast<std::int32_t>(std::min<std::int64_t>(columns, most_columns)));
}

std::uint64_t Products::query_hash(sxt_op op, std::int64_t columns) const {
  const sxt_spmv_query one = query_of_pass(op, columns);
  return Query(&one.m.q).hash();
}

double Products::predicted_seconds(sxt_op op, std::int64_t columns) {
  const std::int64_t passes = (columns + most_columns - 1) / most_columns;
  const sxt_spmv_query one = query_of_pass(op, columns);
  const ChoicePtr choice = Selector(matrix_->context(), matrix_.get()).propose({Query(&one.m.q), "spmv"});
  return static_cast<double>(passes) * choice->run_s + choice->setup_s / expected_products;
}

std::shared_ptr<Runner> Products::make_runner(sxt_op op, std::int32_t columns, LeftOut left_out) {
  Context &context = matrix_->context();
  sxt_spmv_query query = this->query(op, columns);
  const auto choose = [&](const LeftOut &left_out) {
    return Selector(context, matrix_.get(), {.left_out = left_out}).select({Query(&query.m.q), "spmv"});
  };
  return make_choice(context, left_out, choose, [&](const ChoicePtr &choice) {
    try {
      return std::make_shared<Runner>(context, choice, matrix_.get());
    } catch (const Error &problem) {
      if (!out_of_memory(problem) || choice->forced || choice->by_plan) throw;
      if (context.deterministic()) query.m.q.flags |= SXT_QUERY_DETERMINISTIC;
      auto runner = first_that_fits(Query(&query.m.q));
      if (!runner) throw;
      context.log()(SXT_LOG_INFO, text(problem.what(), "; took ", runner->choice().kernel->name(), " instead"));
      return runner;
    }
  });
}

// Runs the product's kernel; where that does not serve the matrix's new values, y is as it was and another takes over.
void Products::run(sxt_op op, std::int32_t columns, sxt_head *args) {
  LeftOut left_out;
  std::shared_ptr<Runner> chosen = runner(op, columns);
  for (;;) try {
      return static_cast<void>(chosen->run(args));
    } catch (const Declined &declined) {
      if (!left_out.try_emplace(&declined.kernel(), declined.what()).second) throw;
      chosen = make_runner(op, columns, left_out);
      const std::lock_guard lock(mutex_);
      runners_[{op, columns}] = chosen;
    }
}

// A kernel's own state may not fit where its storage does (a transpose, say): then the cheapest that can be prepared.
std::shared_ptr<Runner> Products::first_that_fits(const Query &query) {
  for (const ChoicePtr &choice : Selector(matrix_->context(), matrix_.get()).every({query, "spmv"})) {
    try {
      return std::make_shared<Runner>(matrix_->context(), choice, matrix_.get());
    } catch (const Error &problem) {
      const bool unsuited = problem.status() == SXT_NOT_APPLICABLE || problem.status() == SXT_E_NOT_SUPPORTED;
      const bool declined = dynamic_cast<const Declined *>(&problem) != nullptr;
      if (!unsuited && !declined && !out_of_memory(problem)) throw;
    }
  }
  return nullptr;
}

Products::Columns Products::column(sxt_op op) const noexcept {
  const bool plain = op == SXT_NO_TRANSPOSE;
  return {1, plain ? matrix_->cols() : matrix_->rows(), plain ? matrix_->rows() : matrix_->cols()};
}

void Products::multiply(sxt_op op, const void *alpha, const void *x, const void *beta, void *y) {
  multiply(op, alpha, x, beta, y, column(op));
}

void Products::multiply(sxt_op op, const void *alpha, const void *x, const void *beta, void *y,
                        const Columns &columns) {
  static constexpr double one[2] = {1, 0}, zero[2] = {0, 0};
  static constexpr float one_f[2] = {1, 0}, zero_f[2] = {0, 0};
  const bool single = matrix_->value_type() == SXT_F32 || matrix_->value_type() == SXT_C64;
  const std::int64_t each = value_bytes(matrix_->value_type());
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.op = op;
  args.ldx = columns.ldx;
  args.ldy = columns.ldy;
  const void *const unit = single ? static_cast<const void *>(one_f) : one;
  const void *const null = single ? static_cast<const void *>(zero_f) : zero;
  const AlignedScalar product(alpha ? alpha : unit, matrix_->value_type());
  const AlignedScalar former(beta ? beta : null, matrix_->value_type());
  args.alpha.value = product.get();
  args.beta.value = former.get();
  for (std::int64_t first = 0; first < columns.count; first += args.n_rhs) {
    args.n_rhs = static_cast<std::int32_t>(std::min<std::int64_t>(most_columns, columns.count - first));
    args.x = static_cast<const char *>(x) + first * columns.ldx * each;
    args.y = static_cast<char *>(y) + first * columns.ldy * each;
    run(op, args.n_rhs, &args.h);
  }
}

void Products::multiply_arrays(sxt_op op, const void *alpha, const void *x, const void *beta, void *y,
                               const Columns &columns) {
  if (columns.count == 0) return;
  Device &device = matrix_->context().device();
  const auto each = static_cast<std::uint64_t>(value_bytes(matrix_->value_type()));
  const Columns one = column(op);
  const auto bytes = [&](std::int64_t leading, std::int64_t length) {
    return each * static_cast<std::uint64_t>((columns.count - 1) * leading + length);
  };
  DeviceBuffer x_there, y_there;
  Staged in(device, x, bytes(columns.ldx, one.ldx), each, x_there, "x"),
      out(device, y, bytes(columns.ldy, one.ldy), each, y_there, "y");
  in.load();
  const bool padded = columns.count > 1 && columns.ldy > one.ldy;  // what lies between columns comes back as it was
  if (beta || padded) out.load();
  multiply(op, alpha, in.data(), beta, out.data(), columns);
  if (x_there.data() || y_there.data()) device.wait(device.callers_stream());  // without one, the product has waited
  out.store(y);
}

}  // namespace sextant
