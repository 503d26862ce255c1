// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/route.hpp"

#include <utility>

#include "core/base/types.hpp"
#include "core/world/runner.hpp"

namespace sextant {

namespace {

constexpr double usual_exchanges = 1000;  // that a matrix of a world is worth

bool stages(const Choice &choice) {
  const auto *ops = static_cast<const sxt_exchange_ops *>(choice.kernel->table.ops);
  return ops && SXT_HAS(ops, sxt_exchange_ops, stages) && ops->stages;
}

}  // namespace

void RouteWanted::add(const std::vector<std::int64_t> &rows, std::int64_t first, std::int64_t count, void *to,
                      bool apart) {
  links.push_back({static_cast<std::int64_t>(index.size()), count, to});
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
  index.insert(index.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  if (apart) n_apart += count, ++links_apart;
}

Route::Route(Context &context, sxt_value_type type, RouteWanted wanted)
    : each_(value_bytes(type)),
      n_(static_cast<std::int64_t>(wanted.index.size())),
      links_(std::move(wanted.links)),
      index_(context.device(), wanted.index.size() * sizeof(std::int64_t)),
      packed_(context.device(), static_cast<std::uint64_t>(n_ * each_)) {
  context.device().copy(index_.data(), wanted.index.data(), index_.bytes());
  for (const sxt_exchange_link &link : links_) to_.push_back(link.to);
  plan_ = {{sizeof plan_, SXT_KIND_EXCHANGE_PLAN}, static_cast<std::int64_t>(to_.size()), to_.data()};
  sxt_exchange_query query{};
  query.q = {{sizeof query, SXT_KIND_EXCHANGE}, usual_exchanges, 0, type};
  query.n = n_;
  query.n_apart = wanted.n_apart;
  query.links = static_cast<std::int32_t>(links_.size());
  query.links_apart = wanted.links_apart;
  query.reach = wanted.reach;
  runner_ = make_runner(context, query.q, "world/exchange", nullptr, &plan_.h);
  if (query.reach == SXT_REACH_PROCESS && stages(runner_->choice())) go_by_host(context.device());
}

void Route::go_by_host(Device &device) {
  stage_ = DeviceBuffer(device, static_cast<std::uint64_t>(n_ * each_),
                        device.on_host() ? SXT_SPACE_DEVICE : SXT_SPACE_PINNED);
  for (sxt_exchange_link &link : links_) link.to = stage_.as<char>() + link.begin * each_;
}

void Route::run(const void *x) {
  sxt_exchange_args args{};
  args.h = {sizeof args, SXT_KIND_EXCHANGE};
  args.n = n_;
  args.x = x;
  args.index = index_.as<std::int64_t>();
  args.packed = packed_.data();
  args.links = links_.data();
  args.n_links = static_cast<std::int32_t>(links_.size());
  runner_->run(&args.h);
}

}  // namespace sextant
