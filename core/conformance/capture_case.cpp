// SPDX-License-Identifier: BSD-3-Clause
// The proof of SXT_KERNEL_CAPTURABLE on the cases of a kernel's own kind: what move_case puts into device space are the
// arrays that a replay has to read anew.
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "core/base/late_log.hpp"
#include "core/base/shortage.hpp"
#include "core/conformance/bench.hpp"
#include "core/conformance/capture_check.hpp"
#include "core/device/host.hpp"

namespace sextant::conformance {
namespace {

constexpr std::uint64_t rotation = 16;  // bytes: a whole number of elements of every type
// What is no longer holds scalars or a kernel's state, such as the number of an iteration: turned, it would be none.
constexpr std::uint64_t longest_state = 96;
constexpr double budget_s = 0.05;  // no further case is begun after

// Proves the kernel on the first case that it serves and that can tell; false when there was none.
bool prove_on_some_case(const Kernel &kernel, const Kind &kind, Device &device, const Scope &scope) {
  const auto start = std::chrono::steady_clock::now();
  const auto late = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > budget_s;
  };
  constexpr std::uint64_t seed = 1;
  for (std::uint64_t i = 0; i < kind.table.n_cases && !late(); ++i) {
    const Case base(kind, seed, i);
    Bench bench(scope, device, base.get(), 1);
    for (const std::string &storage : bench.storages_for(kernel)) {
      try {
        Fitted fitted(bench, kernel, Query(base.get().query), storage);
        fitted.prepare(0);
        const Opened opened(fitted);
        if (prove_case_capturable(opened.bound(), device, kind, seed, i)) return true;
      } catch (const Error &problem) {
        if (problem.status() != SXT_NOT_APPLICABLE) throw;
      }
    }
  }
  return false;
}

}  // namespace

bool prove_case_capturable(const sxt_bound &bound, Device &device, const Kind &kind, std::uint64_t seed,
                           std::uint64_t i) {
  Case moved(kind, seed, i);
  std::vector<Call::Piece> pieces;
  Lending lending(device, 0, 1, 0);
  lending.call().device_pieces = &pieces;
  moved.move(lending.exec(), true);
  lending.call().device_pieces = nullptr;
  const struct MoveBack {  // the kind may hold memory of the device until it is asked to
    ~MoveBack() {
      try {
        moved.move(exec, false);
      } catch (...) {  // the device has failed; the proof has said so
      }
    }
    Case &moved;
    const sxt_exec &exec;
  } back{moved, lending.exec()};
  std::vector<CaptureInput> inputs;
  std::vector<CaptureOutput> outputs;  // which arrays a run writes is the kind's secret: all are compared
  for (const Call::Piece &piece : pieces) {
    inputs.push_back({piece.data, piece.bytes, piece.bytes > longest_state ? rotation : piece.bytes});
    outputs.push_back({piece.data, piece.bytes});
  }
  try {
    prove_capturable(bound, device, moved.args(), inputs, outputs);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_ARGUMENT) return false;  // such a case cannot tell a fresh answer from a stale one
    throw;
  }
  return true;
}

void capture_test(const Kernel &kernel, Device &device, const Scope &scope) {
  const LateLog late(device.log());
  const LogScope messages(late.sink());  // the kernel's own, too
  static std::mutex one_at_a_time;
  static std::map<const Kernel *, bool> tested;
  const std::lock_guard lock(one_at_a_time);
  const Kind *kind = scope.kind(kernel.table.kind);
  // An engine is proven through what it captures; without cases that can be moved there is nothing to prove with.
  const bool testable = kernel.has(SXT_KERNEL_CAPTURABLE) && device.captures() && kind && kind->table.move_case &&
                        kernel.table.n_slots == 0;
  if (!testable || !tested.try_emplace(&kernel, true).second) return;
  try {
    prove_on_some_case(kernel, *kind, device, scope);
  } catch (const Error &problem) {
    if (out_of_memory(problem)) {  // says nothing about the kernel: the next choice tests again
      tested.erase(&kernel);
      throw;
    }
    scope.registry().quarantine(kernel, problem.what(), late.sink());
  }
}

}  // namespace sextant::conformance
