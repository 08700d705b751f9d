// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

int main(int argc, char** argv)
{
  CLI::App app{"thrum makes rigid bodies ring."};
  app.set_version_flag("--version", THRUM_VERSION);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
