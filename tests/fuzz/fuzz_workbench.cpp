// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the requests of `sextant workbench` behind the HTTP library: any method, path, headers, arguments and body get
// an answer with a status that is meant for them, and no value becomes an option of a command. Built with
// -fsanitize=fuzzer this is a libFuzzer target; with SEXTANT_FUZZ_REPLAY a program that makes so many requests of a
// seed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/error.hpp"
#include "workbench/actions.hpp"
#include "workbench/answers.hpp"
#include "workbench/folder.hpp"

namespace {

using namespace tool;

constexpr const char *token = "00112233445566778899aabbccddeeff";

void check(bool condition, const char *what, std::string_view input) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_workbench: %s, for:\n%.*s\n", what, static_cast<int>(input.size()), input.data());
  std::abort();
}

// The parts of a request, in lines; what is left of the last one is the body.
struct Input {
  std::string method, path, host, origin, given_token, body;
  std::map<std::string, std::string> arguments;
};

// Nine lines: method, path, Host, Origin, token, then the arguments name, job, event and id; behind them the body.
Input parts_of(std::string_view text) {
  Input input;
  std::string name, job, event, id;
  for (std::string *part :
       {&input.method, &input.path, &input.host, &input.origin, &input.given_token, &name, &job, &event, &id}) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    *part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  // The HTTP library gives C strings.
  for (const auto &[key, value] :
       {std::pair("name", name), std::pair("job", job), std::pair("event", event), std::pair("id", id)})
    if (!value.empty()) input.arguments[key] = value.c_str();
  input.body = text;
  return input;
}

Session &session() {
  static const Folder folder("");
  static Session the = [] {
    SessionOptions options;
    options.folder = folder.path();
    options.read_only = true;  // so that no job is started
    return Session(options);
  }();
  return the;
}

bool may_be_option(const std::string &argument) {
  static const std::set<std::string> known = {
      "--measure", "--quick",   "--seconds", "--kind",     "--type",   "--set",      "--op",       "--points",
      "--wanted",  "--compare", "--accept",  "--undo",     "--output", "--matrices", "--runs",     "--pattern",
      "--tree",    "--applies", "--types",   "--device",   "--rhs",    "--rtol",     "--language", "--expected-solves",
      "--precond", "--format",  "--json",    "--generate", "--n"};
  return known.contains(argument);
}

// What would run, had the workbench been one that starts jobs.
void check_command(const std::string &body, std::string_view whole) {
  const Json form = Json::parse(body, nullptr, false);
  const ActionPlace place = {"/folder", "/folder/uploads", {"--device", "cpu"}, 1};
  const std::string action = form["action"].get<std::string>();
  const ActionLine line = action_line(action, form.contains("fields") ? form["fields"] : Json(), place);
  for (const std::string &argument : line.arguments) {
    check(argument.empty() || argument[0] != '-' || may_be_option(argument), "a value became an option", whole);
    check(std::none_of(argument.begin(), argument.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
          "a control character in a command", whole);
  }
  check(line.arguments.back() == "--json", "a command without --json", whole);
}

int answered(std::string_view text) {
  const Input input = parts_of(text);
  const RequestFacts facts = {input.method, input.path, input.host, input.origin, input.given_token};
  const Refusal refused = check_request(facts, token);
  if (refused.status) {
    check(!refused.sentence.empty() && refused.status >= 401, "a refusal without a sentence", text);
    return refused.status;
  }
  check(input.path == "/" || input.given_token == token, "an answer without the token", text);
  check(is_loopback(input.host), "an answer to a foreign host", text);
  const auto argument = [&](const char *name) -> const char * {
    const auto found = input.arguments.find(name);
    return found == input.arguments.end() ? nullptr : found->second.c_str();
  };
  const Answer given = answer(session(), facts, argument, input.body);
  constexpr std::array<int, 6> meant = {200, 202, 400, 404, 405, 409};
  check(std::find(meant.begin(), meant.end(), given.status) != meant.end(), "a status that is not meant", text);
  if (given.status != 200)
    check(!Json::parse(given.body)["error"].get<std::string>().empty(), "a failure without a sentence", text);
  if (given.status == 200 && input.method == "POST" && input.path == "/api/command") check_command(input.body, text);
  return given.status;
}

void check_name(const std::string &name) {
  try {
    check(safe_name(name) == name && name[0] != '.' && name.find('/') == std::string::npos, "an unsafe file name",
          name);
  } catch (const ToolError &) {  // refused
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  answered(text);
  check_name(text.substr(0, 130));
  return 0;
}

#ifdef SEXTANT_FUZZ_REPLAY
namespace {

// A good request of every kind.
std::vector<std::string> seeds() {
  const auto request = [](const char *method, const char *path, const char *arguments, const std::string &body) {
    return std::string(method) + "\n" + path + "\nlocalhost:8000\nhttp://localhost:8000\n" + token + "\n" + arguments +
           "\n" + body;
  };
  std::vector<std::string> all = {
      request("GET", "/api/state", "\n1\n2\n", ""),         request("GET", "/api/kernels", "\n\n\n", ""),
      request("GET", "/api/result", "\n\n\n1", ""),         request("GET", "/api/file", "solve.c\n\n\n", ""),
      request("POST", "/api/upload", "a.mtx\n\n\n", "abc"), request("POST", "/api/cancel", "\n\n\n", "{}")};
  for (const char *form :
       {R"({"action": "model", "fields": {"kernel": "spmv.csr.rows.cpu", "op": "1", "matrices": "uploads"}})",
        R"({"action": "explain", "fields": {"matrix": "a.mtx", "device": "cpu"}})",
        R"({"action": "generate", "fields": {"generate": "banded", "n": "100", "rtol": "1e-8"}})",
        R"({"action": "calibrate", "fields": {"quick": true, "seconds": 3, "kind": "sxt.pcg/1"}})",
        R"({"action": "accept", "fields": {}})"})
    for (const char *path : {"/api/command", "/api/jobs"}) all.push_back(request("POST", path, "\n\n\n", form));
  return all;
}

std::string changed(std::string text, std::mt19937 &random) {
  static const std::array<std::string, 17> words = {
      "\n",       std::string(1, '\0'), "..", "/",  "{",       "}",    "[",    "\"",      "\\",
      "\xff\xfe", "99999999999",        "-1", "--", "\\u0000", "null", "true", "--output"};
  for (std::uint32_t left = random() % 4; left > 0; --left) {
    const std::size_t at = random() % (text.size() + 1);
    switch (random() % 4) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1: text.insert(at, words[random() % words.size()]); break;
      case 2: text.erase(at, 1 + random() % 12); break;
      default: text += text.substr(at, 1 + random() % 40);
    }
  }
  return text;
}

}  // namespace

int main(int count, char **arguments) {
  const long wanted = count > 1 ? std::atol(arguments[1]) : 0;
  if (wanted <= 0) return std::fprintf(stderr, "usage: fuzz_workbench REQUESTS\n"), 2;
  std::mt19937 random(20261127);
  const std::vector<std::string> good = seeds();
  std::map<int, long> statuses;
  for (long i = 0; i < wanted; ++i) {
    const std::string text = changed(good[random() % good.size()], random);
    ++statuses[answered(text)];
    check_name(text.substr(0, 130));
  }
  for (const auto &[status, times] : statuses) std::printf("status %d: %ld\n", status, times);
  // Requests that all fail the same way would test nothing.
  return statuses[200] * 20 > wanted && statuses[400] * 50 > wanted && statuses[409] * 50 > wanted ? 0 : 1;
}
#endif
