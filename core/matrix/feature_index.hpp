// SPDX-License-Identifier: BSD-3-Clause
// Features by number, so that a choice that asks two dozen models compares no names: what a name's number is, which
// numbers a kernel asks for, which kernel computes a feature on a device and in which tier.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/registry.hpp"

namespace sextant {

// Tiers of features (plugin/kinds/features.h): sizes, row pointers, sampled columns, everything. Sets of them are bits.
inline constexpr int highest_feature_tier = 3;
inline constexpr unsigned all_feature_tiers = 15;

// The same number for the same name, as long as the process lives. [any-thread]
int feature_id(std::string_view name);
const char *feature_name(int id);
// Features whose names begin like this are of the transpose. Only products with it ask for them.
inline bool tells_of_transpose(std::string_view name) { return name.starts_with("transpose_"); }

// Those of kernel.table.features in its order. Lives as long as the process. [any-thread]
const std::vector<int> &feature_ids(const registry::Kernel &kernel);

// Who computes what on one device: the kernel of the lowest tier that offers it. What a trusted kernel offers is taken
// from no other.
class FeatureSources {
 public:
  struct Source {
    const registry::Kernel *kernel = nullptr;
    int tier = -1;
  };
  // As the scope is now. [any-thread]
  static std::shared_ptr<const FeatureSources> of(const registry::Scope &scope, const std::string &device);
  FeatureSources(const registry::Scope &scope, const std::string &device);
  Source source(int id) const {
    return static_cast<std::size_t>(id) < sources_.size() ? sources_[static_cast<std::size_t>(id)] : Source{};
  }

  // What kernels of the device ask for in a tier, all of them together.
  const std::vector<int> &asked(int tier) const { return asked_[static_cast<std::size_t>(tier)]; }

 private:
  void note_askers(const registry::Scope &scope, const std::string &device);
  std::vector<Source> sources_;
  std::vector<int> asked_[highest_feature_tier + 1];
};

// Values by feature number; some are known.
class FeatureValues {
 public:
  bool knows(int id) const { return static_cast<std::size_t>(id) < known_.size() && known_[at(id)] != 0; }
  double value(int id) const { return values_[at(id)]; }  // of a known one
  void set(int id, double value) {
    if (at(id) >= known_.size()) values_.resize(at(id) + 1, 0), known_.resize(at(id) + 1, 0);
    known_[at(id)] = 1;
    values_[at(id)] = value;
  }
  void forget(int id) {
    if (knows(id)) known_[at(id)] = 0;
  }

 private:
  static std::size_t at(int id) { return static_cast<std::size_t>(id); }
  std::vector<double> values_;
  std::vector<unsigned char> known_;
};

}  // namespace sextant
