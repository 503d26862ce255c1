// SPDX-License-Identifier: BSD-3-Clause
// A program that reaches the driver as the runtime does when it is linked statically (dlopen, dlsym of
// cuGetProcAddress_v2, then look-ups by version), or by names alone, and prints what the driver recorded. Arguments: a
// way in, then steps.
//   table | names | linked (built with SEXTANT_LINKED)   how functions are found
//   load FILE, unload        a module from PTX text or a fat binary; libload: a library
//   get NAME                 its function; libget: its kernel
//   launch GRID BLOCK [SHARED]; launch2 GRID BLOCK (two-dimensional); ex GRID BLOCK ATTRIBUTE VALUE; thread GRID BLOCK
//   repeat N GRID BLOCK      N launches
//   many N FILE              N modules loaded, launched once each, unloaded
//   busyfork GRID BLOCK      a launch on a thread, and children meanwhile that end at once
//   atexit                   unloads the module when the program ends
//   alarm MS                 a signal whose handler ends the program, with 3
//   fork, capture STATE, reset, exit CODE, time N GRID BLOCK
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "driver.h"

#ifdef SEXTANT_LINKED
extern "C" {
int cuModuleLoadData(void **, const void *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
}
#endif

namespace {

using LookUp = int (*)(const char *, void **, int, std::uint64_t, int *);
using Launch = int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                       void **);
struct Attribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int number;
  } value;
};
struct Config {
  unsigned grid[3], block[3], shared;
  void *stream;
  Attribute *attributes;
  unsigned count;
};

void *driver = nullptr;
bool by_table = false;

template <typename Function>
Function find(const char *name, int version, std::uint64_t flags = 0) {
  if (by_table) {
    static const auto look_up = reinterpret_cast<LookUp>(dlsym(driver, "cuGetProcAddress_v2"));
    void *found = nullptr;
    int status = 0;
    if (look_up(name, &found, version, flags, &status) != 0) return nullptr;
    return reinterpret_cast<Function>(found);
  }
  const std::string full = std::string(name) + (flags == 2 ? "_ptsz" : "");
  return reinterpret_cast<Function>(dlsym(driver, full.c_str()));
}

struct Functions {
  int (*load)(void **, const void *);
  int (*unload)(void *);
  int (*get)(void **, void *, const char *);
  int (*library_load)(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
  int (*library_get)(void **, void *, const char *);
  int (*library_unload)(void *);
  int (*reset)(int);
  Launch launch, launch_thread;
  int (*launch_ex)(const Config *, void *, void **, void **);
} cu;

void find_all() {
  cu.load = find<decltype(cu.load)>("cuModuleLoadData", 2000);
  cu.unload = find<decltype(cu.unload)>("cuModuleUnload", 2000);
  cu.get = find<decltype(cu.get)>("cuModuleGetFunction", 2000);
  cu.library_load = find<decltype(cu.library_load)>("cuLibraryLoadData", 12000);
  cu.library_get = find<decltype(cu.library_get)>("cuLibraryGetKernel", 12000);
  cu.library_unload = find<decltype(cu.library_unload)>("cuLibraryUnload", 12000);
  cu.reset = find<decltype(cu.reset)>("cuDevicePrimaryCtxReset", 11000);
  cu.launch = find<Launch>("cuLaunchKernel", 4000);
  cu.launch_thread = find<Launch>("cuLaunchKernel", 7000, 2);
  cu.launch_ex = find<decltype(cu.launch_ex)>("cuLaunchKernelEx", 11060);
}

std::string content(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename Function>
Function recorded(const char *name) {
  return reinterpret_cast<Function>(dlsym(driver, name));
}

void print_launches() {
  const auto count = recorded<decltype(&fake_launch_count)>("fake_launch_count")();
  for (std::int64_t i = 0; i < count; ++i) {
    const FakeLaunch launch = recorded<decltype(&fake_launch)>("fake_launch")(i);
    std::printf("%s %u %u %u%s%s\n", launch.name, launch.grid[0], launch.block[0], launch.shared,
                launch.per_thread ? " thread" : "", launch.extended ? " ex" : "");
  }
}

void *to_unload = nullptr;

class Steps {
 public:
  Steps(int count, char **words) : words_(words, words + count) {}
  int run() {
    while (at_ < words_.size()) {
      const std::string step = word();
      if (step == "exit") return std::atoi(word());
      if (!modules(step) && !launches(step) && !process(step))
        return std::printf("unknown step %s\n", step.c_str()), 99;
    }
    print_launches();
    return result_;
  }

 private:
  const char *word() { return at_ < words_.size() ? words_[at_++] : "0"; }
  unsigned number() { return static_cast<unsigned>(std::strtoul(word(), nullptr, 10)); }

  bool modules(const std::string &step) {
    if (step == "load") {
      std::string image = content(word());
      image.push_back('\0');
      result_ |= cu.load(&module_, image.data());
      std::memset(image.data(), 'x', image.size());  // the program's memory is its own again
    } else if (step == "unload") {
      result_ |= cu.unload(module_);
    } else if (step == "get") {
      result_ |= cu.get(&function_, module_, word());
    } else if (step == "libload") {
      const std::string image = content(word());
      result_ |= cu.library_load(&module_, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    } else if (step == "libget") {
      result_ |= cu.library_get(&function_, module_, word());
    } else if (step == "libunload") {
      result_ |= cu.library_unload(module_);
    } else if (step == "many") {
      const unsigned count = number();
      many(count, content(word()));
    } else {
      return false;
    }
    return true;
  }

  void many(unsigned count, const std::string &image) {
    for (unsigned i = 0; i < count; ++i) {
      result_ |= cu.load(&module_, image.c_str());
      result_ |= cu.get(&function_, module_, "axpy");
      result_ |= cu.launch(function_, 64, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
      result_ |= cu.unload(module_);
    }
  }

  bool launches(const std::string &step) {
    if (step == "launch" || step == "thread") {
      const unsigned grid = number(), block = number();
      const unsigned shared = at_ < words_.size() && words_[at_][0] >= '0' && words_[at_][0] <= '9' ? number() : 0;
      const Launch launch = step == "thread" ? cu.launch_thread : cu.launch;
      result_ |= launch(function_, grid, 1, 1, block, 1, 1, shared, nullptr, nullptr, nullptr);
    } else if (step == "launch2") {
      const unsigned grid = number(), block = number();
      result_ |= cu.launch(function_, grid, 2, 1, block, 1, 1, 0, nullptr, nullptr, nullptr);
    } else if (step == "ex") {
      const unsigned grid = number(), block = number();
      Attribute attribute{};
      attribute.id = static_cast<int>(number());
      attribute.value.number = static_cast<int>(number());
      const Config config = {{grid, 1, 1}, {block, 1, 1}, 0, nullptr, &attribute, 1};
      result_ |= cu.launch_ex(&config, function_, nullptr, nullptr);
    } else if (step == "repeat" || step == "time") {
      const unsigned count = number(), grid = number(), block = number();
      double least = 1e30;  // of some rows, in nanoseconds a launch
      for (int row = 0; row < (step == "time" ? 50 : 1); ++row) {
        const auto begin = std::chrono::steady_clock::now();
        for (unsigned i = 0; i < count; ++i)
          result_ |= cu.launch(function_, grid, 1, 1, block, 1, 1, 0, nullptr, nullptr, nullptr);
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
        least = std::min(least, took.count() / count);
        if (step == "time") recorded<decltype(&fake_forget_launches)>("fake_forget_launches")();
      }
      if (step == "time") std::printf("%.1f ns a launch\n", least);
    } else {
      return false;
    }
    return true;
  }

  bool process(const std::string &step) {
    if (step == "capture") {
      recorded<decltype(&fake_capture)>("fake_capture")(static_cast<int>(number()));
    } else if (step == "sleep") {
      usleep(1000 * number());
    } else if (step == "reset") {
      result_ |= cu.reset(0);
    } else if (step == "fork") {
      std::fflush(stdout);
      fork_child([] { std::printf("child\n"); });
    } else if (step == "atexit") {
      to_unload = module_;
      std::atexit([] { cu.unload(to_unload); });
    } else if (step == "alarm") {
      std::signal(SIGALRM, [](int) { std::exit(3); });
      ualarm(1000 * number(), 0);
    } else if (step == "busyfork") {
      const unsigned grid = number(), block = number();
      std::thread launcher(
          [&] { result_ |= cu.launch(function_, grid, 1, 1, block, 1, 1, 0, nullptr, nullptr, nullptr); });
      for (int i = 0; i < 20; ++i) {
        usleep(2000);
        fork_child([] {});
      }
      launcher.join();
    } else if (step == "close") {
      dlclose(driver);
      driver = dlopen("libcuda.so.1", RTLD_NOW);
      find_all();
    } else {
      return false;
    }
    return true;
  }

  // A child that hangs is ended by its alarm, and is then a failure.
  template <typename Work>
  void fork_child(Work work) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      work();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    result_ |= status;
  }

  std::vector<char *> words_;
  std::size_t at_ = 0;
  void *module_ = nullptr, *function_ = nullptr;
  int result_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) return 98;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return std::printf("no driver\n"), 0;
  by_table = !std::strcmp(argv[1], "table");
#ifdef SEXTANT_LINKED
  cu.load = cuModuleLoadData, cu.unload = cuModuleUnload, cu.get = cuModuleGetFunction, cu.launch = cuLaunchKernel;
#else
  find_all();
#endif
  return Steps(argc - 2, argv + 2).run();
}
