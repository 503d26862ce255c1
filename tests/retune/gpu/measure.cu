// SPDX-License-Identifier: BSD-3-Clause
// Times under the retuner and without it. Usage: retune_measure kernels | overhead | program BLOCK ROUNDS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

__global__ void triad(long long n, const float *x, const float *y, float *z) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) z[i] = 2.5f * x[i] + y[i];
}
__global__ void scale(int n, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] *= 0.999f;
}
__global__ void polynomial(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], sum = 0;
  for (int k = 0; k < 200; ++k) sum = sum * v + 0.25f;
  z[i] = sum;
}
__global__ void nothing(int n, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = 1;
}

struct Arrays {
  float *x, *y, *z;
};

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

Arrays allocate(long long n) {
  Arrays arrays{};
  for (float **each : {&arrays.x, &arrays.y, &arrays.z}) {
    check(cudaMalloc(reinterpret_cast<void **>(each), n * sizeof(float)));
    check(cudaMemset(*each, 0, n * sizeof(float)));
  }
  return arrays;
}

// The least of 20 launches, in microseconds. Before them, enough launches for measured trials to end.
template <typename Launch>
double least_us(const Launch &launch) {
  cudaEvent_t before, after;
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  for (int i = 0; i < 150; ++i) {
    launch();
    check(cudaDeviceSynchronize());
  }
  float least = 1e30f;
  for (int i = 0; i < 20; ++i) {
    check(cudaEventRecord(before));
    launch();
    check(cudaEventRecord(after));
    check(cudaEventSynchronize(after));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before, after));
    least = std::min(least, ms);
  }
  return 1e3 * least;
}

void kernels() {
  const long long n = 1 << 26;
  const Arrays a = allocate(n);
  for (const int block : {32, 64, 128, 256, 512, 1024}) {
    const int grid = static_cast<int>(n / block), small = (1 << 20) / block;
    std::printf("triad %d %.1f\n", block, least_us([&] { triad<<<grid, block>>>(n, a.x, a.y, a.z); }));
    std::printf("scale %d %.1f\n", block, least_us([&] { scale<<<grid, block>>>(n, a.z); }));
    std::printf("polynomial %d %.1f\n", block, least_us([&] { polynomial<<<grid, block>>>(n, a.x, a.z); }));
    std::printf("triad_2^20 %d %.1f\n", block, least_us([&] { triad<<<small, block>>>(1 << 20, a.x, a.y, a.z); }));
  }
}

// Host time of a launch, the least average of 50 rows of 200, which the device's queue holds.
void overhead() {
  const Arrays a = allocate(1 << 16);
  double least = 1e30;
  for (int row = 0; row < 400; ++row) {
    check(cudaDeviceSynchronize());
    const auto begin = Clock::now();
    for (int i = 0; i < 200; ++i) nothing<<<96, 32>>>(3072, a.z);
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    least = std::min(least, took.count() / 200);
  }
  std::printf("%.1f\n", least);
}

// A whole program: rounds of three kernels, as iterations of a solver have them. Prints its wall time.
void program(int block, int rounds) {
  const auto begin = Clock::now();
  const long long n = 1 << 24;
  const Arrays a = allocate(n);
  const int grid = static_cast<int>(n / block);
  for (int i = 0; i < rounds; ++i) {
    triad<<<grid, block>>>(n, a.x, a.y, a.z);
    scale<<<grid, block>>>(n, a.z);
    nothing<<<3072 / block, block>>>(3000, a.y);
  }
  check(cudaDeviceSynchronize());
  const std::chrono::duration<double> took = Clock::now() - begin;
  std::printf("%.6f\n", took.count());
}

}  // namespace

int main(int argc, char **argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "kernels")
    kernels();
  else if (mode == "overhead")
    overhead();
  else if (mode == "program" && argc == 4)
    program(std::atoi(argv[2]), std::atoi(argv[3]));
  else
    return 2;
  return 0;
}
