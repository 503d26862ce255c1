// SPDX-License-Identifier: BSD-3-Clause
// Structs that begin with their size, of every size: one that ends inside a member is SXT_E_ARGUMENT, and nothing
// beyond the stated size is read or written: behind it lies memory without access. Structs and members come from the
// headers (structs.py), so that new ones are always tested.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "sextant/sextant.h"

namespace {

struct Layout {
  std::string name;
  std::uint64_t bytes;
  std::set<std::uint64_t> whole;  // sizes that end with a member, or with the padding behind it
};

struct MemberEnds {
  std::uint64_t offset, end;
};

Layout layout(const char *name, std::uint64_t bytes, std::initializer_list<MemberEnds> members) {
  Layout out{name, bytes, {}};
  for (const MemberEnds &member : members) {
    out.whole.insert(member.end);
    if (member.offset >= sizeof(std::uint64_t)) out.whole.insert(member.offset);
  }
  return out;
}

#define MEMBER(type, member) MemberEnds{offsetof(type, member), offsetof(type, member) + sizeof(type::member)},
#define STRUCT(type, ...) layout(#type, sizeof(type), {__VA_ARGS__}),
const Layout layouts[] = {
#include "structs.inc"
};
#undef STRUCT
#undef MEMBER

// `bytes` bytes at the end of a page that has no neighbour.
class Fenced {
 public:
  Fenced() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = static_cast<char *>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page_, page_, PROT_NONE);
  }
  ~Fenced() { munmap(memory_, 2 * page_); }
  // Not aligned for odd sizes; the CPUs on which this is tested accept that.
  void *place(std::uint64_t bytes) {
    std::memset(memory_, 0, page_);
    return memory_ + page_ - bytes;
  }

 private:
  std::size_t page_;
  char *memory_;
};

sxt_context *context = nullptr;
sxt_matrix *matrix = nullptr;
sxt_pcg *pcg = nullptr;
sxt_hermitian *hermitian = nullptr;
sxt_comm_threads *ranks = nullptr;
sxt_world *world = nullptr;
sxt_matrix *divided = nullptr;
sxt_pcg *world_pcg = nullptr;
double a[1] = {2}, b[1] = {1}, x[1] = {0};

using Call = std::function<sxt_status(void *)>;
using Init = std::function<void(void *, std::uint64_t)>;
struct Use {
  Call call;
  Init init;       // NULL: an answer; its size is all that is set
  bool only_read;  // handed to callbacks alone: the library never reads one of the caller's
};

template <class T>
Init by(void (*init)(T *, std::uint64_t)) {
  return [init](void *at, std::uint64_t bytes) { init(static_cast<T *>(at), bytes); };
}
template <class T>
Call with(sxt_status (*call)(T *)) {
  return [call](void *at) { return call(static_cast<T *>(at)); };
}

void add_solving(std::map<std::string, Use> &all) {
  all["sxt_context_options"] = {with<sxt_context_options>([](sxt_context_options *o) {
                                  sxt_context *made = nullptr;
                                  const sxt_status status = sxt_context_create(o, &made);
                                  sxt_context_destroy(made);
                                  return status;
                                }),
                                by(sxt_context_options_init), false};
  all["sxt_matrix_options"] = {with<sxt_matrix_options>([](sxt_matrix_options *o) {
                                 static const std::int32_t ptr[] = {0, 1}, column[] = {0};
                                 sxt_matrix *made = nullptr;
                                 const sxt_status status = sxt_matrix_from_csr(context, 1, 1, ptr, column, a, o, &made);
                                 sxt_matrix_destroy(made);
                                 return status;
                               }),
                               by(sxt_matrix_options_init), false};
  all["sxt_pcg_options"] = {with<sxt_pcg_options>([](sxt_pcg_options *o) {
                              sxt_pcg *made = nullptr;
                              const sxt_status status = sxt_pcg_create(matrix, o, &made);
                              sxt_pcg_destroy(made);
                              return status;
                            }),
                            by(sxt_pcg_options_init), false};
  all["sxt_solve_options"] = {
      with<sxt_solve_options>([](sxt_solve_options *o) { return sxt_pcg_solve_array(pcg, 1, b, x, o, nullptr); }),
      by(sxt_solve_options_init), false};
  all["sxt_pcg_report"] = {
      with<sxt_pcg_report>([](sxt_pcg_report *r) { return sxt_pcg_solve_array(pcg, 1, b, x, nullptr, r); }), nullptr,
      false};
  all["sxt_hermitian_options"] = {with<sxt_hermitian_options>([](sxt_hermitian_options *o) {
                                    sxt_hermitian *made = nullptr;
                                    const sxt_status status = sxt_hermitian_create(context, o, &made);
                                    sxt_hermitian_destroy(made);
                                    return status;
                                  }),
                                  by(sxt_hermitian_options_init), false};
  all["sxt_hermitian_set"] = {
      with<sxt_hermitian_set>([](sxt_hermitian_set *s) { return sxt_hermitian_factor_solve(hermitian, s); }),
      by(sxt_hermitian_set_init), false};
  all["sxt_hermitian_report"] = {
      with<sxt_hermitian_report>([](sxt_hermitian_report *r) { return sxt_hermitian_get_report(hermitian, r); }),
      nullptr, false};
}

void add_rest(std::map<std::string, Use> &all) {
  all["sxt_plugin_info"] = {with<sxt_plugin_info>([](sxt_plugin_info *i) { return sxt_plugin_get(0, i); }), nullptr,
                            false};
  all["sxt_kernel_info"] = {with<sxt_kernel_info>([](sxt_kernel_info *i) { return sxt_kernel_get(0, i); }), nullptr,
                            false};
  all["sxt_refusal_info"] = {with<sxt_refusal_info>([](sxt_refusal_info *i) { return sxt_refusal_get(0, i); }), nullptr,
                             false};
  all["sxt_matrix_info"] = {with<sxt_matrix_info>([](sxt_matrix_info *i) { return sxt_matrix_get_info(matrix, i); }),
                            nullptr, false};
  // Measuring would take minutes: the call ends before, because a file cannot be made. A wrong size is found earlier.
  all["sxt_calibrate_options"] = {with<sxt_calibrate_options>([](sxt_calibrate_options *o) {
                                    if (o->struct_size >= offsetof(sxt_calibrate_options, path) + sizeof o->path)
                                      o->path = "/dev/null/profile.toml";
                                    return sxt_calibrate(context, o, nullptr, 0, nullptr);
                                  }),
                                  by(sxt_calibrate_options_init), false};
  all["sxt_verify_options"] = {with<sxt_verify_options>([](sxt_verify_options *o) {
                                 const auto stop = [](void *, const sxt_verify_line *) -> std::int32_t { return 1; };
                                 return sxt_verify_model(matrix, o, stop, nullptr);
                               }),
                               by(sxt_verify_options_init), false};
  all["sxt_verify_line"] = {with<sxt_verify_line>([](sxt_verify_line *line) {
                              sxt_verify_summary summary{};
                              summary.struct_size = sizeof summary;
                              return sxt_verify_summarise(line, 1, 1, &summary);
                            }),
                            nullptr, false};
  all["sxt_verify_summary"] = {with<sxt_verify_summary>([](sxt_verify_summary *summary) {
                                 sxt_verify_line line{};
                                 line.struct_size = sizeof line;
                                 line.measured_run_s = line.predicted_run_s = 1;
                                 return sxt_verify_summarise(&line, 1, 1, summary);
                               }),
                               nullptr, false};
  all["sxt_model_info"] = all["sxt_model_sample"] = {nullptr, nullptr, true};
}

void add_worlds(std::map<std::string, Use> &all) {
  all["sxt_comm"] = {with<sxt_comm>([](sxt_comm *c) { return sxt_comm_threads_get(ranks, 0, c); }), nullptr, false};
  all["sxt_world_options"] = {with<sxt_world_options>([](sxt_world_options *o) {
                                sxt_world *made = nullptr;
                                const sxt_status status = sxt_world_create(1, &context, nullptr, o, &made);
                                sxt_world_destroy(made);
                                return status;
                              }),
                              by(sxt_world_options_init), false};
  all["sxt_world_info"] = {with<sxt_world_info>([](sxt_world_info *i) { return sxt_world_get_info(world, i); }),
                           nullptr, false};
  all["sxt_partition_options"] = {with<sxt_partition_options>([](sxt_partition_options *o) {
                                    sxt_matrix *made = nullptr;
                                    const sxt_status status = sxt_matrix_split(world, matrix, o, &made);
                                    sxt_matrix_destroy(made);
                                    return status;
                                  }),
                                  by(sxt_partition_options_init), false};
  all["sxt_member_report"] = {
      with<sxt_member_report>([](sxt_member_report *r) { return sxt_pcg_get_member(world_pcg, 0, r); }), nullptr,
      false};
}

int problems = 0;

void complain(const Layout &layout, std::uint64_t bytes, const char *what) {
  std::fprintf(stderr, "%s of %llu bytes: %s\n", layout.name.c_str(), static_cast<unsigned long long>(bytes), what);
  ++problems;
}

void check(const Layout &layout, const Use &use, Fenced &memory) {
  // Without a path a profile would be measured: sizes before the path are left out.
  const bool calibration = layout.name == "sxt_calibrate_options";
  for (std::uint64_t bytes = 0; bytes <= layout.bytes + 8; ++bytes) {
    void *const at = memory.place(bytes);
    if (use.init) use.init(at, bytes);
    if (bytes < sizeof(std::uint64_t)) continue;  // it has no size that could be read
    if (!use.init) std::memcpy(at, &bytes, sizeof bytes);
    std::uint64_t stated = 0;
    std::memcpy(&stated, at, sizeof stated);
    if (stated != bytes) complain(layout, bytes, "its _init function states another size");
    const bool whole = bytes >= layout.bytes || layout.whole.count(bytes);
    if (calibration && whole && bytes < offsetof(sxt_calibrate_options, path) + sizeof(char *)) continue;
    const sxt_status status = use.call(at);
    const bool refused = status == SXT_E_ARGUMENT && std::strstr(sxt_last_error(nullptr), "struct_size");
    if (refused && whole) complain(layout, bytes, "refused, although it has whole members");
    if (!refused && !whole) complain(layout, bytes, "taken, although it ends inside a member");
  }
}

}  // namespace

int main() {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cpu";
  options.threads = 1;
  static const std::int32_t ptr[] = {0, 1}, column[] = {0};
  sxt_hermitian_options systems;
  sxt_hermitian_options_init(&systems, sizeof systems);
  systems.batch = systems.n = 1;
  if (sxt_context_create(&options, &context) != SXT_OK ||
      sxt_matrix_from_csr(context, 1, 1, ptr, column, a, nullptr, &matrix) != SXT_OK ||
      sxt_pcg_create(matrix, nullptr, &pcg) != SXT_OK ||
      sxt_hermitian_create(context, &systems, &hermitian) != SXT_OK || sxt_comm_threads_create(1, &ranks) != SXT_OK ||
      sxt_world_create(1, &context, nullptr, nullptr, &world) != SXT_OK ||
      sxt_matrix_split(world, matrix, nullptr, &divided) != SXT_OK ||
      sxt_pcg_create(divided, nullptr, &world_pcg) != SXT_OK)
    return std::fprintf(stderr, "%s\n", sxt_last_error(nullptr)), 1;
  Fenced memory;
  std::map<std::string, Use> known;
  add_solving(known);
  add_rest(known);
  add_worlds(known);
  for (const Layout &layout : layouts) {
    const auto use = known.find(layout.name);
    if (use == known.end())
      complain(layout, layout.bytes, "this test does not know a call that takes it");
    else if (!use->second.only_read)
      check(layout, use->second, memory);
  }
  sxt_pcg_destroy(world_pcg);
  sxt_matrix_destroy(divided);
  sxt_world_destroy(world);
  sxt_comm_threads_destroy(ranks);
  sxt_hermitian_destroy(hermitian);
  sxt_pcg_destroy(pcg);
  sxt_matrix_destroy(matrix);
  sxt_context_destroy(context);
  std::printf("%zu structs, %d problems\n", std::size(layouts), problems);
  return problems ? 1 : 0;
}
