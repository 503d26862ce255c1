// SPDX-License-Identifier: BSD-3-Clause
// Every vector operation on a GPU: every candidate of every kernel around the borders of its groups, tiles and grids,
// at every alignment; operands that overlap; numbers that are none; no elements and one; inside a capture.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/vector.h"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

constexpr std::int32_t in_order[] = {SXT_VECTOR_COPY,     SXT_VECTOR_FILL,          SXT_VECTOR_SCALE,
                                     SXT_VECTOR_AXPY,     SXT_VECTOR_AXPBY,         SXT_VECTOR_WAXPBY,
                                     SXT_VECTOR_MULTIPLY, SXT_VECTOR_REAL_MULTIPLY, SXT_VECTOR_REAL_DIVIDE};

bool to_z(std::int32_t operation) {
  return operation >= SXT_VECTOR_REAL_MULTIPLY || operation == SXT_VECTOR_WAXPBY || operation == SXT_VECTOR_MULTIPLY;
}

// The formulas of the kind, with alpha = 2 and beta = 3.
double expected(std::int32_t operation, double x, double y) {
  switch (operation) {
    case SXT_VECTOR_COPY: return x;
    case SXT_VECTOR_FILL: return 2;
    case SXT_VECTOR_SCALE: return 2 * y;
    case SXT_VECTOR_AXPY: return 2 * x + y;
    case SXT_VECTOR_AXPBY:
    case SXT_VECTOR_WAXPBY: return 2 * x + 3 * y;
    case SXT_VECTOR_REAL_DIVIDE: return y / x;
    default: return x * y;
  }
}

class VectorOperations : public Gpu {
 protected:
  static sxt_vector_query query(sxt_value_type type, std::int32_t operation, std::int64_t n) {
    sxt_vector_query q{};
    q.q.h = {sizeof q, SXT_KIND_VECTOR};
    q.q.expected_runs = 1;
    q.q.value_type = type;
    q.n = n;
    q.operation = operation;
    return q;
  }
  void each_candidate(const sxt_vector_query &q, const std::function<void(const std::string &, Session &)> &visit) {
    for (const ChoicePtr &choice : Selector(*context_->context, nullptr).every({Query(&q.q), SXT_KIND_VECTOR})) {
      Prepared prepared(*context_->context, choice, nullptr, nullptr);
      const std::unique_ptr<Session> session = prepared.open();
      const std::int64_t *launch = choice->candidate.launch;
      visit(std::string(choice->kernel->name()) + " " + std::to_string(launch[0]) + " x " + std::to_string(launch[1]) +
                " x " + std::to_string(launch[2]),
            *session);
    }
  }
  std::string last() const { return sxt_last_error(context_.get()); }

  template <class T>
  void check_borders(std::int64_t offset);
};

// Powers of two are divided and small integers added without rounding: results are right or wrong to the last bit.
// Values before and behind the operands must not change.
template <class T>
void VectorOperations::check_borders(std::int64_t offset) {
  const sxt_value_type type = sizeof(T) == 4 ? SXT_F32 : SXT_F64;
  constexpr std::int64_t room = 140000, guard = 8;
  std::vector<T> x(room), y(room), z(room, T(-77)), got(room);
  for (std::int64_t i = 0; i < room; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<T>(1 << (i % 5));
    y[static_cast<std::size_t>(i)] = static_cast<T>(static_cast<int>(i % 11) - 5);
  }
  DeviceBuffer dx(device(), room * sizeof(T)), dy(device(), room * sizeof(T)), dz(device(), room * sizeof(T));
  device().copy(dx.data(), x.data(), dx.bytes());
  const T two = 2, three = 3;
  for (const std::int64_t n : {0, 1, 2, 3, 5, 127, 1023, 1024, 1025, 4099, 67584, 135171})
    for (const std::int32_t operation : in_order)
      each_candidate(query(type, operation, n), [&](const std::string &name, Session &session) {
        device().copy(dy.data(), y.data(), dy.bytes());
        device().copy(dz.data(), z.data(), dz.bytes());
        const std::int64_t first = guard + offset;
        sxt_vector_args args{};
        args.h = {sizeof args, SXT_KIND_VECTOR};
        args.n = n, args.operation = operation;
        args.alpha.value = &two, args.beta.value = &three;
        args.x = dx.as<T>() + first, args.y = dy.as<T>() + first, args.z = dz.as<T>() + first;
        ASSERT_NO_THROW(session.run(&args.h)) << name;
        device().copy(got.data(), to_z(operation) ? dz.data() : dy.data(), dy.bytes());
        const std::vector<T> &before = to_z(operation) ? z : y;
        std::int64_t wrong = 0, at = -1;
        for (std::int64_t i = 0; i < room; ++i) {
          const auto k = static_cast<std::size_t>(i);
          const bool written = i >= first && i < first + n;
          const T want = written ? static_cast<T>(expected(operation, x[k], y[k])) : before[k];
          if (got[k] != want && wrong++ == 0) at = i - first;
        }
        EXPECT_EQ(wrong, 0) << name << ", operation " << operation << ", n = " << n << ", first wrong at " << at;
      });
}

TEST_F(VectorOperations, EveryCandidateOnAlignedDoubles) { check_borders<double>(0); }
TEST_F(VectorOperations, EveryCandidateOnUnalignedDoubles) { check_borders<double>(1); }
TEST_F(VectorOperations, EveryCandidateOnAlignedSingles) { check_borders<float>(0); }
TEST_F(VectorOperations, EveryCandidateOnUnalignedSingles) { check_borders<float>(3); }

// Where an operation writes, its operands are the same array or lie apart; what partly overlaps is refused, and nothing
// is written.
TEST_F(VectorOperations, PartialOverlapIsRefused) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const Vector memory = make_vector(values), other = make_vector({7, 8, 9});
  const auto part = [&](std::int64_t first) {
    sxt_vector *made = nullptr;
    auto *data = static_cast<double *>(sxt_vector_data(memory.get())) + first;
    EXPECT_EQ(sxt_vector_wrap(context_.get(), 3, SXT_F64, SXT_SPACE_DEVICE, data, &made), SXT_OK) << last();
    return Vector(made, sxt_vector_destroy);
  };
  const Vector low = part(0), high = part(1);
  const double two = 2;
  const auto refused = [&](sxt_status status) {
    EXPECT_EQ(status, SXT_E_ARGUMENT);
    EXPECT_THAT(last(), HasSubstr("overlap"));
  };
  refused(sxt_copy(low.get(), high.get()));
  refused(sxt_axpy(&two, low.get(), high.get()));
  refused(sxt_axpby(&two, low.get(), &two, high.get()));
  refused(sxt_waxpby(&two, low.get(), &two, other.get(), high.get()));
  refused(sxt_waxpby(&two, other.get(), &two, low.get(), high.get()));
  refused(sxt_multiply(low.get(), other.get(), high.get()));
  EXPECT_EQ(values_of(memory), values);
  EXPECT_EQ(sxt_multiply(low.get(), low.get(), low.get()), SXT_OK) << last();
  EXPECT_EQ(sxt_copy(high.get(), high.get()), SXT_OK) << last();
  EXPECT_EQ(values_of(memory), (std::vector<double>{1, 4, 9, 4, 5, 6}));
}

// IEEE arithmetic in every operation: a factor of zero hides neither a NaN nor an infinity, denormals are numbers.
TEST_F(VectorOperations, NumbersThatAreNoneAndDenormals) {
  const double least = std::numeric_limits<double>::denorm_min(), zero = 0, one = 1;
  const std::vector<double> odd = {nan, inf, -inf, 3 * least, -0.0, 1};
  const auto same = [](const std::vector<double> &got, const std::vector<double> &want) {
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i])
          << "element " << i << " is " << got[i] << ", not " << want[i];
  };
  const Vector x = make_vector(odd), y = make_vector(std::vector<double>(6, 2)),
               w = make_vector(std::vector<double>(6, 0));
  ASSERT_EQ(sxt_copy(x.get(), y.get()), SXT_OK) << last();
  same(values_of(y), odd);
  EXPECT_TRUE(std::signbit(values_of(y)[4]));
  ASSERT_EQ(sxt_scale(&zero, y.get()), SXT_OK) << last();
  same(values_of(y), {nan, nan, nan, 0, 0, 0});
  ASSERT_EQ(sxt_fill(&nan, y.get()), SXT_OK) << last();
  same(values_of(y), std::vector<double>(6, nan));
  ASSERT_EQ(sxt_fill(&one, y.get()), SXT_OK) << last();
  ASSERT_EQ(sxt_axpby(&one, x.get(), &zero, y.get()), SXT_OK) << last();
  same(values_of(y), odd);
  ASSERT_EQ(sxt_waxpby(&one, x.get(), &one, x.get(), w.get()), SXT_OK) << last();
  same(values_of(w), {nan, inf, -inf, 6 * least, 0, 2});
  ASSERT_EQ(sxt_multiply(x.get(), w.get(), w.get()), SXT_OK) << last();
  same(values_of(w), {nan, inf, inf, 0, 0, 2});
  ASSERT_EQ(sxt_waxpby(&one, x.get(), &one, w.get(), w.get()), SXT_OK) << last();
  same(values_of(w), {nan, inf, nan, 3 * least, 0, 3});
}

TEST_F(VectorOperations, NothingAndOneElement) {
  const double two = 2, three = 3;
  for (const std::size_t n : {0u, 1u}) {
    const Vector x = make_vector(std::vector<double>(n, 5)), y = make_vector(std::vector<double>(n, 7)),
                 w = make_vector(std::vector<double>(n, 9));
    EXPECT_EQ(sxt_fill(&two, w.get()), SXT_OK) << last();
    EXPECT_EQ(sxt_axpy(&two, x.get(), y.get()), SXT_OK) << last();           // 17
    EXPECT_EQ(sxt_axpby(&two, x.get(), &three, y.get()), SXT_OK) << last();  // 61
    EXPECT_EQ(sxt_scale(&two, y.get()), SXT_OK) << last();                   // 122
    EXPECT_EQ(sxt_multiply(x.get(), y.get(), w.get()), SXT_OK) << last();    // 610
    EXPECT_EQ(sxt_waxpby(&two, x.get(), &three, w.get(), w.get()), SXT_OK) << last();
    EXPECT_EQ(sxt_copy(w.get(), x.get()), SXT_OK) << last();
    EXPECT_EQ(values_of(x), std::vector<double>(n, 1840));
  }
}

// A capture contains every operation and runs none; replays run them in order.
TEST_F(VectorOperations, ACaptureHoldsEveryOperation) {
  constexpr std::size_t n = 3000;
  const Vector x = make_vector(std::vector<double>(n, 1)), y = make_vector(std::vector<double>(n, 0)),
               w = make_vector(std::vector<double>(n, 0));
  const double two = 2, three = 3;
  const auto all = [&] {
    EXPECT_EQ(sxt_fill(&two, y.get()), SXT_OK) << last();                  // y = 2
    EXPECT_EQ(sxt_axpy(&three, x.get(), y.get()), SXT_OK) << last();       // y = 2 + 3 x
    EXPECT_EQ(sxt_multiply(y.get(), y.get(), w.get()), SXT_OK) << last();  // w = y^2
    EXPECT_EQ(sxt_waxpby(&two, w.get(), &three, y.get(), w.get()), SXT_OK) << last();
    EXPECT_EQ(sxt_axpby(&two, x.get(), &two, w.get()), SXT_OK) << last();
    EXPECT_EQ(sxt_scale(&two, w.get()), SXT_OK) << last();
    EXPECT_EQ(sxt_copy(w.get(), x.get()), SXT_OK) << last();
  };
  const auto once = [](double x_value) {
    const double y_value = 2 + 3 * x_value, w_value = 2 * y_value * y_value + 3 * y_value;
    return 2 * (2 * x_value + 2 * w_value);
  };
  void *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
  all();  // set up the kernels
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  const double first = once(1);
  ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
  all();
  ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
  EXPECT_EQ(values_of(x), std::vector<double>(n, first));
  ASSERT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  EXPECT_EQ(values_of(x), std::vector<double>(n, once(first)));
  ops().graph_destroy(handle(), graph);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  ops().stream_destroy(handle(), stream);
}

}  // namespace
}  // namespace gpu_test
