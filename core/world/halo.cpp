// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/halo.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <tuple>

#include "core/base/types.hpp"
#include "core/operations/operations.hpp"
#include "sextant/plugin/kinds/vector.h"

namespace sextant {

// ---- streams of one call

Lanes::Lanes(World &world) {
  for (std::size_t i = 0; i < world.own(); ++i) {
    Device &device = world.context(i).device();
    lanes_.push_back({&device, device.callers_stream(), device.stream_use(), false});
    Lane &lane = lanes_.back();
    if (!device.has_streams() || lane.stream) continue;
    lane.use = std::make_shared<StreamUse>();
    lane.stream = device.take_stream();
    lane.taken = true;
  }
}

Lanes::~Lanes() {
  for (Lane &lane : lanes_) {
    if (!lane.taken) continue;
    try {
      lane.device->wait(lane.stream);
    } catch (...) {  // after a failure, which is on its way to the caller
    }
    lane.use->end();
    lane.device->give_stream(lane.stream);
  }
}

Device::StreamScope Lanes::enter(std::size_t own) const {
  return Device::StreamScope(*lanes_[own].device, lanes_[own].stream, lanes_[own].use);
}

void Lanes::wait(std::size_t own) const {
  if (lanes_[own].stream) lanes_[own].device->wait(lanes_[own].stream);
}

void Lanes::finish() const {
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].taken) wait(i);
}

namespace {

// In the order of the member's stream; at once on the host.
void enqueue(Device &device, void *stream, void *to, const void *from, std::int64_t bytes) {
  if (bytes == 0) return;
  if (device.on_host()) return static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(bytes)));
  const sxt_status status = device.enqueue_copy(stream, to, from, static_cast<std::uint64_t>(bytes));
  require(status == SXT_OK, status, "could not copy ", bytes, " bytes of a halo on device ", device.machine().device);
}

// Memory that messages may still be written to after a communicator failed. It is never freed.
struct Abandoned {
  std::shared_ptr<Context> context;  // whose device it is of
  DeviceBuffer memory;
};

template <class T>
std::vector<char> bytes_of(const std::vector<T> &values) {
  const auto *at = reinterpret_cast<const char *>(values.data());
  return {at, at + values.size() * sizeof(T)};
}

}  // namespace

// ---- which member needs what

Halo::Halo(std::shared_ptr<World> world, const std::vector<std::int64_t> &begin,
           const std::vector<std::vector<std::int64_t>> &ghosts, sxt_value_type type)
    : world_(std::move(world)), type_(type), each_(value_bytes(type)), sides_(world_->own()) {
  find_links(begin, ghosts);
}

// Each rank tells each other one what its members want of whose rows: for each such pair of members a line (owner,
// wanting member, count) and the rows.
void Halo::find_links(const std::vector<std::int64_t> &begin, const std::vector<std::vector<std::int64_t>> &ghosts) {
  std::vector<std::vector<std::int64_t>> wanted(static_cast<std::size_t>(world_->ranks()));
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    const std::vector<std::int64_t> &columns = ghosts[i];
    sides_[i].ghost_count = static_cast<std::int64_t>(columns.size());
    for (std::size_t k = 0; k < columns.size();) {
      const auto owner =
          static_cast<std::int32_t>(std::upper_bound(begin.begin(), begin.end(), columns[k]) - begin.begin() - 1);
      const std::int64_t end = begin[static_cast<std::size_t>(owner) + 1];
      const auto last = std::lower_bound(columns.begin() + static_cast<std::ptrdiff_t>(k), columns.end(), end);
      const std::int64_t count = (last - columns.begin()) - static_cast<std::int64_t>(k);
      sides_[i].from.push_back({owner, static_cast<std::int64_t>(k), count});
      std::vector<std::int64_t> &lines = wanted[static_cast<std::size_t>(world_->rank_of(owner))];
      lines.insert(lines.end(), {owner, world_->first() + static_cast<std::int32_t>(i), count});
      lines.insert(lines.end(), columns.begin() + static_cast<std::ptrdiff_t>(k), last);
      k += static_cast<std::size_t>(count);
    }
  }
  std::vector<std::vector<char>> out;
  for (const std::vector<std::int64_t> &lines : wanted) out.push_back(bytes_of(lines));
  const std::vector<std::vector<char>> in = world_->swap(out);
  // Ranks come in order and each lists its members in order: so do the links of a sender.
  std::vector<std::vector<std::int64_t>> rows(sides_.size());
  for (const std::vector<char> &bytes : in) {
    std::vector<std::int64_t> lines(bytes.size() / sizeof(std::int64_t));
    if (!lines.empty()) std::memcpy(lines.data(), bytes.data(), bytes.size());
    for (std::size_t at = 0; at < lines.size();) {
      const std::int64_t owner = lines[at], count = lines[at + 2];
      const auto own = static_cast<std::size_t>(owner - world_->first());
      Side &side = sides_[own];
      side.to.push_back({static_cast<std::int32_t>(lines[at + 1]), side.send_count, count});
      side.send_count += count;
      for (std::int64_t k = 0; k < count; ++k)
        rows[own].push_back(lines[at + 3 + static_cast<std::size_t>(k)] - begin[static_cast<std::size_t>(owner)]);
      at += 3 + static_cast<std::size_t>(count);
    }
  }
  allocate_sides(rows);
  lay_out(outgoing_, true);
  lay_out(incoming_, false);
}

void Halo::allocate_sides(const std::vector<std::vector<std::int64_t>> &rows) {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    Side &side = sides_[i];
    Device &device = world_->context(i).device();
    const auto bytes = [&](std::int64_t count) { return static_cast<std::uint64_t>(count * each_); };
    side.index = DeviceBuffer(device, rows[i].size() * sizeof(std::int64_t));
    side.packed = DeviceBuffer(device, bytes(side.send_count));
    side.ghosts = DeviceBuffer(device, bytes(side.ghost_count));
    if (!rows[i].empty()) device.copy(side.index.data(), rows[i].data(), side.index.bytes());
  }
}

// A message between two ranks has the values of each pair of their members, ordered by owner, then by the one that
// wants them: both sides list the same pairs.
void Halo::lay_out(Stage &stage, bool sends) {
  struct Pair {
    std::int32_t peer, owner, wanting;
    Segment segment;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const std::int32_t self = world_->first() + static_cast<std::int32_t>(i);
    for (const Link &link : sends ? sides_[i].to : sides_[i].from) {
      const std::int32_t peer = world_->rank_of(link.member);
      if (peer == world_->rank()) continue;
      pairs.push_back({peer, sends ? self : link.member, sends ? link.member : self, {i, 0, link.begin, link.count}});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) {
    return std::tie(a.peer, a.owner, a.wanting) < std::tie(b.peer, b.owner, b.wanting);
  });
  std::int64_t total = 0;
  for (const Pair &pair : pairs) total += pair.segment.count;
  std::size_t pinning = 0;  // memory that devices copy from is pinned by the first that has memory of its own
  while (pinning + 1 < world_->own() && world_->context(pinning).device().on_host()) ++pinning;
  staging_context_ = world_->shared_context(pinning);
  Device &device = staging_context_->device();
  stage.memory = DeviceBuffer(device, static_cast<std::uint64_t>(total * each_),
                              device.on_host() ? SXT_SPACE_DEVICE : SXT_SPACE_PINNED);
  std::int64_t at = 0;
  for (Pair &pair : pairs) {
    pair.segment.at = at;
    stage.segments.push_back(pair.segment);
    if (stage.parts.empty() || stage.parts.back().rank != pair.peer)
      stage.parts.push_back({stage.memory.as<char>() + at * each_, 0, pair.peer, 0});
    stage.parts.back().bytes += pair.segment.count * each_;
    at += pair.segment.count;
  }
}

std::uint64_t Halo::bytes() const noexcept {
  std::uint64_t sum = outgoing_.memory.bytes() + incoming_.memory.bytes();
  for (const Side &side : sides_) sum += side.index.bytes() + side.packed.bytes() + side.ghosts.bytes();
  return sum;
}

// ---- one exchange

void Halo::pack(std::span<const void *const> x, const Lanes &lanes) {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    // Copies of the last exchange between members of this process read what is packed anew.
    if (sides_.size() > 1) lanes.wait(i);
  }
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const Side &side = sides_[i];
    const auto scope = lanes.enter(i);
    Operations::of(world_->context(i))
        .vector({.operation = SXT_VECTOR_GATHER,
                 .type = type_,
                 .n = side.send_count,
                 .x = x[i],
                 .y = side.packed.data(),
                 .index = side.index.data(),
                 .index_type = SXT_I64});
  }
  char *const stage = outgoing_.memory.as<char>();
  for (const Segment &segment : outgoing_.segments)
    enqueue(world_->context(segment.own).device(), lanes.stream(segment.own), stage + segment.at * each_,
            sides_[segment.own].packed.as<char>() + segment.begin * each_, segment.count * each_);
  // Also for the staging memory that came last: it is received into again.
  for (std::size_t i = 0; i < sides_.size(); ++i) lanes.wait(i);
}

void Halo::begin(std::span<const void *const> x, const Lanes &lanes) {
  world_->comm().require_alive();
  std::exception_ptr failure;
  try {
    pack(x, lanes);
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    world_->comm().exchange(outgoing_.parts, incoming_.parts);
  } catch (...) {
    give_up();
    throw;
  }
  if (failure) {
    receive();
    std::rethrow_exception(failure);
  }
  copy_between_own(lanes);
}

void Halo::copy_between_own(const Lanes &lanes) {
  if (sides_.size() < 2) return;
  for (std::size_t i = 0; i < sides_.size(); ++i) copy_links(i, lanes);
}

void Halo::copy_links(std::size_t to, const Lanes &lanes) {
  Device &here = world_->context(to).device();
  for (const Link &link : sides_[to].from) {
    if (world_->rank_of(link.member) != world_->rank()) continue;
    const Side &source = sides_[static_cast<std::size_t>(link.member - world_->first())];
    Device &there = world_->context(static_cast<std::size_t>(link.member - world_->first())).device();
    const std::int32_t self = world_->first() + static_cast<std::int32_t>(to);
    const auto its = std::find_if(source.to.begin(), source.to.end(), [&](const Link &l) { return l.member == self; });
    const char *const from = source.packed.as<char>() + its->begin * each_;
    char *const target = sides_[to].ghosts.as<char>() + link.begin * each_;
    const auto bytes = static_cast<std::uint64_t>(link.count * each_);
    if (here.on_host() == there.on_host() && !here.on_host() && here.ops().copy_peer) {
      const sxt_status status =
          here.ops().copy_peer(here.handle(), lanes.stream(to), target, there.handle(), from, bytes);
      require(status == SXT_OK, status, "could not copy ", bytes, " bytes of a halo from member ", link.member);
    } else if (here.on_host() && !there.on_host()) {
      there.copy(target, from, bytes);
    } else {
      enqueue(here, lanes.stream(to), target, from, static_cast<std::int64_t>(bytes));
    }
  }
}

void Halo::receive() {
  try {
    world_->comm().wait();
  } catch (...) {
    give_up();
    throw;
  }
}

void Halo::finish(const Lanes &lanes) {
  receive();
  const char *const stage = incoming_.memory.as<char>();
  for (const Segment &segment : incoming_.segments)
    enqueue(world_->context(segment.own).device(), lanes.stream(segment.own),
            sides_[segment.own].ghosts.as<char>() + segment.begin * each_, stage + segment.at * each_,
            segment.count * each_);
}

void Halo::give_up() noexcept {
  static std::mutex lock;
  static auto *const abandoned = new std::vector<Abandoned>;  // as long as the process: never destroyed
  const std::lock_guard one(lock);
  for (Stage *stage : {&outgoing_, &incoming_}) try {
      abandoned->push_back({staging_context_, std::move(stage->memory)});
    } catch (...) {  // no memory for the list: what it would hold stays with this object
    }
}

}  // namespace sextant
