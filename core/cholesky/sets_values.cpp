// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/sets_values.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "core/base/types.hpp"
#include "core/cholesky/parallel.hpp"
#include "core/matrix/checks.hpp"
#include "core/matrix/symmetric_enough.hpp"

namespace sextant::cholesky {

namespace {

bool is_complex_type(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128; }

bool has_own_order(const ValueOrder &order) { return order.kept && !order.identity; }

// For each entry of A twice the number of the caller's value that it is, one more where it is its conjugate.
Array<std::int64_t> sources_of(const Matrix &matrix) {
  const ValueOrder &order = matrix.order();
  const bool conjugates = matrix.symmetry() == SXT_HERMITIAN && is_complex_type(matrix.value_type());
  Array<std::int64_t> source(matrix.csr().nnz, 0);
  with_index_type(order.map_type, [&](auto tag) {
    using M = typename decltype(tag)::type;
    const M *const slot = order.slot.as<M>(), *const mirror = order.mirror.as<M>();
    for (std::int64_t e = 0; e < order.input_nnz; ++e) {
      source[static_cast<std::int64_t>(slot[e])] = 2 * e;
      if (mirror && mirror[e] >= 0) source[static_cast<std::int64_t>(mirror[e])] = 2 * e + (conjugates ? 1 : 0);
    }
  });
  return source;
}

}  // namespace

SetStructure::SetStructure(const Analysis &analysis) : view_(analysis.symbolic()) {
  const Matrix &matrix = analysis.matrix();
  const ValueOrder &order = matrix.order();
  n_values_ = has_own_order(order) ? order.input_nnz : matrix.csr().nnz;
  if (!has_own_order(order)) return;
  require(!order.summed, SXT_E_NOT_SUPPORTED,
          "the matrix was made of entries with duplicates, which sets of values do not sum: make it of distinct ones");
  const bool other_image =
      matrix.symmetry() == SXT_SKEW || (matrix.symmetry() == SXT_SYMMETRIC && is_complex_type(matrix.value_type()));
  require(!order.mirrored || !other_image, SXT_E_NOT_SYMMETRIC,
          "the matrix was given as one triangle of a skew-symmetric or complex symmetric one; a factorisation takes "
          "real symmetric and Hermitian ones");
  find_entries(matrix);
}

// Entries of both kinds, as they are and conjugated, each by where they go.
void SetStructure::find_entries(const Matrix &matrix) {
  const Array<std::int64_t> source = sources_of(matrix);
  std::vector<std::pair<std::int64_t, std::int64_t>> entries[2];  // to, from
  for (std::int64_t k = 0; k < view_.n_entries; ++k) {
    const std::int64_t its = source[view_.entry_from[k]];
    const bool conjugated = (k >= view_.n_straight) != (its % 2 == 1);
    entries[conjugated].emplace_back(view_.entry_to[k], its / 2);
  }
  from_ = Array<std::int64_t>(view_.n_entries);
  to_ = Array<std::int64_t>(view_.n_entries);
  std::int64_t at = 0;
  for (auto &part : entries) {
    std::sort(part.begin(), part.end());
    for (const auto &[to, from] : part) {
      to_[at] = to, from_[at] = from;
      ++at;
    }
  }
  view_.n_straight = static_cast<std::int64_t>(entries[0].size());
  view_.entry_from = from_.data(), view_.entry_to = to_.data();
}

SetComparison::SetComparison(const Analysis &analysis)
    : matrix_(analysis.matrix()),
      tolerance_(analysis.settings().symmetry_tolerance),
      gathers_(has_own_order(analysis.matrix().order())) {
  const CsrArrays &csr = matrix_.csr();
  if (!analysis.compares(matrix_) || csr.nnz == 0) return;
  workers_.resize(static_cast<std::size_t>(std::max(1, matrix_.context().threads())));
  for (Worker &each : workers_) {
    each.csr.rows = csr.rows, each.csr.cols = csr.cols, each.csr.nnz = csr.nnz;
    each.csr.value_type = csr.value_type;
    each.csr.index_type = csr.index_type, each.csr.offset_type = csr.offset_type;
    each.csr.row_ptr = Buffer::borrow(csr.row_ptr.data(), csr.row_ptr.bytes());
    each.csr.col = Buffer::borrow(csr.col.data(), csr.col.bytes());
    if (gathers_) each.csr.values = Buffer(csr.values.bytes(), matrix_.context().allocator());
    reserve_for_check(each.csr, 1, each.work);
  }
}

std::uint64_t SetComparison::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Worker &each : workers_) sum += each.work.bytes() + (gathers_ ? each.csr.values.bytes() : 0);
  return sum;
}

// "": they do not, or hold what is not finite, which the factorisation finds.
std::string SetComparison::why_not(Worker &worker, const void *values) const {
  try {
    if (gathers_)
      update_values(worker.csr, matrix_.order(), values, false, 1);
    else
      worker.csr.values = Buffer::borrow(values, matrix_.csr().values.bytes());
    check_hermitian(worker.csr, 1, worker.work, SymmetryTolerance(tolerance_, matrix_.value_type()));
  } catch (const Error &problem) {
    return problem.status() == SXT_E_NOT_FINITE ? "" : problem.what();
  }
  return "";
}

void SetComparison::for_sets(std::int64_t count, void (*one)(void *arg, std::int64_t set, int worker),
                             void *arg) const {
  std::mutex lock;
  std::exception_ptr thrown;  // tasks must not throw
  for_tasks(count, static_cast<int>(workers_.size()), [&](std::int64_t set, int worker) {
    try {
      one(arg, set, worker);
    } catch (...) {
      const std::lock_guard hold(lock);
      thrown = std::current_exception();
    }
  });
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace sextant::cholesky
