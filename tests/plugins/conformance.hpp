// SPDX-License-Identifier: BSD-3-Clause
// Every kernel of a kind against the kind's reference on the kind's cases, driven through the tables on host memory.
// Smaller than the suite inside the library, and independent of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "tests/plugins/support.hpp"

namespace plugin_test {

// All plugins in the CPU's folder, in the order of their names.
class Plugins {
 public:
  Plugins() {
    std::vector<std::string> paths;
    for (const auto &entry : std::filesystem::directory_iterator(SEXTANT_PLUGIN_DIR "/cpu"))
      if (entry.path().extension() == ".so") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::string &path : paths) {
      const sxt_plugin *plugin = load(path);
      for (std::uint64_t i = 0; i < plugin->n_kernels; ++i) kernels.push_back(plugin->kernels[i]);
      for (std::uint64_t i = 0; i < plugin->n_kinds; ++i) kinds.push_back(plugin->kinds[i]);
    }
  }
  const sxt_kind *kind(const std::string &id) const {
    for (const sxt_kind *k : kinds)
      if (id == k->id) return k;
    return nullptr;
  }
  // The first kernel of a kind: of a storage kind, the one that builds it.
  const sxt_kernel *kernel_of(const std::string &kind) const {
    for (const sxt_kernel *k : kernels)
      if (kind == k->kind) return k;
    return nullptr;
  }
  std::vector<const sxt_kernel *> kernels;
  std::vector<const sxt_kind *> kinds;
};

// One case, freed with the object.
struct Case {
  Case(const sxt_kind &kind, std::uint64_t i) : kind_(kind) {
    value.struct_size = sizeof value;
    if (kind.make_case(Host::table(), 1, i, &value) != SXT_OK) throw std::runtime_error("no case");
  }
  Case(const Case &) = delete;
  ~Case() { kind_.free_case(&value); }
  sxt_case value{};

 private:
  const sxt_kind &kind_;
};

// The case's matrix in the storage a kernel reads first; the matrix as it is when it reads none. A storage may refuse a
// matrix, with its reason: head() is then NULL, and the case is declined.
class MatrixFor {
 public:
  MatrixFor(const Plugins &plugins, const sxt_kernel &kernel, const sxt_case &c) : head_(c.a) {
    if (!c.a || !kernel.storages || !kernel.storages[0]) return;
    storage_ = plugins.kernel_of(kernel.storages[0]);
    if (!storage_) throw std::runtime_error(std::string("no plugin builds ") + kernel.storages[0]);
    reason_ = refusal(*storage_, c.query);
    head_ = nullptr;
    if (!reason_.empty()) return;
    ready_ = std::make_unique<Ready>(*storage_, c.query, ask_candidates(*storage_, c.query, make_machine())[0], c.a);
    if (ready_->status() == SXT_NOT_APPLICABLE || ready_->status() == SXT_E_NOT_SUPPORTED) reason_ = Host::sentence;
    if (!reason_.empty()) return;
    head_ = view_of(*storage_, *ready_);
  }
  const sxt_head *head() const { return head_; }
  const std::string &reason() const { return reason_; }

 private:
  const sxt_kernel *storage_ = nullptr;
  std::unique_ptr<Ready> ready_;
  const sxt_head *head_;
  std::string reason_;  // why the storage refused
};

struct Outcome {
  int run = 0, declined = 0;
};

// Runs one kernel on every case with every candidate it offers for four threads; failures are reported to gtest.
inline Outcome check_kernel(const Plugins &plugins, const sxt_kind &kind, const sxt_kernel &kernel) {
  Outcome outcome;
  for (std::uint64_t i = 0; i < kind.n_cases; ++i) {
    Case want(kind, i);
    SCOPED_TRACE(std::string(kernel.name) + ", case " + std::to_string(i) + ": " + want.value.description);
    const sxt_kernel &reference = *kind.reference;
    MatrixFor reference_matrix(plugins, reference, want.value), matrix(plugins, kernel, want.value);
    Ready expected(reference, want.value.query, ask_candidates(reference, want.value.query, make_machine())[0],
                   reference_matrix.head());
    EXPECT_EQ(expected.run(want.value.args), SXT_OK);
    const std::string reason = matrix.reason().empty() ? refusal(kernel, want.value.query) : matrix.reason();
    if (!reason.empty()) {
      EXPECT_NE(reason, "no reason given");
      ++outcome.declined;
      continue;
    }
    for (const sxt_candidate &candidate : ask_candidates(kernel, want.value.query, make_machine())) {
      Case got(kind, i);
      Ready ready(kernel, got.value.query, candidate, matrix.head());
      if (ready.status() == SXT_NOT_APPLICABLE) {  // what prepare saw in the matrix
        EXPECT_NE(Host::sentence, "");
        ++outcome.declined;
        continue;
      }
      EXPECT_EQ(ready.status(), SXT_OK) << Host::sentence;
      EXPECT_EQ(ready.run(got.value.args), SXT_OK) << Host::sentence;
      char text[512] = "";
      sxt_message message{text, sizeof text};
      double error = 1e300;
      EXPECT_EQ(kind.compare(&got.value, &want.value, &error, &message), SXT_OK);
      EXPECT_LE(error, 1) << text << ", with " << candidate.launch[0] << " threads";
      ++outcome.run;
    }
  }
  return outcome;
}

}  // namespace plugin_test
