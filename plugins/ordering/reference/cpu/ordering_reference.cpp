// SPDX-License-Identifier: BSD-3-Clause
// ordering.reference.cpu: reverse Cuthill-McKee step by step. Rows are numbered level by level from a row at the rim
// of their component, the neighbours of each row by ascending degree; then the order is reversed.
#include <algorithm>
#include <cstdint>

#include "reference.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::ordering_reference {

namespace {

using namespace plugin;
using namespace plugin::ordering;

constexpr std::int64_t nowhere = -1;

template <class I, class O>
class Reference {
 public:
  // Room for three numbers a row.
  Reference(const Pattern<I, O> &a, std::int64_t *work)
      : a_(a), level_(work), queue_(work + a.n), placed_(work + 2 * a.n) {
    std::fill(placed_, placed_ + a.n, 0);
  }

  bool run(sxt_ordering_args &args, I *perm) {
    std::int64_t done = 0;
    for (std::int64_t row = 0; row < a_.n; ++row) {
      if (placed_[row]) continue;
      const std::int64_t start = rim_of(row);
      std::int64_t count = search(start);
      // In a pattern that is not symmetric the mirrored entry may be missing.
      if (!reached(row)) count = search(row);
      args.width = std::max(args.width, widest(count));
      args.levels += level_[queue_[count - 1]] + 1;
      for (std::int64_t k = 0; k < count; ++k, ++done) {
        placed_[queue_[k]] = 1;
        perm[a_.n - 1 - done] = static_cast<I>(queue_[k]);
      }
      if (args.most_width > 0 && args.width > args.most_width) return false;
    }
    return true;
  }

 private:
  bool reached(std::int64_t row) const { return level_[row] != nowhere; }

  // Numbers the rows that can be reached from a row, in queue_, and returns their count.
  std::int64_t search(std::int64_t start) {
    std::fill(level_, level_ + a_.n, nowhere);
    std::int64_t tail = 0;
    queue_[tail++] = start, level_[start] = 0;
    for (std::int64_t head = 0; head < tail; ++head) {
      const std::int64_t row = queue_[head], begin = tail;
      for (O k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k)
        if (const std::int64_t next = a_.col[k]; !reached(next) && !placed_[next])
          level_[next] = level_[row] + 1, queue_[tail++] = next;
      std::sort(queue_ + begin, queue_ + tail, [&](std::int64_t i, std::int64_t j) {
        return degree(i) < degree(j) || (degree(i) == degree(j) && i < j);
      });
    }
    return tail;
  }

  // George and Liu: to a row of least degree in the last level, as long as that adds levels.
  std::int64_t rim_of(std::int64_t row) {
    std::int64_t levels = -1;
    for (;;) {
      const std::int64_t count = search(row), last = level_[queue_[count - 1]];
      if (last <= levels) return row;
      levels = last;
      for (std::int64_t k = 0; k < count; ++k)
        if (level_[queue_[k]] == last && (level_[row] != last || degree(queue_[k]) < degree(row))) row = queue_[k];
    }
  }

  std::int64_t widest(std::int64_t count) const {
    std::int64_t most = 0, run = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      run = k > 0 && level_[queue_[k]] == level_[queue_[k - 1]] ? run + 1 : 1;
      most = std::max(most, run);
    }
    return most;
  }

  std::int64_t degree(std::int64_t row) const { return a_.degree(static_cast<I>(row)); }

  Pattern<I, O> a_;
  std::int64_t *level_, *queue_, *placed_;
};

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  sxt_ordering_args &args = writable(head);
  return with_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
    if (exec->scratch_bytes < static_cast<std::uint64_t>(3 * pattern.n) * sizeof(std::int64_t))
      return error(exec, SXT_E_STATE, "%llu bytes of scratch for %lld rows", (unsigned long long)exec->scratch_bytes,
                   (long long)pattern.n);
    if (Reference(pattern, static_cast<std::int64_t *>(exec->scratch)).run(args, perm)) return SXT_OK;
    error(exec, SXT_NOT_APPLICABLE, "a level holds more than %lld rows", (long long)args.most_width);
    return SXT_NOT_APPLICABLE;
  });
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return offers(as<sxt_ordering_query>(query), "rcm", reason);
}

// Four searches, and one more access to memory an entry in each than it would need.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_ordering_query>(query).m;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = 1;
  candidate.run_s = 1e-8 * static_cast<double>(4 * q.nnz + 40 * q.rows);
  candidate.scratch_bytes = static_cast<std::uint64_t>(3 * q.rows) * sizeof(std::int64_t);
  return SXT_OK;
}

}  // namespace

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_ORDERING, "ordering.reference.cpu", "cpu", "reverse Cuthill-McKee, step by step", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_REFERENCE;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}();

}  // namespace sextant::ordering_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::ordering_reference;
  return sextant::plugin::offer<&kernel, &kind>("ordering-reference", out);
}
