// SPDX-License-Identifier: BSD-3-Clause
// The test of a third party's kernel in the process, before it may first serve a query of some kind.
#include <mutex>
#include <new>
#include <vector>

#include "core/base/hash.hpp"
#include "core/base/late_log.hpp"
#include "core/base/shortage.hpp"
#include "core/conformance/asking.hpp"
#include "core/conformance/conformance.hpp"
#include "core/device/host.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant::conformance {
namespace {

constexpr double seconds = 0.03;  // no case is begun after, once enough proved something; all of it aims at 0.05
constexpr int enough = 3;         // cases that prove something, where the kind has so many alike

struct Outcome {
  std::string wrong, declined;
  int proven = 0;
  bool testable = true;
};

Outcome try_cases(const Kernel &kernel, Device &device, const Query *like, const Scope &scope) {
  ConformanceOptions options;
  options.seconds = seconds;
  options.enough = enough;
  options.answers_only = true;
  options.costs = true;
  options.like = like;
  options.threads = device.on_host() ? device.lending().units : 1;
  Outcome outcome;
  const auto note = [&](const CheckLine &line) {
    if (line.applicable && !line.passed && outcome.wrong.empty()) outcome.wrong = line.check + ": " + line.sentence;
    if (!line.applicable) outcome.declined = line.sentence;
  };
  const Checked checked = check_kernel(kernel, device, options, note, scope);
  outcome.proven = checked.proven;
  outcome.testable = checked.testable;
  return outcome;
}

// Kinds that make cases for a query have as many as it takes; of others' cases one may be all that is alike.
int needed(const Kernel &kernel, const Scope &scope) {
  const Kind *kind = scope.kind(builds_storage(kernel) ? SXT_KIND_SPMV : kernel.table.kind);
  return kind && kind->make_case_like ? enough : 1;
}

}  // namespace

std::string device_mark(const sxt_machine &machine) {
  return text(machine.device, "/", machine.name ? machine.name : "", "/", machine.level);
}

std::string self_test(const Kernel &kernel, Device &device, const Query *like, const Scope &scope) {
  const auto verdict = [&] {
    return kernel.verdict == Verdict::quarantined ? "quarantined: " + kernel.quarantine_reason : std::string();
  };
  if (kernel.verdict != Verdict::untested) return verdict();
  const std::string mark = device_mark(device.machine());
  for (const std::string &proven : kernel.stamped_on)
    if (proven == mark) return "";
  const std::uint64_t what = fnv1a(mark.data(), mark.size(), like ? way_of_asking(*like) : 0);
  if (const std::string *known = kernel.proofs.find(what)) return known->empty() ? verdict() : *known;
  const LateLog late(device.log());
  const LogScope messages(late.sink());  // the kernel's own, too
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const std::string *known = kernel.proofs.find(what)) return known->empty() ? verdict() : *known;
  std::string why_not;
  try {
    const Outcome outcome = try_cases(kernel, device, like, scope);
    if (!outcome.wrong.empty()) {
      scope.registry().quarantine(kernel, outcome.wrong, late.sink());
      return verdict();
    }
    if (!outcome.testable && kernel.plugin->named)  // nothing could test it: the program's own decision
      late.sink()(SXT_LOG_WARNING, text("kernel '", kernel.name(), "' is used untested: ", outcome.declined));
    else if (outcome.proven < needed(kernel, scope))
      why_not = text("not proven: no case applied that asks as this query does (", outcome.proven,
                     " told something of it", outcome.declined.empty() ? "" : "; ", outcome.declined,
                     "); sextant plugin check tests it on all cases of its kind");
  } catch (const Error &problem) {
    if (out_of_memory(problem)) throw;  // it is tested again when it is next first
    why_not = text("not proven: ", problem.what());
  } catch (const std::bad_alloc &) {
    fail(SXT_E_MEMORY, status_sentence(SXT_E_MEMORY));
  }
  if (!why_not.empty()) late.sink()(SXT_LOG_WARNING, text("kernel '", kernel.name(), "' is left out: ", why_not));
  return kernel.proofs.note(what, why_not);
}

}  // namespace sextant::conformance
