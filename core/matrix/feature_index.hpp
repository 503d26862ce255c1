// SPDX-License-Identifier: BSD-3-Clause
// Features by number, so that a choice that asks two dozen models compares no names: what a name's number is, which
// numbers a kernel asks for, who computes a feature on a device and in which tier.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/registry.hpp"

namespace sextant {

// The same number for the same name, as long as the process lives. [any-thread]
int feature_id(std::string_view name);
const char *feature_name(int id);

// Those of kernel.table.features in its order. Lives as long as the process. [any-thread]
const std::vector<int> &feature_ids(const registry::Kernel &kernel);

// Who computes what on one device: the kernel of the lowest tier that offers it.
class FeatureSources {
 public:
  struct Source {
    const registry::Kernel *kernel = nullptr;
    int tier = -1;
  };
  // As the registry is now. [any-thread]
  static std::shared_ptr<const FeatureSources> of(const std::string &device);
  explicit FeatureSources(const std::string &device);
  Source source(int id) const {
    return static_cast<std::size_t>(id) < sources_.size() ? sources_[static_cast<std::size_t>(id)] : Source{};
  }

 private:
  std::vector<Source> sources_;
};

// Values by feature number; some are known.
class FeatureValues {
 public:
  bool knows(int id) const { return static_cast<std::size_t>(id) < known_.size() && known_[at(id)] != 0; }
  double value(int id) const { return values_[at(id)]; }  // of a known one
  void set(int id, double value) {
    if (at(id) >= known_.size()) known_.resize(at(id) + 1, 0), values_.resize(at(id) + 1, 0);
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
