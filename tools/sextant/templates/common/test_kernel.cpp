// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@ on the problem of problem.hpp, whose answer is known: test_kernel PLUGIN.so
#include "problem.hpp"

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: test_kernel PLUGIN.so\n"), 2;
  try {
    sextant::Context context = trial::open(argv[1], Problem::device);
    if (*Problem::forced_kind) context.force(Problem::forced_kind, Problem::forced_kernel);
    int ran = 0;
    for (const std::int64_t n : Problem::sizes) try {
        Problem problem(context, n);
        problem.run();
        const double error = problem.error();
        std::printf("n = %lld, %s: error %.3g of the bound\n", static_cast<long long>(n), problem.kernel().c_str(),
                    error);
        if (problem.kernel() != Problem::forced_kernel) return std::printf("another kernel ran\n"), 1;
        if (!(error <= 1)) return 1;
        ++ran;
      } catch (const sextant::error &problem) {  // a kernel need not take every problem, but one at least
        if (problem.status() != SXT_E_NOT_SUPPORTED) throw;
        std::printf("n = %lld: %s\n", static_cast<long long>(n), problem.what());
      }
    if (ran == 0) return std::printf("it took none of these problems: let problem.hpp make some that it takes\n"), 1;
  } catch (const sextant::error &problem) {
    std::printf("%s: %s\n", std::string(problem.name()).c_str(), problem.what());
    return 1;
  }
}
