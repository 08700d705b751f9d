// SPDX-License-Identifier: MIT
// How fast contact sound is made: the bank of modes alone, bodies with contact damping, a scene.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "benchmarks/harness.h"
#include "tests/support/source_dir.h"
#include "thrum/base/parallel.h"
#include "thrum/base/random.h"
#include "thrum/media/run_sound.h"
#include "thrum/scene/run_scene.h"
#include "thrum/sound/listener.h"
#include "thrum/sound/modal_bank.h"
#include "thrum/sound/synthesis.h"

namespace thrum::bench {

namespace {

constexpr int kRate = 48000;

elastic::ModeList random_modes(Eigen::Index count, std::uint64_t seed)
{
  base::Random random(seed);
  elastic::ModeList list;
  list.omegas = VecX(count);
  list.decays = VecX(count);
  for (Eigen::Index m = 0; m < count; ++m) {
    list.omegas[m] = 2 * std::numbers::pi * random.uniform(50, 19000);
    list.decays[m] = random.uniform(1, 50);
  }
  return list;
}

// The textbook filter: a mode at a time, a complex product and a sum a sample.
double plain_loop(const elastic::ModeList& list, std::vector<double>& out)
{
  std::fill(out.begin(), out.end(), 0.0);
  for (Eigen::Index m = 0; m < list.omegas.size(); ++m) {
    const std::complex<double> pole =
        std::exp(std::complex<double>(-list.decays[m], list.omegas[m]) / double(kRate));
    double re = 1;
    double im = 0;
    for (double& sample : out) {
      sample += re;
      const double next = pole.real() * re - pole.imag() * im;
      im = pole.real() * im + pole.imag() * re;
      re = next;
    }
  }
  return out[out.size() / 2];
}

// A body that has only its modes, of random shapes on a box.
std::shared_ptr<const sound::SoundModel> random_body(std::uint64_t seed, int modes)
{
  base::Random random(seed);
  auto model = std::make_shared<model::ModalModel>();
  for (int i = 0; i < 8; ++i)
    model->surface.vertices.emplace_back(i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1);
  model->surface.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                              {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  const elastic::ModeList list = random_modes(modes, seed);
  model->frequencies = list.omegas / (2 * std::numbers::pi);
  std::sort(model->frequencies.begin(), model->frequencies.end());
  model->decays = list.decays;
  model->shapes = MatX(24, modes);
  for (Eigen::Index i = 0; i < model->shapes.size(); ++i) model->shapes.data()[i] = random.uniform(-1, 1);
  model->mass = 1;
  model::Material steel{
      .name = "steel", .density = 7850, .young = 2e11, .poisson = 0.29, .contact_damping = 0.3};
  return std::make_shared<const sound::SoundModel>(model, model->surface, steel,
                                                   sound::SynthesisSettings{.modes = modes});
}

// Bodies on four contacts each, whose forces change in every step, struck once at the beginning.
std::vector<sound::SynthesisBody> random_bodies(std::size_t count, int modes)
{
  std::vector<sound::SynthesisBody> bodies;
  for (std::uint64_t b = 0; b < count; ++b) {
    const int share = static_cast<int>((static_cast<std::uint64_t>(modes) * (b + 1)) / count -
                                       (static_cast<std::uint64_t>(modes) * b) / count);
    bodies.push_back({fmt::format("body{}", b), random_body(b, share), 1, true});
  }
  bodies.push_back({"ground", random_body(1000, 10), 0, false});
  return bodies;
}

// The last body is what the others stand on.
sound::ExcitationStep random_step(std::size_t bodies, double time, double h, base::Random& random)
{
  sound::ExcitationStep step;
  step.time = time;
  step.duration = h;
  const auto ground = static_cast<std::uint32_t>(bodies - 1);
  for (std::uint32_t b = 0; b < ground; ++b) {
    for (std::uint64_t k = 0; k < 4; ++k) {
      sound::ContactSample& c = step.contacts.emplace_back();
      c.a = ground;
      c.b = b;
      c.key = k;
      c.position = Vec3(k & 1 ? 0.1 : -0.1, k & 2 ? 0.1 : -0.1, -0.1);
      c.normal_impulse = random.uniform(1, 3) * h;
      c.friction = 0.4;
      c.inverse_mass = 1;
      c.is_new = time == 0;
      c.approach_speed = time == 0 ? 1 : 0;
    }
    step.poses.push_back({b, Pose{}});
  }
  step.poses.push_back({ground, Pose{}});
  return step;
}

// The amplitude of all bodies over a time; with `listen` also what a pair of microphones hears of them.
void synthesise(const std::vector<sound::SynthesisBody>& bodies, double duration, bool listen)
{
  constexpr double kStep = 1.0 / 120;
  constexpr std::size_t kBlock = 32 * sound::ModalBank::kInterval;
  sound::Synthesis synthesis(bodies, {.sample_rate = kRate, .modes = 2000});
  const auto blocks = static_cast<std::size_t>(duration * kRate) / kBlock;
  const sound::PoseTrack here{Pose{}};
  const sound::Listener listener({}, sound::PoseTrack(sound::look_at({0, -2, 1}, Vec3::Zero())), kRate);
  sound::AudioBuffer heard = sound::make_silence(kRate, listener.channel_count(), blocks * kBlock);
  std::vector<std::vector<sound::ListenerPath>> paths(listen ? bodies.size() : 0);
  for (auto& path : paths) path = listener.paths_from({here}, {}, {}, heard);
  base::Random random(5);
  std::vector<std::vector<double>> out;
  double time = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (; synthesis.ready_until() < static_cast<double>((block + 1) * kBlock) / kRate; time += kStep)
      synthesis.add_step(random_step(bodies.size(), time, kStep, random), Vec3(0, -2, 1));
    synthesis.render(32, out);
    for (std::size_t b = 0; b < paths.size(); ++b)
      for (sound::ListenerPath& path : paths[b])
        if (!out[b].empty()) path.push(out[b]);
  }
}

// CPU time of one thread: other programs do not count.
double one_core_seconds(const std::function<void()>& work, int repeats)
{
  const int threads = base::thread_count();
  base::set_thread_count(1);
  const double seconds = min_cpu_seconds(work, repeats);
  base::set_thread_count(threads);
  return seconds;
}

}  // namespace

THRUM_BENCHMARK(sound, modal_bank)
{
  const elastic::ModeList list = random_modes(10000, 1);
  sound::ModalBank bank(list, kRate);
  bank.strike(0, 0, std::vector<double>(list.size(), 1.0));
  std::vector<double> out(sound::ModalBank::kInterval);
  const int intervals = kRate / static_cast<int>(sound::ModalBank::kInterval) / 4;
  const double ours = 4 * min_cpu_seconds([&] {
                        for (int i = 0; i < intervals; ++i) bank.render(out);
                      });
  std::vector<double> plain(kRate / 4);
  const double loop = 4 * min_cpu_seconds([&] { (void)plain_loop(list, plain); }, 2);
  report.row({.name = "10,000 modes at 48 kHz, one core",
              .figure = 1 / ours,
              .unit = "x real time",
              .target = 1,
              .better = Better::higher,
              .baseline = "a loop over the modes",
              .baseline_value = 1 / loop});
}

THRUM_BENCHMARK(sound, contact_damping)
{
  const std::vector<sound::SynthesisBody> bodies = random_bodies(100, 100 * 50);
  const double seconds = one_core_seconds([&] { synthesise(bodies, 1, false); }, 3);
  report.row({.name = "100 bodies x 50 modes, contact damping, one core",
              .figure = 1 / seconds,
              .unit = "x real time",
              .target = 5,
              .better = Better::higher});
}

// As many modes for as long as in table 2 of Zheng and James (2011), from contacts to two microphones.
// Numbers of the table that can be read in two ways are taken as the smaller one: it agrees with the rest,
// which are 1.5 to 2.4 ms for a mode and a second. Bodies as far as the paper names them, else about a
// hundred modes each.
THRUM_BENCHMARK(sound, table_2)
{
  const struct {
    const char* name;
    std::size_t bodies;
    int modes;
    double duration;  // [s]
    double paper;     // [s]
  } scenes[] = {{"ruler", 1, 305, 2, 7.2},
                {"table, 3 s", 11, 1005, 3, 22.2},
                {"mug", 1, 64, 3, 5.3},
                {"fork", 1, 30, 2, 4.3},
                {"pipes", 22, 842, 12.2, 15.7},
                {"marble tracks", 38, 3822, 3.5, 32.4},
                {"shopping cart", 20, 2060, 4, 14.2}};
  for (const auto& scene : scenes) {
    const std::vector<sound::SynthesisBody> bodies = random_bodies(scene.bodies, scene.modes);
    const double seconds = one_core_seconds([&] { synthesise(bodies, scene.duration, true); }, 2);
    report.row({.name = fmt::format("table 2, {}: {} modes, {} s", scene.name, scene.modes, scene.duration),
                .figure = seconds,
                .unit = "s",
                .baseline = "paper, 8 cores of 2009",
                .baseline_value = scene.paper,
                .target_ratio = 60});
  }
}

THRUM_BENCHMARK(sound, dinner)
{
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "thrum_bench_dinner";
  const std::filesystem::path file = support::source_dir() / "scenes/dinner.json";
  scene::RunDesc run;
  run.folder = folder;
  run.scene_file = file;
  (void)scene::run_scene(scene::read_scene(file), run);
  const sim::Recording recording = sim::read_recording(folder / "recording");
  (void)media::write_run_sound(folder, recording);  // finds the modes
  media::RunSound sound;
  const double seconds = one_core_seconds([&] { sound = media::write_run_sound(folder, recording); }, 2);
  report.row({.name = "sound of dinner, modes cached, one core",
              .figure = sound.sound.duration() / seconds,
              .unit = "x real time",
              .target = 1,
              .better = Better::higher});
  report.note(
      fmt::format("dinner: {:.2f} s of sound, {} bodies, {} modes, {} impacts; modes read in {:.2f} s, "
                  "synthesis {:.2f} s",
                  sound.sound.duration(), sound.sounding_bodies, sound.modes, sound.impacts,
                  sound.modes_seconds, sound.synthesis_seconds));
  std::filesystem::remove_all(folder);
}

}  // namespace thrum::bench
