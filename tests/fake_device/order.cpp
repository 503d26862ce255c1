// SPDX-License-Identifier: BSD-3-Clause
// The order of accesses: work on two streams has an order only where an event was waited for or a stream was
// synchronised in between. Each stream, each event and the host have the progress of every stream (vector clocks,
// Mattern 1989); two pieces of work that touch one allocation without an order, one of them writing, are counted as a
// race. All threads of the host count as one here: races between them are not detected. Work inside kernels is not seen
// either, and captured work is not followed.
#include "order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace {

using Clock = std::map<const void *, std::int64_t>;  // stream -> pieces of work known to be done
struct Use {
  const void *stream;
  std::int64_t when;         // the piece of the stream's work
  std::uint64_t begin, end;  // bytes of the allocation
  bool writes;
};

struct Order {
  std::mutex lock;
  Clock host;
  std::map<const void *, Clock> streams, events;
  std::map<const void *, std::vector<Use>> memory;  // work on an allocation that the host has not waited for
};
Order &order() {
  static Order *const the = new Order;
  return *the;
}

void join(Clock &into, const Clock &from) {
  for (const auto &[stream, done] : from) into[stream] = std::max(into[stream], done);
}

// Called with the lock. Work that the host has waited for is done before everything it enqueues.
Clock &of_stream(const void *stream) {
  Clock &clock = order().streams[stream];
  join(clock, order().host);
  return clock;
}

}  // namespace

extern "C" {

void fake_order_use(const void *stream, const void *memory, std::uint64_t bytes, std::int32_t writes) {
  const void *const start = fake_start_of(memory);
  if (!start) return;
  bool race = false;
  {
    const std::lock_guard one(order().lock);
    Clock &clock = of_stream(stream);
    const std::int64_t now = ++clock[stream];
    const std::uint64_t begin = static_cast<std::uint64_t>(static_cast<const char *>(memory) -
                                                           static_cast<const char *>(start)),
                        end = bytes > UINT64_MAX - begin ? UINT64_MAX : begin + bytes;
    auto &uses = order().memory[start];
    std::erase_if(uses, [](const Use &use) { return use.when <= order().host[use.stream]; });
    for (const Use &use : uses)
      if (use.stream != stream && use.begin < end && begin < use.end && (writes || use.writes) &&
          use.when > clock[use.stream])
        race = true;
    uses.push_back({stream, now, begin, end, writes != 0});
  }
  if (race) fake_add("races", 1);
}

void fake_order_forget(const void *start) {
  const std::lock_guard one(order().lock);
  order().memory.erase(start);
}

// Work that the host has waited for is dropped: there are thousands of streams in the end.
void fake_order_end(const void *stream) {
  const std::lock_guard one(order().lock);
  const auto own = order().streams.find(stream);
  if (own != order().streams.end() && order().host[stream] < own->second[stream]) return;
  order().streams.erase(stream);
  order().host.erase(stream);
  for (auto &[other, clock] : order().streams) clock.erase(stream);
  for (auto &[event, clock] : order().events) clock.erase(stream);
  for (auto &[start, uses] : order().memory) std::erase_if(uses, [&](const Use &use) { return use.stream == stream; });
}

void fake_order_record(const void *event, const void *stream) {
  const std::lock_guard one(order().lock);
  order().events[event] = of_stream(stream);
}

void fake_order_wait(const void *stream, const void *event) {
  const std::lock_guard one(order().lock);
  join(of_stream(stream), order().events[event]);
}

void fake_order_await_stream(const void *stream) {
  const std::lock_guard one(order().lock);
  join(order().host, of_stream(stream));
}

void fake_order_await_event(const void *event) {
  const std::lock_guard one(order().lock);
  join(order().host, order().events[event]);
}

}  // extern "C"
