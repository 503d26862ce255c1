// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite's bench: a kernel set up for one case, with the simplest parts in its slots, and runs of it in
// which everything lent is watched. Not the dispatcher: nothing here is chosen by cost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/query.hpp"
#include "core/device/device.hpp"
#include "core/registry/registry.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace sextant::conformance {

using registry::Kernel;
using registry::Kind;
using registry::Scope;
using registry::Verdict;

// One case of a kind; freed with the object.
class Case {
 public:
  // like: of the series of cases that ask as it does. Throws SXT_NOT_APPLICABLE at its end.
  Case(const Kind &kind, std::uint64_t seed, std::uint64_t i, const Query *like = nullptr);
  ~Case();
  Case(const Case &) = delete;
  Case &operator=(const Case &) = delete;
  const sxt_case &get() const noexcept { return case_; }
  sxt_head *args() const noexcept { return case_.args; }
  std::string description() const { return case_.description ? case_.description : "case without a description"; }
  // Moves the arrays to the exec's device, or the outputs back. Nothing to do on the host.
  void move(const sxt_exec &exec, bool to_device);
  // How far this answer is from `want` in units of the bound, with the kind's sentence.
  double distance(const Case &want, std::string &sentence) const;

 private:
  const Kind &kind_;
  sxt_case case_{};
};

// One call with everything a run may use: stream, scratch between guards, status word.
class Lending {
 public:
  Lending(Device &device, std::uint64_t scratch_bytes, int threads, std::uint32_t flags);
  ~Lending();
  Lending(const Lending &) = delete;
  Lending &operator=(const Lending &) = delete;
  Call &call() noexcept { return call_; }
  const sxt_exec &exec() const noexcept { return exec_; }
  // Runs a kernel and throws what it failed with.
  void run(const sxt_bound &bound, const sxt_head *args);
  // The least of a few warm runs that a kernel makes beside the host's table; counts_allocations() must hold.
  std::uint64_t foreign_allocations(const sxt_bound &bound, const sxt_head *args);
  // Waits for the work; what the kernel broke meanwhile, "" for nothing.
  std::string violations();

 private:
  Device &device_;
  Call call_;
  sxt_exec exec_{};
  DeviceBuffer scratch_, status_;
  std::uint64_t run_allocations_ = 0;
};

// The process counts allocations that pass by the host's table: see conformance_cost.cpp.
bool counts_allocations();

class Fitted;
struct CheckLine;
struct Checked;
struct ConformanceOptions;

// A kernel that reads what the builder builds, against its own kind's cases.
Checked check_reader(const Kernel &reader, const Kernel &builder, Device &device, const ConformanceOptions &options,
                     const std::function<void(const CheckLine &)> &line, const Scope &scope);

// Trusted kernels first, in their order: what stands beside a kernel under test should be right.
std::vector<const Kernel *> trusted_first(std::vector<const Kernel *> kernels);
// The matrix part of a case's query, as a query of another kind about the same matrix.
Query matrix_query(const sxt_case &base, const std::string &kind);

// What the kernels set up for one case share: the machine their models see, and storages, each built once.
class Bench {
 public:
  // builder: the kernel that builds its storage here; NULL: whichever can, trusted ones first.
  Bench(const Scope &scope, Device &device, const sxt_case &base, int threads, const Kernel *builder = nullptr);
  ~Bench();
  const Scope &scope() const noexcept { return scope_; }
  Device &device() const noexcept { return device_; }
  const sxt_machine &machine() const noexcept { return machine_; }
  int threads() const noexcept { return threads_; }
  const sxt_case &base() const noexcept { return base_; }
  // The case's matrix in a storage; throws SXT_NOT_APPLICABLE when no kernel builds it from this matrix.
  const sxt_head *matrix_in(const std::string &storage);
  void refresh_storages();
  // Ids of the storages in which a kernel may be tried; "" for none.
  std::vector<std::string> storages_for(const Kernel &kernel) const;
  // Values of the features a kernel lists, NaN where no kernel offers one.
  std::vector<double> features(const char *const *names);

 private:
  double feature(const std::string &name);

  const Scope scope_;
  const Kernel *builder_;
  Device &device_;
  const sxt_case &base_;
  int threads_;
  sxt_machine machine_;
  std::map<std::string, std::unique_ptr<Fitted>> storages_;
  std::map<std::string, double> features_;
};

// Sessions of a kernel and of its parts, for one caller.
class Opened {
 public:
  explicit Opened(const Fitted &fitted);
  ~Opened();
  Opened(const Opened &) = delete;
  Opened &operator=(const Opened &) = delete;
  const sxt_bound &bound() const noexcept { return bound_; }

 private:
  const Fitted &fitted_;
  std::vector<std::unique_ptr<Opened>> parts_;
  std::vector<std::vector<const sxt_bound *>> bounds_;
  std::vector<sxt_filled> filled_;
  sxt_bound bound_{};
};

// A kernel fitted to a query: it applies, its slots are filled and its candidates are known. Throws SXT_NOT_APPLICABLE
// with the reason when it declines, SXT_E_PLUGIN when it breaks its contract in doing so.
class Fitted {
 public:
  Fitted(Bench &bench, const Kernel &kernel, const Query &query, const std::string &storage, int depth = 0);
  ~Fitted();
  Fitted(const Fitted &) = delete;
  Fitted &operator=(const Fitted &) = delete;

  const std::vector<sxt_candidate> &candidates() const noexcept { return candidates_; }
  void prepare_parts();                 // with their first candidates; prepare does it when it has not been done
  void prepare(std::size_t candidate);  // throws what a kernel failed with
  void release() noexcept;
  void refresh();
  const Kernel &kernel() const noexcept { return kernel_; }
  const Query &query() const noexcept { return query_; }
  const sxt_problem &problem() const noexcept { return problem_; }
  void *state() noexcept { return state_; }
  const void *state() const noexcept { return state_; }
  const sxt_bound &bound() const noexcept { return bound_; }

 private:
  friend class Opened;
  struct Slot {
    std::int32_t alternative = -1;
    std::uint32_t kinds_per_instance = 0;
    std::vector<std::unique_ptr<Fitted>> parts;
  };
  void check_promises() const;
  void check_applicable(const sxt_features &features);
  void fill_slot(std::uint64_t slot, const std::string &storage, int depth);
  bool fill_alternative(std::uint64_t slot, const char *kinds, const std::string &storage, int depth, Slot &out);
  std::unique_ptr<Fitted> fit_part(const Query &query, std::uint32_t flags, const std::string &storage, int depth);
  void ask_candidates(const sxt_features &features);
  std::vector<sxt_filled> filled(std::vector<std::vector<const sxt_bound *>> &bounds) const;

  Bench &bench_;
  const Kernel &kernel_;
  Query query_;
  sxt_problem problem_{};
  std::vector<Slot> slots_;
  std::vector<std::vector<const sxt_bound *>> bounds_;
  std::vector<sxt_filled> filled_;
  std::vector<sxt_candidate> candidates_;
  void *state_ = nullptr;
  sxt_bound bound_{};
};

}  // namespace sextant::conformance
