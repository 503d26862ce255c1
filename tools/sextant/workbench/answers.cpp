// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/answers.hpp"

#include "report/error.hpp"
#include "report/explanation.hpp"
#include "workbench/page.hpp"

namespace tool {
namespace {

using Argument = std::function<const char *(const char *)>;

Answer json_answer(const Json &json, int status = 200) {
  return {status, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace), "", "", nullptr};
}

std::string text_argument(const Argument &argument, const char *name) {
  const char *value = argument(name);
  return value ? value : "";
}

Json form_of(const std::string &body) {
  // The parser would take a NUL for the end.
  Json form = body.find('\0') == std::string::npos ? Json::parse(body, nullptr, false) : Json();
  if (!form.is_object() || !part(form, "action").is_string())
    fail(exit_usage, "the body is no JSON object with an action");
  return form;
}

// {kernels: [{name, kind}], kinds: [kind] in their order, operations: {kind: [name]}}
Json kernels_json(const std::vector<ModelledKernel> &kernels) {
  Json json = {{"kernels", Json::array()}, {"kinds", Json::array()}, {"operations", Json::object()}};
  for (const ModelledKernel &each : kernels) {
    json["kernels"].push_back({{"name", each.name}, {"kind", each.kind}});
    if (!json["operations"].contains(each.kind)) json["kinds"].push_back(each.kind);
    json["operations"][each.kind] = each.source->operations();
  }
  return json;
}

Answer page_answer() {
  const std::string nonce = random_letters(128);
  return {200, "text/html; charset=utf-8", live_page(nonce), content_policy(nonce, true), "", nullptr};
}

Answer get(Session &session, std::string_view path, const Argument &argument) {
  if (path == "/") return page_answer();
  if (path == "/api/state")
    return json_answer(session.state(small_number(argument("job"), 0),
                                     static_cast<std::size_t>(small_number(argument("event"), 0)),
                                     small_number(argument("result"), 0)));
  if (path == "/api/kernels") return json_answer(kernels_json(session.kernels()));
  if (path == "/api/report")
    return {200, "text/html; charset=utf-8", report_page(session.results(), "Sextant report"),
            "",  "sextant-report.html",      nullptr};
  if (path == "/api/result") {
    const int wanted = small_number(argument("id"), 0);
    if (const ResultPointer found = session.result(wanted))
      return json_answer(found->error.empty() ? found->data : Json{{"error", found->error}});
    return refusal(404, fmt::format("there is no result {}", wanted));
  }
  if (path == "/api/file") {
    const std::string name = text_argument(argument, "name");
    return {200, "application/octet-stream", "", "", name, session.file_of(small_number(argument("result"), 0), name)};
  }
  return refusal(404, "there is nothing at this address");
}

Answer post(Session &session, std::string_view path, const Argument &argument, const std::string &body) {
  if (path == "/api/command") {
    const Json form = form_of(body);
    return json_answer({{"command", session.command_of(form["action"], part(form, "fields"))}});
  }
  if (path == "/api/jobs") {
    const Json form = form_of(body);
    return json_answer({{"id", session.start(form["action"], part(form, "fields"))}}, 202);
  }
  if (path == "/api/cancel") {
    session.cancel();
    return json_answer(Json::object());
  }
  if (path == "/api/upload") {
    const std::string name = text_argument(argument, "name");
    session.keep(name, body);
    return json_answer({{"name", name}});
  }
  return refusal(404, "there is nothing at this address");
}

}  // namespace

std::size_t most_body(std::string_view path) { return path == "/api/upload" ? most_upload : most_form; }

Answer refusal(int status, const std::string &sentence) { return json_answer({{"error", sentence}}, status); }

Answer answer(Session &session, const RequestFacts &request, const Argument &argument, const std::string &body) {
  try {
    return request.method == "GET" ? get(session, request.path, argument) : post(session, request.path, argument, body);
  } catch (const ToolError &error) {
    const int status = error.exit_code() == exit_usage       ? 400
                       : error.exit_code() == exit_bad_input ? 404
                       : error.exit_code() == exit_refused   ? 409
                                                             : 500;
    return refusal(status, error.what());
  } catch (const std::exception &error) {
    return refusal(500, error.what());
  }
}

}  // namespace tool
