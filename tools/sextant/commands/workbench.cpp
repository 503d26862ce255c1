// SPDX-License-Identifier: BSD-3-Clause
// sextant workbench: serves the page to a browser on this machine, until Ctrl-C.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>

#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "input/numbers.hpp"
#include "report/output.hpp"
#include "workbench/folder.hpp"
#include "workbench/page.hpp"
#include "workbench/server.hpp"

namespace tool {
namespace {

struct WorkbenchOptions {
  ContextOptions context;
  ServerOptions server;
  std::string folder;
  bool read_only = false, no_open = false;
};

// The desktop's own command, which may not be there; the address was printed in any case.
void open_browser(const std::string &address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      execlp("xdg-open", "xdg-open", address.c_str(), static_cast<char *>(nullptr));
      _exit(127);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

int workbench(const WorkbenchOptions &options) {
  // Before any thread starts, so that all leave these signals to the wait below.
  sigset_t ending, before;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  std::signal(SIGPIPE, SIG_IGN);
  const Folder folder(options.folder);
  const std::string token = random_letters(128);
  Session session({folder.path(), context_line(options.context), options.read_only});
  const Server server(session, options.server, token);
  const std::string fragment = "/#token=" + token;
  if (options.server.socket.empty()) {
    const std::string address = fmt::format("http://127.0.0.1:{}{}", server.port(), fragment);
    print("{}\n", address);
    finish_stdout();
    if (!options.no_open) open_browser(address);
  } else {
    print("{}\nssh -L 8000:{} HOST, then http://localhost:8000{}\n", options.server.socket, options.server.socket,
          fragment);
    finish_stdout();
  }
  message("serving; Ctrl-C ends it");
  int signal = 0;
  sigwait(&ending, &signal);
  message("ending");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return exit_done;
}

constexpr const char *help_footer = R"(Examples:
  sextant workbench                             prints the address, and opens a browser where there is a desktop
  sextant workbench --port 8080 --no-open       then on your own machine: ssh -L 8080:localhost:8080 HOST
  sextant workbench --socket /run/user/1000/sextant.sock --read-only

It answers this machine alone, and only requests that carry the token in the address. Ctrl-C ends it.)";

}  // namespace

void add_workbench(CLI::App &parent, Action &action) {
  auto options = std::make_shared<WorkbenchOptions>();
  CLI::App *app = parent.add_subcommand("workbench", "Serve a page that measures, fits, explains and generates");
  auto *port = app->add_option("--port", options->server.port, "Of 127.0.0.1; 0: a free one")
                   ->capture_default_str()
                   ->check(number_within(0, 65535));
  app->add_option("--socket", options->server.socket, "A Unix socket in the place of a port")
      ->type_name("PATH")
      ->excludes(port);
  app->add_option("--folder", options->folder, "Keep uploads and generated programs here; default: a temporary one")
      ->type_name("DIR");
  app->add_flag("--read-only", options->read_only, "Show, and start nothing");
  app->add_flag("--no-open", options->no_open, "Do not open a browser");
  add_context_options(*app, options->context);
  app->footer(help_footer);
  app->callback([options, &action] { action = [options] { return workbench(*options); }; });
}

}  // namespace tool
