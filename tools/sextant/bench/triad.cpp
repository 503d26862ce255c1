// SPDX-License-Identifier: BSD-3-Clause
// STREAM's triad on plain threads, each on its own part, which it also touches first.
#include "bench/triad.hpp"

#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tool {
namespace {

constexpr int pass_count = 4;  // of each way
constexpr double triad_scalar = 0.42;

struct Part {
  double *a, *b, *c;
  std::int64_t begin, end;  // even numbers
};

void plain(const Part &p) {
  for (std::int64_t i = p.begin; i < p.end; ++i) p.a[i] = p.b[i] + triad_scalar * p.c[i];
}

// Stores past the cache: no line is read only to be overwritten.
void streaming(const Part &p) {
#if defined(__SSE2__)
  const __m128d scalar = _mm_set1_pd(triad_scalar);
  for (std::int64_t i = p.begin; i < p.end; i += 2)
    _mm_stream_pd(p.a + i, _mm_add_pd(_mm_loadu_pd(p.b + i), _mm_mul_pd(scalar, _mm_loadu_pd(p.c + i))));
  _mm_sfence();
#else
  plain(p);
#endif
}

using Clock = std::chrono::steady_clock;

// Every thread runs every pass; the first one takes the time between the barriers around it.
void passes(const Part &p, std::barrier<> &together, double *best) {
  for (std::int64_t i = p.begin; i < p.end; ++i) {
    p.a[i] = 0;
    p.b[i] = 1;
    p.c[i] = 2;
  }
  for (int pass = 0; pass < 2 * pass_count; ++pass) {
    together.arrive_and_wait();
    const auto start = Clock::now();
    pass % 2 == 0 ? plain(p) : streaming(p);
    together.arrive_and_wait();
    if (best) *best = std::min(*best, std::chrono::duration<double>(Clock::now() - start).count());
  }
}

}  // namespace

double triad_bandwidth(int threads) {
  // Four times the cache, but never so much that the measurement hurts.
  const std::int64_t bytes = std::clamp<std::int64_t>(4 * last_cache_bytes(), 192 << 20, std::int64_t{1536} << 20);
  const std::int64_t n = bytes / 24 / 16 * 16;
  const auto aligned = [n] {
    void *memory = std::aligned_alloc(64, static_cast<std::size_t>(n) * sizeof(double));
    if (!memory) throw std::bad_alloc();
    return std::unique_ptr<double, decltype(&std::free)>(static_cast<double *>(memory), std::free);
  };
  const auto a = aligned(), b = aligned(), c = aligned();
  std::barrier<> together(threads);
  double best = std::numeric_limits<double>::infinity();
  std::vector<std::jthread> others;
  const auto part = [&](std::int64_t t) {
    return Part{a.get(), b.get(), c.get(), n / 2 * t / threads * 2, n / 2 * (t + 1) / threads * 2};
  };
  for (int t = 1; t < threads; ++t) others.emplace_back([&, t] { passes(part(t), together, nullptr); });
  passes(part(0), together, &best);
  others.clear();
  return 24.0 * static_cast<double>(n) / best;
}

std::int64_t last_cache_bytes() {
  std::int64_t largest = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  for (const int name : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) {
    largest = std::max<std::int64_t>(largest, sysconf(name));
  }
#endif
  return largest;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

}  // namespace tool
