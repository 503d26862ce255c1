// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>
#include <utility>

namespace sextant_cholesky_levels {
namespace {

constexpr std::int32_t up(std::int32_t a, std::int32_t b) { return (a + b - 1) / b; }

// Tiles on and below the diagonal of columns c0 .. c1-1 in a front of so many rows.
std::int64_t tiles_of(std::int32_t rows, std::int32_t c0, std::int32_t c1, std::int32_t size) {
  const std::int64_t down = up(rows - c0, size), across = up(c1 - c0, size);
  return across * (across + 1) / 2 + (down - across) * across;
}

// Small fronts of a class that a device with some 130 multiprocessors keeps in its shared memory at once.
constexpr std::array<std::int64_t, small_classes> at_once = {2048, 512, 256, 128};

// Tiles of the large size that are enough to keep a device busy.
constexpr std::int64_t many_tiles = 200;

}  // namespace

std::array<std::int64_t, small_classes> small_bytes(const Widths &widths) {
  return {9 << 10, 34 << 10, std::min<std::int64_t>(88, widths.most_small) << 10, widths.most_small << 10};
}

Plan::Plan(const sxt_symbolic &symbolic, const Widths &given, bool solves)
    : s(symbolic),
      widths(given),
      place(sextant_cholesky::places_in_parents(symbolic)),
      children(sextant_cholesky::children_of(symbolic)) {
  find_fronts();
  const Lists lists = by_level();
  if (solves) {
    find_triangles();
    find_tasks(lists);
  } else {
    place_updates(lists);
    find_levels(lists);
  }
  describe();
}

// What kernels look up, without a way over an index.
void Plan::describe() {
  for (const std::int32_t p : children.list) {
    const Front &f = fronts[p];
    handing.push_back({f.row_at + f.width, f.update_at, f.rows - f.width, f.buffer});
  }
  for (const std::int32_t p : small) small_fronts.push_back(fronts[p]);
}

void Plan::find_fronts() {
  fronts.resize(static_cast<std::size_t>(s.n_super));
  super_of.resize(static_cast<std::size_t>(s.n));
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    std::fill(super_of.begin() + s.super_ptr[p], super_of.begin() + s.super_ptr[p + 1], static_cast<std::int32_t>(p));
    Front &f = fronts[p];
    f.value_at = s.value_ptr[p], f.row_at = s.row_ptr[p], f.update_at = f.inverse_at = 0;
    f.first = static_cast<std::int32_t>(s.super_ptr[p]);
    f.width = static_cast<std::int32_t>(s.super_ptr[p + 1] - s.super_ptr[p]);
    f.rows = static_cast<std::int32_t>(s.row_ptr[p + 1] - s.row_ptr[p]);
    f.parent = s.parent[p];
    f.child_begin = children.begin[p], f.child_end = children.begin[p + 1];
    f.factored = s.super_ptr[p] < s.n_factored;
  }
}

// A front stands one level below its parent, as late as it can: contributions are read in the next level, and two
// buffers hold all of them.
Plan::Lists Plan::by_level() const {
  std::vector<std::int32_t> depth(static_cast<std::size_t>(s.n_super), 0);
  std::int32_t deepest = -1;
  for (std::int64_t p = s.n_super; p-- > 0;) {
    if (s.parent[p] >= 0) depth[p] = depth[s.parent[p]] + 1;
    deepest = std::max(deepest, depth[p]);
  }
  Lists lists(static_cast<std::size_t>(deepest + 1));
  for (std::int64_t p = 0; p < s.n_super; ++p) lists[deepest - depth[p]].push_back(static_cast<std::int32_t>(p));
  return lists;
}

void Plan::place_updates(const Lists &lists) {
  for (std::size_t l = 0; l < lists.size(); ++l) {
    std::int64_t at = 0;
    for (const std::int32_t p : lists[l]) {
      Front &f = fronts[p];
      const std::int64_t below = f.rows - f.width;
      f.buffer = static_cast<std::int32_t>(l % 2), f.update_at = at;
      at += below * below;
    }
    update_values[l % 2] = std::max(update_values[l % 2], at);
  }
}

int Plan::class_of(const Front &f) const {
  if (!f.factored) return small_classes;
  const auto bytes = small_bytes(widths);
  int out = 0;
  while (out < small_classes && f.rows * small_ld(f.rows) * widths.number > bytes[out]) ++out;
  return out;
}

void Plan::find_levels(const Lists &lists) {
  std::vector<std::int32_t> large;
  for (const std::vector<std::int32_t> &list : lists) {
    Level &level = levels.emplace_back();
    add_small(level, list);
    large.clear();
    for (const std::int32_t p : list)
      if (class_of(fronts[p]) == small_classes) large.push_back(p);
    std::stable_sort(large.begin(), large.end(),
                     [&](std::int32_t a, std::int32_t b) { return fronts[a].rows > fronts[b].rows; });
    most_large = std::max(most_large, static_cast<std::int64_t>(large.size()));
    if (!large.empty()) add_large(level, large);
  }
}

// The class of a launch that takes the small fronts of each class along. Few of them join those of the next larger
// class: there is room for all at once, and one launch takes less time than two.
std::array<int, small_classes> Plan::joined_classes(const std::vector<std::int32_t> &list) const {
  std::array<std::int64_t, small_classes> count{};
  for (const std::int32_t p : list)
    if (const int c = class_of(fronts[p]); c < small_classes) ++count[c];
  std::array<int, small_classes> out{};
  int next = small_classes - 1;
  for (int c = small_classes - 1; c >= 0; --c) {
    const bool joins = count[next] > 0 && count[c] + count[next] <= at_once[next];
    if (!joins) next = c;
    if (next != c) count[next] += count[c];
    out[c] = next;
  }
  return out;
}

void Plan::add_small(Level &level, const std::vector<std::int32_t> &list) {
  const std::array<int, small_classes> joined = joined_classes(list);
  for (int c = 0; c < small_classes; ++c) {
    Group &group = level.small[c];
    group.first = static_cast<std::int64_t>(small.size());
    for (const std::int32_t p : list)
      if (const int own = class_of(fronts[p]); own < small_classes && joined[own] == c) small.push_back(p);
    group.count = static_cast<std::int32_t>(static_cast<std::int64_t>(small.size()) - group.first);
    group.blocks = static_cast<std::uint32_t>(group.count);
    std::stable_sort(small.begin() + group.first, small.end(), [&](std::int32_t a, std::int32_t b) {
      return fronts[a].rows > fronts[b].rows;  // long ones first, so that short ones fill the end
    });
    launches += group.count > 0;
  }
}

// Numbers the blocks of what job_of(front, index, job) accepts.
template <class F>
Group Plan::group(const std::vector<std::int32_t> &large, F &&job_of) {
  Group out;
  out.first = static_cast<std::int64_t>(jobs.size());
  for (std::size_t k = 0; k < large.size(); ++k) {
    Job job{};
    job.front = large[k], job.first_block = static_cast<std::int32_t>(out.blocks);
    job.place = static_cast<std::int32_t>(k);
    if (!job_of(fronts[large[k]], job) || job.blocks == 0) continue;
    out.blocks += static_cast<std::uint32_t>(job.blocks), ++out.count;
    jobs.push_back(job);
  }
  launches += out.count > 0;
  return out;
}

Group Plan::products(std::vector<Job> list) {
  Group out;
  out.first = static_cast<std::int64_t>(jobs.size());
  std::int64_t wide = 0;
  for (const Job &job : list) wide += tiles_of(fronts[job.front].rows, job.c0, job.c1, wide_tile);
  out.tile = widths.wide_tiles && wide >= many_tiles ? wide_tile : tile;
  for (Job &job : list) {
    job.first_block = static_cast<std::int32_t>(out.blocks);
    job.blocks = static_cast<std::int32_t>(tiles_of(fronts[job.front].rows, job.c0, job.c1, out.tile));
    out.blocks += static_cast<std::uint32_t>(job.blocks), ++out.count;
    jobs.push_back(job);
  }
  launches += out.count > 0;
  return out;
}

void Plan::add_large(Level &level, const std::vector<std::int32_t> &large) {
  level.assemble = group(large, [](const Front &f, Job &job) {
    job.c1 = f.rows, job.blocks = up(f.rows, assemble_columns);
    return true;
  });
  std::int32_t widest = 0;
  for (const std::int32_t p : large)
    if (fronts[p].factored) widest = std::max(widest, fronts[p].width);
  for (std::int32_t at = 0; at < widest; at += static_cast<std::int32_t>(widths.block))
    level.columns.push_back(block_column(large, at));
}

// Columns at .. at + block - 1 of all fronts that have them.
BlockColumn Plan::block_column(const std::vector<std::int32_t> &large, std::int32_t at) {
  const auto size = static_cast<std::int32_t>(widths.block);
  BlockColumn out;
  bool more = true;
  for (std::int32_t k = at; more && k < at + size; k += panel_columns) {
    Step step;
    step.panels = group(large, [&](const Front &f, Job &job) {
      if (!f.factored || f.width <= k) return false;
      job.k0 = k, job.k1 = std::min(k + panel_columns, f.width);
      job.blocks = std::max(1, up(f.rows - job.k1, panel_rows));
      return true;
    });
    std::vector<Job> inner;
    for (const std::int32_t p : large) {
      const std::int32_t end = std::min(at + size, fronts[p].width);
      if (fronts[p].factored && end > k + panel_columns)
        inner.push_back({p, 0, 0, k, k + panel_columns, k + panel_columns, end, 0});
    }
    more = !inner.empty();
    step.inner = products(std::move(inner));
    out.steps.push_back(step);
  }
  std::vector<Job> near, far;
  for (const std::int32_t p : large) {
    const Front &f = fronts[p];
    if (!f.factored || f.width <= at) continue;
    const std::int32_t end = std::min(at + size, f.width), next = std::min(end + size, f.width);
    const auto add = [&](std::vector<Job> &to, std::int32_t c0, std::int32_t c1) {
      if (c1 > c0) to.push_back({p, 0, 0, at, end, c0, c1, 0});
    };
    add(near, end, next), add(far, next, f.width), add(far, f.width, f.rows);
  }
  out.near = products(std::move(near)), out.far = products(std::move(far));
  return out;
}

// Triangles of 64 columns on the diagonal of fronts that solves cut into tasks.
void Plan::find_triangles() {
  for (std::size_t p = 0; p < fronts.size(); ++p) {
    Front &f = fronts[p];
    f.inverse_at = static_cast<std::int64_t>(triangles.size()) * inverse_values;
    if (!f.factored || is_narrow(f)) continue;
    for (std::int32_t k = 0; k < f.width; k += solve_columns)
      triangles.push_back({static_cast<std::int32_t>(p), k, std::min(k + solve_columns, f.width), 0});
  }
}

// Where narrow fronts with narrow descendants alone are many, they come first, and backwards last.
void Plan::find_tasks(const Lists &lists) {
  std::vector<std::uint8_t> low(fronts.size(), 0);
  std::int64_t count = 0;
  for (std::size_t p = 0; p < fronts.size(); ++p) {
    low[p] = is_narrow(fronts[p]);
    for (std::int32_t k = fronts[p].child_begin; k < fronts[p].child_end; ++k) low[p] &= low[children.list[k]];
    count += low[p];
  }
  Lists upper(lists.size()), lower(lists.size());
  for (std::size_t l = 0; l < lists.size(); ++l)
    for (const std::int32_t p : lists[l]) (count >= many_narrow && low[p] ? lower : upper)[l].push_back(p);
  add_tasks(lower);
  forward.split = static_cast<std::int64_t>(forward.list.size());
  std::vector<Task> last;
  last.swap(backward.list);
  add_tasks(upper);
  backward.split = static_cast<std::int64_t>(backward.list.size());
  backward.list.insert(backward.list.end(), last.begin(), last.end());
}

// Level by level, and backwards the other way: narrow fronts, several a task, and the others.
void Plan::add_tasks(const Lists &lists) {
  std::vector<std::int32_t> first;
  for (const std::vector<std::int32_t> &list : lists) {
    first.push_back(static_cast<std::int32_t>(narrow.size()));
    for (const std::int32_t p : list) is_narrow(fronts[p]) ? narrow.push_back(p) : add_forward(p);
    add_narrow(forward.list, first.back(), static_cast<std::int32_t>(narrow.size()));
  }
  first.push_back(static_cast<std::int32_t>(narrow.size()));
  for (std::size_t l = lists.size(); l-- > 0;) {
    for (const std::int32_t p : lists[l])
      if (!is_narrow(fronts[p])) add_backward(p);
    add_narrow(backward.list, first[l], first[l + 1]);
  }
}

// A front's columns in blocks, each of which waits for those before it, then rows below; one task where it is small and
// there is one right-hand side.
void Plan::add_forward(std::int32_t p) {
  const Front &f = fronts[p];
  const auto add = [&](std::int32_t begin, std::int32_t end) { forward.list.push_back({p, begin, end, 0}); };
  if (widths.columns == 1 && f.width <= solve_columns && f.rows - f.width <= solve_rows) return add(0, f.rows);
  for (std::int32_t k = 0; k < f.width; k += solve_columns) add(k, std::min(k + solve_columns, f.width));
  for (std::int32_t r = f.width; r < f.rows; r += solve_columns) add(r, std::min(r + solve_columns, f.rows));
}

// Blocks of columns, the last ones first.
void Plan::add_backward(std::int32_t p) {
  const std::int32_t width = fronts[p].width;
  for (std::int32_t k = up(width, solve_columns); k-- > 0;)
    backward.list.push_back({p, k * solve_columns, std::min((k + 1) * solve_columns, width), 0});
}

void Plan::add_narrow(std::vector<Task> &to, std::int32_t first, std::int32_t end) {
  const auto groups = static_cast<std::int32_t>((widths.columns + narrow_group - 1) / narrow_group);
  const std::int32_t count = std::max(1, narrow_fronts / groups);  // a warp each, for one group
  for (std::int32_t k = first; k < end; k += count) to.push_back({-1, k, std::min(k + count, end), 0});
}

std::uint64_t Plan::bytes() const {
  const auto of = [](const auto &list) { return list.capacity() * sizeof(list[0]); };  // lists grow by halves or more
  std::uint64_t sum = sizeof *this + of(fronts) + of(super_of) + of(place) + of(children.begin) + of(children.list) +
                      of(handing) + of(levels) + of(small) + of(small_fronts) + of(jobs) + of(forward.list) +
                      of(backward.list) + of(triangles) + of(narrow);
  for (const Level &level : levels) {
    sum += of(level.columns);
    for (const BlockColumn &column : level.columns) sum += of(column.steps);
  }
  return sum;
}

}  // namespace sextant_cholesky_levels
