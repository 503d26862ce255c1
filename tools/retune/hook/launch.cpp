// SPDX-License-Identifier: BSD-3-Clause
// The way of every launch: one look-up by handle, one by shape, and on to the driver. Where nothing is decided yet, the
// registry's lock is taken once for each shape.
#include "hook/bodies.hpp"
#include "hook/registry.hpp"
#include "hook/settings.hpp"
#include "hook/timing.hpp"

namespace sextant::retune {
namespace {

using driver::Handle;
using driver::Result;

constexpr std::int64_t most_threads = std::int64_t{1} << 31;  // the proof is for fewer
constexpr std::uint32_t most_block = 1024,
                        most_shared = 1u << 20;  // beyond, no device launches, and no decision is kept

// Set while a launch goes on: another interposer's look-ups may bring it here again.
thread_local bool inside = false;
struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;
};

struct Request {
  Handle function;
  Shape shape;
  bool plain;     // one-dimensional, and without attributes that bind the shape
  Handle stream;  // as events take it
};

struct Decided {
  Decisions::Decision decision{};
  std::optional<Trial> trial;
};

Trials &trials_of(Kernel &kernel, const Shape &shape) {
  Trials &trials = kernel.trials[{class_of(shape.threads()), shape.block}];
  if (trials.begun()) return trials;
  const CacheEntry *known =
      cache().find({kernel.device->name, kernel.name, kernel.module, class_of(shape.threads()), shape.block});
  if (known)
    trials.begin(*known);
  else
    trials.begin(candidates(shape, kernel.facts, kernel.device->limits));
  return trials;
}

// Takes the lock; keeps what is final.
Decided decide(Kernel &kernel, const Request &request) {
  const Shape &original = request.shape;
  const auto one = registry().lock();
  Shape shape = original;
  double saved_s = 0;
  Decided decided;
  if (settings().policy == Policy::measured) {
    read_trials();
    Trials &trials = trials_of(kernel, original);
    if (!trials.decided()) {
      if (!settings().dry_run) decided.trial = begin_trial(kernel, trials, original, request.stream);
      decided.decision = {original.block, original.shared, kernel.count_of(original, original.block, 0)};
      return decided;
    }
    shape = reshaped(original, trials.chosen(), kernel.facts, kernel.device->limits).value_or(original);
    if (shape.block != original.block)
      saved_s = static_cast<double>(original.threads()) * (trials.original_s() - trials.chosen_s());
  } else {
    shape = choose(settings().policy, original, kernel.facts, kernel.device->limits);
  }
  decided.decision = {shape.block, shape.shared, kernel.count_of(original, shape.block, saved_s)};
  kernel.decisions.keep(original, decided.decision);
  return decided;
}

// The driver's word counts more than ours: a shape that it refuses is given up, and the launch runs as it was.
template <typename Launch>
Result launch_changed(Kernel &kernel, const Shape &original, const Shape &shape, const Launch &launch) {
  const Result result = launch(shape);
  if (result == driver::success) {
    kernel.changed.fetch_add(1, std::memory_order_relaxed);
    return result;
  }
  if (result != driver::invalid_value && result != driver::out_of_resources) return result;
  const Result again = launch(original);
  if (again == driver::success) {
    kernel.driver_error.store(result, std::memory_order_relaxed);
    kernel.left_alone.store(true, std::memory_order_relaxed);
  }
  return again;
}

template <typename Launch>
Result launch_undecided(Kernel &kernel, const Request &request, const Launch &launch) {
  if (kernel.quiet_until.load(std::memory_order_relaxed) > 0 &&
      steady_ns() < kernel.quiet_until.load(std::memory_order_relaxed))
    return launch(request.shape);
  Decided decided;
  try {
    decided = decide(kernel, request);
  } catch (...) {  // without memory the launch runs as it is
    return launch(request.shape);
  }
  kernel.counts[decided.decision.count].launches.fetch_add(1, std::memory_order_relaxed);
  const Shape &original = request.shape;
  if (decided.trial) {
    const Shape &shape = decided.trial->shape;
    const Result result =
        shape.block == original.block ? launch(original) : launch_changed(kernel, original, shape, launch);
    try {
      const auto one = registry().lock();
      end_trial(*decided.trial, result == driver::success && !kernel.left_alone, request.stream);
    } catch (...) {  // without memory, or forked meanwhile: its trials have no end
      kernel.left_alone = true;
    }
    return result;
  }
  if (decided.decision.block == original.block || settings().dry_run) return launch(original);
  const Shape shape = {static_cast<std::uint32_t>(original.threads() / decided.decision.block), decided.decision.block,
                       decided.decision.shared};
  return launch_changed(kernel, original, shape, launch);
}

Kernel *known(Handle function) {
  try {
    return registry().find(function);
  } catch (...) {
    return nullptr;
  }
}

template <typename Launch>
Result run(const Request &request, const Launch &launch) {
  const Shape &original = request.shape;
  if (inside) return launch(original);
  const Inside now;
  Kernel *kernel = known(request.function);
  if (!kernel) {
    registry().unknown_launches.fetch_add(1, std::memory_order_relaxed);
    return launch(original);
  }
  kernel->launches.fetch_add(1, std::memory_order_relaxed);
  if (!request.plain || original.threads() >= most_threads || original.block > most_block ||
      original.shared >= most_shared) {
    kernel->other.fetch_add(1, std::memory_order_relaxed);
    return launch(original);
  }
  // Shared memory that a proven kernel does not use holds its blocks apart on purpose.
  if (kernel->left_alone.load(std::memory_order_relaxed) ||
      (original.shared != 0 && kernel->status == Status::proven) || original.threads() == 0)
    return launch(original);
  Decisions::Decision decision;
  if (!kernel->decisions.find(original, decision)) return launch_undecided(*kernel, request, launch);
  kernel->counts[decision.count].launches.fetch_add(1, std::memory_order_relaxed);
  if (decision.block == original.block || settings().dry_run) return launch(original);
  return launch_changed(
      *kernel, original,
      {static_cast<std::uint32_t>(original.threads() / decision.block), decision.block, decision.shared}, launch);
}

Handle per_thread(Handle stream) { return stream ? stream : reinterpret_cast<Handle>(driver::stream_per_thread); }

// Attributes that say nothing of blocks and their order. Others, unknown ones included, leave the launch alone.
bool harmless(const driver::Attribute &attribute) {
  enum {
    ignored = 0,
    access_policy = 1,
    cooperative = 2,
    synchronization = 3,
    serialization = 6,
    event = 7,
    priority = 8,
    domain_map = 9,
    domain = 10,
    completion = 12,
    carveout = 14
  };
  switch (attribute.id) {
    case cooperative: return attribute.value.number == 0;
    case ignored:
    case access_policy:
    case synchronization:
    case serialization:
    case event:
    case priority:
    case domain_map:
    case domain:
    case completion:
    case carveout: return true;
    default: return false;
  }
}

Result run_classic(driver::LaunchKernel *next, Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, Handle stream, void **parameters, void **extra,
                   Handle events) {
  const bool plain = gy == 1 && gz == 1 && by == 1 && bz == 1;
  return run({f, {gx, bx, shared}, plain, events}, [&](const Shape &shape) {
    return next(f, shape.grid, gy, gz, shape.block, by, bz, shape.shared, stream, parameters, extra);
  });
}

Result run_extended(driver::LaunchKernelEx *next, const driver::Config *config, Handle f, void **parameters,
                    void **extra, bool ptsz) {
  if (!config) return next(config, f, parameters, extra);
  bool plain = config->grid[1] == 1 && config->grid[2] == 1 && config->block[1] == 1 && config->block[2] == 1;
  for (unsigned i = 0; i < config->attribute_count && config->attributes; ++i)
    plain = plain && harmless(config->attributes[i]);
  const Handle events = ptsz ? per_thread(config->stream) : config->stream;
  return run({f, {config->grid[0], config->block[0], config->shared}, plain, events}, [&](const Shape &shape) {
    driver::Config changed = *config;
    changed.grid[0] = shape.grid;
    changed.block[0] = shape.block;
    changed.shared = shape.shared;
    return next(&changed, f, parameters, extra);
  });
}

}  // namespace

Result launch_kernel(driver::LaunchKernel *next, Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                     unsigned by, unsigned bz, unsigned shared, Handle stream, void **parameters, void **extra) {
  return run_classic(next, f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra, stream);
}
Result launch_kernel_ptsz(driver::LaunchKernel *next, Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, Handle stream, void **parameters, void **extra) {
  return run_classic(next, f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra, per_thread(stream));
}
Result launch_kernel_ex(driver::LaunchKernelEx *next, const driver::Config *config, Handle f, void **parameters,
                        void **extra) {
  return run_extended(next, config, f, parameters, extra, false);
}
Result launch_kernel_ex_ptsz(driver::LaunchKernelEx *next, const driver::Config *config, Handle f, void **parameters,
                             void **extra) {
  return run_extended(next, config, f, parameters, extra, true);
}

}  // namespace sextant::retune
