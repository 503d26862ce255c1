// SPDX-License-Identifier: BSD-3-Clause
#include "core/threads/places.hpp"

#include <algorithm>
#include <thread>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace sextant::threads {

int processors() {
#ifdef _OPENMP
  return std::max(1,
                  omp_get_num_procs());  // unlike the calling thread's mask, this does not shrink under OMP_PROC_BIND
#else
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#endif
}

bool place_of_worker([[maybe_unused]] int number, cpu_set_t *place) {
  CPU_ZERO(place);
#ifdef _OPENMP
  constexpr int most_ids = CPU_SETSIZE;
  const int places = omp_get_num_places();
  if (places < 1 || omp_get_proc_bind() == omp_proc_bind_false) return false;
  const int which = (number + 1) % places, count = omp_get_place_num_procs(which);
  if (count < 1 || count > most_ids) return false;
  int ids[most_ids];
  omp_get_place_proc_ids(which, ids);
  for (int i = 0; i < count; ++i)
    if (ids[i] >= 0 && ids[i] < CPU_SETSIZE) CPU_SET(ids[i], place);
  return CPU_COUNT(place) > 0;
#else
  return false;
#endif
}

}  // namespace sextant::threads
