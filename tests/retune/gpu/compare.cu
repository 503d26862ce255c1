// SPDX-License-Identifier: BSD-3-Clause
// Runs every kernel of the corpus once and prints a hash of all that it wrote, for launches in blocks of the given size: run
// plainly and under the retuner, the lines must be the same. Usage: retune_compare BLOCK [ELEMENTS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../corpus/corpus.cuh"

namespace {

constexpr int tail = 1024;  // elements behind the last that must stay as they were
int block = 32;
long long elements = 98304 - 77;

void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

std::uint64_t hash_of(const unsigned char *bytes, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

struct Arrays {
  void *x, *y, *z;
  int *p;
  std::size_t bytes;
};

// The same inputs in every run: whole numbers, so that sums do not depend on their order.
template <typename T>
void fill(const Arrays &arrays) {
  std::vector<T> x(elements + tail), y(elements + tail);
  for (long long i = 0; i < elements + tail; ++i) {
    x[i] = static_cast<T>((i * 2654435761u >> 7) % 13);
    y[i] = static_cast<T>((i * 40503u >> 3) % 11 + 1);
  }
  check(cudaMemcpy(arrays.x, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  check(cudaMemcpy(arrays.y, y.data(), y.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  check(cudaMemcpy(arrays.z, y.data(), y.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
}

template <typename T>
void print(const char *name, const Arrays &arrays) {
  check(cudaDeviceSynchronize(), name);
  static std::vector<unsigned char> bytes(arrays.bytes);
  check(cudaMemcpy(bytes.data(), arrays.z, (elements + tail) * sizeof(T), cudaMemcpyDeviceToHost), name);
  std::printf("%s %016llx\n", name,
              static_cast<unsigned long long>(hash_of(bytes.data(), (elements + tail) * sizeof(T) / 8 * 8)));
}

// Padded to a multiple that many block sizes divide; strides go round three times.
int grid_of(const char *name) {
  const long long threads = std::strstr(name, "gridstride") ? elements / 3 : elements;
  const long long whole = 3072;
  return static_cast<int>((threads + whole - 1) / whole * whole / block);
}

template <typename T, typename I>
void run(const char *name, void (*kernel)(I, const T *, const T *, T *), const Arrays &arrays) {
  fill<T>(arrays);
  kernel<<<grid_of(name), block>>>(static_cast<I>(elements), static_cast<const T *>(arrays.x),
                                   static_cast<const T *>(arrays.y), static_cast<T *>(arrays.z));
  check(cudaGetLastError(), name);
  print<T>(name, arrays);
}
template <typename T, typename I>
void run(const char *name, void (*kernel)(I, const T *, const int *, T *), const Arrays &arrays, int) {
  fill<T>(arrays);
  kernel<<<grid_of(name), block>>>(static_cast<I>(elements), static_cast<const T *>(arrays.x), arrays.p,
                                   static_cast<T *>(arrays.z));
  check(cudaGetLastError(), name);
  print<T>(name, arrays);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc > 1) block = std::atoi(argv[1]);
  if (argc > 2) elements = std::atoll(argv[2]);
  Arrays arrays{};
  arrays.bytes = static_cast<std::size_t>(elements + tail) * 8;
  for (void **each : {&arrays.x, &arrays.y, &arrays.z}) check(cudaMalloc(each, arrays.bytes), "memory");
  check(cudaMalloc(reinterpret_cast<void **>(&arrays.p), sizeof(int) * (elements + tail)), "memory");
  std::vector<int> p(elements + tail);
  long long step = 2654435761u % elements;
  while (elements % 2 == 0 && step % 2 == 0) ++step;
  const auto common = [](long long a, long long b) {
    while (b) a %= b, std::swap(a, b);
    return a;
  };
  while (common(elements, step) != 1) ++step;
  for (long long i = 0; i < elements + tail; ++i) p[i] = static_cast<int>(i * step % elements);
  check(cudaMemcpy(arrays.p, p.data(), p.size() * sizeof(int), cudaMemcpyHostToDevice), "copy");
#define RUN_1(k, Op, T, I) run<T, I>(#k "<" #Op "," #T "," #I ">", k<Op, T, I>, arrays);
#define RUN_0(k, Op, T, I) run<T, I>(#k "<" #Op "," #T "," #I ">", k<Op, T, I>, arrays, 0);
#define RUN(k, Op, T, I, pair) RUN_##pair(k, Op, T, I)
  CORPUS(RUN)
  return 0;
}
