// SPDX-License-Identifier: MIT
// The command line. Exit codes: 0 success, 1 failure, 2 wrong usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <string>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "apps/thrum/usage.h"
#include "thrum/base/error.h"

namespace {

// Every usage error also points to the help.
int report_bad_usage(const std::string& sentence)
{
  fmt::print(stderr, "thrum: {}\n", sentence);
  fmt::print(stderr, "Run 'thrum --help', or a command with --help, for its usage.\n");
  return thrum::app::bad_usage;
}

// Parses the arguments and runs the command; its callback throws on errors.
int run(int argc, char** argv)
{
  CLI::App app{
      "thrum simulates rigid bodies that ring: meshes, vibration modes and motion from one command line.",
      "thrum"};
  app.set_version_flag("--version", "thrum " THRUM_VERSION, "Show the version and exit");
  app.set_help_flag("-h,--help", "Show this help and exit");
  app.get_formatter()->column_width(34);
  app.require_subcommand(1);
  app.footer("Every command has its own help: thrum mesh --help, thrum mesh info --help.");
  thrum::app::add_mesh_commands(app);
  thrum::app::add_modes_commands(app);
  thrum::app::add_scene_check(app);
  thrum::app::add_scene_run(app);
  thrum::app::add_scene_export(app);
  thrum::app::add_scene_view(app);
  thrum::app::add_sound(app);
  thrum::app::add_strike(app);
  thrum::app::add_fit(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    // --help and --version; a command that does not exist has no help.
    const std::string unknown = thrum::app::describe_unknown_command(app);
    return unknown.empty() ? app.exit(success) : report_bad_usage(unknown);
  } catch (const CLI::RuntimeError& failure) {
    return failure.get_exit_code();  // the command has printed its result, such as runs that differ
  } catch (const CLI::ParseError& error) {
    return report_bad_usage(thrum::app::describe_usage_error(app, error));
  }
  return thrum::app::done;
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    return run(argc, argv);
  } catch (const thrum::Error& error) {
    fmt::print(stderr, "thrum: {}\n", error.what());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "thrum: not enough memory; use a coarser resolution.\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "thrum: unexpected failure: {}\n", error.what());
  }
  return thrum::app::failed;
}
