// SPDX-License-Identifier: BSD-3-Clause
// The values of x that members need of each other, and how they get there: within a process by the kernel that was
// chosen for what a member gives, between ranks through host memory and the communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device/device.hpp"
#include "core/world/lanes.hpp"
#include "core/world/route.hpp"
#include "core/world/world.hpp"

namespace sextant {

// One exchange at a time.
class Halo {
 public:
  Halo(std::shared_ptr<World> world, sxt_value_type type);
  Halo(const Halo &) = delete;
  Halo &operator=(const Halo &) = delete;

  // ghosts[i]: the global columns that the i-th member of this process needs of others, ascending. begin: of all
  // members' rows. Collective, once. Throws SXT_E_COMM, SXT_E_MEMORY, SXT_E_DEVICE.
  void connect(const char *call, const std::vector<std::int64_t> &begin,
               const std::vector<std::vector<std::int64_t>> &ghosts);
  // Runs f, in which every rank exchanges once. Where it throws before it has, messages are sent all the same: others
  // wait for them.
  template <class F>
  void with_exchange(F &&f);

  // Sends what others need of x, a pointer a member. What fails in this process is thrown after everything was sent, so
  // that other ranks do not wait.
  void begin(std::span<const void *const> x, const Lanes &lanes);
  // The ghosts are there, in the order of the lanes' streams.
  void finish(const Lanes &lanes);
  const void *ghosts(std::size_t own) const noexcept { return sides_[own].ghosts.data(); }
  std::int64_t received(std::size_t own) const noexcept { return sides_[own].ghost_count; }
  std::int64_t sent(std::size_t own) const noexcept { return sides_[own].send_count; }
  std::uint64_t bytes() const noexcept;
  // Of the exchange within this process: what a member gives, NULL where that is nothing or goes by the host; the
  // members of its links, and those that give to it.
  struct Neighbours {
    const Route *route = nullptr;
    std::vector<std::size_t> receivers, givers;
  };
  Neighbours neighbours(std::size_t own) const;
  // Whether two members of this process lie on different devices. Two contexts may share one.
  bool are_apart(std::size_t from, std::size_t to) const;
  // What was chosen for the values that a member of this process gives: to others of this process, to host memory.
  std::vector<ChoicePtr> choices(std::size_t own) const;

 private:
  struct Link {  // values of one member for another one, or from it
    std::int32_t member;
    std::int64_t begin, count;  // in the packed values, or among the ghosts
  };
  struct Side {
    std::vector<Link> to, from;
    std::int64_t send_count = 0, ghost_count = 0;
    DeviceBuffer ghosts;
    std::unique_ptr<Route> to_process, to_host;  // NULL: nothing goes there
    bool to_ranks = false;                       // something of to_host is sent to other ranks
  };
  struct Arrival {  // values within a process that go by the host: the receiver's lane copies them
    std::size_t from, to;
    void *ghosts;
    const void *stage;
    std::int64_t bytes;
  };
  struct Segment {  // of the staging memory, that one member's values go through
    std::size_t own;
    std::int64_t at, begin, count;
  };
  struct Stage {
    DeviceBuffer memory;
    std::vector<Segment> segments;
    std::vector<sxt_message_part> parts;
  };
  World::Parcels ask(const std::vector<std::int64_t> &begin, const std::vector<std::vector<std::int64_t>> &ghosts);
  void take_requests(const World::Parcels &in, const std::vector<std::int64_t> &begin,
                     std::vector<std::vector<std::int64_t>> &rows);
  void take_lines(std::int32_t rank, const std::vector<std::int64_t> &lines, const std::vector<std::int64_t> &begin,
                  std::vector<std::vector<std::int64_t>> &rows);
  void check_rows(const std::int64_t *rows, std::int64_t count, std::int64_t first, std::int64_t end,
                  std::int32_t rank) const;
  void make_memory();
  void send_messages();
  void lay_out(Stage &stage, bool sends);
  void make_routes(const std::vector<std::vector<std::int64_t>> &rows);
  void make_routes_of(std::size_t own, const std::vector<std::int64_t> &rows);
  bool is_own(std::int32_t member) const { return world_->rank_of(member) == world_->rank(); }
  std::size_t own_of(std::int32_t member) const { return static_cast<std::size_t>(member - world_->first()); }
  void *ghosts_from(std::size_t to, std::size_t from) const;
  void give(std::span<const void *const> x, const Lanes &lanes);
  void receive();
  void take(const Lanes &lanes);
  void give_up() noexcept;

  const std::shared_ptr<World> world_;
  const sxt_value_type type_;
  const std::int64_t each_;  // bytes of a value
  std::vector<Side> sides_;
  std::vector<Arrival> arrivals_;
  std::vector<DeviceBuffer> crossings_;  // pinned memory on the way from the host to a device
  std::vector<Mark> ready_, given_;      // of each member: its ghosts may be written; what it gives was enqueued
  std::shared_ptr<Context> staging_context_;
  Stage outgoing_, incoming_;
  std::uint64_t exchanges_ = 0;  // that were begun
};

template <class F>
void Halo::with_exchange(F &&f) {
  const std::uint64_t before = exchanges_;
  try {
    f();
  } catch (...) {
    if (exchanges_ == before && !world_->comm().ended()) {
      send_messages();
      receive();
    }
    throw;
  }
}

}  // namespace sextant
