// SPDX-License-Identifier: MIT
// How fast contact sound is made: the bank of modes alone, bodies with contact damping, a scene.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "benchmarks/harness.h"
#include "thrum/base/parallel.h"
#include "thrum/base/random.h"
#include "thrum/media/run_sound.h"
#include "thrum/scene/run_scene.h"
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

// A body that has only its modes: 50 of them, of random shapes on a box.
std::shared_ptr<const sound::SoundModel> random_body(std::uint64_t seed)
{
  base::Random random(seed);
  auto model = std::make_shared<model::ModalModel>();
  for (int i = 0; i < 8; ++i)
    model->surface.vertices.emplace_back(i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1);
  model->surface.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                              {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  const elastic::ModeList list = random_modes(50, seed);
  model->frequencies = list.omegas / (2 * std::numbers::pi);
  std::sort(model->frequencies.begin(), model->frequencies.end());
  model->decays = list.decays;
  model->shapes = MatX(24, 50);
  for (Eigen::Index i = 0; i < model->shapes.size(); ++i) model->shapes.data()[i] = random.uniform(-1, 1);
  model->mass = 1;
  model::Material steel{
      .name = "steel", .density = 7850, .young = 2e11, .poisson = 0.29, .contact_damping = 0.3};
  return std::make_shared<const sound::SoundModel>(model, model->surface, steel);
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
  // 100 bodies of 50 modes, each on four contacts whose forces change in every step, struck once a second.
  const sound::SynthesisSettings settings = {.sample_rate = kRate, .modes = 50};
  std::vector<sound::SynthesisBody> bodies;
  for (std::uint64_t b = 0; b < 100; ++b)
    bodies.push_back({fmt::format("body{}", b), random_body(b), 1, true});
  bodies.push_back({"ground", random_body(1000), 0, false});
  const auto run = [&] {
    sound::Synthesis synthesis(bodies, settings);
    base::Random random(5);
    std::vector<std::vector<double>> out;
    const double h = 1.0 / 120;
    double time = 0;
    for (std::size_t block = 0; block < kRate / 2048; ++block) {
      while (synthesis.ready_until() < static_cast<double>((block + 1) * 2048) / kRate) {
        sound::ExcitationStep step;
        step.time = time;
        step.duration = h;
        for (std::uint32_t b = 0; b < 100; ++b) {
          for (std::uint64_t k = 0; k < 4; ++k) {
            sound::ContactSample& c = step.contacts.emplace_back();
            c.a = 100;
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
        step.poses.push_back({100, Pose{}});
        synthesis.add_step(step, Vec3(0, -2, 1));
        time += h;
      }
      synthesis.render(64, out);
    }
  };
  // CPU time of one thread: other programs do not count.
  const int threads = base::thread_count();
  base::set_thread_count(1);
  const double seconds = min_cpu_seconds(run, 2);
  base::set_thread_count(threads);
  report.row({.name = "100 bodies x 50 modes, contact damping, one core",
              .figure = 1 / seconds,
              .unit = "x real time",
              .target = 5,
              .better = Better::higher});
}

THRUM_BENCHMARK(sound, dinner)
{
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "thrum_bench_dinner";
  const std::filesystem::path file = std::filesystem::path(THRUM_SOURCE_DIR) / "scenes/dinner.json";
  scene::RunDesc run;
  run.folder = folder;
  run.scene_file = file;
  (void)scene::run_scene(scene::read_scene(file), run);
  const sim::Recording recording = sim::read_recording(folder / "recording");
  (void)media::write_run_sound(folder, recording);  // finds the modes
  media::RunSound sound;
  const int threads = base::thread_count();
  base::set_thread_count(1);
  const double seconds = min_cpu_seconds([&] { sound = media::write_run_sound(folder, recording); }, 2);
  base::set_thread_count(threads);
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
