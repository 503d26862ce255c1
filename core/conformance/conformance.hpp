// SPDX-License-Identifier: BSD-3-Clause
// The one conformance suite: every kernel of a kind against the kind's reference on the kind's own cases. Serves our
// tests, `sextant plugin check`, and the short test a third party's kernel takes before it may first win.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/query.hpp"
#include "core/device/device.hpp"
#include "core/registry/registry.hpp"

namespace sextant::conformance {

using registry::Kernel;
using registry::Kind;
using registry::Registry;
using registry::Scope;
using registry::Verdict;

struct CheckLine {
  std::string kernel, check;  // check: the case's description
  bool passed = false;
  bool applicable = true;  // false: the kernel declined the case, with the reason in `sentence`
  bool proves = false;     // passed what an answer that was never computed does not pass
  double error_in_bounds = 0;
  std::string sentence;
  bool of_all = false;  // speaks of all cases, and is none
  double miss = 0;      // measured over predicted time of the run that the model misses most; 0: no run was timed
};

struct ConformanceOptions {
  std::uint64_t seed = 1;
  double seconds = 0;  // stop after so much time once `enough` cases proved something; 0: all cases
  int enough = 1;
  int threads = 1;
  bool answers_only = false;    // leave out what needs further runs: refresh, two callers, equal bits
  const Query *like = nullptr;  // only cases that ask as it does: types, operation, columns, storage
  bool costs = false;           // predictions must be within gross_cost_factor of what runs take
};

// A model that predicts so many times less than every run took, at times a clock can tell, is refused. Wide enough for
// a busy machine and an uncalibrated model. What the caller waits for a stream is no part of a run.
inline constexpr double gross_cost_factor = 100;

struct Checked {
  bool good = false;     // every applicable case passed and at least one was applicable, or there was nothing to fail
  int proven = 0;        // lines that prove something; 0: nothing is known of the kernel
  bool testable = true;  // false: its kind has no cases that could be run here
  operator bool() const { return good; }
};

// Runs the cases of the kernel's kind: builds the storage it reads from the case's CSR, fills its slots with the
// reference kernels of the kinds they name, prepares, opens, runs, compares with the reference's answer. Beside answers
// it checks what the contract promises: models that are finite and stable, reasons for declining, scratch kept within
// its bounds, no allocation while running, everything given back, equal answers after refresh and for two callers at
// once, and equal bits where they are promised (as far as the kind's compare can tell: it must give 0 for an answer and
// itself). A storage is compared with the matrices of the products' cases instead, entry by entry, with all its
// operations (conformance_storage.cpp). A kind without cases has nothing to fail: one line says so, and nothing is
// proven. Exceptions of the harness itself only.
Checked check_kernel(const Kernel &kernel, Device &device, const ConformanceOptions &options,
                     const std::function<void(const CheckLine &)> &line, const Scope &scope = Registry::instance());
// The same of a kernel that builds a storage.
bool builds_storage(const Kernel &kernel);
Checked check_storage(const Kernel &kernel, Device &device, const ConformanceOptions &options,
                      const std::function<void(const CheckLine &)> &line, const Scope &scope);

// The device as stamps name it: its kind, its name and its level.
std::string device_mark(const sxt_machine &machine);

// The test of an untested kernel in the process, before it may first serve such a query: on cases that ask as the query
// does, or on any of its kind's where `like` is NULL; made once for each way of asking, aims at 50 ms. "": it may
// serve. Else why not: a wrong answer, or a model that is grossly wrong, quarantines it; where no case applied it is
// only not proven. Throws SXT_E_MEMORY when memory was short, which says nothing about the kernel, and may be called
// again.
std::string self_test(const Kernel &kernel, Device &device, const Query *like,
                      const Scope &scope = Registry::instance());

}  // namespace sextant::conformance
