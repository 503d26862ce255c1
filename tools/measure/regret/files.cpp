// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <utility>

#include "core/calibrate/sampler.hpp"
#include "points.hpp"

namespace regret {

using namespace sextant;

namespace {

// One line of a file, with its candidate.
struct Line {
  std::string subject;
  TreeSubject about;
  std::int64_t n = 0;
  Measured measured;
  Query query;
  std::vector<sxt_candidate> candidates;  // more than one where grids are equal at this n
};

bool parse(const std::string &text, Line &line, std::string &kernel) {
  char subject[64], name[64];
  long long n, launch[3];
  unsigned candidate;
  int judged;
  Measured &m = line.measured;
  if (std::sscanf(text.c_str(), "%63[^,],%lld,%63[^,],%u,%lld,%lld,%lld,%d,%lf,%lf,%lf,%lf", subject, &n, name,
                  &candidate, launch, launch + 1, launch + 2, &judged, m.first, m.second, m.first + 1,
                  m.second + 1) != 12)
    return false;
  for (double *each : {m.first, m.first + 1, m.second, m.second + 1}) *each *= 1e-6;
  line.subject = subject;
  line.n = n;
  m.candidate = candidate;
  m.judged = judged != 0;
  std::copy_n(launch, 3, m.launch);
  kernel = name;
  return true;
}

// Calls take(line) for every line whose candidate is still offered; returns how many candidates are not.
int each_line(Context &context, const std::string &path, const std::function<void(const Line &)> &take) {
  std::map<std::string, const registry::Kernel *> kernels;
  for (const registry::Kernel *kernel : registry::Registry::instance().all_kernels())
    if (!std::strcmp(kernel->table.device, "cuda")) kernels[kernel->name()] = kernel;
  std::ifstream file(path);
  require(static_cast<bool>(file), SXT_E_FILE_READ, path, ": cannot be read");
  int left_out = 0;
  std::string text, name;
  while (std::getline(file, text)) {
    Line line;
    if (!parse(text, line, name)) continue;
    line.about = subject_named(line.subject);
    line.query = line.about.at(line.n);
    const auto kernel = kernels.find(name);
    const std::vector<sxt_candidate> list =
        kernel == kernels.end() ? std::vector<sxt_candidate>{} : candidates_of(context, *kernel->second, line.query);
    const std::uint64_t place = line.measured.candidate;
    if (place >= list.size() || !std::equal(list[place].launch, list[place].launch + 3, line.measured.launch)) {
      ++left_out;
      continue;
    }
    line.measured.kernel = kernel->second;
    for (const sxt_candidate &each : list)
      if (std::equal(each.launch, each.launch + 4, list[place].launch)) line.candidates.push_back(each);
    take(line);
  }
  return left_out;
}

}  // namespace

void write_csv(const std::string &path, const std::vector<Subject> &subjects) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file) return static_cast<void>(std::fprintf(stderr, "cannot write %s\n", path.c_str()));
  std::fprintf(file, "subject,n,kernel,candidate,launch0,launch1,launch2,judged,hot1,hot2,cold1,cold2\n");
  for (const Subject &subject : subjects)
    for (const Point &point : subject.points)
      for (const Measured &each : point.all)
        std::fprintf(file, "%s,%lld,%s,%d,%lld,%lld,%lld,%d,%.4f,%.4f,%.4f,%.4f\n", subject.name.c_str(),
                     (long long)point.n, each.kernel->name(), (int)each.candidate, (long long)each.launch[0],
                     (long long)each.launch[1], (long long)each.launch[2], each.judged, 1e6 * each.first[hot],
                     1e6 * each.second[hot], 1e6 * each.first[cold], 1e6 * each.second[cold]);
  std::fclose(file);
}

int read_csv(Context &context, const std::string &path, std::vector<Subject> &subjects) {
  return each_line(context, path, [&](const Line &line) {
    for (Subject &subject : subjects) {
      if (subject.name != line.subject) continue;
      const auto same = [&](const Point &point) { return point.n == line.n; };
      auto point = std::find_if(subject.points.begin(), subject.points.end(), same);
      if (point == subject.points.end()) point = subject.points.insert(point, Point{line.n, {}});
      point->all.push_back(line.measured);
    }
  });
}

void learn(Context &context, const std::string &csv, const std::string &profile) {
  Sampler sampler(context);
  std::map<std::pair<std::string, std::int64_t>, int> families;
  int taken = 0;
  const int left_out = each_line(context, csv, [&](const Line &line) {
    // The published steps keep their own estimates: with fits, the luckiest of many slow ones would be taken.
    if (!line.measured.judged && !line.measured.kernel->has(SXT_KERNEL_BASELINE)) return;
    const int family = families.try_emplace({line.subject, line.n}, static_cast<int>(families.size())).first->second;
    // One choice serves operands in the cache and out of it.
    const double seconds = std::sqrt(line.measured.seconds(hot) * line.measured.seconds(cold));
    for (const sxt_candidate &candidate : line.candidates)
      sampler.add_run(line.measured.kernel->table, *line.query.get(), candidate, seconds, family, true);
    ++taken;
  });
  const CalibrationSettings settings;
  Profile learned;
  learned.device = context.device_name();
  learned.fingerprint = context.fingerprint();
  learned.models = sampler.fit_all(CalibrationClock(settings));
  std::printf("%zu models from %d measurements, %d left out\n", learned.models.size(), taken, left_out);
  std::fflush(stdout);
  Profile whole = context.profile();
  whole.merge(learned);
  if (!profile.empty()) update_profile(profile, whole);
  context.use_profile(std::move(whole));
}

}  // namespace regret
