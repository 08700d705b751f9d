// SPDX-License-Identifier: MIT
#include "apps/thrum/usage.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "thrum/scene/mistakes.h"

namespace thrum::app {

namespace {

// "; did you mean 'mesh'?", or a full stop.
std::string suggestion(const std::string& word, const std::vector<std::string>& known)
{
  const std::string nearest = scene::nearest_name(word, known);
  return nearest.empty() ? "." : fmt::format("; did you mean '{}'?", nearest);
}

std::vector<std::string> command_names(const CLI::App& command)
{
  std::vector<std::string> names;
  for (const CLI::App* part : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(part->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command)
{
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// A mistyped command may have been parsed as the file that `command` expects there.
std::string suggest_command_for_file(const CLI::App& command)
{
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || option->count() == 0) continue;
    const std::string nearest = scene::nearest_name(option->results().front(), command_names(command));
    if (!nearest.empty())
      return fmt::format(" '{}' was read as a file name; did you mean '{}'?", option->results().front(),
                         nearest);
  }
  return {};
}

// Whether the first word after `command` that is no option had to be one of its commands.
bool expects_command(const CLI::App& command)
{
  const bool takes_files =
      !command.get_options([](const CLI::Option* o) { return o->get_positional(); }).empty();
  return !command_names(command).empty() && !takes_files && command.get_subcommands().empty();
}

// `word` is the first word that `command`, with the full name `name`, does not know.
std::string unknown_word(const CLI::App& command, const std::string& name, const std::string& word)
{
  if (word.size() > 1 && word.front() == '-') {
    const std::string option = word.substr(0, word.find('='));
    return fmt::format("'{}' has no option {}{}", name, option, suggestion(option, option_names(command)));
  }
  if (expects_command(command))
    return fmt::format("'{}' has no command '{}'{}", name, word, suggestion(word, command_names(command)));
  return fmt::format("'{}' does not expect '{}'.{}", name, word, suggest_command_for_file(command));
}

}  // namespace

std::string describe_unknown_command(const CLI::App& app)
{
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  if (!expects_command(*command)) return {};
  for (const std::string& word : command->remaining())
    if (!word.starts_with('-')) return unknown_word(*command, name, word);
  return {};
}

std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error)
{
  // From the program down to the command: the first unknown word is the cause of the other errors, such as a
  // required option that seems to be missing.
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (true) {
    const std::vector<std::string> left = command->remaining();
    if (!left.empty()) return unknown_word(*command, name, left.front());
    const std::vector<CLI::App*> next = command->get_subcommands();
    if (next.empty()) break;
    command = next.front();
    name += " " + command->get_name();
  }
  const std::vector<std::string> parts = command_names(*command);
  if (!parts.empty() && error.what() == std::string_view("A subcommand is required"))
    return fmt::format("'{}' needs a command: {}.", name, fmt::join(parts, ", "));
  return error.what();
}

}  // namespace thrum::app
