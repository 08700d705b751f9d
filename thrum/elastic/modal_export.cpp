// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>

#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::elastic {

namespace {

static_assert(std::endian::native == std::endian::little, "the .modes layout is written as in memory");

// Area-weighted normal of every surface vertex.
std::vector<Vec3> vertex_normals(const mesh::TriangleMesh& surface)
{
  std::vector<Vec3> normals(surface.vertices.size(), Vec3::Zero());
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Vec3 area = mesh::area_vector(surface, t);
    for (const Index v : surface.triangles[t]) normals[at(v)] += area;
  }
  for (Vec3& n : normals) n.normalize();
  return normals;
}

// How strongly a mode radiates, sqrt of the integral of (phi . n)^2 over the surface [m kg^(-1/2)]: the
// quadratic form of linear triangles, integral = area/12 (sum^2 + sum of squares) of the corner values.
double normal_motion(const model::ModalModel& model, Index mode)
{
  double total = 0;
  for (std::size_t t = 0; t < model.surface.triangles.size(); ++t) {
    const Vec3 twice_area = mesh::area_vector(model.surface, t);
    const double twice = twice_area.norm();
    if (twice == 0) continue;
    double sum = 0;
    double squares = 0;
    for (const Index v : model.surface.triangles[t]) {
      const double along = twice_area.dot(model.shapes.col(mode).segment<3>(3 * v)) / twice;
      sum += along;
      squares += along * along;
    }
    total += twice / 24 * (sum * sum + squares);
  }
  return std::sqrt(total);
}

std::string joined(const VecX& values)
{
  std::string text;
  for (const double value : values) text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", value);
  return text;
}

// Names in Faust and SuperCollider: letters, digits and underscores, not starting with a digit.
std::string identifier(const std::string& name)
{
  std::string result;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    result += plain ? c : '_';
  }
  if (result.empty() || (result.front() >= '0' && result.front() <= '9')) result.insert(0, "body_");
  if (result.front() >= 'A' && result.front() <= 'Z') result.insert(0, "a_");
  return result;
}

template <class T>
void put(std::string& bytes, const T* values, std::size_t count)
{
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

}  // namespace

VecX surface_motion(const model::ModalModel& model)
{
  VecX motion(model.mode_count());
  for (Index m = 0; m < model.mode_count(); ++m) motion[m] = normal_motion(model, m);
  return motion;
}

SurfaceProbe choose_strike_point(const model::ModalModel& model)
{
  if (model.mode_count() == 0) throw Error("The model has no modes, so there is nothing to strike.");
  const std::vector<Vec3> normals = vertex_normals(model.surface);
  MatX along(model.vertex_count(), model.mode_count());
  for (Index v = 0; v < model.vertex_count(); ++v) {
    along.row(v) = normals[at(v)].transpose() * model.shapes.middleRows<3>(3 * v);
  }
  along = along.cwiseAbs();
  const Eigen::RowVectorXd max_along = along.colwise().maxCoeff();
  for (Index m = 0; m < model.mode_count(); ++m) {
    if (max_along[m] > 0) along.col(m) /= max_along[m];
  }
  // The first few modes determine the pitch; with more of them no vertex would excite all.
  constexpr Index kMaxStrikeModes = 8;
  const Index count = std::min(kMaxStrikeModes, model.mode_count());
  Eigen::Index best = 0;
  along.leftCols(count).rowwise().minCoeff().maxCoeff(&best);

  SurfaceProbe probe;
  probe.direction = normals[at(best)];
  for (std::size_t t = 0; t < model.surface.triangles.size(); ++t) {
    for (std::size_t c = 0; c < 3; ++c) {
      if (model.surface.triangles[t][c] != static_cast<Index>(best)) continue;
      probe.point = {static_cast<Index>(t), Vec3::Unit(static_cast<Eigen::Index>(c))};
      return probe;
    }
  }
  return probe;
}

// A unit impulse gives mode m the velocity f_m; far away its pressure is proportional to the velocity times
// the square root of A_m = integral (phi . n)^2 dS (the radiation efficiency is left to the receiving
// program), so
//
//     gain_m = f_m sqrt(A_m) / max |f sqrt(A)|,      t60 = ln(1000) / decay.
ToneList tones(const model::ModalModel& model, const SurfaceProbe& strike, double max_frequency)
{
  const VecX row = surface_row(model, strike);
  std::vector<double> frequencies;
  std::vector<double> gains;
  std::vector<double> times;
  double loudest = 0;
  Index left_out = 0;
  for (Index m = 0; m < model.mode_count(); ++m) {
    const double omega = model.omega(m);
    const double decay = model.decays[m];
    if (decay >= omega) continue;
    if (model.frequencies[m] > max_frequency) {
      ++left_out;
      continue;
    }
    frequencies.push_back(std::sqrt((omega - decay) * (omega + decay)) / (2 * std::numbers::pi));
    gains.push_back(row[m] * normal_motion(model, m));
    times.push_back(decay > 0 ? std::log(1000.0) / decay : std::numeric_limits<double>::infinity());
    loudest = std::max(loudest, std::abs(gains.back()));
  }
  const auto vector = [](const std::vector<double>& v) {
    return VecX(Eigen::Map<const VecX>(v.data(), static_cast<Eigen::Index>(v.size())));
  };
  ToneList list{model.name, vector(frequencies), vector(gains), vector(times), left_out};
  if (loudest > 0) list.gains /= loudest;
  // A mode without damping never decays; other programs need a finite number.
  constexpr double kMaxRingTime = 600;  // [s]
  list.t60 = list.t60.cwiseMin(kMaxRingTime);
  return list;
}

std::string faust_program(const ToneList& list)
{
  return fmt::format(
      "// {0}: {1} modes. Frequencies in Hz, gains relative to the loudest, ring times (60 dB) in seconds.\n"
      "import(\"stdfaust.lib\");\n\n"
      "frequency(n) = ba.take(n + 1, ({2}));\n"
      "gain(n) = ba.take(n + 1, ({3}));\n"
      "t60(n) = ba.take(n + 1, ({4}));\n"
      "{5} = _ <: par(i, {1}, pm.modeFilter(frequency(i), t60(i), gain(i))) :> /({1});\n\n"
      "process = button(\"strike\") : ba.impulsify : {5} <: _, _;\n",
      list.name.empty() ? "body" : list.name, list.frequencies.size(), joined(list.frequencies),
      joined(list.gains), joined(list.t60), identifier(list.name));
}

std::string supercollider_program(const ToneList& list)
{
  return fmt::format(
      "// {0}: {1} modes. Frequencies in Hz, gains relative to the loudest, ring times (60 dB) in seconds.\n"
      "SynthDef(\\{2}, {{ |out = 0, amp = 0.1|\n"
      "    var modes = `[\n"
      "        [{3}],\n"
      "        [{4}],\n"
      "        [{5}]\n"
      "    ];\n"
      "    var sound = Klank.ar(modes, Impulse.ar(0)) * amp;\n"
      "    DetectSilence.ar(sound, doneAction: 2);\n"
      "    Out.ar(out, sound ! 2);\n"
      "}}).add;\n"
      "// Synth(\\{2});\n",
      list.name.empty() ? "body" : list.name, list.frequencies.size(), identifier(list.name),
      joined(list.frequencies), joined(list.gains), joined(list.t60));
}

// One vline~ counts the seconds since the strike; each mode is osc~ times exp(-decay seconds). Before the
// first strike the count is so high that everything is silent.
std::string pure_data_patch(const ToneList& list)
{
  constexpr double kSilent = 1e5;  // [s]
  const double longest = list.t60.size() > 0 ? 1.5 * list.t60.maxCoeff() : 1;
  std::string text = "#N canvas 60 60 760 480 12;\n";
  text += fmt::format("#X text 20 10 {}: {}. Click the button to strike it.;\n",
                      list.name.empty() ? "body" : identifier(list.name),
                      base::counted(at(list.frequencies.size()), "mode"));
  text += "#X obj 200 50 loadbang;\n";                                                              // 1
  text += fmt::format("#X msg 200 80 {};\n", kSilent);                                              // 2
  text += "#X obj 20 50 bng 25 250 50 0 empty empty strike 30 12 0 12 #fcfcfc #000000 #000000;\n";  // 3
  text += fmt::format("#X msg 20 90 0 \\, {:.6g} {:.6g};\n", longest, 1000 * longest);              // 4
  text += "#X obj 20 120 vline~;\n";                                                                // 5
  text += "#X msg 120 90 0.75;\n";    // 6: osc~ starts as a sine
  text += "#X obj 20 420 *~ 0.1;\n";  // 7
  text += "#X obj 20 450 dac~;\n";    // 8
  std::string wires =
      "#X connect 1 0 2 0;\n#X connect 2 0 5 0;\n#X connect 3 0 4 0;\n#X connect 3 0 6 0;\n"
      "#X connect 4 0 5 0;\n#X connect 7 0 8 0;\n#X connect 7 0 8 1;\n";
  Eigen::Index next = 9;
  for (Eigen::Index m = 0; m < list.frequencies.size(); ++m, next += 5) {
    const Eigen::Index x = 20 + 130 * (m % 8);
    const Eigen::Index y = 160 + 30 * (m / 8);
    text += fmt::format("#X obj {} {} osc~ {:.6g};\n", x, y, list.frequencies[m]);
    text += fmt::format("#X obj {} {} *~ {:.6g};\n", x, y + 20, -std::log(1000.0) / list.t60[m]);
    text += fmt::format("#X obj {} {} exp~;\n#X obj {} {} *~ {:.6g};\n#X obj {} {} *~;\n", x, y + 40, x,
                        y + 60, list.gains[m], x, y + 80);
    wires += fmt::format("#X connect 6 0 {} 1;\n#X connect 5 0 {} 0;\n#X connect {} 0 {} 0;\n", next,
                         next + 1, next + 1, next + 2);
    wires += fmt::format("#X connect {} 0 {} 0;\n#X connect {} 0 {} 0;\n#X connect {} 0 {} 1;\n", next + 2,
                         next + 3, next + 3, next + 4, next, next + 4);
    wires += fmt::format("#X connect {} 0 7 0;\n", next + 4);
  }
  return text + wires;
}

std::string pure_data_list(const ToneList& list)
{
  std::string text;
  for (Eigen::Index m = 0; m < list.frequencies.size(); ++m) {
    text += fmt::format("{:.6g} {:.6g} {:.6g};\n", list.frequencies[m], list.gains[m], list.t60[m]);
  }
  return text;
}

std::string csv_table(const model::ModalModel& model, const SurfaceProbe& strike)
{
  const VecX row = surface_row(model, strike);
  std::string text = "mode,frequency_hz,decay_per_s,damping_ratio,t60_s,gain\n";
  const VecX gains = row.cwiseProduct(surface_motion(model));
  const double loudest = gains.size() > 0 ? gains.cwiseAbs().maxCoeff() : 0;
  for (Index m = 0; m < model.mode_count(); ++m) {
    const double decay = model.decays[m];
    text +=
        fmt::format("{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}\n", m + 1, model.frequencies[m], decay,
                    decay / model.omega(m), std::log(1000.0) / decay, loudest > 0 ? gains[m] / loudest : 0.0);
  }
  return text;
}

// K x = w^2 M x with M = rho M_1 reads K x = (rho w^2) M_1 x, so the eigenvalues of the body of unit density
// are rho w^2, and shapes normalised with M_1 are sqrt(rho) times ours.
std::string stanford_modes(const model::ModalModel& model)
{
  if (model.materials.empty()) throw Error("The model has no material, which a .modes file needs.");
  const double density = model.materials.front().density;
  for (const model::Material& material : model.materials) {
    if (material.density != density) {
      throw Error(fmt::format(
          "The body has regions of {} and of {} kg/m^3; a .modes file can store one density only.", density,
          material.density));
    }
  }
  const auto freedoms = static_cast<std::int32_t>(model.shapes.rows());
  const auto modes = static_cast<std::int32_t>(model.mode_count());
  std::string bytes;
  bytes.reserve(8 + 8 * at(modes) * (1 + at(freedoms)));
  put(bytes, &freedoms, 1);
  put(bytes, &modes, 1);
  for (Index m = 0; m < modes; ++m) {
    const double eigenvalue = density * model.omega(m) * model.omega(m);
    put(bytes, &eigenvalue, 1);
  }
  const MatX shapes = std::sqrt(density) * model.shapes;
  put(bytes, shapes.data(), at(shapes.size()));
  return bytes;
}

}  // namespace thrum::elastic
