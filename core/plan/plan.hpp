// SPDX-License-Identifier: BSD-3-Clause
// Plans on disk: the choices made in a context, and those a loaded file asks for. A plan is a tree told by role paths
// ("pcg", "pcg/A", ...); each entry stands for itself, so that one that no longer fits is decided anew alone.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "core/base/query.hpp"

namespace sextant {

// What an entry is found by.
struct PlanKey {
  std::string role, kind;
  std::uint64_t query_hash = 0;
  std::uint64_t pattern_hash = 0;  // 0 where no matrix is meant
  auto operator<=>(const PlanKey &) const = default;
};

// What it says.
struct PlanEntry {
  std::string kernel, storage;
  std::string value_type;  // of vectors, and of the matrix where it is another: "f64", "f64/f32"
  std::string machine;     // fingerprint of the device it was made on
  std::uint32_t version = 0;
  std::int64_t launch[4] = {0, 0, 0, 0};
  double run_s = 0;
  std::uint64_t recorded = 0;  // when, among the records of its context
};

// What a solver was set up with: the parts of its plan that no kernel's entry tells.
struct SolverPlan {
  std::string preconditioner, machine;
  bool ordered = false, narrow = false;  // the engine sees the rows in another order; the values in f32
  bool settled = false;                  // the condition that the probe found
  double iterations = 0, assumed_iterations = 0, mean_over_expected = 1;
  double preconditioner_iterations = 0;  // what were assumed when the preconditioner was selected
  double diagonal_ratio = 1;
  std::uint64_t recorded = 0;  // when, among the records of its context
};

// "f64", or "f64/f32" where the matrix is stored in another type than the vectors.
std::string plan_types(const Query &query);

// Thread-safe.
class PlanBook {
 public:
  // The choices that were recorded last are kept, so many: a program that meets ever new matrices does not grow.
  static constexpr std::size_t most_made = 4096, most_made_solvers = 256;
  void record(const PlanKey &key, PlanEntry entry);
  // In the loaded file. When there is none: why_not says what the nearest entry was made for.
  std::optional<PlanEntry> find(const PlanKey &key, const std::string &types, const std::string &fingerprint,
                                std::string &why_not) const;
  void record(const PlanKey &key, const SolverPlan &plan);
  std::optional<SolverPlan> find_solver(const PlanKey &key, const std::string &fingerprint) const;
  bool loaded() const;
  bool required() const;
  // Equal for equal loaded entries; of nothing loaded, another number than of any file.
  std::uint64_t content() const;

  // That arrays in host memory are worked on on this machine, not on the one that it stands beside.
  void place(const PlanKey &key);
  bool placed(const PlanKey &key) const;  // by the loaded file

  // What was chosen on another machine that the same context uses, for arrays that lie there.
  struct Beside {
    const PlanBook *book;
    std::string fingerprint;
  };
  // beside: kept in the same file, apart; NULL: there is none. SXT_E_FILE_WRITE.
  void save(const std::string &path, const std::string &fingerprint, const Beside *beside = nullptr) const;
  // Returns "" or why the file is not used (damaged, other machine, other library); throws SXT_E_PLAN with it when
  // required. Replaces what was loaded before only when it is used.
  std::string load(const std::string &path, const std::string &fingerprint, bool required);
  // The part of a file that save() kept of this machine beside another one; false where there is none. Throws what is
  // wrong with the file.
  bool load_beside(const std::string &path, const std::string &fingerprint, bool required);

 private:
  struct Content;
  struct Writer;  // keeps toml++ out of this header
  void take(Content &&content, bool required);

  mutable std::mutex mutex_;
  std::map<PlanKey, PlanEntry> made_, loaded_;
  std::map<PlanKey, SolverPlan> made_solvers_, loaded_solvers_;  // of made_, the newest
  std::map<std::uint64_t, const PlanKey *> ages_;                // of made_, by the number of the last record
  std::set<PlanKey> made_places_, loaded_places_;
  std::uint64_t records_ = 0;
  std::uint64_t content_ = 0;                  // of loaded_
  bool is_loaded_ = false, required_ = false;  // a plan without entries is one, too
};

}  // namespace sextant
