// SPDX-License-Identifier: MIT
#include "thrum/elastic/stress_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/tetrahedron_element.h"

namespace thrum::elastic {

namespace {

// The estimate is capped at this fraction, above which it has no meaning.
constexpr double kMaxErrorFraction = 0.9;

// Strain as (xx, yy, zz, 2 yz, 2 xz, 2 xy).
using Strain = Eigen::Matrix<double, 6, 1>;

Strain strain_of(const Mat3& gradient)
{
  Strain s;
  s << gradient(0, 0), gradient(1, 1), gradient(2, 2), gradient(1, 2) + gradient(2, 1),
      gradient(0, 2) + gradient(2, 0), gradient(0, 1) + gradient(1, 0);
  return s;
}

// a : C : b for strains. Within a region C is constant, so averaging strain is averaging stress.
double energy_product(const LameConstants& lame, const Strain& a, const Strain& b)
{
  const double trace_a = a[0] + a[1] + a[2];
  const double trace_b = b[0] + b[1] + b[2];
  return lame.lambda * trace_a * trace_b + 2 * lame.mu * a.head<3>().dot(b.head<3>()) +
         lame.mu * a.tail<3>().dot(b.tail<3>());
}

struct PreparedElements {
  std::vector<TetrahedronGeometry> geometry;
  std::vector<LameConstants> lame;          // by region
  std::vector<std::array<Index, 4>> sites;  // where each corner's strain is averaged: a (vertex, region) each
  std::size_t site_count = 0;
};

PreparedElements prepare(const ElementMesh& mesh, std::span<const model::Material> materials)
{
  PreparedElements prepared;
  for (const model::Material& material : materials) prepared.lame.push_back(lame_constants(material));
  const std::size_t elements = mesh.element_count();
  prepared.geometry.resize(elements);
  prepared.sites.resize(elements);
  std::vector<std::uint64_t> keys;
  const auto key = [&](std::size_t e, int corner) {
    return static_cast<std::uint64_t>(mesh.region(e)) * mesh.corner_count +
           static_cast<std::uint64_t>(mesh.element(e)[corner]);
  };
  for (std::size_t e = 0; e < elements; ++e) {
    const Index* n = mesh.element(e);
    const auto node = [&](int k) -> const Vec3& {
      return mesh.nodes[at(n[k])];
    };
    prepared.geometry[e] = tetrahedron_geometry(node(0), node(1), node(2), node(3));
    for (int c = 0; c < 4; ++c) keys.push_back(key(e, c));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (std::size_t e = 0; e < elements; ++e)
    for (int c = 0; c < 4; ++c)
      prepared.sites[e][at(c)] =
          static_cast<Index>(std::lower_bound(keys.begin(), keys.end(), key(e, c)) - keys.begin());
  prepared.site_count = keys.size();
  return prepared;
}

// Strain at the four corners of an element, between which it is linear. At corner c only the nodes of that
// corner's edges and the corners contribute: grad N is 3 g_c at c, -g_a at the other corners a, 4 g_a at the
// middle of the edge c-a.
std::array<Strain, 4> corner_strains(ElementKind kind, const TetrahedronGeometry& tet, const Index* nodes,
                                     const double* u)
{
  constexpr int kMidEdgeNode[4][4] = {{-1, 4, 5, 6}, {4, -1, 7, 8}, {5, 7, -1, 9}, {6, 8, 9, -1}};
  const auto at = [&](int local) {
    return Eigen::Map<const Vec3>(u + 3 * static_cast<std::ptrdiff_t>(nodes[local]));
  };
  std::array<Strain, 4> strains;
  if (kind == ElementKind::tet4) {
    Mat3 gradient = Mat3::Zero();
    for (int a = 0; a < 4; ++a) gradient += at(a) * tet.gradients[static_cast<std::size_t>(a)].transpose();
    strains.fill(strain_of(gradient));
    return strains;
  }
  for (int c = 0; c < 4; ++c) {
    Mat3 gradient = 3 * at(c) * tet.gradients[static_cast<std::size_t>(c)].transpose();
    for (int a = 0; a < 4; ++a) {
      if (a == c) continue;
      const Vec3& g = tet.gradients[static_cast<std::size_t>(a)];
      gradient += (4 * at(kMidEdgeNode[c][a]) - at(a)) * g.transpose();
      // The middle node of c-a also moves along g_c with 4 L_a, which vanishes at c.
    }
    strains[static_cast<std::size_t>(c)] = strain_of(gradient);
  }
  return strains;
}

// `shares` receives the share of each element.
double error_fraction(const ElementMesh& mesh, const PreparedElements& prepared, const double* u,
                      std::vector<double>& shares)
{
  const std::size_t elements = mesh.element_count();
  std::vector<std::array<Strain, 4>> strains(elements);
  std::vector<Strain> average(prepared.site_count, Strain::Zero());
  std::vector<double> weight(prepared.site_count, 0.0);
  for (std::size_t e = 0; e < elements; ++e) {
    strains[e] = corner_strains(mesh.kind, prepared.geometry[e], mesh.element(e), u);
    for (std::size_t c = 0; c < 4; ++c) {
      const auto site = at(prepared.sites[e][c]);
      const double inside = prepared.geometry[e].volume * (mesh.cut(e) != nullptr ? mesh.cut(e)->volume : 1);
      average[site] += inside * strains[e][c];
      weight[site] += inside;
    }
  }
  for (std::size_t s = 0; s < average.size(); ++s) average[s] /= weight[s];

  // Integrals of products of linear fields: V/20 (sum of all products + sum of equal ones).
  double error = 0;
  double energy = 0;
  const auto integral = [](const LameConstants& lame, double volume, const CutElement* cut,
                           const std::array<Strain, 4>& f) {
    if (cut != nullptr) {
      double sum = 0;
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) sum += cut->seconds[i][j] * energy_product(lame, f[i], f[j]);
      return volume * sum;
    }
    const Strain sum = f[0] + f[1] + f[2] + f[3];
    double squares = energy_product(lame, sum, sum);
    for (const Strain& s : f) squares += energy_product(lame, s, s);
    return volume / 20 * squares;
  };
  for (std::size_t e = 0; e < elements; ++e) {
    const LameConstants& lame = prepared.lame[at(mesh.region(e))];
    std::array<Strain, 4> difference;
    for (std::size_t c = 0; c < 4; ++c) difference[c] = average[at(prepared.sites[e][c])] - strains[e][c];
    shares[e] = integral(lame, prepared.geometry[e].volume, mesh.cut(e), difference);
    error += shares[e];
    energy += integral(lame, prepared.geometry[e].volume, mesh.cut(e), strains[e]);
  }
  for (double& share : shares) share = energy > 0 ? share / energy : 0;
  return energy > 0 ? error / energy : 0;
}

}  // namespace

VecX estimate_frequency_errors(const ElementMesh& mesh, std::span<const model::Material> materials,
                               const Eigen::Ref<const MatX>& shapes, std::vector<double>* element_errors)
{
  if (mesh.kind == ElementKind::wedge15 || degree_of(mesh.kind) > 2) return {};
  const PreparedElements prepared = prepare(mesh, materials);
  if (prepared.site_count == 4 * mesh.element_count()) return {};
  VecX errors(shapes.cols());
  std::vector<std::vector<double>> shares(at(shapes.cols()));
  base::parallel_for(
      at(shapes.cols()),
      [&](std::size_t k) {
        const double* u = shapes.data() + static_cast<std::ptrdiff_t>(k) * shapes.outerStride();
        shares[k].resize(mesh.element_count());
        const double fraction = std::min(error_fraction(mesh, prepared, u, shares[k]), kMaxErrorFraction);
        errors[static_cast<Eigen::Index>(k)] = 1 / std::sqrt(1 - fraction) - 1;
      },
      1);
  if (element_errors != nullptr) {
    element_errors->assign(mesh.element_count(), 0.0);
    for (const std::vector<double>& of_mode : shares)
      for (std::size_t e = 0; e < of_mode.size(); ++e) (*element_errors)[e] += of_mode[e];
  }
  return errors;
}

}  // namespace thrum::elastic
