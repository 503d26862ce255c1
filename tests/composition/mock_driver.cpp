// SPDX-License-Identifier: BSD-3-Clause
#include "mock_driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mock {
namespace {

struct Graph {
  std::vector<Work> nodes;
};

struct Stream {
  std::mutex queue_lock, run_lock;
  std::deque<Work> queue;
  std::unique_ptr<Graph> recording;  // NULL unless it is captured
};

struct Driver {
  std::mutex lock;  // of everything below
  std::vector<Stream *> streams;
  std::map<const char *, std::uint64_t> memory;  // start, bytes
  std::map<std::string, std::int64_t> counters;
  std::map<std::string, double> knobs;
  std::int64_t allocations_until_failure = 0;
};
Driver &driver() {
  static Driver *const the = new Driver;  // plugins may call until the process ends
  return *the;
}

constexpr int uninitialised = 0xFF;  // NaN in every floating-point type

bool captured(Stream &stream) {
  const std::lock_guard lock(stream.queue_lock);
  return stream.recording != nullptr;
}

void drain(Stream &stream) {
  const std::lock_guard one_at_a_time(stream.run_lock);
  for (;;) {
    Work next;
    {
      const std::lock_guard lock(stream.queue_lock);
      if (stream.queue.empty()) return;
      next = std::move(stream.queue.front());
      stream.queue.pop_front();
    }
    next();
    add("waiting work", -1);
  }
}

void drain_all() {
  std::vector<Stream *> streams;
  {
    const std::lock_guard lock(driver().lock);
    streams = driver().streams;
  }
  for (Stream *stream : streams) drain(*stream);
}

void free_now(void *memory) {
  {
    const std::lock_guard lock(driver().lock);
    const auto found = driver().memory.find(static_cast<const char *>(memory));
    if (found == driver().memory.end()) {
      ++driver().counters["violations"];
      return;
    }
    std::memset(memory, uninitialised, found->second);
    driver().memory.erase(found);
    --driver().counters["live allocations"];
  }
  std::free(memory);
}

}  // namespace

void *stream_create() {
  auto *stream = new Stream;
  const std::lock_guard lock(driver().lock);
  driver().streams.push_back(stream);
  ++driver().counters["live streams"];
  return stream;
}

void stream_destroy(void *handle) {
  auto *stream = static_cast<Stream *>(handle);
  drain(*stream);
  {
    const std::lock_guard lock(driver().lock);
    std::erase(driver().streams, stream);
    --driver().counters["live streams"];
  }
  delete stream;
}

sxt_status launch(void *handle, Work work) {
  add("launches");
  if (!handle) return add("violations"), SXT_E_STATE;
  auto &stream = *static_cast<Stream *>(handle);
  const std::lock_guard lock(stream.queue_lock);
  if (stream.recording) return stream.recording->nodes.push_back(std::move(work)), SXT_OK;
  stream.queue.push_back(std::move(work));
  return add("waiting work"), SXT_OK;
}

sxt_status synchronize(void *handle) {
  if (!handle) return drain_all(), SXT_OK;
  auto &stream = *static_cast<Stream *>(handle);
  if (captured(stream)) return add("violations"), SXT_E_STATE;
  drain(stream);
  if (const double wait_s = knob("wait_s", 0); wait_s > 0)
    std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
  return SXT_OK;
}

sxt_status capture_begin(void *handle) {
  auto &stream = *static_cast<Stream *>(handle);
  const std::lock_guard lock(stream.queue_lock);
  if (stream.recording) return SXT_E_STATE;
  stream.recording = std::make_unique<Graph>();
  return SXT_OK;
}

sxt_status capture_end(void *handle, void **graph) {
  auto &stream = *static_cast<Stream *>(handle);
  const std::lock_guard lock(stream.queue_lock);
  if (!stream.recording) return SXT_E_STATE;
  *graph = stream.recording.release();
  add("captures"), add("live graphs");
  return SXT_OK;
}

sxt_status graph_launch(void *handle, void *graph) {
  add("graph launches");
  auto &stream = *static_cast<Stream *>(handle);
  const std::lock_guard lock(stream.queue_lock);
  for (const Work &node : static_cast<Graph *>(graph)->nodes) stream.queue.push_back(node), add("waiting work");
  return SXT_OK;
}

void graph_destroy(void *graph) {
  add("live graphs", -1);
  delete static_cast<Graph *>(graph);
}

void *allocate(void *stream, std::uint64_t bytes, std::uint64_t alignment) {
  if (stream && captured(*static_cast<Stream *>(stream))) return add("violations"), nullptr;
  const std::lock_guard lock(driver().lock);
  if (driver().allocations_until_failure > 0 && --driver().allocations_until_failure == 0) return nullptr;
  alignment = std::max<std::uint64_t>(alignment, 64);
  const std::uint64_t size = (std::max<std::uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, size);
  if (!memory) return nullptr;
  std::memset(memory, uninitialised, size);
  driver().memory[static_cast<const char *>(memory)] = size;
  ++driver().counters["allocations"];
  ++driver().counters["live allocations"];
  return memory;
}

void release(void *stream, void *memory) {
  if (stream)
    launch(stream, [memory] { free_now(memory); });
  else
    drain_all(), free_now(memory);
}

bool is_device(const void *memory) {
  const std::lock_guard lock(driver().lock);
  const char *at = static_cast<const char *>(memory);
  auto after = driver().memory.upper_bound(at);
  if (after == driver().memory.begin()) return false;
  const auto &[start, bytes] = *std::prev(after);
  return at < start + bytes;
}

void add(const char *counter, std::int64_t amount) {
  const std::lock_guard lock(driver().lock);
  driver().counters[counter] += amount;
}

std::int64_t counted(const char *counter) {
  const std::lock_guard lock(driver().lock);
  return driver().counters[counter];
}

void set_knob(const char *knob, double value) {
  const std::lock_guard lock(driver().lock);
  driver().knobs[knob] = value;
}

double knob(const char *knob, double otherwise) {
  const std::lock_guard lock(driver().lock);
  const auto found = driver().knobs.find(knob);
  return found == driver().knobs.end() ? otherwise : found->second;
}

void forget_knobs() {
  const std::lock_guard lock(driver().lock);
  driver().knobs.clear();
}

void fail_allocation(std::int64_t n) {
  const std::lock_guard lock(driver().lock);
  driver().allocations_until_failure = n;
}

}  // namespace mock
