// SPDX-License-Identifier: BSD-3-Clause
#include "core/run/session_timing.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/shortage.hpp"
#include "core/context/context.hpp"

namespace sextant {

namespace {

// Enqueued together, so that waiting is not measured; less where little time is to be spent.
constexpr double most_in_flight_s = 200e-6, least_in_flight_s = 40e-6;
// Where few samples will do, so will shorter ones: quartiles of a microsecond's run then lie about a percent apart.
constexpr double quick_in_flight_s = 25e-6;
constexpr int most_captured = 200;
constexpr double call_s = 30e-6;         // of a run that is waited for, what may not be its own
constexpr double clearly_slow_s = 5e-3;  // a first run that takes longer was not waiting for code to be loaded
constexpr double slow_budgets = 5;       // a single run that takes so many budgets is measured once

// Takes the last cache: what lay there before is gone afterwards. Nothing happens on the host.
class Sweep {
 public:
  Sweep(Device &device, bool wanted) : device_(device) {
    if (!wanted || device.on_host()) return;
    const std::uint64_t bytes = std::max<std::uint64_t>(device.machine().cache_bytes, std::uint64_t{1} << 24);
    from_ = DeviceBuffer(device, bytes);
    to_ = DeviceBuffer(device, bytes);
  }
  // Ordered before what is enqueued next.
  sxt_status enqueue(void *stream) const {
    if (from_.bytes() == 0) return SXT_OK;
    return device_.ops().copy(device_.handle(), stream, to_.data(), from_.data(), from_.bytes());
  }

 private:
  Device &device_;
  DeviceBuffer from_, to_;
};

// A session with what its runs are lent.
class Bench {
 public:
  Bench(Context &context, Session &session, std::span<sxt_head *const> args)
      : device_(context.device()),
        bound_(session.bound()),
        flags_(session.exec_flags()),
        answers_(session.answers()),
        args_(args),
        scratch_(device_, bound_.scratch_bytes),
        sweep_(device_, args.size() > 1),
        call_(device_),
        exec_(make_exec(call_)) {
    exec_.scratch = scratch_.data();
    exec_.scratch_bytes = scratch_.bytes();
    if (device_.on_host()) return;
    const std::int32_t good = SXT_OK;
    status_ = DeviceBuffer(device_, sizeof good);
    device_.copy(status_.data(), &good, sizeof good);
    exec_.device_status = status_.as<std::int32_t>();
  }

  Device &device() { return device_; }
  const sxt_bound &bound() const { return bound_; }
  void *stream() const { return exec_.stream; }

  void enqueue(int count) { enqueue(count, exec_.stream, 0); }
  void enqueue(int count, void *stream, std::uint32_t flags) {
    sxt_exec exec = exec_;
    exec.stream = stream;
    exec.flags = flags_ | flags;
    for (int i = 0; i < count; ++i) {
      sxt_head *const args = args_[next_++ % args_.size()];
      const sxt_status status = call_.enter([&] { return bound_.run(bound_.state, bound_.session, args, &exec); });
      if (status < 0 || !answers_) call_.check(status, bound_.kernel, "run");
    }
  }
  void run(int count) {
    enqueue(count);
    call_.finish(SXT_OK, bound_.kernel, "run");
  }
  void sweep() const { check(sweep_.enqueue(exec_.stream), "sweep the last cache"); }
  void check(sxt_status status, const char *step) const { call_.check(status, device_.machine().device, step); }

 private:
  Device &device_;
  sxt_bound bound_;
  std::uint32_t flags_;  // of every run
  const bool answers_;   // a positive status is none of its failures
  std::span<sxt_head *const> args_;
  DeviceBuffer scratch_;
  Sweep sweep_;
  DeviceBuffer status_;
  Call call_;
  sxt_exec exec_;
  std::size_t next_ = 0;
};

// `count` runs, captured once.
class Replay {
 public:
  Replay(Bench &bench, int count) : bench_(bench) {
    const sxt_device_ops &ops = bench.device().ops();
    void *device = bench.device().handle();
    const CaptureStream stream(bench.device());
    bench.check(ops.capture_begin(device, stream.get()), "begin a capture");
    try {
      bench.enqueue(count, stream.get(), SXT_EXEC_CAPTURING);
    } catch (...) {  // the stream must not stay in the capture
      ops.capture_end(device, stream.get(), &graph_);
      destroy();
      throw;
    }
    bench.check(ops.capture_end(device, stream.get(), &graph_), "end a capture");
  }
  ~Replay() { destroy(); }
  Replay(const Replay &) = delete;
  Replay &operator=(const Replay &) = delete;
  void launch() const {
    bench_.check(bench_.device().ops().graph_launch(bench_.device().handle(), bench_.stream(), graph_),
                 "launch a graph");
  }

 private:
  void destroy() noexcept {
    if (graph_) bench_.device().ops().graph_destroy(bench_.device().handle(), graph_);
  }
  Bench &bench_;
  void *graph_ = nullptr;
};

class Event {
 public:
  explicit Event(Bench &bench) : bench_(bench) {
    bench.check(bench.device().ops().event_create(bench.device().handle(), &event_), "create an event");
  }
  ~Event() { bench_.device().ops().event_destroy(bench_.device().handle(), event_); }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  void record() const {
    bench_.check(bench_.device().ops().event_record(bench_.device().handle(), event_, bench_.stream()),
                 "record an event");
  }
  void *get() const { return event_; }

 private:
  Bench &bench_;
  void *event_ = nullptr;
};

double seconds_of(Bench &bench, const Replay &replay, const Event &from, const Event &to) {
  double seconds = 0;
  bench.sweep();
  from.record();
  replay.launch();
  to.record();
  bench.check(bench.device().ops().event_elapsed(bench.device().handle(), from.get(), to.get(), &seconds),
              "read an event");
  return seconds;
}

double in_flight_s(double budget_s) { return std::clamp(budget_s / 8, least_in_flight_s, most_in_flight_s); }

Timing time_captured(Bench &bench, double predicted_s, double budget_s, std::size_t least_samples) {
  const bool quick = least_samples < usual_replays;
  const double in_flight = quick ? quick_in_flight_s : in_flight_s(budget_s);
  const Event from(bench), to(bench);
  const double start = seconds_now();
  std::optional<Replay> once;
  double rough = 0;
  int count = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    count = static_cast<int>(std::clamp(in_flight / std::max(predicted_s, 1e-7), 1.0, double{most_captured}));
    once.emplace(bench, count);
    rough = seconds_of(bench, *once, from, to);  // uploads the graph
    if (count == most_captured || rough > in_flight / 2) break;
    predicted_s = rough / count;  // far faster than was thought: differences would be lost in the clock's grain
  }
  if (count == 1 && rough > slow_budgets * budget_s) return summarize({rough});
  const Replay twice(bench, 2 * count);
  seconds_of(bench, twice, from, to);
  std::vector<double> samples;
  while (samples.size() < least_samples || seconds_now() - start < budget_s) {
    const double first = seconds_of(bench, *once, from, to);
    samples.push_back((seconds_of(bench, twice, from, to) - first) / count);
    if (samples.size() >= 3 && seconds_now() - start > 4 * budget_s) break;  // far slower than was thought
  }
  return summarize(std::move(samples));
}

}  // namespace

Timing time_session(Context &context, Session &session, std::span<sxt_head *const> args, double predicted_s,
                    double budget_s, int least_samples) {
  Bench bench(context, session, args);
  const auto seconds_of_run = [&] {
    const double start = seconds_now();
    bench.run(1);
    return seconds_now() - start;
  };
  const double first_s = seconds_of_run();
  if (bench.device().on_host())
    return time_runs([&] { bench.run(1); }, budget_s, std::min(least_samples, predicted_s > 10e-3 ? 3 : 5));
  // A prediction that is far too low would make each replay last as many times too long.
  predicted_s = std::max(predicted_s, (first_s > clearly_slow_s ? first_s : seconds_of_run()) - call_s);
  const sxt_device_ops &ops = bench.device().ops();
  if (bench.device().captures() && ops.event_elapsed) {
    const auto least = static_cast<std::size_t>(least_samples);
    if (bench.bound().flags & SXT_KERNEL_CAPTURABLE) return time_captured(bench, predicted_s, budget_s, least);
    try {  // others promise nothing, but are measured alike where they can be
      return time_captured(bench, predicted_s, budget_s, least);
    } catch (const Error &problem) {
      if (out_of_memory(problem)) throw;
    }
  }
  const int batch = static_cast<int>(std::clamp(in_flight_s(budget_s) / std::max(predicted_s, 1e-7), 1.0, 64.0));
  Timing timing = time_runs([&] { bench.run(batch); }, budget_s, 5);
  timing.seconds /= batch;
  return timing;
}

}  // namespace sextant
