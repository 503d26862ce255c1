// SPDX-License-Identifier: BSD-3-Clause
// What a run of @KERNEL@ takes on the problem of problem.hpp, beside what its model says: bench_kernel PLUGIN.so [N]
#include <algorithm>
#include <chrono>

#include "problem.hpp"

int main(int argc, char **argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: bench_kernel PLUGIN.so [N]\n"), 2;
  const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : Problem::bench_size;
  try {
    sextant::Context context = trial::open(argv[1], Problem::device);
    if (*Problem::forced_kind) context.force(Problem::forced_kind, Problem::forced_kernel);
    Problem problem(context, n);
    std::vector<double> seconds;
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    const double begin = now();
    do {
      const double start = now();
      problem.run();
      seconds.push_back(now() - start);
    } while (seconds.size() < 5 || (now() - begin < 0.5 && seconds.size() < 1000));
    std::sort(seconds.begin(), seconds.end());
    std::printf("%s, n = %lld: %.3g s a run (median of %zu)", problem.kernel().c_str(), static_cast<long long>(n),
                seconds[seconds.size() / 2], seconds.size());
    if (std::isfinite(problem.predicted())) std::printf(", predicted %.3g s", problem.predicted());
    std::printf("\n");
  } catch (const sextant::error &problem) {
    std::printf("%s: %s\n", std::string(problem.name()).c_str(), problem.what());
    return 1;
  }
}
