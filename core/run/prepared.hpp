// SPDX-License-Identifier: BSD-3-Clause
// A choice made real: the states of a kernel and of its parts, and sessions to run them. States are read-only while
// anything runs; each concurrent caller has a session of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.hpp"
#include "core/run/choice.hpp"
#include "sextant/plugin/kinds/preconditioner_factors.h"

namespace sextant {

class Context;
class Feedback;
class Matrix;
class Session;
class StoredForm;

// A kernel that was chosen does not serve after all: it declines these values when it is prepared or refreshed, or it
// did not pass its test. The next candidate takes over: see make_choice.hpp.
class Declined : public Error {
 public:
  Declined(const registry::Kernel &kernel, sxt_status status, const std::string &sentence)
      : Error(status, sentence), kernel_(&kernel) {}
  const registry::Kernel &kernel() const noexcept { return *kernel_; }

 private:
  const registry::Kernel *kernel_;
};

class Prepared {
 public:
  // matrix: NULL unless the query is about one; it, the context and data must outlive the object. Throws what a kernel
  // failed with, Declined where that leaves the choice to others.
  // part: of another kernel, so that products with its factors are worth choosing
  // (plugin/kinds/preconditioner_factors.h).
  Prepared(Context &context, ChoicePtr choice, Matrix *matrix, const sxt_head *data, bool part = false);
  ~Prepared();
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;

  // As it was given, with what was chosen since then: products with factors.
  const Choice &choice() const noexcept { return *choice_; }
  const ChoicePtr &shared_choice() const noexcept { return choice_; }
  const sxt_bound &bound() const noexcept { return bound_; }  // without a session
  const void *state() const noexcept { return state_; }
  const Device &device() const noexcept;

  // Brings the states up to the matrix's present values. Not while a session runs. Throws Declined where a kernel does
  // not serve these values: the object is then of no more use.
  void refresh_if_stale();
  // What captured work has of the matrix by value: the views of the storages that it and its parts read, byte by byte.
  void append_views(std::string &views) const;
  std::unique_ptr<Session> open();
  // Its sessions hold neither scratch nor anything of the kernel's, so that one may run in many threads at once.
  bool stateless() const noexcept;

 private:
  friend class Session;
  bool watches() noexcept;
  bool tell(Feedback &feedback, const sxt_head &args, double seconds) const;
  void build_parts(Matrix *matrix, const sxt_head *data);
  void prepare();
  void build_state();
  void admit() const;
  template <class F>
  void or_declined(F &&f) const;
  void release() noexcept;
  void refresh();
  void fill();
  void choose_factors();  // factors.cpp, with those that follow
  std::string choose_factor(const sxt_factor &factor, double runs, Choice &choice);
  void refresh_factors();

  Context &context_;
  const ChoicePtr asked_;  // as it was given: what problem_.query points into
  ChoicePtr choice_;
  Matrix *matrix_;
  std::shared_ptr<StoredForm> form_;  // what problem_.a points into
  sxt_problem problem_{};
  struct Factor {
    std::uint64_t number;
    std::shared_ptr<Matrix> matrix;
  };
  std::vector<Factor> factors_;                                // those whose products were chosen
  std::vector<std::vector<std::unique_ptr<Prepared>>> parts_;  // one vector a slot; behind them one a factor
  std::vector<std::vector<const sxt_bound *>> bounds_;         // behind filled_
  std::vector<sxt_filled> filled_;
  void *state_ = nullptr;
  sxt_candidate launched_{};  // the choice's, on the threads that there are
  sxt_bound bound_{};
  std::atomic<std::uint64_t> version_{0};  // of the matrix's values that the state holds
  std::mutex refresh_mutex_;
  std::atomic<int> watched_{0};  // runs that were timed
};

// Whether a positive status of a run of this kind is an answer to its caller: orderings, Cholesky, kinds
// of others.
bool may_answer(std::string_view kind) noexcept;

class Session {
 public:
  // With scratch of its own when it is the top of a tree; parts use what their composed kernel lends.
  Session(Prepared &prepared, bool top);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  // Runs on args of the kernel's kind. Throws whatever is not SXT_OK. One call at a time.
  void run(sxt_head *args, const volatile std::int32_t *cancel = nullptr) { run_by(bound_.run, args, cancel); }
  // The same by another function of the kernel, from its kind's own table.
  using Function = sxt_status (*)(const void *state, void *session, const sxt_head *args, const sxt_exec *exec);
  void run_by(Function function, sxt_head *args, const volatile std::int32_t *cancel = nullptr);
  // For kinds whose kernels may answer (may_answer): returns SXT_OK or the positive status, and throws the others.
  sxt_status ask(sxt_head *args, const volatile std::int32_t *cancel = nullptr);
  const sxt_bound &bound() const noexcept { return bound_; }
  bool answers() const noexcept { return may_answer(prepared_.choice().query.kind()); }
  // SXT_EXEC_* that every run of it carries.
  std::uint32_t exec_flags() const noexcept {
    return prepared_.choice().query.has(SXT_QUERY_DETERMINISTIC) ? std::uint32_t{SXT_EXEC_DETERMINISTIC} : 0;
  }

 private:
  friend class Runner;
  sxt_status call(Function function, sxt_head *args, const volatile std::int32_t *cancel, bool answers);
  void check_device_status();
  void close() noexcept;
  // Whether work of that use may begin before what the session last did has ended, without harm.
  bool free_for(const StreamUse *use) const noexcept { return !use_ || use_.get() == use || use_->over(); }

  Prepared &prepared_;
  std::shared_ptr<StreamUse> use_;  // that its last run was enqueued in; NULL: it was waited for
  Session *next_ = nullptr;         // of a list of idle ones
  std::vector<std::vector<std::unique_ptr<Session>>> parts_;
  std::vector<std::vector<const sxt_bound *>> bounds_;
  std::vector<sxt_filled> filled_;
  sxt_bound bound_{};
  bool foreign_;  // anything that runs in it came from elsewhere than with the library
  DeviceBuffer scratch_;
  DeviceBuffer device_status_;  // of a top session on a device with streams
};

// A prepared kernel that any number of threads may run: sessions come from a pool that grows with the callers. A
// session that goes back while its work is only enqueued is lent to calls on the same stream alone, until that was
// waited for.
class Runner {
 public:
  Runner(Context &context, ChoicePtr choice, Matrix *matrix, const sxt_head *data = nullptr)
      : prepared_(context, std::move(choice), matrix, data),
        shared_(prepared_.stateless() ? prepared_.open() : nullptr) {}
  ~Runner();
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;

  Prepared &prepared() noexcept { return prepared_; }
  const Choice &choice() const noexcept { return prepared_.choice(); }
  // As those of a session.
  void run(sxt_head *args, const volatile std::int32_t *cancel = nullptr);
  void run_by(Session::Function function, sxt_head *args, const volatile std::int32_t *cancel = nullptr);
  sxt_status ask(sxt_head *args, const volatile std::int32_t *cancel = nullptr);
  // A session that an earlier run left, for good; NULL: there is none.
  std::unique_ptr<Session> take_idle();

 private:
  template <class F>
  auto with_session(F &&f);
  Session *take();
  void give_back(Session *session) noexcept;
  void keep(Session *session) noexcept;

  Prepared prepared_;
  const std::unique_ptr<Session> shared_;  // where a session holds nothing, one serves all callers
  std::atomic<Session *> ready_{nullptr};  // the session of a caller that is alone: no lock
  std::mutex mutex_;
  Session *idle_ = nullptr;  // those of the others, a list
};

// A slot as kernels see it, from predicted parts (no states yet) or from real bounds; `bounds` must outlive the result.
sxt_filled filled_slot(const SlotChoice &slot, const std::vector<const sxt_bound *> &bounds);

}  // namespace sextant
