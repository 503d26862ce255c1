// SPDX-License-Identifier: BSD-3-Clause
// A worker's seat goes round: free -> leased by a caller -> offered work -> taken by the worker -> done -> free. A
// caller takes back what it offered and the worker has not taken yet. A waiting thread looks for some microseconds
// and then sleeps in the kernel; no lock is held while anything runs.
#include "core/threads/pool.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <ctime>
#include <new>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/base/thread_storage.hpp"
#include "core/threads/places.hpp"
#include "sextant/sdk/arithmetic.hpp"

namespace sextant::threads {
namespace {

using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == 4 && Word::is_always_lock_free, "a futex");

// How long a waiting thread looks before it sleeps, and how long a barrier waits for threads to come.
constexpr std::int64_t look_ns = 40'000, short_look_ns = 1'000, gather_ns = 300'000;
// How long a worker sleeps where the state of its seat is about to change.
constexpr std::int64_t nap_ns = 50'000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Sleeps while the word holds the value; longest: nanoseconds, below 0 for ever. May return early.
void sleep_on(const Word &word, std::uint32_t value, std::int64_t longest = -1) {
  const timespec limit{static_cast<time_t>(longest / 1'000'000'000), static_cast<long>(longest % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, longest < 0 ? nullptr : &limit, nullptr, 0);
}
void wake(const Word &word, int how_many) {
  syscall(SYS_futex, const_cast<Word *>(&word), FUTEX_WAKE_PRIVATE, how_many, nullptr, nullptr, 0);
}

// Looks for a while whether ready() is true.
template <class F>
bool look(std::int64_t nanoseconds, F &&ready) {
  if (ready()) return true;
  const std::int64_t end = now_ns() + nanoseconds;
  for (int looks = 1;; ++looks) {
    pause();
    if (ready()) return true;
    if (looks % 32 == 0 && now_ns() >= end) return false;
  }
}

// What a caller wants done. It lies on the caller's stack, and no worker touches it once its seat says done.
struct Job {
  void (*part)(void *, std::int32_t) = nullptr;                  // run
  void (*member)(void *, std::int32_t, std::int32_t) = nullptr;  // meet
  void *arg = nullptr;
  std::int32_t parts = 0, shares = 1;
  Word size{0};                                                  // meet: how many have come; 0 until that is settled
  const plugin::FloatControl control = plugin::float_control();  // all compute as the caller does
};

void do_share(const Job &job, std::int32_t share) {
  for (std::int32_t part = share; part < job.parts; part += job.shares) job.part(job.arg, part);
}

// done_asleep: the worker sleeps before the caller has noticed.
enum State : std::uint32_t { free_looking, free_asleep, leased, offered, taken, awaited, done, done_asleep };

struct alignas(128) Seat {
  Word state{free_looking};
  Job *job = nullptr;
  std::int32_t share = 0;
};

// Never destroyed: threads may sleep in it until the process ends.
struct Pool {
  Seat seats[most];
  std::atomic<int> made{0};  // seats with a thread
  std::atomic_flag making;
  const int cores = processors();

  // Threads that share cores keep each other from what they wait for.
  std::int64_t patience() const { return made.load(std::memory_order_relaxed) < cores ? look_ns : short_look_ns; }
};

std::atomic<Pool *> the_pool{nullptr};
std::atomic<std::uint64_t> fork_count{0};

class Worker {
 public:
  Worker(const Pool &pool, Seat &seat) : pool_(pool), seat_(seat) {}
  [[noreturn]] void live() {
    thread_storage::ready();  // not in the time, nor among the allocations, of the first job
    for (;;) {
      wait_for_offer();
      std::uint32_t expected = offered;
      if (!seat_.state.compare_exchange_strong(expected, taken, std::memory_order_acq_rel)) continue;
      work();
      if (seat_.state.exchange(done, std::memory_order_acq_rel) == awaited) wake(seat_.state, 1);
    }
  }

 private:
  // The state says whether a caller has to wake this thread: it never sleeps for long under another one.
  void wait_for_offer() {
    Word &state = seat_.state;
    while (!look(pool_.patience(), [&] { return state.load(std::memory_order_relaxed) == offered; })) {
      std::uint32_t now = state.load(std::memory_order_relaxed);
      if (now == free_looking && state.compare_exchange_strong(now, free_asleep)) now = free_asleep;
      if (now == done && state.compare_exchange_strong(now, done_asleep)) now = done_asleep;
      if (now == free_asleep || now == done_asleep)
        sleep_on(state, now);
      else if (now != offered)
        sleep_on(state, now, nap_ns);
    }
  }
  void work() {
    Job &job = *seat_.job;
    const plugin::FloatScope as_the_caller(job.control);
    thread_storage::ready();  // where memory is short, what works without it may still run
    if (job.part) return do_share(job, seat_.share);
    std::uint32_t size = 0;
    while (!look(pool_.patience(), [&] { return (size = job.size.load(std::memory_order_acquire)) != 0; }))
      sleep_on(job.size, 0);
    job.member(job.arg, seat_.share, static_cast<std::int32_t>(size));
  }
  const Pool &pool_;
  Seat &seat_;
};

void *live(void *number) {
  Pool &pool = *the_pool.load(std::memory_order_acquire);
  Worker(pool, pool.seats[reinterpret_cast<std::uintptr_t>(number)]).live();
  return nullptr;
}

// In a child there are no threads but the one that forked: what the parent had is left as it was, and a new pool made
// when one is wanted.
void forget_in_child() {
  the_pool.store(nullptr, std::memory_order_relaxed);
  fork_count.fetch_add(1, std::memory_order_relaxed);
}

// The only thing that is told to the process, once: it costs a child two stores.
const int fork_watch = pthread_atfork(nullptr, nullptr, forget_in_child);

Pool *pool() {
  if (Pool *known = the_pool.load(std::memory_order_acquire)) return known;
  auto *made = new (std::nothrow) Pool;
  Pool *expected = nullptr;
  if (made && !the_pool.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) {
    delete made;
    made = expected;
  }
  return made;
}

// A thread that takes no signal of the process. Where OpenMP's threads are bound it has a place of its own; else it may
// run where the thread may that makes it.
bool make_thread(int number) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  pthread_attr_t attributes;
  bool made = false;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    cpu_set_t place;
    if (place_of_worker(number, &place)) pthread_attr_setaffinity_np(&attributes, sizeof place, &place);
    pthread_t thread;
    made = pthread_create(&thread, &attributes, live, reinterpret_cast<void *>(std::uintptr_t(number))) == 0;
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

// Seats with threads, made where there are fewer than wanted and the system gives them. Another caller that is making
// some is not waited for.
int grown(Pool &pool, int wanted) {
  int there = pool.made.load(std::memory_order_acquire);
  if (there >= wanted || pool.making.test_and_set(std::memory_order_acquire)) return there;
  for (there = pool.made.load(std::memory_order_relaxed); there < wanted; ++there) {
    if (!make_thread(there)) break;
    pool.made.store(there + 1, std::memory_order_release);
  }
  pool.making.clear(std::memory_order_release);
  return there;
}

// The seats that a call has leased, with share 1, 2, ... of its job.
class Lease {
 public:
  Lease(Job &job, int wanted) : job_(job) {
    pool_ = pool();
    if (!pool_) return;
    seats_ = pool_->seats;
    const int there = grown(*pool_, wanted);
    for (int i = 0; i < there && count_ < wanted; ++i) take(i);
  }
  Lease(const Lease &) = delete;
  int count() const { return count_; }

  void offer() {
    for (int k = 0; k < count_; ++k) {
      Seat &seat = seats_[numbers_[k]];
      seat.job = &job_;
      seat.share = k + 1;
      seat.state.store(offered, std::memory_order_release);
      if (asleep_[k]) wake(seat.state, 1);
    }
  }
  // Takes share k + 1 back; false: the worker has it.
  bool take_back(int k) {
    std::uint32_t expected = offered;
    return seat(k).state.compare_exchange_strong(expected, free_looking, std::memory_order_acq_rel);
  }
  bool has_come(int k) { return seat(k).state.load(std::memory_order_acquire) != offered; }
  Seat &seat(int k) { return seats_[numbers_[k]]; }
  // Waits until the worker is done and frees its seat.
  void collect(int k) {
    Word &state = seat(k).state;
    const auto is_done = [&] { return state.load(std::memory_order_acquire) >= done; };
    while (!look(pool_->patience(), is_done)) {
      std::uint32_t expected = taken;
      if (state.compare_exchange_strong(expected, awaited, std::memory_order_acq_rel) || expected == awaited)
        sleep_on(state, awaited);
    }
    std::uint32_t now = done;
    if (!state.compare_exchange_strong(now, free_looking, std::memory_order_acq_rel))
      state.store(free_asleep, std::memory_order_release);
  }

 private:
  void take(int i) {
    Word &state = seats_[i].state;
    std::uint32_t now = state.load(std::memory_order_relaxed);
    if (now != free_looking && now != free_asleep) return;
    if (!state.compare_exchange_strong(now, leased, std::memory_order_acq_rel)) return;
    asleep_[count_] = now == free_asleep;
    numbers_[count_++] = static_cast<std::int16_t>(i);
  }

  Job &job_;
  Pool *pool_ = nullptr;
  Seat *seats_ = nullptr;
  int count_ = 0;
  std::int16_t numbers_[most];
  bool asleep_[most];
};

}  // namespace

std::uint64_t forks() noexcept { return fork_count.load(std::memory_order_relaxed); }

void run(int parts, int threads, void (*work)(void *, std::int32_t), void *arg) noexcept {
  const int wanted = std::min({parts, threads, most}) - 1;
  if (wanted < 1) {
    for (std::int32_t part = 0; part < parts; ++part) work(arg, part);
    return;
  }
  Job job;
  job.part = work, job.arg = arg, job.parts = parts;
  Lease lease(job, wanted);
  job.shares = lease.count() + 1;
  lease.offer();
  do_share(job, 0);
  bool here[most];
  for (int k = 0; k < lease.count(); ++k)
    if (!(here[k] = !lease.take_back(k))) do_share(job, k + 1);
  for (int k = 0; k < lease.count(); ++k)
    if (here[k]) lease.collect(k);
}

void meet(int threads, void (*work)(void *, std::int32_t, std::int32_t), void *arg) noexcept {
  const int wanted = std::min(threads, most) - 1;
  if (wanted < 1) return work(arg, 0, 1);
  Job job;
  job.member = work, job.arg = arg;
  Lease lease(job, wanted);
  lease.offer();
  look(gather_ns, [&] {
    for (int k = 0; k < lease.count(); ++k)
      if (!lease.has_come(k)) return false;
    return true;
  });
  bool here[most];
  std::int32_t size = 1;
  for (int k = 0; k < lease.count(); ++k)
    if ((here[k] = !lease.take_back(k))) lease.seat(k).share = size++;
  job.size.store(static_cast<std::uint32_t>(size), std::memory_order_release);
  if (size > 1) wake(job.size, INT_MAX);
  work(arg, 0, size);
  for (int k = 0; k < lease.count(); ++k)
    if (here[k]) lease.collect(k);
}

}  // namespace sextant::threads
