// SPDX-License-Identifier: MIT
// dump_flexible_problems FILE: runs every scene that the flexible stepper is made for, with both laws of
// contact, and writes problems of its substeps for solver_agreement_test.cpp.
//
// Chosen are, of each run, the substep with the most contacts that press, that with the most iterations, and
// those with most contacts after 1/3 and 2/3 of the run. Problems larger than kMaxBytes are left out of the
// choice, so that the file stays small.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

#include "tests/flexible/problem_file.h"
#include "tests/support/source_dir.h"
#include "thrum/base/error.h"
#include "thrum/flexible/contact_group.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/scene/build_world.h"

namespace thrum::flexible {
namespace {

constexpr std::size_t kMaxBytes = 40000;

class Chooser final : public SubstepObserver {
 public:
  explicit Chooser(const FlexibleSettings& settings) : settings_(settings) {}

  void on_substep(const ContactGroup& group, const SubstepInfo& info) override
  {
    const std::scoped_lock lock(mutex_);
    int contacts = 0;  // that press
    for (int i = 0; i < group.contact_count(); ++i) contacts += group.force(i) > 0 ? 1 : 0;
    if (contacts == 0) return;
    offer(most_contacts_, group, contacts);
    offer(most_iterations_, group, info.iterations);
    if (is_wanted_now_) offer(now_, group, contacts);
  }

  void begin_wanted() { is_wanted_now_ = true; }
  void end_wanted(const std::string& name)
  {
    is_wanted_now_ = false;
    if (now_.problem) taken_.push_back({name, *now_.problem});
    now_ = {};
  }

  [[nodiscard]] std::vector<NamedProblem> all(const std::string& run)
  {
    std::vector<NamedProblem> out;
    if (most_contacts_.problem) out.push_back({run + ", most contacts", *most_contacts_.problem});
    if (most_iterations_.problem) out.push_back({run + ", most iterations", *most_iterations_.problem});
    for (const NamedProblem& named : taken_) out.push_back({run + ", " + named.name, named.problem});
    return out;
  }

 private:
  struct Choice {
    int merit = 0;
    std::optional<GroupProblem> problem;
  };

  void offer(Choice& choice, const ContactGroup& group, int merit) const
  {
    if (choice.problem && merit <= choice.merit) return;
    GroupProblem problem = group.problem(settings_);
    std::ostringstream bytes;
    write_problem(bytes, {"", problem});
    if (bytes.str().size() > kMaxBytes) return;
    choice = {merit, std::move(problem)};
  }

  FlexibleSettings settings_;
  std::mutex mutex_;
  Choice most_contacts_, most_iterations_, now_;
  bool is_wanted_now_ = false;
  std::vector<NamedProblem> taken_;
};

struct Run {
  const char* scene;
  std::vector<std::string> settings;
  double duration;  ///< a part of the scene in which bodies meet [s]
};

std::size_t dump(const Run& run, ContactLaw law, std::ostream& out)
{
  const bool is_hard = law == ContactLaw::hard;
  std::vector<std::string> settings = run.settings;
  settings.emplace_back("stepper.kind=flexible");
  scene::SceneDesc desc = scene::read_scene(
      support::source_dir() / "scenes" / (std::string(run.scene) + ".json"), {.settings = settings});
  desc.world.flexible.contact = law;
  Chooser chooser(desc.world.flexible);
  scene::BuiltScene built = scene::build_world(desc);
  built.world.set_substep_observer(&chooser);
  const int steps = static_cast<int>(std::lround(run.duration / desc.step));
  const std::array<int, 2> wanted = {steps / 3, 2 * steps / 3};
  for (int i = 0; i < steps; ++i) {
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), i) != wanted.end();
    if (is_wanted) chooser.begin_wanted();
    built.step(i * desc.step, desc.step);
    if (is_wanted) chooser.end_wanted(fmt::format("{:.2f} s", i * desc.step));
  }
  const GroupReport& work = built.world.flexible_report().groups;
  std::size_t bytes = 0;
  for (const NamedProblem& named : chooser.all(fmt::format("{} {}", run.scene, is_hard ? "hard" : "hertz"))) {
    std::ostringstream text;
    write_problem(text, named);
    bytes += text.str().size();
    out << text.str();
    fmt::print("{}: {} contacts, {} rows, {} coordinates, {} bytes\n", named.name,
               named.problem.contacts.size(), named.problem.J.rows(), named.problem.J.cols(),
               text.str().size());
  }
  fmt::print("{}: {} substeps, {} by Newton's method, {} unsolved, residual {:.1e}\n\n", run.scene,
             work.substeps, work.newton_solves, work.unsolved, work.max_residual);
  std::fflush(stdout);
  return bytes;
}

}  // namespace
}  // namespace thrum::flexible

int main(int argc, char** argv)
{
  using thrum::flexible::Run;
  if (argc < 2) {
    fmt::print(stderr, "usage: dump_flexible_problems FILE [scene ...]\n");
    return 2;
  }
  try {
    std::ofstream out(argv[1], std::ios::binary);
    std::size_t bytes = 0;
    for (const Run& run : {Run{"dinner", {"parameters.drop=0.03", "bodies.table.rings.modes=12"}, 0.12},
                           Run{"mug_poses", {}, 0.5}, Run{"tuning_fork", {}, 0.5},
                           Run{"marbles_in_bowl", {}, 0.5}, Run{"marble_track", {}, 0.5},
                           Run{"cart", {}, 0.2}, Run{"pipes", {}, 0.4}, Run{"ruler", {}, 0.15}}) {
      if (argc > 2 && std::find(argv + 2, argv + argc, std::string_view(run.scene)) == argv + argc) continue;
      for (const auto law : {thrum::flexible::ContactLaw::hertz, thrum::flexible::ContactLaw::hard})
        bytes += dump(run, law, out);
    }
    fmt::print("{} bytes\n", bytes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
