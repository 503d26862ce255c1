// SPDX-License-Identifier: BSD-3-Clause
// The values of x that members need of each other, and how they get there: packed on the device of the sender, staged
// in host memory between ranks, copied from device to device within a process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device/device.hpp"
#include "core/world/world.hpp"

namespace sextant {

// Streams of one call, one a member of this process whose device has streams: what members do is enqueued, so that
// their devices work at once, and waited for at the end.
class Lanes {
 public:
  explicit Lanes(World &world);
  ~Lanes();
  Lanes(const Lanes &) = delete;
  Lanes &operator=(const Lanes &) = delete;

  // While it lives this thread's work goes to the member's stream.
  Device::StreamScope enter(std::size_t own) const;
  void *stream(std::size_t own) const noexcept { return lanes_[own].stream; }
  void wait(std::size_t own) const;  // throws SXT_E_DEVICE
  void finish() const;

 private:
  struct Lane {
    Device *device;
    void *stream = nullptr;  // NULL: each call waits
    std::shared_ptr<StreamUse> use;
    bool taken = false;
  };
  std::vector<Lane> lanes_;
};

// One exchange at a time.
class Halo {
 public:
  // ghosts[i]: the global columns that the i-th member of this process needs of others, ascending. begin: of all
  // members' rows. Collective. Throws SXT_E_COMM, SXT_E_MEMORY, SXT_E_DEVICE.
  Halo(std::shared_ptr<World> world, const std::vector<std::int64_t> &begin,
       const std::vector<std::vector<std::int64_t>> &ghosts, sxt_value_type type);
  Halo(const Halo &) = delete;
  Halo &operator=(const Halo &) = delete;

  // Sends what others need of x, a pointer a member. What fails in this process is thrown after everything was sent, so
  // that other ranks do not wait.
  void begin(std::span<const void *const> x, const Lanes &lanes);
  // The ghosts are there, in the order of the lanes' streams.
  void finish(const Lanes &lanes);
  const void *ghosts(std::size_t own) const noexcept { return sides_[own].ghosts.data(); }
  std::int64_t received(std::size_t own) const noexcept { return sides_[own].ghost_count; }
  std::int64_t sent(std::size_t own) const noexcept { return sides_[own].send_count; }
  std::uint64_t bytes() const noexcept;

 private:
  struct Link {  // values of one member for another one, or from it
    std::int32_t member;
    std::int64_t begin, count;  // in the packed values, or among the ghosts
  };
  struct Side {
    std::vector<Link> to, from;
    std::int64_t send_count = 0, ghost_count = 0;
    DeviceBuffer index, packed, ghosts;  // index: local rows, i64
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
  void find_links(const std::vector<std::int64_t> &begin, const std::vector<std::vector<std::int64_t>> &ghosts);
  void allocate_sides(const std::vector<std::vector<std::int64_t>> &rows);
  void lay_out(Stage &stage, bool sends);
  void pack(std::span<const void *const> x, const Lanes &lanes);
  void copy_between_own(const Lanes &lanes);
  void copy_links(std::size_t to, const Lanes &lanes);
  void receive();
  void give_up() noexcept;

  const std::shared_ptr<World> world_;
  const sxt_value_type type_;
  const std::int64_t each_;  // bytes of a value
  std::vector<Side> sides_;
  std::shared_ptr<Context> staging_context_;
  Stage outgoing_, incoming_;
};

}  // namespace sextant
