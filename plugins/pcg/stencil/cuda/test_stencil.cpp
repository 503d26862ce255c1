// SPDX-License-Identifier: BSD-3-Clause
// Cutting into planes and sharing out: a walk over tiles that computes A p from the stored diagonals as the kernel
// does, windows that hold what it reads, and a model that refuses stencils that the kernels do not know. All of it is
// host code, so it is compiled into the test: the plugin itself needs a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/pcg/stencil/cuda/forms.cpp"
#include "plugins/pcg/stencil/cuda/model.cpp"

namespace {

using namespace stencil;

// Upper diagonals of a box of nx x ny x nz points, with the neighbours of `points` points.
std::vector<std::int64_t> offsets_of(int points, std::int64_t nx, std::int64_t ny) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t z = 0; z <= (points == 7 || points == 27 ? 1 : 0); ++z)
    for (std::int64_t y = -1; y <= 1; ++y)
      for (std::int64_t x = -1; x <= 1; ++x) {
        const std::int64_t offset = (z * ny + y) * nx + x;
        const bool axis = std::abs(x) + std::abs(y) + z == 1;
        if (offset > 0 && (axis || points == 9 || points == 27)) offsets.push_back(offset);
      }
  return offsets;
}

struct Symmetric {
  std::vector<std::int64_t> offsets;
  std::vector<std::vector<double>> diagonals;  // upper ones
  std::vector<double> main, p;
};
Symmetric make(int points, std::int64_t nx, std::int64_t ny, std::int64_t rows) {
  Symmetric a{offsets_of(points, nx, ny), {}, {}, {}};
  for (std::size_t d = 0; d < a.offsets.size(); ++d) {
    a.diagonals.emplace_back(static_cast<std::size_t>(rows), 0.0);
    for (std::int64_t i = 0; i + a.offsets[d] < rows; ++i)
      a.diagonals[d][i] = 1 + 0.01 * static_cast<double>(d) + 1e-4 * i;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    a.main.push_back(7 + 0.1 * static_cast<double>(i % 3));
    a.p.push_back(std::sin(static_cast<double>(i)));
  }
  return a;
}

std::vector<double> product(const Symmetric &a) {
  std::vector<double> q(a.p.size());
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = a.main[i] * a.p[i];
  for (std::size_t d = 0; d < a.offsets.size(); ++d)
    for (std::size_t i = 0; i + a.offsets[d] < q.size(); ++i) {
      const std::size_t j = i + a.offsets[d];
      q[i] += a.diagonals[d][i] * a.p[j];
      q[j] += a.diagonals[d][i] * a.p[i];
    }
  return q;
}

// The kernel's order of work on the host: items, planes, the coupling of two planes, each row written once.
std::vector<double> walk(const Symmetric &a, const Stencil &s, const Form &form, const Tiling &t) {
  const auto rows = static_cast<std::int64_t>(a.p.size());
  std::vector<double> q(a.p.size(), NAN);
  const auto p = [&](std::int64_t i) { return i < 0 || i >= rows ? 0.0 : a.p[i]; };
  const auto coefficient = [&](int d, std::int64_t i) { return i < 0 || i >= rows ? 0.0 : a.diagonals[d][i]; };
  for (int item = 0; item < t.items; ++item) {
    const int chunk = item / t.tiles, first = chunk * t.chunk, last = std::min(t.planes, first + t.chunk);
    const std::int64_t column = item % t.tiles * t.width, width = std::min<std::int64_t>(t.width, s.stride - column);
    for (int plane = first; plane < last; ++plane)
      for (std::int64_t c = 0; c < width; ++c) {
        const std::int64_t i = plane * static_cast<std::int64_t>(s.stride) + column + c;
        if (i >= rows) continue;
        double sum = a.main[i] * p(i);
        for (int m = 0; m < form.in_plane; ++m) {
          const std::int64_t o = s.in_plane_offset[m];
          EXPECT_LE(o, t.halo);
          sum += coefficient(m, i) * p(i + o) + coefficient(m, i - o) * p(i - o);
        }
        for (int m = 0; m < form.across; ++m) {
          const std::int64_t o = s.stride + s.across_offset[m];
          EXPECT_LE(std::abs(s.across_offset[m]), t.ghost_halo);
          sum += coefficient(form.in_plane + m, i) * p(i + o) + coefficient(form.in_plane + m, i - o) * p(i - o);
        }
        EXPECT_TRUE(std::isnan(q[i])) << "row " << i << " belongs to two items";
        q[i] = sum;
      }
  }
  return q;
}

TEST(Stencil, TilesCoverEveryRowOnceAndSeeEveryNeighbour) {
  struct Box {
    int points;
    std::int64_t nx, ny, rows;
  };
  // The last plane may be cut short: rows need not be whole planes.
  for (const Box &box : {Box{7, 13, 11, 13 * 11 * 9}, Box{27, 8, 9, 8 * 9 * 7}, Box{5, 40, 40, 1600},
                         Box{9, 17, 23, 17 * 23}, Box{7, 20, 17, 20 * 17 * 6 - 30}})
    for (const std::int64_t width : {32, 64, 1024})
      for (const std::int64_t blocks : {1, 7, 132}) {
        const Symmetric a = make(box.points, box.nx, box.ny, box.rows);
        Stencil s{};
        ASSERT_TRUE(cut_into_planes(a.offsets, box.rows, &s));
        const Form form = form_of(box.points);
        const Tiling t = share_out(s, form, width, blocks, 2, 8, 8);
        const std::vector<double> want = product(a), got = walk(a, s, form, t);
        for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-12) << "row " << i;
        EXPECT_LE(t.items, std::max<std::int64_t>(t.tiles, blocks));
      }
}

TEST(Stencil, WindowsDoNotOverlapAndHoldTheirElements) {
  for (const int points : {5, 7, 9, 27}) {
    Stencil s{};
    ASSERT_TRUE(cut_into_planes(offsets_of(points, 100, 90), 900000, &s));
    const Form form = form_of(points);
    for (const std::int64_t stored : {4, 8}) {
      const Tiling t = share_out(s, form, 512, 132, 3, 8, stored);
      EXPECT_GE(t.vector_bytes, (t.width + 2 * t.halo) * 8 + 16);
      std::int64_t end = 3 * t.vector_bytes;
      const auto follows = [&](std::int64_t at, std::int64_t elements) {
        EXPECT_EQ(at, end);
        EXPECT_EQ(at % 16, 0);
        end = at + elements * stored + 16;
      };
      for (int m = 0; m < form.in_plane; ++m) {
        follows(t.in_plane_at[m], t.width + s.in_plane_offset[m]);
        end = m + 1 < form.in_plane ? t.in_plane_at[m + 1] : t.across_at[0];
        EXPECT_GE(end, t.in_plane_at[m] + (t.width + s.in_plane_offset[m]) * stored + 16);
      }
      for (int m = 0; m < form.across; ++m) {
        follows(t.across_at[m], t.width + std::abs(s.across_offset[m]));
        end = m + 1 < form.across ? t.across_at[m + 1] : t.stage_bytes;
        EXPECT_GE(end, t.across_at[m] + (t.width + std::abs(s.across_offset[m])) * stored + 16);
      }
      EXPECT_GE(shared_bytes(t, 8), 3 * t.stage_bytes + kept_planes(form.across) * (t.width + 2 * t.halo) * 8);
    }
  }
}

TEST(Stencil, RefusesDiagonalsThatAreNoPlanes) {
  Stencil s{};
  EXPECT_FALSE(cut_into_planes({1, 10}, std::int64_t{1} << 31, &s));
  EXPECT_FALSE(cut_into_planes({1, 10}, 0, &s));
  EXPECT_FALSE(cut_into_planes({1, 60, 100}, 1000, &s));  // the second reaches over half a plane
  EXPECT_FALSE(cut_into_planes({1, 2, 3, 4, 5}, 1000, &s));
  EXPECT_TRUE(cut_into_planes({1, 10, 100}, 1000, &s));
  EXPECT_EQ(s.stride, 100);
}

sxt_pcg_query query_of(std::int64_t side, double points) {
  sxt_pcg_query q{};
  q.m.q.value_type = q.m.matrix_type = SXT_F64;
  q.m.symmetry = SXT_SYMMETRIC;
  q.m.rows = q.m.cols = side * side * side;
  q.m.nnz = static_cast<std::int64_t>(points) * q.m.rows;
  return q;
}

TEST(Stencil, TheModelRefusesWhatTheKernelsDoNotKnow) {
  double values[] = {NAN, 7};  // "diagonals_least", "diagonals"
  const sxt_features found{2, sextant::plugin::dia_features, values};
  sxt_pcg_query q = query_of(100, 7);
  EXPECT_EQ(applicable(q, &found, nullptr), SXT_OK);
  values[1] = 11;
  EXPECT_EQ(applicable(q, &found, nullptr), SXT_NOT_APPLICABLE);
  // Only a lower bound: 24 entries a row on average, as on a small grid of 27 points; more than any form has.
  values[1] = NAN;
  q.m.nnz = 24 * q.m.rows;
  EXPECT_EQ(applicable(q, &found, nullptr), SXT_OK);
  q.m.nnz = 28 * q.m.rows;
  EXPECT_EQ(applicable(q, &found, nullptr), SXT_NOT_APPLICABLE);
  q.m.nnz = 7 * q.m.rows;
  values[1] = 7;
  q.preconditioned = 1;
  EXPECT_EQ(applicable(q, &found, nullptr), SXT_NOT_APPLICABLE);
  q.preconditioned = 0;
  q.recurrence = SXT_RECURRENCE_CLASSICAL;
  EXPECT_EQ(applicable(q, &found, nullptr), SXT_NOT_APPLICABLE);
  q.recurrence = 0;
  q.m.symmetry = SXT_GENERAL;
  EXPECT_EQ(applicable(q, &found, nullptr), SXT_NOT_APPLICABLE);
}

TEST(Stencil, CandidatesFitTheirMultiprocessor) {
  sxt_machine machine{};
  machine.units = 132;
  machine.stream_rate = 4.2e12;
  machine.shared_per_block = 227 * 1024;
  double before = 0;
  for (const std::int64_t side : {32, 64, 128, 256, 400}) {
    const double values[] = {NAN, 7};
    const sxt_features found{2, sextant::plugin::dia_features, values};
    sxt_candidate list[16];
    std::uint64_t count = 0;
    ASSERT_EQ(candidates(query_of(side, 7), &found, machine, list, 16, &count), SXT_OK);
    ASSERT_GT(count, 0u);
    double best = 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      best = std::min(best, list[i].run_s);
      EXPECT_GE(list[i].launch[0], 1);
    }
    EXPECT_GT(best, before);
    before = best;
  }
}

}  // namespace
