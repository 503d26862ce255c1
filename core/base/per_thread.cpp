// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/per_thread.hpp"

#include <pthread.h>

namespace sextant::detail {

namespace {

void destroy_all(void *first) noexcept {
  for (auto *kept = static_cast<KeptForThread *>(first); kept;) {
    KeptForThread *const next = kept->next;
    kept->destroy(kept);
    kept = next;
  }
}

// Made when the library is loaded, so that no first use has to.
struct Key {
  Key() noexcept : made(pthread_key_create(&key, destroy_all) == 0) {}
  pthread_key_t key{};
  bool made;
};
const Key of_process;

}  // namespace

bool keep_for_thread(KeptForThread *kept) noexcept {
  if (!of_process.made) return false;
  kept->next = static_cast<KeptForThread *>(pthread_getspecific(of_process.key));
  return pthread_setspecific(of_process.key, kept) == 0;
}

}  // namespace sextant::detail
