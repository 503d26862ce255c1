// SPDX-License-Identifier: BSD-3-Clause
// The suite itself: which cases, which storages, which promises; setting up and running is in conformance_bench.hpp.
#include "core/registry/conformance.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <thread>

#include "core/registry/capture_check.hpp"
#include "core/registry/conformance_bench.hpp"
#include "core/registry/host.hpp"

namespace sextant::registry {
namespace {

constexpr double self_test_seconds = 0.03;  // no case is begun after; all of it shall take at most 0.05

// How the reference ended on a case: a case may be there to be refused.
struct Ending {
  sxt_status status = SXT_OK;
  std::string sentence;
};

// One kernel against its kind's cases.
class Suite {
 public:
  Suite(const Kernel &kernel, const Kind &kind, Device &device, const ConformanceOptions &options, Registry &registry)
      : kernel_(kernel), kind_(kind), device_(device), options_(options), registry_(registry) {
    open_reference_device();
  }
  bool run(const std::function<void(const CheckLine &)> &line);

 private:
  using Clock = std::chrono::steady_clock;
  void open_reference_device();
  bool time_is_up() const;
  // The short test must not condemn a kernel because memory was scarce just then.
  bool tells_nothing(const Error &problem) const { return options_.answers_only && problem.status() == SXT_E_MEMORY; }
  Ending reference_answer(const Case &base, Case &want) const;
  CheckLine check_storage(std::uint64_t i, Bench &bench, const std::string &storage, const Case &want,
                          const Ending &ending);
  void check_all(std::uint64_t i, Bench &bench, Fitted &fitted, const std::string &storage, const Case &want,
                 const Ending &ending);
  void check_candidate(std::uint64_t i, Bench &bench, Fitted &fitted, std::size_t candidate, const Case &want,
                       const Ending &ending);
  std::unique_ptr<Case> answer(std::uint64_t i, const Opened &opened, int threads, std::uint32_t flags) const;
  double expect(std::uint64_t i, const Opened &opened, const Case &want, const Ending &ending, const char *when) const;
  void two_callers(std::uint64_t i, const Fitted &fitted, const Case &want, const Ending &ending) const;
  void equal_bits(std::uint64_t i, const Bench &bench, const std::string &storage) const;
  std::unique_ptr<Case> flagged_answer(std::uint64_t i, const Bench &bench, const std::string &storage,
                                       int threads) const;

  const Kernel &kernel_;
  const Kind &kind_;
  Device &device_;
  const ConformanceOptions &options_;
  Registry &registry_;
  std::unique_ptr<Device> own_reference_device_;  // when the kernel's is another one
  Device *reference_device_ = nullptr;
  Clock::time_point start_ = Clock::now();
  bool any_applied_ = false;
  double worst_ = 0;  // of the line in progress
};

void Suite::open_reference_device() {
  reference_device_ = &device_;
  if (!kind_.reference || std::strcmp(kind_.reference->table.device, device_.machine().device) == 0) return;
  const std::vector<const Kernel *> devices = registry_.kernels(SXT_KIND_DEVICE, kind_.reference->table.device);
  require(!devices.empty(), SXT_E_DEVICE, "the reference kernel of kind '", kind_.table.id, "' runs on device '",
          kind_.reference->table.device, "', which no loaded plugin offers");
  own_reference_device_ = std::make_unique<Device>(*devices.front(), 0, 1, device_.host_memory(), device_.log());
  reference_device_ = own_reference_device_.get();
}

bool Suite::time_is_up() const {
  return options_.seconds > 0 && any_applied_ &&
         std::chrono::duration<double>(Clock::now() - start_).count() >= options_.seconds;
}

bool Suite::run(const std::function<void(const CheckLine &)> &line) {
  bool all_passed = true;
  for (std::uint64_t i = 0; i < kind_.table.n_cases && !time_is_up(); ++i) {
    CheckLine failed{kernel_.name(), text("case ", i), false, false, 0, ""};
    try {
      const Case base(kind_, options_.seed, i);
      failed.check = base.description();
      Case want(kind_, options_.seed, i);
      const Ending ending = reference_answer(base, want);
      Bench bench(registry_, device_, base.get(), options_.threads);
      for (const std::string &storage : bench.storages_for(kernel_)) {
        const CheckLine result = check_storage(i, bench, storage, want, ending);
        line(result);
        all_passed = all_passed && (result.passed || !result.applicable);
        // The parts of a composed kernel read the matrix: one storage that suits them all will do.
        const bool chosen_by_parts =
            kernel_.table.n_slots > 0 && !(kernel_.table.storages && kernel_.table.storages[0]);
        if (time_is_up() || (chosen_by_parts && result.applicable)) break;
      }
    } catch (const Error &problem) {  // of the kind, not of the kernel; the case proves nothing
      if (tells_nothing(problem)) throw;
      failed.sentence = text("the case proves nothing: ", problem.what());
      line(failed);
      all_passed = false;
    }
  }
  return all_passed && any_applied_;
}

Ending Suite::reference_answer(const Case &base, Case &want) const {
  if (!kind_.reference) return {};
  Bench bench(registry_, *reference_device_, base.get(), 1);
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
    want.move(lending.exec(), true);
    lending.run(opened.bound(), want.args());
    const std::string violation = lending.violations();
    require(violation.empty(), SXT_E_PLUGIN, "the reference kernel '", kind_.reference->name(), "': ", violation);
    want.move(lending.exec(), false);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_PLUGIN || tells_nothing(problem)) throw;
    return {problem.status(), problem.what()};
  }
  return {};
}

CheckLine Suite::check_storage(std::uint64_t i, Bench &bench, const std::string &storage, const Case &want,
                               const Ending &ending) {
  CheckLine line{kernel_.name(), want.description(), false, true, 0, ""};
  if (!storage.empty()) line.check += ", in " + storage;
  worst_ = 0;
  std::unique_ptr<Fitted> fitted;
  try {
    fitted = std::make_unique<Fitted>(bench, kernel_, Query(bench.base().query), storage);
    any_applied_ = true;
    check_all(i, bench, *fitted, storage, want, ending);
    line.passed = true;
  } catch (const Error &problem) {
    if (tells_nothing(problem)) throw;
    // Before it is fitted a kernel may decline; afterwards it has promised to serve.
    line.applicable = fitted != nullptr || problem.status() != SXT_NOT_APPLICABLE;
    const bool refused_alike = fitted && ending.status != SXT_OK && problem.status() == ending.status;
    line.passed = refused_alike;
    line.sentence = problem.what();
  } catch (const std::bad_alloc &) {
    if (options_.answers_only) throw;
    line.sentence = status_sentence(SXT_E_MEMORY);
  } catch (const std::exception &problem) {
    line.sentence = text("kernel '", kernel_.name(), "' let an exception out: ", problem.what());
  } catch (...) {
    line.sentence = text("kernel '", kernel_.name(), "' let an exception out");
  }
  line.error_in_bounds = worst_;
  return line;
}

void Suite::check_all(std::uint64_t i, Bench &bench, Fitted &fitted, const std::string &storage, const Case &want,
                      const Ending &ending) {
  fitted.prepare_parts();
  for (std::size_t candidate = 0; candidate < fitted.candidates().size(); ++candidate) {
    if (candidate > 0 && options_.answers_only && time_is_up()) break;
    const std::uint64_t before = live_allocations(device_);
    check_candidate(i, bench, fitted, candidate, want, ending);
    fitted.release();
    // Other contexts may allocate meanwhile, but each counts on its own device.
    const std::uint64_t after = live_allocations(device_);
    require(options_.answers_only || after <= before, SXT_E_PLUGIN, "close and release left ", after - before,
            " allocation(s) behind");
  }
  if (!options_.answers_only && ending.status == SXT_OK) equal_bits(i, bench, storage);
}

void Suite::check_candidate(std::uint64_t i, Bench &bench, Fitted &fitted, std::size_t candidate, const Case &want,
                            const Ending &ending) {
  fitted.prepare(candidate);
  const Opened opened(fitted);
  worst_ = std::max(worst_, expect(i, opened, want, ending, "at first"));
  if (options_.answers_only) return;
  bench.refresh_storages();
  fitted.refresh();
  worst_ = std::max(worst_, expect(i, opened, want, ending, "after refresh"));
  two_callers(i, fitted, want, ending);
  if (kernel_.has(SXT_KERNEL_CAPTURABLE) && device_.captures() && ending.status == SXT_OK)
    prove_case_capturable(opened.bound(), device_, kind_, options_.seed, i);
}

std::unique_ptr<Case> Suite::answer(std::uint64_t i, const Opened &opened, int threads, std::uint32_t flags) const {
  auto got = std::make_unique<Case>(kind_, options_.seed, i);
  Lending lending(device_, opened.bound().scratch_bytes, threads, flags);
  got->move(lending.exec(), true);
  lending.run(opened.bound(), got->args());
  const std::string violation = lending.violations();
  require(violation.empty(), SXT_E_PLUGIN, violation);
  got->move(lending.exec(), false);
  return got;
}

double Suite::expect(std::uint64_t i, const Opened &opened, const Case &want, const Ending &ending,
                     const char *when) const {
  const std::unique_ptr<Case> got = answer(i, opened, options_.threads, 0);
  require(ending.status == SXT_OK, SXT_E_PLUGIN, "it answers what the reference refuses: ", ending.sentence);
  std::string sentence;
  const double distance = got->distance(want, sentence);
  // Written so that a NaN fails.
  require(distance <= 1, SXT_E_PLUGIN, "wrong answer ", when, ", ", distance, " times the error bound",
          sentence.empty() ? "" : ": ", sentence);
  return distance;
}

// Two sessions of one state, run at once.
void Suite::two_callers(std::uint64_t i, const Fitted &fitted, const Case &want, const Ending &ending) const {
  const Opened mine(fitted), others(fitted);
  std::exception_ptr failed;
  std::thread other([&] {
    try {
      expect(i, others, want, ending, "beside another caller");
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
  expect(i, mine, want, ending, "beside another caller");
  other.join();
  if (failed) std::rethrow_exception(failed);
}

// An answer under the demand for determinism, with so many threads in the machine and in the exec.
std::unique_ptr<Case> Suite::flagged_answer(std::uint64_t i, const Bench &bench, const std::string &storage,
                                            int threads) const {
  Query query(bench.base().query);
  query.get()->flags |= SXT_QUERY_DETERMINISTIC;
  Bench own(registry_, device_, bench.base(), threads);
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

bool check_kernel(const Kernel &kernel, Device &device, const ConformanceOptions &options,
                  const std::function<void(const CheckLine &)> &line, Registry &registry) {
  const Kind *kind = registry.kind(kernel.table.kind);
  require(std::strcmp(kernel.table.device, device.machine().device) == 0, SXT_E_ARGUMENT, "kernel '", kernel.name(),
          "' runs on device '", kernel.table.device, "', not on '", device.machine().device, "'");
  if (!kind || kind->table.n_cases == 0) {
    line(
        {kernel.name(), text("kind '", kernel.table.kind, "'"), false, false, 0, "the kind has no cases to test with"});
    return true;
  }
  // A device with memory of its own proves nothing about a kind whose cases cannot be moved there.
  if (!device.on_host() && !kind->table.move_case) {
    line({kernel.name(), text("kind '", kernel.table.kind, "'"), false, false, 0,
          "the kind's cases run on host memory only"});
    return true;
  }
  return Suite(kernel, *kind, device, options, registry).run(line);
}

Verdict self_test(const Kernel &kernel, Device &device, Registry &registry) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (kernel.verdict != Verdict::untested || kernel.self_tested.exchange(true)) return kernel.verdict;
  ConformanceOptions options;
  options.seconds = self_test_seconds;
  options.answers_only = true;
  options.threads = device.on_host() ? device.lending().units : 1;
  bool applied = false;
  std::string wrong;
  const auto note = [&](const CheckLine &line) {
    applied = applied || line.applicable;
    if (line.applicable && !line.passed && wrong.empty()) wrong = line.check + ": " + line.sentence;
  };
  try {
    check_kernel(kernel, device, options, note, registry);
    if (!wrong.empty()) registry.quarantine(kernel, wrong);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_MEMORY) kernel.self_tested = false;  // it is tested again when it is next first
    throw;
  } catch (const std::bad_alloc &) {
    kernel.self_tested = false;
    fail(SXT_E_MEMORY, status_sentence(SXT_E_MEMORY));
  }
  Verdict expected = Verdict::untested;
  if (applied && wrong.empty()) kernel.verdict.compare_exchange_strong(expected, Verdict::passed);
  return kernel.verdict;
}

}  // namespace sextant::registry
