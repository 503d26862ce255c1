// SPDX-License-Identifier: BSD-3-Clause
#include "hook/timing.hpp"

#include <chrono>
#include <vector>

#include "hook/entries.hpp"
#include "hook/settings.hpp"

namespace sextant::retune {
namespace {

constexpr std::size_t most_pending = 32;
constexpr double host_s = 6e-6;      // events of a trial, on the host and on the device
constexpr double unknown_s = 50e-6;  // a launch of which nothing is known
constexpr int not_ready = 600;
constexpr int relaxed = 2;
constexpr std::int64_t least_wait_ns = 200'000;

std::int64_t &start() {
  static std::int64_t at = steady_ns();
  return at;
}
Budget &budget() {
  static Budget the(start());
  return the;
}
std::vector<Trial> &pending() {
  static auto *const all = new std::vector<Trial>;
  return *all;
}

// Other threads may capture in the global mode, in which making and reading events is not allowed.
class Relaxed {
 public:
  explicit Relaxed(const driver::Calls &calls) : calls_(calls) {
    if (calls_.exchange_capture_mode) calls_.exchange_capture_mode(&mode_);
  }
  ~Relaxed() {
    if (calls_.exchange_capture_mode) calls_.exchange_capture_mode(&mode_);
  }
  Relaxed(const Relaxed &) = delete;
  Relaxed &operator=(const Relaxed &) = delete;

 private:
  const driver::Calls &calls_;
  int mode_ = relaxed;
};

bool can_time(const driver::Calls *calls) {
  return calls && calls->is_capturing && calls->event_create && calls->event_destroy && calls->event_record &&
         calls->event_query && calls->event_elapsed;
}

void destroy(const driver::Calls &calls, const Trial &trial) {
  if (trial.before) calls.event_destroy(trial.before);
  if (trial.after) calls.event_destroy(trial.after);
}

// More than the best time known of the launch is the trial's cost.
void finish(const Trial &trial, std::optional<double> seconds) {
  const double threads = static_cast<double>(trial.original.threads());
  const double usual = trial.trials->expected_s() * threads;
  if (trial.trials->decided()) return;
  budget().spend(host_s - trial.reserved_s);
  if (seconds && usual > 0 && *seconds > usual) budget().spend(*seconds - usual);
  trial.trials->note(trial.shape.block, seconds ? std::optional(*seconds / threads) : std::nullopt,
                     trial.original.threads());
  if (!trial.trials->decided()) return;
  trial.kernel->decisions.clear();
  const Trials &decided = *trial.trials;
  if (decided.chosen_s() > 0 && decided.chosen_s() < 1)
    cache().add({trial.kernel->device->name, trial.kernel->name, trial.kernel->module,
                 class_of(trial.original.threads()), trial.original.block},
                {decided.chosen(), decided.original_s(), decided.chosen_s()});
}

}  // namespace

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
void start_clock() { start(); }
double trial_seconds() { return budget().spent(); }
void forget_pending() { pending().clear(); }

std::optional<Trial> begin_trial(Kernel &kernel, Trials &trials, const Shape &original, driver::Handle stream) {
  const driver::Calls *calls = driver_calls();
  if (!can_time(calls) || pending().size() >= most_pending) return std::nullopt;
  const double usual = trials.expected_s() * static_cast<double>(original.threads());
  const double expected = host_s + (usual > 0 ? usual : unknown_s);
  const std::int64_t now = steady_ns();
  if (const std::int64_t wait = budget().wait_for(expected, now); wait > 0) {
    kernel.quiet_until = now + std::max(wait, least_wait_ns);
    return std::nullopt;
  }
  int capturing = 0;
  if (calls->is_capturing(stream, &capturing) != driver::success || capturing != 0) return std::nullopt;
  const auto shape = trials.next(original, kernel.facts, kernel.device->limits);
  if (!shape) {
    kernel.quiet_until = now + least_wait_ns;  // what is missing is on its way, or this launch cannot tell
    return std::nullopt;
  }
  Trial trial{&kernel, &trials, original, *shape, nullptr, nullptr, expected};
  budget().spend(expected);
  const Relaxed mode(*calls);
  if (calls->event_create(&trial.before, 0) != driver::success) trial.before = nullptr;
  if (calls->event_create(&trial.after, 0) != driver::success) trial.after = nullptr;
  if (trial.before && trial.after && calls->event_record(trial.before, stream) == driver::success) return trial;
  destroy(*calls, trial);
  finish(trial, std::nullopt);
  return std::nullopt;
}

void end_trial(const Trial &trial, bool launched, driver::Handle stream) {
  const driver::Calls *calls = driver_calls();
  if (launched && calls->event_record(trial.after, stream) == driver::success) {
    pending().push_back(trial);
    return;
  }
  const Relaxed mode(*calls);
  destroy(*calls, trial);
  finish(trial, std::nullopt);
}

void read_trials() {
  const driver::Calls *calls = driver_calls();
  if (pending().empty() || !can_time(calls)) return;
  const Relaxed mode(*calls);
  std::vector<Trial> waiting;
  for (const Trial &trial : pending()) {
    const driver::Result state = calls->event_query(trial.after);
    if (state == not_ready) {
      waiting.push_back(trial);
      continue;
    }
    float milliseconds = 0;
    const bool timed =
        state == driver::success && calls->event_elapsed(&milliseconds, trial.before, trial.after) == driver::success;
    destroy(*calls, trial);
    finish(trial, timed ? std::optional(1e-3 * static_cast<double>(milliseconds)) : std::nullopt);
  }
  pending() = std::move(waiting);
}

}  // namespace sextant::retune
