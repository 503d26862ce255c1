// SPDX-License-Identifier: BSD-3-Clause
#include "core/calibrate/machine_numbers.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/model/timing.hpp"
#include "core/threads/pool.hpp"

namespace sextant {

namespace {

constexpr double bytes_a_second = 0.7e9;
constexpr double clearly_faster = 1.3;  // than memory: else there is no cache to be told

// f(begin, end) for the part of 0..n-1 of each thread.
template <class F>
void in_parts(std::int64_t n, int threads, F &&f) {
  sextant::threads::for_parts(threads, threads, [&](int t) { f(n * t / threads, n * (t + 1) / threads); });
}

// Memory whose pages are touched by the threads that will use them, and never set twice.
template <class T>
struct Array {
  Array(std::int64_t size, int threads) : n(size), data(new T[static_cast<std::size_t>(size)]) {
    in_parts(n, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) data[i] = static_cast<T>(1);
    });
  }
  std::int64_t n;
  std::unique_ptr<T[]> data;
};

// Bytes a second of a = b + s c: two arrays read, one written and first read, as caches do.
double triad_rate(double bytes, int threads, double seconds) {
  const auto n = static_cast<std::int64_t>(bytes / 24);
  const Array<double> a(n, threads), b(n, threads), c(n, threads);
  double *to = a.data.get();
  const double *x = b.data.get(), *y = c.data.get();
  const Timing timing = time_runs(
      [&] {
        in_parts(n, threads, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) to[i] = x[i] + 3.0 * y[i];
        });
      },
      seconds, 3);
  return 24.0 * static_cast<double>(n) / timing.seconds;
}

// Gathers a second of 8 bytes from random places of a table, in independent chains.
double gather_rate(double table_bytes, int threads, double seconds) {
  const auto n = static_cast<std::int64_t>(table_bytes / 8);
  const std::int64_t gathers = std::int64_t{1} << 18;
  const Array<double> table(n, threads);
  const double *x = table.data.get();
  std::uint64_t seed = 1;
  volatile double sink = 0;
  const Timing timing = time_runs(
      [&] {
        std::atomic<double> total{0};
        ++seed;  // other places at every run: the cache must not learn them
        in_parts(gathers, threads, [&](std::int64_t begin, std::int64_t end) {
          double sum = 0;
          for (std::int64_t i = begin; i < end; ++i) {
            std::uint64_t z = (static_cast<std::uint64_t>(i) + seed * 0x632be59bd9b4e019u) * 0x9e3779b97f4a7c15u;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z ^= z >> 27;
            // A multiplication maps to the table without a division.
            sum += x[static_cast<std::uint64_t>((static_cast<unsigned __int128>(z) * static_cast<std::uint64_t>(n)) >>
                                                64)];
          }
          total += sum;
        });
        sink = sink + total;
      },
      seconds, 3);
  return static_cast<double>(gathers) / timing.seconds;
}

// The largest working set that is still streamed nearer to the cache's rate than to memory's: what is left of the last
// cache beside its other users, whatever the processor's data say.
double cache_bytes(double stream, double cache, double least, double most, int threads, double seconds) {
  const double limit = std::sqrt(stream * cache);
  double held = least;
  constexpr double step = 1.5;
  const double steps = std::max(1.0, std::ceil(std::log(std::max(most / least, step)) / std::log(step)));
  for (double bytes = step * least; bytes <= most; bytes *= step) {
    if (triad_rate(bytes, threads, seconds / steps) < limit) break;
    held = bytes;
  }
  return held;
}

double barrier_seconds(int threads, double seconds) {
  volatile int sink = 0;
  const Timing timing = time_runs(
      [&] {
        sextant::threads::for_parts(threads, threads, [&](int) {
          if (sink != 0) sink = 0;
        });
      },
      seconds, 3);
  return std::max(timing.seconds, 1e-9);
}

}  // namespace

std::map<std::string, double> measure_machine(const sxt_machine &machine, double most_bytes, double seconds) {
  const int all = std::max(1, machine.units);
  const double each = seconds / 10;
  // No more memory than can be touched and streamed a few times in that time, even by a slow or busy machine.
  most_bytes = std::clamp(each * bytes_a_second, 8e6, std::max(8e6, most_bytes));
  // Beyond the private caches, well within what the last one can be: it is often shared with other programs.
  const double in_cache = std::clamp(2.0 * static_cast<double>(machine.unit_cache_bytes) * all, 1e6, 16e6);
  std::map<std::string, double> numbers;
  numbers["stream_rate"] = triad_rate(most_bytes, all, each);
  numbers["stream_rate_unit"] =
      all > 1 ? std::min(triad_rate(most_bytes, 1, each), numbers["stream_rate"]) : numbers["stream_rate"];
  numbers["cache_rate"] = std::max(triad_rate(in_cache, all, each), numbers["stream_rate"]);
  numbers["cache_rate_unit"] =
      all > 1 ? std::min(triad_rate(in_cache / all, 1, each), numbers["cache_rate"]) : numbers["cache_rate"];
  numbers["gather_rate"] = gather_rate(most_bytes / 2, all, each);
  numbers["gather_rate_unit"] =
      all > 1 ? std::min(gather_rate(most_bytes / 2, 1, each), numbers["gather_rate"]) : numbers["gather_rate"];
  numbers["cached_gather_rate"] = std::max(gather_rate(in_cache / 4, all, each), numbers["gather_rate"]);
  if (all > 1) numbers["barrier_s"] = barrier_seconds(all, each);
  if (numbers["cache_rate"] > clearly_faster * numbers["stream_rate"])
    numbers["cache_bytes"] =
        cache_bytes(numbers["stream_rate"], numbers["cache_rate"], in_cache,
                    std::min(2.0 * static_cast<double>(machine.cache_bytes), most_bytes), all, each);
  return numbers;
}

}  // namespace sextant
