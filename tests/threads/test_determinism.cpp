// SPDX-License-Identifier: BSD-3-Clause
// Deterministic contexts: choices, iterations and bits are the same on 1, 2, 3, 4 and 8 threads, on more than a hundred
// matrices of ten families.
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "sextant/pcg.h"
#include "tests/api/support.hpp"

namespace {

using namespace api_test;

constexpr int thread_counts[] = {1, 2, 3, 4, 8};
constexpr int families = 10, matrices_a_family = 12, halves = 2;

// The lower triangle of a symmetric matrix, diagonally dominant in the end.
struct Lower {
  explicit Lower(int n) : n(n), rows(static_cast<std::size_t>(n)) {}
  void add(int i, int j, double v) {
    if (i != j) rows[static_cast<std::size_t>(std::max(i, j))][std::min(i, j)] -= std::abs(v);
  }
  int n;
  std::vector<std::map<int, double>> rows;
};

double weight(std::mt19937 &random, double decades) {
  return std::pow(10.0, decades * (static_cast<double>(random()) / 4294967296.0 - 0.5));
}

void add_grid(Lower &a, int m, int depth, std::mt19937 &random, double decades) {
  for (int i = 0; i < a.n; ++i) {
    if (i % m) a.add(i, i - 1, weight(random, decades));
    if (i >= m && (i / m) % depth) a.add(i, i - m, weight(random, decades));
    if (i >= m * depth) a.add(i, i - m * depth, weight(random, decades));
  }
}

void add_random(Lower &a, int each, std::mt19937 &random, double decades) {
  for (int i = 1; i < a.n; ++i)
    for (int k = 0; k < each; ++k)
      a.add(i, static_cast<int>(random() % static_cast<unsigned>(i)), weight(random, decades));
}

void add_band(Lower &a, int width, std::mt19937 &random) {
  for (int i = 0; i < a.n; ++i)
    for (int j = std::max(0, i - width); j < i; ++j) a.add(i, j, weight(random, 1));
}

Lower grid(int m, int planes, std::mt19937 &random, double decades) {
  Lower a(m * m * planes);
  add_grid(a, m, m, random, decades);
  return a;
}

void add_blocks(Lower &a, std::mt19937 &random) {
  for (int i = 0; i < a.n; ++i)
    for (int j = i / 3 * 3; j < i; ++j) a.add(i, j, weight(random, 1));
  for (int i = 3; i < a.n; ++i)
    for (int c = 0; c < 3; ++c) a.add(i, (i / 3 - 1) * 3 + c, weight(random, 1));
}

// Family f, member k: sizes from a few hundred to some ten thousand rows.
Lower member(int family, int k) {
  std::mt19937 random(static_cast<unsigned>(1000 * family + k));
  const int m = 12 + 3 * k, n = k == matrices_a_family - 1 ? 6000 : 200 + 173 * k;
  switch (family) {
    case 0: return grid(m, 1, random, 0);
    case 1: return grid(m, 1, random, 3);
    case 2: return grid(6 + k, 6 + k, random, 0);
    case 3: return grid(6 + k, 6 + k, random, 2);
    case 4: {
      Lower a(n);
      add_band(a, 1 + k, random);
      return a;
    }
    case 5: {
      Lower a(n);
      add_random(a, 3, random, 1);
      return a;
    }
    case 6: {
      Lower a(n);
      add_random(a, 12, random, 2);
      return a;
    }
    case 7: {  // some rows far longer than others
      Lower a(n);
      add_random(a, 2, random, 1);
      for (int i = 1; i < n; i += 3) a.add(i, 0, 0.1), a.add(n - 1, n - 1 - i % (n - 1), 0.1);
      return a;
    }
    case 8: {  // dense blocks of 3 x 3
      Lower a(n / 3 * 3);
      add_blocks(a, random);
      return a;
    }
    default: {
      Lower a(n);
      add_band(a, 2, random);
      add_random(a, 1 + k / 4, random, 4);
      return a;
    }
  }
}

Csr full(const Lower &a) {
  std::vector<std::map<int, double>> rows(a.rows);
  std::vector<double> sums(static_cast<std::size_t>(a.n), 0);
  for (int i = 0; i < a.n; ++i)
    for (const auto &[j, v] : a.rows[static_cast<std::size_t>(i)]) {
      rows[static_cast<std::size_t>(j)][i] = v;
      sums[static_cast<std::size_t>(i)] -= v, sums[static_cast<std::size_t>(j)] -= v;
    }
  Csr csr;
  csr.rows = csr.cols = a.n;
  for (int i = 0; i < a.n; ++i) {
    rows[static_cast<std::size_t>(i)][i] = 1.001 * sums[static_cast<std::size_t>(i)] + 1e-3;
    for (const auto &[j, v] : rows[static_cast<std::size_t>(i)]) csr.col.push_back(j), csr.values.push_back(v);
    csr.ptr.push_back(static_cast<std::int32_t>(csr.col.size()));
  }
  return csr;
}

std::vector<double> noise(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double &value : x) value = static_cast<double>(random()) / 4294967296.0 - 0.5;
  return x;
}

// The results, as bytes and in words.
struct Record {
  std::map<std::string, std::string> of;
  void bits(const std::string &what, const std::vector<double> &x) {
    of[what].assign(reinterpret_cast<const char *>(x.data()), x.size() * sizeof(double));
  }
};

// The kernels that a plan names, in order.
std::string kernels_of(sxt_pcg *pcg) {
  std::int64_t length = 0;
  EXPECT_EQ(sxt_pcg_explain(pcg, SXT_JSON, nullptr, 0, &length), SXT_OK);
  std::string text(static_cast<std::size_t>(length) + 1, '\0'), all;
  EXPECT_EQ(sxt_pcg_explain(pcg, SXT_JSON, text.data(), length + 1, &length), SXT_OK);
  text.resize(text.find("\"candidates\"") == std::string::npos ? text.size() : text.find("\"candidates\""));
  static const std::regex kernel("\"kernel\"\\s*:\\s*\"([^\"]*)\"");
  for (std::sregex_iterator at(text.begin(), text.end(), kernel), end; at != end; ++at) all += (*at)[1].str() + " ";
  return all;
}

void solve(Record &record, const Matrix &a, std::int64_t n, const std::string &preconditioner) {
  sxt_pcg_options options = pcg_options();
  options.preconditioner = preconditioner.c_str();
  options.max_iterations = 150;
  sxt_pcg *raw = nullptr;
  const sxt_status made = sxt_pcg_create(a.get(), &options, &raw);
  const Pcg pcg(raw);
  record.of[preconditioner + ": created"] = std::to_string(made);
  if (made != SXT_OK) return;
  const std::vector<double> b = noise(n, 7);
  std::vector<double> x(b.size(), 0);
  sxt_pcg_report report = new_report();
  const sxt_status status = sxt_pcg_solve_array(pcg.get(), n, b.data(), x.data(), nullptr, &report);
  record.of[preconditioner + ": plan"] = kernels_of(pcg.get());
  record.of[preconditioner + ": iterations"] = std::to_string(report.iterations) + ", status " + std::to_string(status);
  record.bits(preconditioner + ": x", x);
}

void multiply(Record &record, const Matrix &a, std::int64_t n) {
  const std::vector<double> x = noise(3 * n, 5);
  for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE}) {
    std::vector<double> y(x.size(), 1);
    const double alpha = 0.3, beta = 0.7;
    EXPECT_EQ(sxt_spmv_array(op, &alpha, a.get(), x.data(), &beta, y.data()), SXT_OK);
    EXPECT_EQ(sxt_spmv_block(op, nullptr, a.get(), 2, x.data(), n, nullptr, y.data() + n, n), SXT_OK);
    record.bits("product " + std::to_string(op), y);
  }
}

void reduce(Record &record, const Context &context, std::int64_t n) {
  std::vector<double> x = noise(n, 11), y = noise(n, 12), results(6);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  EXPECT_EQ(sxt_dot(vx.get(), vy.get(), &results[0]), SXT_OK);
  EXPECT_EQ(sxt_nrm2(vx.get(), &results[1]), SXT_OK);
  EXPECT_EQ(sxt_asum(vx.get(), &results[2]), SXT_OK);
  EXPECT_EQ(sxt_sum(vy.get(), &results[3]), SXT_OK);
  const sxt_vector *const us[] = {vx.get(), vy.get()}, *const vs[] = {vy.get(), vy.get()};
  EXPECT_EQ(sxt_multidot(2, us, vs, &results[4]), SXT_OK);
  record.bits("reductions of " + std::to_string(n), results);
}

const char *const preconditioners[] = {"auto", "none",   "jacobi",  "block-jacobi",
                                       "fsai", "fsai-2", "ssor-ai", "chebyshev"};

void expect_equal(const std::vector<Record> &records, const std::string &matrix) {
  for (std::size_t i = 1; i < records.size(); ++i)
    for (const auto &[what, value] : records[0].of) {
      const std::string &other = records[i].of.at(what);
      const bool words = what.find(": plan") != std::string::npos || what.find(": iter") != std::string::npos;
      if (words)
        EXPECT_EQ(value, other) << matrix << ", " << what << ", 1 and " << thread_counts[i] << " threads";
      else
        EXPECT_TRUE(value == other) << matrix << ", " << what << ", 1 and " << thread_counts[i] << " threads";
    }
}

class Determinism : public testing::TestWithParam<int> {};

TEST_P(Determinism, ChoicesIterationsAndBitsDoNotDependOnThreads) {
  const int family = GetParam() / halves;  // half of one, so that no test takes long
  for (int k = GetParam() % halves; k < matrices_a_family; k += halves) {
    const Csr csr = full(member(family, k));
    std::vector<Record> records;
    for (const int threads : thread_counts) {
      const Context context = cpu(threads, true);
      const Matrix a = make<Matrix>([&](sxt_matrix **out) {
        return sxt_matrix_from_csr(context.get(), csr.rows, csr.cols, csr.ptr.data(), csr.col.data(), csr.values.data(),
                                   nullptr, out);
      });
      Record &record = records.emplace_back();
      multiply(record, a, csr.rows);
      reduce(record, context, 1000 * (k + 1) * (k + 1));
      for (const char *name : preconditioners) solve(record, a, csr.rows, name);
    }
    expect_equal(records, "family " + std::to_string(family) + ", member " + std::to_string(k));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Determinism, testing::Range(0, families *halves));

// A stiffness matrix whose fastest product differs between one thread and two.
TEST(DeterminismTest, AFileOfAnApplication) {
  std::vector<Record> records;
  for (const int threads : thread_counts) {
    const Context context = cpu(threads, true);
    const Matrix a = make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_file(context.get(), SEXTANT_TEST_DATA "/bcsstk16.mtx.gz", nullptr, out);
    });
    sxt_matrix_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(sxt_matrix_get_info(a.get(), &info), SXT_OK);
    Record &record = records.emplace_back();
    multiply(record, a, info.rows);
    for (const char *name : preconditioners) solve(record, a, info.rows, name);
  }
  expect_equal(records, "bcsstk16");
}

}  // namespace
