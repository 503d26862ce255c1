// SPDX-License-Identifier: BSD-3-Clause
// Machine profiles: what is written is read back, damage is reported with file and line, two writers lose nothing, and
// predictions follow exactly the matching entries.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/gzip.hpp"
#include "core/model/cost.hpp"
#include "core/model/profile.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sextant-profile-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string &name = "p.toml") const { return (folder_ / name).string(); }
  std::string write(const std::string &text) const {
    std::ofstream(path()) << text;
    return path();
  }
  // The message with which reading fails.
  std::string refusal(const std::string &text) const {
    try {
      read_profile(write(text));
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), SXT_E_FILE_FORMAT);
      return error.what();
    }
    return "";
  }
  fs::path folder_;
};

// A profile is read once as long as its file does not change; one that was just written may still change.
TEST_F(ProfileTest, ReadOnceAProcess) {
  const auto text = [](int factor) {
    return "[kernels.\"a.b.cpu\"]\nfactor = " + std::to_string(factor) + "\nrel_error = 0.1\n";
  };
  const auto old = [&](int hours) {
    fs::last_write_time(path(), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  write(text(2));
  EXPECT_NE(shared_profile(path()), shared_profile(path()));
  old(2);
  const auto first = shared_profile(path());
  EXPECT_EQ(shared_profile(path()), first);
  EXPECT_EQ(first->kernels.at("a.b.cpu").factor, 2);
  write(text(3));
  EXPECT_EQ(shared_profile(path())->kernels.at("a.b.cpu").factor, 3);
  old(1);
  EXPECT_EQ(shared_profile(path())->kernels.at("a.b.cpu").factor, 3);
  EXPECT_EQ(first->kernels.at("a.b.cpu").factor, 2) << "who has it keeps it";
  EXPECT_THROW(shared_profile(path("none.toml")), Error);
}

FittedModel model(double seconds_a_byte) {
  FittedModel made;
  made.power = std::numeric_limits<double>::infinity();
  made.names = {"launches", "stream_bytes", "flops"};
  made.breakpoints = {1e6};
  made.coefficients = {{1e-7, seconds_a_byte, 1e-10}, {1e-7, 4 * seconds_a_byte, 1e-10}};
  made.median_error = 0.03;
  made.p90_error = 0.1;
  made.scatter = 0.05;
  made.samples = 40;
  made.setup_factor = 1.5;
  made.setup_samples = 7;
  return made;
}

Profile profile_with(const std::string &kernel, double seconds_a_byte) {
  Profile made;
  made.device = "cpu";
  made.name = "A \"quoted\" name";
  made.fingerprint = "cpu/x/2/3";
  made.units = 2;
  made.machine["stream_rate"] = 12.5e9;
  made.models[{kernel, 3, SXT_F64, SXT_F32, 1}] = model(seconds_a_byte);
  return made;
}

TEST_F(ProfileTest, MayBeCompressed) {
  const std::string packed = path("p.toml.gz");
  update_profile(packed, profile_with("spmv.x.cpu", 2));
  update_profile(packed, profile_with("spmv.y.cpu", 3));  // what is there is read and kept
  const Profile got = read_profile(packed);
  EXPECT_EQ(got.models.size(), 2u);
  EXPECT_EQ(profile_text(got), read_text(packed));
  EXPECT_LT(fs::file_size(packed), profile_text(got).size());
  EXPECT_EQ(read_file(packed), gzip_of(profile_text(got))) << "the same bytes each time";
  // By what is in the file, not by its name.
  EXPECT_EQ(read_profile(write(read_file(packed))).models.size(), 2u);
  EXPECT_NE(refusal(gzip_of("format = 1\n[broken")).find(path() + ":2: "), std::string::npos);
}

TEST_F(ProfileTest, DamagedCompressionIsToldWithTheFile) {
  const std::string whole = gzip_of(profile_text(profile_with("spmv.x.cpu", 2)));
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 0x10);
  const std::pair<std::string, const char *> damaged[] = {{whole.substr(0, whole.size() / 2), "ends early"},
                                                          {flipped, "is damaged after"},
                                                          {whole + "rubbish", "is damaged after"}};
  for (const auto &[content, words] : damaged) {
    const std::string told = refusal(content);
    EXPECT_EQ(told.find(path() + ": "), 0u) << told;
    EXPECT_NE(told.find(words), std::string::npos) << told;
  }
  update_profile(path(), profile_with("spmv.x.cpu", 1));
  EXPECT_EQ(read_file(path("p.toml.damaged")), whole + "rubbish") << "set aside like any damaged profile";
}

TEST_F(ProfileTest, TextIsBoundedWhereLittleIsCompressed) {
  const std::string endless = gzip_of(std::string(most_text_bytes + 1, '#'));
  EXPECT_LT(endless.size(), most_text_bytes / 500);
  try {
    update_profile(write(endless), profile_with("spmv.x.cpu", 1));
    FAIL() << "more text was read than is allowed";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), SXT_E_FILE_READ);
    EXPECT_EQ(std::string(error.what()).find(path() + ": its text, decompressed, has more than"), 0u) << error.what();
  }
  EXPECT_EQ(read_file(path()), endless) << "it stays as it is";
}

TEST_F(ProfileTest, WhatIsWrittenIsReadBack) {
  const Profile written = update_profile(path("a/b/p.toml"), profile_with("spmv.x.cpu", 0.1 / 3));
  const Profile got = read_profile(path("a/b/p.toml"));
  EXPECT_EQ(got.device, "cpu");
  EXPECT_EQ(got.name, written.name);
  EXPECT_EQ(got.fingerprint, "cpu/x/2/3");
  EXPECT_EQ(got.units, 2);
  EXPECT_EQ(got.machine.at("stream_rate"), 12.5e9);
  ASSERT_EQ(got.models.size(), 1u);
  const FittedModel &m = got.models.at({"spmv.x.cpu", 3, SXT_F64, SXT_F32, 1});
  EXPECT_TRUE(std::isinf(m.power));
  EXPECT_EQ(m.names, model(1).names);
  EXPECT_EQ(m.breakpoints, model(1).breakpoints);
  EXPECT_EQ(m.coefficients, model(0.1 / 3).coefficients) << "every bit";
  EXPECT_EQ(m.median_error, 0.03);
  EXPECT_EQ(m.p90_error, 0.1);
  EXPECT_EQ(m.scatter, 0.05);
  EXPECT_EQ(m.samples, 40);
  EXPECT_EQ(m.setup_factor, 1.5);
  EXPECT_EQ(m.setup_samples, 7);
}

TEST_F(ProfileTest, OldEntriesStayAndNewOnesWin) {
  update_profile(path(), profile_with("spmv.unknown.cpu", 1));
  update_profile(path(), profile_with("spmv.x.cpu", 2));
  Profile next = profile_with("spmv.x.cpu", 5);
  next.models[{"spmv.x.cpu", 4, SXT_F64, SXT_F32, 1}] = model(7);
  const Profile got = update_profile(path(), next);
  EXPECT_EQ(got.models.size(), 3u);
  EXPECT_EQ(got.models.at({"spmv.unknown.cpu", 3, SXT_F64, SXT_F32, 1}).coefficients[0][1], 1);
  EXPECT_EQ(got.models.at({"spmv.x.cpu", 3, SXT_F64, SXT_F32, 1}).coefficients[0][1], 5);
  EXPECT_EQ(got.models.at({"spmv.x.cpu", 4, SXT_F64, SXT_F32, 1}).coefficients[0][1], 7);
}

TEST_F(ProfileTest, TwoProcessesLoseNothing) {
  constexpr int each = 12;
  pid_t children[2];
  for (int child = 0; child < 2; ++child) {
    children[child] = ::fork();
    ASSERT_GE(children[child], 0);
    if (children[child] != 0) continue;
    try {
      for (int i = 0; i < each; ++i) {
        Profile one;
        one.fingerprint = "cpu/x/2/3";
        one.models[{text("kernel.", child, ".", i), 1, SXT_F64, 0, 0}] = model(1);
        update_profile(path(), one);
      }
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_profile(path()).models.size(), 2u * each);
}

TEST_F(ProfileTest, ProfilesOfDifferentMachinesDoNotMix) {
  update_profile(path(), profile_with("spmv.x.cpu", 1));
  Profile other = profile_with("spmv.x.cpu", 1);
  other.fingerprint = "cuda/y/132/90";
  EXPECT_THROW(update_profile(path(), other), Error);
}

TEST_F(ProfileTest, ADamagedFileIsKeptAsideWhenANewOneIsWritten) {
  write("format = 1\n[machine\n");
  update_profile(path(), profile_with("spmv.x.cpu", 1));
  EXPECT_EQ(read_profile(path()).models.size(), 1u);
  EXPECT_EQ(read_file(path() + ".damaged"), "format = 1\n[machine\n");
  write("damaged again");
  std::vector<std::string> lines;
  const LogSink log{[](void *user, sxt_log_level, const char *message) {
                      static_cast<std::vector<std::string> *>(user)->emplace_back(message);
                    },
                    &lines, SXT_LOG_WARNING};
  update_profile(path(), profile_with("spmv.x.cpu", 1), log);
  EXPECT_EQ(read_file(path() + ".damaged"), "format = 1\n[machine\n") << "the first is not lost";
  EXPECT_EQ(read_file(path() + ".damaged.2"), "damaged again");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find(path() + ".damaged.2"), std::string::npos) << lines[0];
}

TEST_F(ProfileTest, WhatIsNotDamagedIsNeverReplaced) {
  const auto status_of = [&] {
    try {
      update_profile(path(), profile_with("spmv.x.cpu", 1));
    } catch (const Error &problem) {
      return problem.status();
    }
    return sxt_status{SXT_OK};
  };
  write("format = 2\n[[engines]]\n");  // of a later version
  EXPECT_EQ(status_of(), SXT_E_FILE_FORMAT);
  EXPECT_EQ(read_file(path()), "format = 2\n[[engines]]\n");
  fs::remove(path());
  fs::create_directory(path());  // not readable by any user
  EXPECT_EQ(status_of(), SXT_E_FILE_READ);
  EXPECT_TRUE(fs::is_directory(path()));
  EXPECT_FALSE(fs::exists(path() + ".damaged"));
}

TEST_F(ProfileTest, NumbersThatAreNoneAreNotWritten) {
  Profile profile = profile_with("spmv.x.cpu", 1);
  profile.machine["launch_s"] = std::nan("");
  profile.models[{"spmv.y.cpu", 1, SXT_F64, SXT_F64, 0}] = model(std::nan(""));
  profile.models[{"spmv.z.cpu", 1, SXT_F64, SXT_F64, 0}] = model(HUGE_VAL);
  update_profile(path(), profile);
  const Profile got = read_profile(path());
  EXPECT_EQ(got.models.size(), 1u);
  EXPECT_EQ(got.machine.count("launch_s"), 0u);
}

TEST_F(ProfileTest, DamageIsNamedByLine) {
  const auto says = [](const std::string &sentence, const std::string &what) {
    return sentence.find(what) != std::string::npos;
  };
  std::string sentence = refusal("format = 1\n\n[machine\n");
  EXPECT_TRUE(says(sentence, path() + ":3: ")) << sentence;
  sentence = refusal("format = 2\n");
  EXPECT_TRUE(says(sentence, ":1: the profile's format is 2; this library reads 1")) << sentence;
  sentence = refusal("format = 1\n[[models]]\nkernel = \"x\"\nvector_type = \"f65\"\n");
  EXPECT_TRUE(says(sentence, ":4: vector_type is 'f65'")) << sentence;
  sentence = refusal("[machine]\nstream_rat = 1\n");
  EXPECT_TRUE(says(sentence, ":2: ") && says(sentence, "stream_rate")) << sentence;
  sentence = refusal("speed = 1\n");
  EXPECT_TRUE(says(sentence, ":1: ")) << sentence;
}

TEST_F(ProfileTest, EveryCutOfAProfileIsEitherReadOrRefused) {
  const std::string whole = profile_text(profile_with("spmv.x.cpu", 1));
  int refused = 0;
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    std::ofstream(path(), std::ios::trunc) << whole.substr(0, length);
    try {
      EXPECT_LE(read_profile(path()).models.size(), 1u);
    } catch (const Error &error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find(path() + ":"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 20);
}

TEST_F(ProfileTest, CoefficientsMustFitTheBreakpoints) {
  const std::string whole = profile_text(profile_with("spmv.x.cpu", 1));
  const std::size_t at = whole.find("breakpoints = [1e+6]");
  ASSERT_NE(at, std::string::npos) << whole;
  EXPECT_NE(refusal(whole.substr(0, at) + whole.substr(whole.find('\n', at))), "");
}

TEST_F(ProfileTest, HandWrittenCorrectionsAreStillRead) {
  const Profile got = read_profile(write("[machine]\nstream_rate = 2e10\n[kernels.\"a.b\"]\nfactor = 2.0\n"));
  EXPECT_EQ(got.machine.at("stream_rate"), 2e10);
  EXPECT_EQ(got.kernels.at("a.b").factor, 2);
}

TEST_F(ProfileTest, NumbersForMoreUnitsAreScaledDown) {
  Profile profile;
  profile.device = "cpu";
  profile.units = 8;
  profile.machine = {{"stream_rate", 80e9}, {"stream_rate_unit", 15e9}, {"flop_rate_f64", 800e9}};
  sxt_machine machine{};
  machine.device = "cpu";
  machine.units = 2;
  profile.apply(machine);
  EXPECT_EQ(machine.stream_rate, 30e9);
  EXPECT_EQ(machine.flop_rate_f64, 200e9);
  machine.flop_rate_f32 = 60e9, machine.cached_gather_rate = 5e8;
  profile.apply(machine);
  EXPECT_EQ(machine.flop_rate_f32, 60e9) << "not the profile's: of two units already";
  EXPECT_EQ(machine.cached_gather_rate, 5e8);
  machine = {};
  machine.device = "cuda";
  profile.apply(machine);
  EXPECT_EQ(machine.stream_rate, 0) << "another kind of device";
}

TEST_F(ProfileTest, FileNamesHoldNoSeparators) {
  EXPECT_EQ(profile_file_name("cpu/Intel(R) Xeon(R) 8481C @ 2.70GHz/2/3"), "cpu-Intel-R-Xeon-R-8481C-2.70GHz-2-3.toml");
  EXPECT_EQ(profile_file_name("a//../b "), "a-..-b.toml");
}

// ---- predictions

struct PredictTest : testing::Test {
  static constexpr const char *names[] = {"launches", "stream_bytes", "flops", nullptr};
  sxt_kernel kernel{};
  sxt_spmv_query query{};
  sxt_candidate candidate{};
  sxt_machine machine{};
  Profile profile;
  PredictTest() {
    kernel.name = "spmv.x.cpu";
    kernel.version = 3;
    kernel.term_names = names;
    query.m.q.flags = SXT_QUERY_MATRIX;
    query.m.q.value_type = SXT_F64;
    query.m.matrix_type = SXT_F32;
    candidate.model_class = 1;
    candidate.n_terms = 3;
    candidate.terms[0] = 1;
    candidate.terms[1] = 1e8;
    candidate.working_set_bytes = 1e8;
    candidate.units = 1;
    candidate.setup_s = 2;
    machine.units = 1;
    machine.stream_rate = machine.stream_rate_unit = 1e10;
    machine.launch_s = 1e-6;
    machine.gather_rate = machine.gather_rate_unit = 1e8;
    machine.cache_rate = 3.2e10;
    machine.flop_rate_f64 = 1e9;
    profile.models[{"spmv.x.cpu", 3, SXT_F64, SXT_F32, 1}] = model(1e-9);
  }
  double seconds() { return predict(kernel, query.m.q, candidate, machine, profile).seconds; }
};

TEST_F(PredictTest, FollowsTheFittedModel) {
  const Prediction got = predict(kernel, query.m.q, candidate, machine, profile);
  EXPECT_NEAR(got.seconds, 1e-7 + 4e-9 * 1e8, 1e-9);
  EXPECT_EQ(got.rel_error, 0.1);  // nine in ten
  EXPECT_EQ(predict_setup(kernel, query.m.q, candidate, profile), 3);
  candidate.working_set_bytes = 1e4;
  EXPECT_NEAR(seconds(), 1e-7 + 1e-9 * 1e8, 1e-9);
}

TEST_F(PredictTest, AnythingElseIsAnalytic) {
  const double analytic = 1e-6 + 1e8 / 1e10;
  const auto is_analytic = [&] {
    EXPECT_NEAR(seconds(), analytic, 1e-12);
    EXPECT_EQ(predict_setup(kernel, query.m.q, candidate, profile), 2);
  };
  kernel.version = 4;
  is_analytic();
  kernel.version = 3;
  query.m.matrix_type = SXT_F64;
  is_analytic();
  query.m.matrix_type = SXT_F32;
  candidate.model_class = 0;
  is_analytic();
  candidate.model_class = 1;
  kernel.name = "spmv.y.cpu";
  is_analytic();
}

TEST(Profile, KeepsWhatWasFittedToClearlyMoreSamples) {
  const auto model = [](std::int64_t samples, double seconds) {
    FittedModel made;
    made.names = {"launches"};
    made.coefficients = {{seconds}};
    made.samples = samples;
    return made;
  };
  const ModelKey few{"a", 1, SXT_F64, 0, 0}, many{"b", 1, SXT_F64, 0, 0}, absent{"c", 1, SXT_F64, 0, 0};
  Profile measured, older;
  measured.models[few] = model(3, 1);
  measured.models[few].setup_factor = 7, measured.models[few].setup_samples = 2;
  measured.models[many] = model(20, 1);
  for (const ModelKey &key : {few, many, absent}) older.models[key] = model(30, 2);
  measured.keep_better_sampled(older);
  EXPECT_EQ(measured.models[few].samples, 30);
  EXPECT_EQ(measured.models[few].coefficients[0][0], 2);
  EXPECT_EQ(measured.models[few].setup_factor, 7);  // what was measured of it stays
  EXPECT_EQ(measured.models[many].coefficients[0][0], 1);
  EXPECT_EQ(measured.models[absent].samples, 30);
}

TEST(ShippedProfiles, AreWholeAndNamedAfterTheirMachines) {
  int files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(SEXTANT_TEST_DATA "/../../profiles")) {
    if (entry.path().extension() != ".gz") continue;
    const Profile shipped = read_profile(entry.path().string());
    EXPECT_EQ(entry.path().filename().string(), profile_file_name(shipped.fingerprint) + ".gz");
    EXPECT_FALSE(shipped.models.empty()) << entry.path();
    for (const auto &[key, model] : shipped.models) EXPECT_GT(model.samples + model.setup_samples, 0) << key.kernel;
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST_F(PredictTest, AModelOfOtherTermsIsNotUsed) {
  static const char *const renamed[] = {"launches", "gathers", "flops", nullptr};
  kernel.term_names = renamed;
  EXPECT_NEAR(seconds(), 1e-6 + 1, 1e-9);
}

TEST_F(PredictTest, KnowsEveryStandardTerm) {
  profile = {};
  static const char *const terms[] = {"cached_gathers", "sectors", "steps", "latency.own", nullptr};
  kernel.term_names = terms;
  candidate.n_terms = 4;
  const auto only = [&](int term, double count) {
    for (double &each : candidate.terms) each = 0;
    candidate.terms[term] = count;
    return seconds();
  };
  EXPECT_NEAR(only(0, 4e8), 1, 1e-9) << "four times the rate from memory where it was not measured";
  machine.cached_gather_rate = 2e8;
  EXPECT_NEAR(only(0, 4e8), 2, 1e-9);
  EXPECT_NEAR(only(1, 1e9), 1, 1e-9) << "32 bytes each from the last cache";
  machine.sector_rate = 5e8;
  EXPECT_NEAR(only(1, 1e9), 2, 1e-9);
  EXPECT_NEAR(only(2, 1e9), 1, 1e-9) << "a nanosecond each";
  EXPECT_EQ(only(3, 1e9), 0) << "no default";
  static const double defaults[] = {NAN, NAN, NAN, 1e-3};
  kernel.term_defaults = defaults;
  EXPECT_NEAR(only(3, 7), 7e-3, 1e-9);
}

TEST_F(PredictTest, UnitsShareOneModel) {
  machine.units = 4;
  machine.stream_rate = 2e10;  // two of the four fill the memory
  candidate.units = 1;
  const double alone = seconds();
  candidate.units = 4;
  EXPECT_NEAR(seconds(), 1e-7 + (alone - 1e-7) / 2, 1e-9);
}

}  // namespace
}  // namespace sextant
