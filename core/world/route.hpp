// SPDX-License-Identifier: BSD-3-Clause
// What leaves one member in an exchange by one kernel of kind sxt.exchange/1: which values, to where, and who was
// chosen.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/context/context.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/exchange.h"

namespace sextant {

// Values before there is a kernel for them. reach: SXT_REACH_*.
struct RouteWanted {
  std::int32_t reach;
  std::vector<std::int64_t> index = {};  // local rows, link by link
  std::vector<sxt_exchange_link> links = {};
  std::int64_t n_apart = 0;  // values, and links, to another device than the member's
  std::int32_t links_apart = 0;

  // count rows from first of rows, to that memory.
  void add(const std::vector<std::int64_t> &rows, std::int64_t first, std::int64_t count, void *to, bool apart);
};

// One run at a time.
class Route {
 public:
  // At least one link. Throws what choosing and building a kernel throw. Where the chosen kernel takes the values to
  // the host although they were wanted elsewhere, the links go through pinned memory of this object: see staged().
  Route(Context &context, sxt_value_type type, RouteWanted wanted);
  Route(const Route &) = delete;
  Route &operator=(const Route &) = delete;

  // In the order of this thread's stream on the context's device.
  void run(const void *x);
  // Host memory that link l goes through on its way to wanted memory; NULL where it goes there at once.
  const void *staged(std::size_t l) const noexcept { return stage_.data() ? links_[l].to : nullptr; }
  const std::vector<sxt_exchange_link> &links() const noexcept { return links_; }
  const std::int64_t *index() const noexcept { return index_.as<std::int64_t>(); }  // on the device
  std::int64_t count() const noexcept { return n_; }
  const ChoicePtr &choice() const { return runner_->prepared().shared_choice(); }
  std::uint64_t bytes() const noexcept { return index_.bytes() + packed_.bytes() + stage_.bytes(); }

 private:
  void go_by_host(Device &device);

  const std::int64_t each_;  // bytes of a value
  std::int64_t n_;
  std::vector<sxt_exchange_link> links_;
  std::vector<void *> to_;  // behind plan_
  sxt_exchange_plan plan_{};
  DeviceBuffer index_, packed_, stage_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace sextant
