// SPDX-License-Identifier: BSD-3-Clause
#include "core/choose/tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>

#include "core/base/hash.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/model/envelope.hpp"

namespace sextant {

// Numbers for curves. A candidate is the same at another n when its kernel, its place in the kernel's list and its
// threads (of a block, on a device) are; the other launch fields may follow n.
class ModelCurves {
 public:
  ModelCurves(Context &context, const TreeSubject &subject)
      : selector_(context, nullptr, {.own_only = subject.own}),
        subject_(subject),
        threads_field_(context.device().on_host() ? 0 : 1) {}

  std::vector<Estimate> estimates(std::int64_t n) const {
    std::vector<Estimate> all = selector_.estimates(subject_.at(n));
    int best = std::numeric_limits<int>::max();
    for (const Estimate &each : all) best = std::min(best, each.rank);
    std::erase_if(all, [&](const Estimate &each) { return each.rank != best; });
    return all;
  }

  std::vector<Bid> bids(std::int64_t n) {
    std::vector<Bid> bids;
    for (const Estimate &each : estimates(n)) {
      const auto key = std::make_tuple(each.kernel, each.candidate, each.launch[threads_field_]);
      const std::uint64_t id = ids_.try_emplace(key, ids_.size()).first->second;
      bids.push_back({id, std::isfinite(each.total_s) ? each.total_s : 0});  // no model: its name decides
    }
    return bids;
  }

  // The winner's numbers at n.
  Estimate winner(std::int64_t n) {
    const std::vector<Estimate> all = estimates(n);
    const std::vector<Bid> offered = bids(n);
    const std::uint64_t id = cheapest(offered);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (offered[i].id == id) return all[i];
    return {};
  }

  // Where the elements that a thread handles change: multiples of the elements that one wave of a launch takes.
  // Launches may count loads of several elements: eight rounds of four are 32.
  std::vector<std::int64_t> domain_borders() const {
    std::vector<std::int64_t> marks;
    for (int bits = 8; bits <= 32; bits += 6)
      for (const Estimate &each : estimates(std::int64_t{1} << bits)) add_borders(each, std::int64_t{1} << bits, marks);
    std::sort(marks.begin(), marks.end());
    marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
    return marks;
  }

 private:
  static void add_borders(const Estimate &each, std::int64_t n, std::vector<std::int64_t> &marks) {
    std::int64_t wave = 1;  // threads, threads x elements, threads x elements x blocks: whatever the kernel states
    for (const std::int64_t field : each.launch) {
      if (field <= 1 || field > n) continue;
      wave *= field;
      if (wave > DecisionTree::largest_n / 64) return;
      for (const std::int64_t times : {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32}) marks.push_back(wave * times);
    }
  }

  Selector selector_;
  TreeSubject subject_;
  std::size_t threads_field_;  // of a launch
  std::map<std::tuple<const registry::Kernel *, std::uint64_t, std::int64_t>, std::uint64_t> ids_;
};

namespace {

// What the models say at a few sizes, as one number: equal trees come from equal numbers.
std::uint64_t fingerprint_of(const ModelCurves &curves) {
  std::uint64_t hash = fnv1a("tree", 4);
  for (std::int64_t n = 1; n < DecisionTree::largest_n; n = n * 5 + 3)
    for (const Estimate &each : curves.estimates(n)) {
      const std::string_view name = each.kernel->name();
      hash = fnv1a(name.data(), name.size(), hash);
      hash = fnv1a(&each.kernel->table.version, sizeof each.kernel->table.version, hash);
      hash = fnv1a(each.launch, sizeof each.launch, hash);
      hash = fnv1a(&each.total_s, sizeof each.total_s, hash);
    }
  return hash;
}

TreeLeaf leaf_of(ModelCurves &curves, std::int64_t first, std::int64_t last) {
  TreeLeaf leaf;
  leaf.first = first, leaf.last = last;
  const Estimate low = curves.winner(first), high = curves.winner(last);
  if (!low.kernel || !high.kernel) return leaf;
  leaf.kernel = low.kernel->name();
  leaf.version = low.kernel->table.version;
  leaf.candidate = low.candidate;
  std::copy(low.launch, low.launch + 4, leaf.launch_first);
  std::copy(high.launch, high.launch + 4, leaf.launch_last);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  leaf.run_first_s = std::isfinite(low.run_s) ? low.run_s : unknown;
  leaf.run_last_s = std::isfinite(high.run_s) ? high.run_s : unknown;
  return leaf;
}

}  // namespace

DecisionTree DecisionTree::build(Context &context, const TreeSubject &subject) {
  DecisionTree tree;
  tree.subject_ = subject;
  tree.device_ = context.device_name();
  ModelCurves curves(context, subject);
  tree.fingerprint_ = fingerprint_of(curves);
  tree.grow(lower_envelope(1, largest_n, curves.domain_borders(), [&](std::int64_t n) { return curves.bids(n); }),
            curves, largest_n);
  return tree;
}

DecisionTree DecisionTree::build(Context &context, const TreeSubject &subject, std::int64_t first, std::int64_t last) {
  DecisionTree tree;
  tree.subject_ = subject;
  tree.device_ = context.device_name();
  ModelCurves curves(context, subject);
  tree.grow(lower_envelope(first, last, {}, [&](std::int64_t n) { return curves.bids(n); }), curves, last);
  return tree;
}

void DecisionTree::grow(const Envelope &envelope, ModelCurves &curves, std::int64_t last) {
  unresolved_ = envelope.unresolved;
  evaluations_ = envelope.evaluations;
  for (std::size_t i = 0; i < envelope.pieces.size(); ++i) {
    const std::int64_t end = i + 1 < envelope.pieces.size() ? envelope.pieces[i + 1].first - 1 : last;
    leaves_.push_back(leaf_of(curves, envelope.pieces[i].first, end));
  }
  index();
}

void DecisionTree::index() {
  firsts_.clear();
  for (const TreeLeaf &leaf : leaves_) firsts_.push_back(leaf.first);
}

std::size_t DecisionTree::find(std::int64_t n) const noexcept {
  return last_not_above(firsts_.data(), firsts_.size(), n);
}

std::uint64_t tree_fingerprint(Context &context, const TreeSubject &subject) {
  return fingerprint_of(ModelCurves(context, subject));
}

}  // namespace sextant
