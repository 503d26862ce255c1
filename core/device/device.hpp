// SPDX-License-Identifier: BSD-3-Clause
// One opened device of a device plugin, and the call context through which kernels reach it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/entered.hpp"
#include "core/base/log.hpp"
#include "core/base/memory.hpp"
#include "core/device/upload.hpp"
#include "sextant/plugin/kinds/device.h"
#include "sextant/sdk/arithmetic.hpp"

namespace sextant {

// Calls that only enqueue work on one stream, from the first of them until the stream was waited for. What they leave
// behind (sessions, say) is meanwhile for calls on the same stream alone: work there comes after theirs.
class StreamUse {
 public:
  bool over() const noexcept { return over_.load(std::memory_order_acquire); }
  void end() noexcept { over_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> over_{false};
};

// Thread-safe for allocation and copies as far as the plugin is, which its contract demands.
class Device {
 public:
  // kernel: of kind SXT_KIND_DEVICE. threads <= 0: all the process may use. Throws SXT_E_DEVICE with the plugin's
  // reason.
  Device(const sxt_kernel &kernel, std::int32_t ordinal, std::int32_t threads, const Allocator &host_memory,
         const LogSink &log);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const sxt_machine &machine() const noexcept { return machine_; }
  sxt_machine &machine() noexcept { return machine_; }  // a profile replaces analytic numbers before first use
  // From now on machine() is that of one thread, on the host, so that no model sees how many there are; lending() is
  // the one with all of them. Throws as the constructor does.
  void predict_for_one_thread();
  const sxt_machine &lending() const noexcept { return one_thread_ && on_host() ? lending_ : machine_; }
  sxt_machine &lending() noexcept { return one_thread_ && on_host() ? lending_ : machine_; }
  // Threads of the host that predictions may count on.
  int model_threads() const noexcept { return one_thread_ ? 1 : host_threads(); }
  const sxt_device_ops &ops() const noexcept { return ops_; }
  void *handle() const noexcept { return handle_; }
  const Allocator &host_memory() const noexcept { return host_memory_; }
  const LogSink &log() const noexcept { return log_; }
  bool has_streams() const noexcept { return ops_.stream_create != nullptr; }
  // The stream that the application wants work enqueued on; NULL: each call has one of the device's own and waits.
  void *callers_stream() const noexcept {
    return scope_ && scope_->device_ == this ? scope_->stream_ : callers_stream_;
  }
  // The use of that stream that calls of this thread belong to; NULL where each call waits for its own work.
  const std::shared_ptr<StreamUse> &stream_use() const noexcept {
    return scope_ && scope_->device_ == this ? scope_->use_ : callers_use_;
  }
  // While it lives, this thread's work on the device goes to a stream of its own, as if it were the caller's. Without a
  // use each call waits.
  class StreamScope {
   public:
    StreamScope(Device &device, void *stream, std::shared_ptr<StreamUse> use = nullptr) noexcept
        : device_(&device), stream_(stream), use_(std::move(use)), outer_(scope_) {
      scope_ = this;
    }
    ~StreamScope() { scope_ = outer_; }
    StreamScope(const StreamScope &) = delete;
    StreamScope &operator=(const StreamScope &) = delete;

   private:
    friend class Device;
    Device *device_;
    void *stream_;
    std::shared_ptr<StreamUse> use_;
    StreamScope *outer_;
  };
  // Waits for what the old one still has to do, and ends its use even where that failed. Not while calls run. Throws
  // SXT_E_ARGUMENT for a stream of another device; SXT_E_STATE, and changes nothing, where the old one is being
  // captured.
  void set_callers_stream(void *stream);
  // A stream for one call: the caller's, or one that is free now. NULL on devices without streams.
  void *take_stream();
  void give_stream(void *stream) noexcept;
  void wait(void *stream) const;  // until its work is done; throws SXT_E_DEVICE when some of it failed
  // Before something is made that a captured stream could not make: throws SXT_E_STATE where this thread's stream is
  // being captured, so that nothing is enqueued there. Waits for its earlier work otherwise.
  void begin_setup() const;
  // Makes the device this thread's own while it lives, where devices know such a thing.
  class Current {
   public:
    explicit Current(const Device &device) noexcept;
    ~Current();
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

   private:
    const Device &device_;
    bool entered_;
  };
  // Throws SXT_E_ARGUMENT when work of this device cannot be enqueued on the stream.
  void check_stream(void *stream) const;
  // Throws SXT_E_ARGUMENT when memory cannot be what the caller says it is: host memory this device cannot reach, or
  // memory of another device.
  void check_reachable(const void *memory, sxt_space stated, const char *name) const;
  // Between any two spaces; the source may be reused at once and the target read.
  void copy(void *to, const void *from, std::uint64_t bytes);
  // In the order of a stream; large arrays of ordinary host memory are there when it returns.
  sxt_status enqueue_copy(void *stream, void *to, const void *from, std::uint64_t bytes) noexcept;
  // Sending a host's array while it is written (upload.hpp).
  bool sending_pays(std::uint64_t bytes) const noexcept { return !on_host() && Upload::pays(host_threads_, bytes); }
  bool send_ahead(void *ahead, const void *array, std::uint64_t bytes, const Upload::Write &write,
                  bool *failed) noexcept {
    return upload_.send_ahead(ops_, handle_, host_threads_, ahead, array, bytes, write, failed);
  }
  void recall() noexcept { upload_.recall(); }
  bool on_host() const noexcept { return ops_.stream_create == nullptr; }  // device space is host memory
  // Threads that work on the host for this device: the machine's units where it is the host itself.
  int host_threads() const noexcept { return on_host() ? lending().units : host_threads_; }
  // Throws SXT_E_STATE in a child process that was forked after the device was opened, where its driver does not work.
  void check_process() const;
  bool is_forked() const noexcept;
  bool captures() const noexcept {
    return ops_.capture_begin && ops_.capture_end && ops_.graph_launch && ops_.graph_destroy;
  }

 private:
  void close() noexcept;

  static thread_local StreamScope *scope_;
  sxt_device_ops ops_{};
  sxt_machine machine_{}, lending_{};
  bool one_thread_ = false;  // lending_ holds, and machine_ is of one thread
  std::int32_t ordinal_ = 0;
  std::uint64_t forks_ = 0;  // of the process when it was opened
  int host_threads_ = 1;     // as the caller stated, or all that the process may use
  void *handle_ = nullptr, *callers_stream_ = nullptr;
  std::shared_ptr<StreamUse> callers_use_;  // NULL without a stream of the caller's
  std::mutex streams_lock_;
  std::vector<void *> idle_streams_;  // as many as calls ever ran at once
  std::uint64_t streams_made_ = 0;
  Upload upload_;
  Allocator host_memory_;
  LogSink log_;
};

// Scratch or work memory in device space (or the host), freed with the object.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // Throws SXT_E_MEMORY, SXT_E_DEVICE when the device is lost.
  DeviceBuffer(Device &device, std::uint64_t bytes, sxt_space space = SXT_SPACE_DEVICE);
  DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept { return swap(other), *this; }
  ~DeviceBuffer();
  void *data() const noexcept { return data_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  template <class T>
  T *as() const noexcept {
    return static_cast<T *>(data_);
  }
  void swap(DeviceBuffer &other) noexcept;

 private:
  Device *device_ = nullptr;
  void *data_ = nullptr;
  std::uint64_t bytes_ = 0;
  sxt_space space_ = SXT_SPACE_DEVICE;
};

// One call into kernels: what sxt_exec.call points to. Collects the sentence a plugin attaches to its failure. Used by
// one thread at a time.
struct Call {
  // Whether finish() waits when the work is on the caller's stream: results that stay on the device can be left to it.
  enum Waiting { always, unless_callers };
  // watched: kernels of others may leave another arithmetic behind; those that came with the library do not, and their
  // shortest calls would take twice as long.
  explicit Call(Device &on, Waiting waiting = always, bool watched = true);
  // The innermost call of this thread on a device; NULL: none is under way.
  static const Call *current_on(const Device &device) noexcept;
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Device *device;
  Device::Current current;  // kernels count on it
  void *stream;             // where the call's work goes
  bool waits;
  std::string sentence;
  std::uint64_t allocations = 0;  // made by kernels through the host's table; conformance tests that run makes none
  struct Piece {
    void *data;
    std::uint64_t bytes;
  };
  std::vector<Piece> *device_pieces = nullptr;  // where allocations in device space are noted; NULL: nowhere
  // What f, a call into the plugin, answers; where it throws, SXT_E_INTERNAL, and the sentence says what.
  template <class F>
  sxt_status enter(F &&f) {
    return entered(f, sentence);
  }
  // Throws what a plugin returned, with the kernel's name and the plugin's sentence. SXT_OK passes; a status that is
  // not defined, and an answer where none was asked for, are SXT_E_INTERNAL.
  void check(sxt_status status, const char *kernel, const char *step) const;
  // The same, and waits for what the call enqueued: host memory it reads may then change, what it wrote may be read.
  void finish(sxt_status status, const char *kernel, const char *step) const;

 private:
  static thread_local Call *innermost_;
  Call *outer_ = nullptr, *inner_ = nullptr;       // of this thread's: those begun before and after
  mutable bool finished_ = false;                  // or left to a caller's stream
  std::optional<plugin::FloatKeeper> arithmetic_;  // the caller's, whatever a watched kernel leaves behind
  void keep_arithmetic(const char *kernel, const char *step) const;
  std::string failure(sxt_status status, const char *kernel, const char *step) const;
};

// A stream on which work is captured and nothing ever runs: whatever else is enqueued meanwhile, on the caller's stream
// by the application, say, stays out of the graph.
class CaptureStream {
 public:
  explicit CaptureStream(const Device &device);  // throws SXT_E_MEMORY, SXT_E_DEVICE
  ~CaptureStream();
  CaptureStream(const CaptureStream &) = delete;
  CaptureStream &operator=(const CaptureStream &) = delete;
  void *get() const noexcept { return stream_; }

 private:
  const Device &device_;
  void *stream_ = nullptr;
};

// An exec for this call: the device's threads and stream, no scratch; callers fill in what else they lend.
sxt_exec make_exec(Call &call);

}  // namespace sextant
