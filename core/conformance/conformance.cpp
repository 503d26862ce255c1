// SPDX-License-Identifier: BSD-3-Clause
// The suite itself: which cases, which storages, which promises; setting up and running is in conformance_bench.hpp.
#include "core/conformance/conformance.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "core/base/shortage.hpp"
#include "core/conformance/asking.hpp"
#include "core/conformance/bench.hpp"
#include "core/conformance/capture_check.hpp"
#include "core/conformance/cost.hpp"
#include "core/conformance/other_values.hpp"
#include "core/conformance/run_watch.hpp"
#include "core/device/host.hpp"
#include "sextant/plugin/kinds/preconditioner.h"

namespace sextant::conformance {
namespace {

constexpr std::uint64_t whole_cases = 8;  // of all that apply, so many and then every fourth have every check
constexpr std::uint64_t most_alike = 1000;
constexpr const char *times_check = "predicted and measured times";
constexpr std::uint64_t applied_for_costs = 16;  // cases that go by before a model is found grossly wrong

// How the reference ended on a case: a case may be there to be refused.
struct Ending {
  sxt_status status = SXT_OK;
  std::string sentence;
};

// The answer that a case wants, computed when the first kernel applies to it.
struct Wanted {
  std::unique_ptr<Case> answer;
  Ending ending;
  bool telling = false;  // an answer that was never computed would not pass
};

// One kernel against its kind's cases.
class Suite {
 public:
  Suite(const Kernel &kernel, const Kind &kind, Device &device, const ConformanceOptions &options, const Scope &scope,
        const Kernel *builder)
      : kernel_(kernel), kind_(kind), device_(device), options_(options), scope_(scope), builder_(builder) {
    open_reference_device();
  }
  Checked run(const std::function<void(const CheckLine &)> &line);

 private:
  using Clock = std::chrono::steady_clock;
  void open_reference_device();
  bool time_is_up() const;
  // The short test must not fail a kernel because memory was short just then.
  bool tells_nothing(const Error &problem) const { return options_.answers_only && out_of_memory(problem); }
  std::unique_ptr<Case> make(std::uint64_t i) const;
  std::vector<std::string> storages(const Bench &bench) const;
  void run_case(std::uint64_t i, const Case &base, const std::function<void(const CheckLine &)> &line);
  Wanted reference_answer(std::uint64_t i, const Case &base) const;
  CheckLine check_storage(std::uint64_t i, Bench &bench, const std::string &storage, const Case &base, Wanted &wanted);
  bool held(CheckLine &line, const Wanted &wanted, const std::function<void()> &part);
  void check_all(std::uint64_t i, Bench &bench, Fitted &fitted, const std::string &storage, const Wanted &wanted);
  void check_candidate(std::uint64_t i, Bench &bench, Fitted &fitted, std::size_t candidate, const std::string &storage,
                       const Wanted &wanted);
  std::unique_ptr<Case> answer(std::uint64_t i, const Opened &opened, int threads, std::uint32_t flags) const;
  void run_on(Case &got, const Opened &opened, int threads, std::uint32_t flags) const;
  void other_values(std::uint64_t i, const Bench &bench, const std::string &storage, std::size_t candidate,
                    const Opened &opened) const;
  double expect(std::uint64_t i, const Opened &opened, const Wanted &wanted, const char *when) const;
  void two_callers(std::uint64_t i, const Fitted &fitted, const Wanted &wanted) const;
  void equal_bits(std::uint64_t i, const Bench &bench, const std::string &storage) const;
  std::unique_ptr<Case> flagged_answer(std::uint64_t i, const Bench &bench, const std::string &storage,
                                       int threads) const;
  void time_runs(std::uint64_t i, const Opened &opened, const Fitted &fitted, std::size_t candidate);

  const Kernel &kernel_;
  const Kind &kind_;
  Device &device_;
  const ConformanceOptions &options_;
  const Scope &scope_;
  const Kernel *builder_;                         // of the storage that is under test with it; NULL: none
  std::unique_ptr<Device> own_reference_device_;  // when the kernel's is another one
  Device *reference_device_ = nullptr;
  Clock::time_point start_ = Clock::now();
  bool any_applied_ = false, all_passed_ = true;
  bool may_decline_ = false;  // the case, still
  std::uint64_t applied_ = 0;
  int proven_ = 0;
  double worst_ = 0;  // of the line in progress
  CostCheck cost_{!options_.answers_only};
};

void Suite::open_reference_device() {
  reference_device_ = &device_;
  if (!kind_.reference || std::strcmp(kind_.reference->table.device, device_.machine().device) == 0) return;
  const std::vector<const Kernel *> devices = scope_.kernels(SXT_KIND_DEVICE, kind_.reference->table.device);
  require(!devices.empty(), SXT_E_DEVICE, "the reference kernel of kind '", kind_.table.id, "' runs on device '",
          kind_.reference->table.device, "', which no loaded plugin offers");
  own_reference_device_ = std::make_unique<Device>(devices.front()->table, 0, 1, device_.host_memory(), device_.log());
  reference_device_ = own_reference_device_.get();
}

// Cases that were declined, or that anything passes, take no time from those that tell. A model is refused after more
// cases than fit in the time: the first may all be matrices for which the kernel was not made.
bool Suite::time_is_up() const {
  if (options_.seconds <= 0 || proven_ < options_.enough) return false;
  if (options_.costs && applied_ < applied_for_costs && !cost_.problem().empty()) return false;
  return std::chrono::duration<double>(Clock::now() - start_).count() >= options_.seconds;
}

std::unique_ptr<Case> Suite::make(std::uint64_t i) const {
  const bool series = options_.like && kind_.make_case_like;
  return std::make_unique<Case>(kind_, options_.seed, i, series ? options_.like : nullptr);
}

std::vector<std::string> Suite::storages(const Bench &bench) const {
  std::vector<std::string> all = bench.storages_for(kernel_);
  if (builder_) all = {builder_->table.kind};
  const bool one = options_.like && options_.like->about_matrix() && options_.like->matrix_part().storage;
  if (one) std::erase_if(all, [&](const std::string &each) { return each != options_.like->matrix_part().storage; });
  return all;
}

Checked Suite::run(const std::function<void(const CheckLine &)> &line) {
  const bool series = options_.like && kind_.make_case_like;
  const std::uint64_t most = series ? most_alike : kind_.table.n_cases;
  for (std::uint64_t i = 0; i < most && !time_is_up(); ++i) {
    CheckLine failed{kernel_.name(), text("case ", i), false, false, false, 0, ""};
    try {
      const std::unique_ptr<Case> base = make(i);
      if (!series && options_.like && !asks_alike(Query(base->get().query), *options_.like)) continue;
      failed.check = base->description();
      run_case(i, *base, line);
    } catch (const Error &problem) {  // of the kind, not of the kernel; the case proves nothing
      if (tells_nothing(problem)) throw;
      if (series && problem.status() == SXT_NOT_APPLICABLE) break;
      failed.sentence = text("the case proves nothing: ", problem.what());
      line(failed);
      all_passed_ = false;
    }
  }
  if (const std::string problem = options_.costs ? cost_.problem() : ""; !problem.empty()) {
    line({kernel_.name(), times_check, false, true, false, 0, problem, true});
    all_passed_ = false;
  } else if (const std::string told = options_.costs && !options_.answers_only ? cost_.told() : ""; !told.empty()) {
    line({kernel_.name(), times_check, true, true, false, 0, told, true, cost_.worst_miss()});
  }
  return {all_passed_ && any_applied_, proven_};
}

void Suite::run_case(std::uint64_t i, const Case &base, const std::function<void(const CheckLine &)> &line) {
  Wanted wanted;
  Bench bench(scope_, device_, base.get(), options_.threads, builder_);
  for (const std::string &storage : storages(bench)) {
    const CheckLine result = check_storage(i, bench, storage, base, wanted);
    line(result);
    all_passed_ = all_passed_ && (result.passed || !result.applicable);
    proven_ += result.proves;
    // The parts of a composed kernel read the matrix: one storage that suits them all will do.
    const bool chosen_by_parts = kernel_.table.n_slots > 0 && !(kernel_.table.storages && kernel_.table.storages[0]);
    if (time_is_up() || (chosen_by_parts && result.applicable)) break;
  }
}

Wanted Suite::reference_answer(std::uint64_t i, const Case &base) const {
  Wanted wanted;
  wanted.answer = make(i);
  std::string sentence;
  if (!kind_.reference) {
    wanted.telling = !(base.distance(*wanted.answer, sentence) <= 1);
    return wanted;
  }
  Bench bench(scope_, *reference_device_, base.get(), 1);
  std::unique_ptr<Fitted> fitted;
  std::string storage_reasons;
  for (const std::string &storage : bench.storages_for(*kind_.reference)) {
    try {
      fitted = std::make_unique<Fitted>(bench, *kind_.reference, Query(base.get().query), storage);
      break;
    } catch (const Error &problem) {
      if (problem.status() != SXT_NOT_APPLICABLE) throw;
      storage_reasons += text("; ", problem.what());
    }
  }
  require(fitted != nullptr, SXT_E_PLUGIN, "the reference kernel '", kind_.reference->name(),
          "' does not apply to a case of its own kind", storage_reasons);
  try {
    fitted->prepare(0);
    const Opened opened(*fitted);
    Lending lending(*reference_device_, fitted->bound().scratch_bytes, 1, 0);
    wanted.answer->move(lending.exec(), true);
    lending.run(opened.bound(), wanted.answer->args());
    const std::string violation = lending.violations();
    require(violation.empty(), SXT_E_PLUGIN, "the reference kernel '", kind_.reference->name(), "': ", violation);
    wanted.answer->move(lending.exec(), false);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_PLUGIN || tells_nothing(problem)) throw;
    wanted.ending = {problem.status(), problem.what()};
    return wanted;
  }
  wanted.telling = !(base.distance(*wanted.answer, sentence) <= 1);
  return wanted;
}

// Runs a part of a check; what it throws is told by the line. False: it threw.
bool Suite::held(CheckLine &line, const Wanted &wanted, const std::function<void()> &part) {
  try {
    part();
    return true;
  } catch (const Error &problem) {
    if (tells_nothing(problem)) throw;
    // Before it is fitted a kernel may decline, and so may its prepare; afterwards it has promised to serve.
    line.applicable = !may_decline_ || problem.status() != SXT_NOT_APPLICABLE;
    line.passed = !may_decline_ && wanted.ending.status != SXT_OK && problem.status() == wanted.ending.status;
    line.sentence = problem.what();
  } catch (const std::bad_alloc &) {
    if (options_.answers_only) throw;
    line.sentence = status_sentence(SXT_E_MEMORY);
  } catch (const std::exception &problem) {
    line.sentence = text("kernel '", kernel_.name(), "' let an exception out: ", problem.what());
  } catch (...) {
    line.sentence = text("kernel '", kernel_.name(), "' let an exception out");
  }
  return false;
}

CheckLine Suite::check_storage(std::uint64_t i, Bench &bench, const std::string &storage, const Case &base,
                               Wanted &wanted) {
  CheckLine line{kernel_.name(), base.description(), false, true, false, 0, ""};
  if (!storage.empty()) line.check += ", in " + storage;
  worst_ = 0;
  may_decline_ = true;
  const std::uint64_t printed = printed_bytes();
  std::unique_ptr<Fitted> fitted;
  if (held(line, wanted,
           [&] { fitted = std::make_unique<Fitted>(bench, kernel_, Query(bench.base().query), storage); })) {
    if (!wanted.answer) wanted = reference_answer(i, base);  // what it throws is the kind's fault
    line.passed = held(line, wanted, [&] { check_all(i, bench, *fitted, storage, wanted); }) || line.passed;
    line.proves = line.passed && line.applicable && wanted.telling;
  }
  // Whatever it answered; in run it is a failure already.
  if (const std::uint64_t more = printed_bytes() - printed; more > 0 && (line.passed || !line.applicable)) {
    line.passed = line.proves = false, line.applicable = true;
    line.sentence = text("it printed ", more,
                         " byte(s) to standard output or standard error, outside of run or in a run like those before");
  }
  any_applied_ = any_applied_ || line.applicable;
  line.error_in_bounds = worst_;
  return line;
}

void Suite::check_all(std::uint64_t i, Bench &bench, Fitted &fitted, const std::string &storage, const Wanted &wanted) {
  fitted.prepare_parts();
  const bool whole = !options_.answers_only && (applied_ < whole_cases || applied_ % 4 == 0);
  for (std::size_t candidate = 0; candidate < fitted.candidates().size(); ++candidate) {
    if (candidate > 0 && options_.answers_only && time_is_up()) break;
    const std::uint64_t before = live_allocations(device_);
    check_candidate(i, bench, fitted, candidate, storage, wanted);
    fitted.release();
    // Other contexts may allocate meanwhile, but each counts on its own device.
    const std::uint64_t after = live_allocations(device_);
    require(options_.answers_only || after <= before, SXT_E_PLUGIN, "close and release left ", after - before,
            " allocation(s) behind");
  }
  const bool promised = options_.like && options_.like->has(SXT_QUERY_DETERMINISTIC) && applied_ == 0;
  ++applied_;
  if ((whole || promised) && wanted.ending.status == SXT_OK) equal_bits(i, bench, storage);
}

void Suite::check_candidate(std::uint64_t i, Bench &bench, Fitted &fitted, std::size_t candidate,
                            const std::string &storage, const Wanted &wanted) {
  const bool whole = !options_.answers_only && (applied_ < whole_cases || applied_ % 4 == 0);
  may_decline_ = true;
  fitted.prepare(candidate);
  may_decline_ = false;
  const Opened opened(fitted);
  worst_ = std::max(worst_, expect(i, opened, wanted, "at first"));
  if (wanted.telling) time_runs(i, opened, fitted, candidate);
  if (!whole) return;
  bench.refresh_storages();
  fitted.refresh();
  worst_ = std::max(worst_, expect(i, opened, wanted, "after refresh"));
  if (wanted.ending.status == SXT_OK) other_values(i, bench, storage, candidate, opened);
  if (std::strcmp(kernel_.table.kind, SXT_KIND_PRECONDITIONER) == 0)
    check_mutual(*make(i), *make(i), [&](Case &each) { run_on(each, opened, options_.threads, 0); });
  two_callers(i, fitted, wanted);
  if (kernel_.has(SXT_KERNEL_CAPTURABLE) && device_.captures() && wanted.ending.status == SXT_OK && !options_.like)
    prove_case_capturable(opened.bound(), device_, kind_, options_.seed, i);
}

// Warm runs: what they take and whether they allocate beside the host's table.
void Suite::time_runs(std::uint64_t i, const Opened &opened, const Fitted &fitted, std::size_t candidate) {
  const bool counted = !options_.answers_only && !kernel_.has(SXT_KERNEL_ALLOCATES) && counts_allocations();
  if (!counted && !options_.costs) return;
  const std::unique_ptr<Case> again = make(i);
  Lending lending(device_, opened.bound().scratch_bytes, options_.threads, 0);
  again->move(lending.exec(), true);
  if (counted) {
    const std::uint64_t allocations = lending.foreign_allocations(opened.bound(), again->args());
    require(allocations == 0, SXT_E_PLUGIN, "run allocated memory ", allocations,
            " time(s) by malloc, new or a mapping, warm as it was");
  }
  if (options_.costs) cost_.measure(lending, opened.bound(), again->args(), fitted, candidate, again->description());
  again->move(lending.exec(), false);
}

std::unique_ptr<Case> Suite::answer(std::uint64_t i, const Opened &opened, int threads, std::uint32_t flags) const {
  std::unique_ptr<Case> got = make(i);
  run_on(*got, opened, threads, flags);
  return got;
}

void Suite::run_on(Case &got, const Opened &opened, int threads, std::uint32_t flags) const {
  Lending lending(device_, opened.bound().scratch_bytes, threads, flags);
  got.move(lending.exec(), true);
  RunWatch watch;
  lending.run(opened.bound(), got.args());
  const std::string left = watch.found();
  require(left.empty(), SXT_E_PLUGIN, left);
  const std::string violation = lending.violations();
  require(violation.empty(), SXT_E_PLUGIN, violation);
  got.move(lending.exec(), false);
}

// A state that was made of other values, and took the case's by refresh, answers as one that was made of these.
void Suite::other_values(std::uint64_t i, const Bench &bench, const std::string &storage, std::size_t candidate,
                         const Opened &opened) const {
  const std::unique_ptr<HalvedCase> halved = HalvedCase::of(bench.base());
  if (!halved || !kernel_.table.prepare) return;
  Bench own(scope_, device_, halved->get(), options_.threads, builder_);
  std::unique_ptr<Fitted> fitted;
  try {
    fitted = std::make_unique<Fitted>(own, kernel_, Query(halved->get().query), storage);
    if (candidate >= fitted->candidates().size()) return;
    fitted->prepare(candidate);
  } catch (const Error &problem) {
    if (out_of_memory(problem)) throw;
    return;  // it need not serve such values
  }
  halved->put_right();
  own.refresh_storages();
  fitted->refresh();
  const std::unique_ptr<Case> got = answer(i, Opened(*fitted), options_.threads, 0);
  const std::unique_ptr<Case> fresh = answer(i, opened, options_.threads, 0);
  std::string sentence;
  const double distance = got->distance(*fresh, sentence);
  require(distance <= 1, SXT_E_PLUGIN, "after new values its answer is ", distance,
          " times the error bound from that of a state made of these", sentence.empty() ? "" : ": ", sentence);
}

double Suite::expect(std::uint64_t i, const Opened &opened, const Wanted &wanted, const char *when) const {
  const std::unique_ptr<Case> got = answer(i, opened, options_.threads, 0);
  require(wanted.ending.status == SXT_OK, SXT_E_PLUGIN,
          "it answers what the reference refuses: ", wanted.ending.sentence);
  std::string sentence;
  const double distance = got->distance(*wanted.answer, sentence);
  // Written so that a NaN fails.
  require(distance <= 1, SXT_E_PLUGIN, "wrong answer ", when, ", ", distance, " times the error bound",
          sentence.empty() ? "" : ": ", sentence);
  return distance;
}

// Two sessions of one state, run at once.
void Suite::two_callers(std::uint64_t i, const Fitted &fitted, const Wanted &wanted) const {
  const Opened mine(fitted), others(fitted);
  std::exception_ptr failed;
  std::thread other([&] {
    try {
      expect(i, others, wanted, "beside another caller");
    } catch (...) {
      failed = std::current_exception();
    }
  });
  const struct Joiner {
    std::thread &thread;
    ~Joiner() {
      if (thread.joinable()) thread.join();
    }
  } joiner{other};
  expect(i, mine, wanted, "beside another caller");
  other.join();
  if (failed) std::rethrow_exception(failed);
}

// An answer under the demand for determinism, with so many threads in the machine and in the exec.
std::unique_ptr<Case> Suite::flagged_answer(std::uint64_t i, const Bench &bench, const std::string &storage,
                                            int threads) const {
  Query query(bench.base().query);
  query.get()->flags |= SXT_QUERY_DETERMINISTIC;
  Bench own(scope_, device_, bench.base(), threads, builder_);
  Fitted fitted(own, kernel_, query, storage);
  fitted.prepare(0);
  return answer(i, Opened(fitted), threads, SXT_EXEC_DETERMINISTIC);
}

void Suite::equal_bits(std::uint64_t i, const Bench &bench, const std::string &storage) const {
  if (!kernel_.has(SXT_KERNEL_DETERMINISTIC)) return;
  const auto first = flagged_answer(i, bench, storage, options_.threads);
  const auto second = flagged_answer(i, bench, storage, options_.threads + 2);
  std::string sentence;
  if (first->distance(*first, sentence) != 0) return;  // this kind's compare measures something else than difference
  const double distance = second->distance(*first, sentence);
  require(distance == 0, SXT_E_PLUGIN, "it promises equal bits, but with ", options_.threads, " and ",
          options_.threads + 2, " threads its answers differ", sentence.empty() ? "" : ": ", sentence);
}

}  // namespace

Checked check_kernel(const Kernel &kernel, Device &device, const ConformanceOptions &options,
                     const std::function<void(const CheckLine &)> &line, const Scope &scope) {
  require(std::strcmp(kernel.table.device, device.machine().device) == 0, SXT_E_ARGUMENT, "kernel '", kernel.name(),
          "' runs on device '", kernel.table.device, "', not on '", device.machine().device, "'");
  if (builds_storage(kernel)) return check_storage(kernel, device, options, line, scope);
  const Kind *kind = scope.kind(kernel.table.kind);
  const auto nothing = [&](const char *why) {
    line({kernel.name(), text("kind '", kernel.table.kind, "'"), false, false, false, 0, why});
    return Checked{true, 0, false};
  };
  if (!kind || kind->table.n_cases == 0) return nothing("the kind has no cases to test with");
  // A device with memory of its own proves nothing about a kind whose cases cannot be moved there.
  if (!device.on_host() && !kind->table.move_case) return nothing("the kind's cases run on host memory only");
  return Suite(kernel, *kind, device, options, scope, nullptr).run(line);
}

Checked check_reader(const Kernel &reader, const Kernel &builder, Device &device, const ConformanceOptions &options,
                     const std::function<void(const CheckLine &)> &line, const Scope &scope) {
  return Suite(reader, *scope.kind(reader.table.kind), device, options, scope, &builder).run(line);
}

}  // namespace sextant::conformance
