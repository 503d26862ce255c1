// SPDX-License-Identifier: BSD-3-Clause
// Decision trees: for one vector operation, reduction, multi-dot or vector group on one value type, which kernel and
// launch configuration the models call cheapest at every n. The lower envelope of the models, looked up in a few
// nanoseconds, told as text, JSON and SVG, and kept on disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/query.hpp"

namespace sextant {

class Context;
class ModelCurves;
struct Envelope;

// What a tree is about. operation: the kind's own number; for multi-dots the number of pairs.
struct TreeSubject {
  const char *kind = nullptr;
  std::int32_t operation = 0;
  sxt_value_type type = SXT_F64;
  sxt_index_type index_type = 0;  // gather and scatter
  bool own = false;               // of the library's own kernels alone, whatever is forced

  Query at(std::int64_t n) const;
  std::string operation_name() const;  // "dot", "axpy", "gather-i32", "multidot-2", "chronopoulos-gear"
  bool operator==(const TreeSubject &) const = default;
};

// From the names above; "multidot" alone means two pairs, "gather" and "scatter" 32-bit indices. Throws
// SXT_E_UNKNOWN_NAME with the nearest.
TreeSubject tree_subject(const std::string &operation, sxt_value_type type);
// Every name that tree_subject takes.
std::vector<std::string> tree_operations();

// One range of n and what is taken there. Launch fields that follow n differ between the two ends.
struct TreeLeaf {
  std::int64_t first = 0, last = 0;  // both inclusive
  std::string kernel;                // "" where none applies
  std::uint32_t version = 0;
  std::uint64_t candidate = 0;  // place in the kernel's list of candidates
  std::int64_t launch_first[4] = {0, 0, 0, 0}, launch_last[4] = {0, 0, 0, 0};
  double run_first_s = 0, run_last_s = 0;  // NaN: the kernel has no model
};

class DecisionTree {
 public:
  static constexpr std::int64_t largest_n = std::int64_t{1} << 40;  // the last leaf serves what is beyond

  // Asks every kernel of the kind that this context may use.
  static DecisionTree build(Context &context, const TreeSubject &subject);
  // Only its part over first <= n <= last: what calls need, at a fraction of the time.
  static DecisionTree build(Context &context, const TreeSubject &subject, std::int64_t first, std::int64_t last);

  const TreeSubject &subject() const noexcept { return subject_; }
  const std::vector<TreeLeaf> &leaves() const noexcept { return leaves_; }
  std::int64_t unresolved() const noexcept { return unresolved_; }
  // The leaf of n >= 1: a binary search without branches.
  std::size_t find(std::int64_t n) const noexcept;

  std::string to_text() const;
  std::string to_json() const;

  // TOML, and back. The fingerprint is a hash of what the models say, so that a tree made from another profile, device,
  // number of threads or set of kernels is not taken for this one. Throws SXT_E_FILE_FORMAT, or SXT_E_PLAN for a tree
  // that is whole but belongs elsewhere; `path` is for the sentence.
  std::string to_toml() const;
  static DecisionTree from_toml(Context &context, const TreeSubject &subject, const std::string &text,
                                const std::string &path);
  void save(const std::string &path) const;
  // The tree of a file, or one built anew with a warning in the context's log where the file is not there, damaged or
  // about something else.
  static DecisionTree load_or_build(Context &context, const TreeSubject &subject, const std::string &path);

 private:
  void grow(const Envelope &envelope, ModelCurves &curves, std::int64_t last);
  void index();

  TreeSubject subject_;
  std::string device_;
  std::uint64_t fingerprint_ = 0;
  std::int64_t unresolved_ = 0, evaluations_ = 0;
  std::vector<TreeLeaf> leaves_;
  std::vector<std::int64_t> firsts_;  // of the leaves, for find
};

// A hash of what the models say about a subject in this context.
std::uint64_t tree_fingerprint(Context &context, const TreeSubject &subject);

// The time of every candidate that is cheapest somewhere over n, and the leaves as a strip above it.
std::string tree_svg(Context &context, const DecisionTree &tree);

// The position of the last of `firsts` that is <= n, or 0. firsts is ascending and not empty.
inline std::size_t last_not_above(const std::int64_t *firsts, std::size_t count, std::int64_t n) noexcept {
  const std::int64_t *base = firsts;
  while (count > 1) {
    const std::size_t half = count / 2;
    base += (base[half] <= n) ? half : 0;  // a conditional move: no branch to mispredict
    count -= half;
  }
  return static_cast<std::size_t>(base - firsts);
}

}  // namespace sextant
