// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/halo.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <tuple>

#include "core/base/types.hpp"

namespace sextant {

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

Halo::Halo(std::shared_ptr<World> world, sxt_value_type type)
    : world_(std::move(world)), type_(type), each_(value_bytes(type)), sides_(world_->own()) {}

void Halo::connect(const char *call, const std::vector<std::int64_t> &begin,
                   const std::vector<std::vector<std::int64_t>> &ghosts) {
  const World::Parcels in = world_->swap(call, 16, sizeof(std::int64_t), [&] { return ask(begin, ghosts); });
  world_->together(call, 18, [&](Frame &) {
    std::vector<std::vector<std::int64_t>> rows(sides_.size());
    take_requests(in, begin, rows);
    make_memory();
    lay_out(outgoing_, true);
    lay_out(incoming_, false);
    make_routes(rows);
  });
}

// Each rank tells each other one what its members want of whose rows: for each such pair of members a line (owner,
// wanting member, count) and the rows.
World::Parcels Halo::ask(const std::vector<std::int64_t> &begin, const std::vector<std::vector<std::int64_t>> &ghosts) {
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
  World::Parcels out;
  for (const std::vector<std::int64_t> &lines : wanted) out.push_back(bytes_of(lines));
  return out;
}

// Ranks come in order and each lists its members in order: so do the links of a sender.
void Halo::take_requests(const World::Parcels &in, const std::vector<std::int64_t> &begin,
                         std::vector<std::vector<std::int64_t>> &rows) {
  for (std::size_t r = 0; r < in.size(); ++r) {
    std::vector<std::int64_t> lines(in[r].size() / sizeof(std::int64_t));
    if (!lines.empty()) std::memcpy(lines.data(), in[r].data(), lines.size() * sizeof(std::int64_t));
    take_lines(static_cast<std::int32_t>(r), lines, begin, rows);
  }
}

void Halo::take_lines(std::int32_t rank, const std::vector<std::int64_t> &lines, const std::vector<std::int64_t> &begin,
                      std::vector<std::vector<std::int64_t>> &rows) {
  const auto own = static_cast<std::int64_t>(sides_.size()), length = static_cast<std::int64_t>(lines.size());
  for (std::int64_t at = 0; at < length;) {
    require_delivered(length - at >= 3, "rank ", rank, " wants rows of a member, in ", length - at, " numbers");
    const std::int64_t *const line = lines.data() + at;
    const std::int64_t owner = line[0], wanting = line[1], count = line[2];
    require_delivered(owner >= world_->first() && owner - world_->first() < own && wanting >= 0 &&
                          wanting < world_->members() && world_->rank_of(static_cast<std::int32_t>(wanting)) == rank &&
                          wanting != owner && count > 0 && count <= length - at - 3,
                      "rank ", rank, " wants ", count, " rows of member ", owner, " for member ", wanting);
    const auto to = static_cast<std::size_t>(owner - world_->first());
    const std::int64_t first = begin[static_cast<std::size_t>(owner)], end = begin[static_cast<std::size_t>(owner) + 1];
    check_rows(line + 3, count, first, end, rank);
    Side &side = sides_[to];
    side.to.push_back({static_cast<std::int32_t>(wanting), side.send_count, count});
    side.send_count += count;
    for (std::int64_t k = 0; k < count; ++k) rows[to].push_back(line[3 + k] - first);
    at += 3 + count;
  }
}

void Halo::check_rows(const std::int64_t *rows, std::int64_t count, std::int64_t first, std::int64_t end,
                      std::int32_t rank) const {
  for (std::int64_t k = 0; k < count; ++k)
    require_delivered(rows[k] >= first && rows[k] < end && (k == 0 || rows[k] > rows[k - 1]), "rank ", rank,
                      " wants row ", rows[k], " of a member that has rows ", first, " to ", end - 1, ", in order");
}

void Halo::make_memory() {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    Device &device = world_->context(i).device();
    sides_[i].ghosts = DeviceBuffer(device, static_cast<std::uint64_t>(sides_[i].ghost_count * each_));
    ready_.emplace_back(device);
    given_.emplace_back(device);
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

// ---- routes within a process, and to its host memory

void *Halo::ghosts_from(std::size_t to, std::size_t from) const {
  const std::int32_t member = world_->first() + static_cast<std::int32_t>(from);
  const std::vector<Link> &links = sides_[to].from;
  const auto link = std::find_if(links.begin(), links.end(), [&](const Link &l) { return l.member == member; });
  return sides_[to].ghosts.as<char>() + link->begin * each_;
}

bool Halo::are_apart(std::size_t from, std::size_t to) const {
  std::int32_t ordinals[2] = {-1, -1};
  for (const std::size_t i : {from, to}) {
    Device &device = world_->context(i).device();
    const DeviceBuffer asked(device, 1);
    sxt_space space;
    if (!device.ops().locate ||
        device.ops().locate(device.handle(), asked.data(), &space, &ordinals[i == to]) != SXT_OK)
      return !device.on_host();
  }
  return ordinals[0] != ordinals[1];
}

void Halo::make_routes_of(std::size_t own, const std::vector<std::int64_t> &rows) {
  Side &side = sides_[own];
  Context &context = world_->context(own);
  RouteWanted process{SXT_REACH_PROCESS}, host{SXT_REACH_HOST};
  std::vector<std::size_t> receivers;  // of the process's links
  for (const Link &link : side.to) {
    if (!is_own(link.member)) continue;
    const std::size_t to = own_of(link.member);
    Device &there = world_->context(to).device();
    void *const ghosts = ghosts_from(to, own);
    if (!std::strcmp(there.machine().device, context.device_name())) {
      process.add(rows, link.begin, link.count, ghosts, are_apart(own, to));
      receivers.push_back(to);
    } else if (there.on_host()) {
      host.add(rows, link.begin, link.count, ghosts, true);
    } else {
      crossings_.emplace_back(there, static_cast<std::uint64_t>(link.count * each_), SXT_SPACE_PINNED);
      host.add(rows, link.begin, link.count, crossings_.back().data(), true);
      arrivals_.push_back({own, to, ghosts, crossings_.back().data(), link.count * each_});
    }
  }
  for (const Segment &segment : outgoing_.segments) {
    if (segment.own != own) continue;
    host.add(rows, segment.begin, segment.count, outgoing_.memory.as<char>() + segment.at * each_, true);
    side.to_ranks = true;
  }
  if (!host.links.empty()) side.to_host = std::make_unique<Route>(context, type_, std::move(host));
  if (process.links.empty()) return;
  side.to_process = std::make_unique<Route>(context, type_, std::move(process));
  for (std::size_t l = 0; l < receivers.size(); ++l)
    if (const void *stage = side.to_process->staged(l))
      arrivals_.push_back(
          {own, receivers[l], ghosts_from(receivers[l], own), stage, side.to_process->links()[l].count * each_});
}

void Halo::make_routes(const std::vector<std::vector<std::int64_t>> &rows) {
  for (std::size_t i = 0; i < sides_.size(); ++i) make_routes_of(i, rows[i]);
}

Halo::Neighbours Halo::neighbours(std::size_t own) const {
  Neighbours out;
  const Side &side = sides_[own];
  const bool by_host = std::any_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival &a) { return a.from == own; });
  if (!by_host) out.route = side.to_process.get();
  for (const Link &link : side.to)
    if (is_own(link.member)) out.receivers.push_back(own_of(link.member));
  for (const Link &link : side.from)
    if (is_own(link.member)) out.givers.push_back(own_of(link.member));
  return out;
}

std::vector<ChoicePtr> Halo::choices(std::size_t own) const {
  std::vector<ChoicePtr> out;
  for (const std::unique_ptr<Route> *route : {&sides_[own].to_process, &sides_[own].to_host})
    if (*route) out.push_back((*route)->choice());
  return out;
}

std::uint64_t Halo::bytes() const noexcept {
  std::uint64_t sum = outgoing_.memory.bytes() + incoming_.memory.bytes();
  for (const Side &side : sides_) {
    sum += side.ghosts.bytes();
    for (const std::unique_ptr<Route> *route : {&side.to_process, &side.to_host})
      if (*route) sum += (*route)->bytes();
  }
  for (const DeviceBuffer &crossing : crossings_) sum += crossing.bytes();
  return sum;
}

// ---- one exchange

// Lanes wait for each other by marks, the host only for what messages read and write.
void Halo::give(std::span<const void *const> x, const Lanes &lanes) {
  for (std::size_t i = 0; i < sides_.size(); ++i) ready_[i].set(lanes.stream(i));
  for (const Segment &segment : incoming_.segments) lanes.wait(segment.own);  // it copied from where messages come in
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const Side &side = sides_[i];
    for (const Link &link : side.to)
      if (is_own(link.member)) ready_[own_of(link.member)].await(world_->context(i).device(), lanes.stream(i));
    const auto scope = lanes.enter(i);
    if (side.to_process) side.to_process->run(x[i]);
    if (side.to_host) side.to_host->run(x[i]);
    given_[i].set(lanes.stream(i));
  }
  for (std::size_t i = 0; i < sides_.size(); ++i)
    if (sides_[i].to_ranks) lanes.wait(i);
}

void Halo::begin(std::span<const void *const> x, const Lanes &lanes) {
  world_->comm().require_alive();
  std::exception_ptr failure;
  try {
    give(x, lanes);
  } catch (...) {
    failure = std::current_exception();
  }
  send_messages();
  if (!failure) return;
  receive();
  std::rethrow_exception(failure);
}

void Halo::send_messages() {
  ++exchanges_;
  try {
    world_->comm().exchange(outgoing_.parts, incoming_.parts);
  } catch (...) {
    give_up();
    throw;
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

// Into the ghosts of this process's members, each in its own lane.
void Halo::take(const Lanes &lanes) {
  for (std::size_t to = 0; to < sides_.size(); ++to)
    for (const Link &link : sides_[to].from)
      if (is_own(link.member)) given_[own_of(link.member)].await(world_->context(to).device(), lanes.stream(to));
  for (const Arrival &arrival : arrivals_)
    enqueue(world_->context(arrival.to).device(), lanes.stream(arrival.to), arrival.ghosts, arrival.stage,
            arrival.bytes);
  const char *const stage = incoming_.memory.as<char>();
  for (const Segment &segment : incoming_.segments)
    enqueue(world_->context(segment.own).device(), lanes.stream(segment.own),
            sides_[segment.own].ghosts.as<char>() + segment.begin * each_, stage + segment.at * each_,
            segment.count * each_);
}

void Halo::finish(const Lanes &lanes) {
  receive();
  take(lanes);
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
