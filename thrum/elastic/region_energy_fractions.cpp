// SPDX-License-Identifier: MIT
#include "thrum/elastic/region_energy_fractions.h"

#include <numbers>

#include "thrum/base/index.h"
#include "thrum/elastic/damping.h"
#include "thrum/elastic/tetrahedron_element.h"

namespace thrum::elastic {

RegionEnergyFractions region_energy_fractions(const ElementMesh& mesh,
                                              std::span<const model::Material> materials,
                                              const Eigen::Ref<const MatX>& shapes)
{
  const auto regions = static_cast<Eigen::Index>(materials.size());
  RegionEnergyFractions fractions{MatX::Zero(regions, shapes.cols()), MatX::Zero(regions, shapes.cols())};
  if (shapes.cols() == 0) return fractions;
  const int nodes = nodes_of(mesh.kind);
  MatX local(3 * nodes, shapes.cols());
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const Index* n = mesh.element(e);
    const auto node = [&](int k) -> const Vec3& {
      return mesh.nodes[at(n[k])];
    };
    const TetrahedronGeometry tet = tetrahedron_geometry(node(0), node(1), node(2), node(3));
    const model::Material& material = materials[at(mesh.region(e))];
    for (int a = 0; a < nodes; ++a)
      local.middleRows<3>(3 * a) = shapes.middleRows<3>(3 * static_cast<Eigen::Index>(n[a]));
    const MatX forces = element_stiffness(mesh.kind, tet, lame_constants(material)) * local;
    const MatX momenta = element_mass(mesh.kind, tet, material.density) * local;
    const auto row = static_cast<Eigen::Index>(mesh.region(e));
    fractions.elastic.row(row) += (local.array() * forces.array()).colwise().sum().matrix();
    fractions.kinetic.row(row) += (local.array() * momenta.array()).colwise().sum().matrix();
  }
  for (Eigen::Index k = 0; k < shapes.cols(); ++k) {
    fractions.elastic.col(k) /= fractions.elastic.col(k).sum();
    fractions.kinetic.col(k) /= fractions.kinetic.col(k).sum();
  }
  return fractions;
}

VecX decays_by_region(std::span<const model::Material> materials, const RegionEnergyFractions& fractions,
                      const VecX& frequencies)
{
  VecX decays = VecX::Zero(frequencies.size());
  for (Eigen::Index k = 0; k < frequencies.size(); ++k) {
    const double omega = 2 * std::numbers::pi * frequencies[k];
    for (std::size_t r = 0; r < materials.size(); ++r) {
      const model::Damping& damping = materials[r].damping;
      const double kinetic = fractions.kinetic(static_cast<Eigen::Index>(r), k);
      const double elastic = fractions.elastic(static_cast<Eigen::Index>(r), k);
      if (damping.kind == model::DampingKind::rayleigh)
        decays[k] += 0.5 * (damping.alpha * kinetic + damping.beta * omega * omega * elastic);
      else
        decays[k] += elastic * decay_of_mode(damping, static_cast<Index>(k), omega);
    }
  }
  return decays;
}

}  // namespace thrum::elastic
