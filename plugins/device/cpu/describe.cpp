// SPDX-License-Identifier: BSD-3-Clause
// Reads the processor's description from the kernel's files; nothing is measured.
#include "describe.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <thread>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace sextant::device_cpu {
namespace {

// The next line, if there is one that can be read. Throws where there is no memory for it: a stream would report that
// as its end.
bool next_line(std::ifstream &file, std::string &line) {
  file.exceptions(std::ios_base::badbit);
  try {
    return static_cast<bool>(std::getline(file, line));
  } catch (const std::ios_base::failure &) {
    return false;
  }
}

// The first line of a small file; empty when it cannot be read.
std::string first_line(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  next_line(file, line);
  return line;
}

int processors() {
#ifdef _OPENMP
  return omp_get_num_procs();  // unlike the calling thread's mask, this does not shrink under OMP_PROC_BIND
#else
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#endif
}

// The tightest quota between our control group and the root; 0: none. Version 2 hierarchy first, then version 1.
int group_quota() {
  std::ifstream groups("/proc/self/cgroup");
  int tightest = 0;
  const auto take = [&](int quota) {
    if (quota > 0) tightest = tightest ? std::min(tightest, quota) : quota;
  };
  for (std::string line; next_line(groups, line);) {  // "0::/user.slice/x" or "4:cpu,cpuacct:/x"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers(1, ',');
    controllers.append(line, first + 1, second - first - 1).append(1, ',');
    std::string path = line.substr(second + 1);
    const bool version2 = controllers == ",,";
    if (!version2 && controllers.find(",cpu,") == std::string::npos) continue;
    const std::string root = version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    for (;; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      if (version2) {
        take(parse_cpu_quota(first_line(root + path + "/cpu.max")));
      } else {
        take(parse_cpu_quota(first_line(root + path + "/cpu.cfs_quota_us") + " " +
                             first_line(root + path + "/cpu.cfs_period_us")));
      }
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return tightest;
}

}  // namespace

std::uint64_t parse_cache_size(const std::string &text) {
  char *end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return 0;
  return number << (*end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0);
}

int parse_cpu_quota(const std::string &cpu_max) {
  char *end = nullptr;
  const double quota = std::strtod(cpu_max.c_str(), &end);
  if (end == cpu_max.c_str() || quota <= 0) return 0;  // "max", or -1 of version 1
  const double period = std::strtod(end, nullptr);
  if (!(period > 0)) return 0;
  return static_cast<int>(std::min(1e6, std::max(1.0, std::floor(quota / period))));
}

int count_cpu_list(const std::string &list) {
  int count = 0;
  for (const char *at = list.c_str(); *at;) {
    char *end = nullptr;
    const long first = std::strtol(at, &end, 10);
    if (end == at) break;
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    count += static_cast<int>(last - first + 1);
    at = *end == ',' ? end + 1 : end;
  }
  return count;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; next_line(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";  // some architectures give no name
}

Caches caches(int online) {
  Caches found;
  int last_level = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string type = first_line(folder + "type");
    if (type.empty() || type == "Instruction") continue;
    const int level = std::atoi(first_line(folder + "level").c_str());
    const std::uint64_t size = parse_cache_size(first_line(folder + "size"));
    // Up to two sharers are hardware threads of one core: the cache is the core's own.
    const int sharers = count_cpu_list(first_line(folder + "shared_cpu_list"));
    if (level > last_level) last_level = level, found.last = size;
    if (level <= 2) found.unit = std::max(found.unit, sharers <= 2 ? size : size / sharers);
  }
  if (!found.unit) found.unit = 1u << 20;  // no such files: a common size
  if (!found.last) found.last = 8u << 20;
  // A virtual machine reports the whole host's last cache beside a few of its processors.
  found.last = std::min<std::uint64_t>(found.last, (std::uint64_t{16} << 20) * online);
  found.last = std::max(found.last, found.unit);
  return found;
}

int online_processors() { return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

int usable_threads(int asked) {
  int threads = processors();
#ifdef _OPENMP
  // An explicit number overrides OMP_NUM_THREADS, but not OMP_THREAD_LIMIT.
  threads = std::min(threads, asked > 0 ? omp_get_thread_limit() : omp_get_max_threads());
#else
  threads = 1;
#endif
  if (const int quota = group_quota()) threads = std::min(threads, quota);
  if (asked > 0) threads = std::min(threads, asked);
  return std::max(1, threads);
}

}  // namespace sextant::device_cpu
