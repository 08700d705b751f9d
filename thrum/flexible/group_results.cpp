// SPDX-License-Identifier: MIT
// What a group has done, for those who build it.
#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

namespace {

Vec3 three(const std::vector<double>& values, int first)
{
  return {values[at(first)], values[at(first + 1)], values[at(first + 2)]};
}

}  // namespace

Vec3 ContactGroup::displacement(int body) const
{
  return three(x_, bodies_[at(body)].first);
}

Vec3 ContactGroup::rotation(int body) const
{
  return bodies_[at(body)].axes * three(x_, bodies_[at(body)].first + 3);
}

Vec3 ContactGroup::velocity(int body) const
{
  return three(v_, bodies_[at(body)].first);
}

Vec3 ContactGroup::angular_velocity(int body) const
{
  return bodies_[at(body)].axes * three(v_, bodies_[at(body)].first + 3);
}

std::span<const double> ContactGroup::q(int body) const
{
  const Body& b = bodies_[at(body)];
  return {x_.data() + b.first + b.rigid, at(b.modes)};
}

std::span<const double> ContactGroup::u(int body) const
{
  const Body& b = bodies_[at(body)];
  return {v_.data() + b.first + b.rigid, at(b.modes)};
}

const ModalForces& ContactGroup::modal_forces(int body) const
{
  return modal_forces_[at(bodies_[at(body)].recorded)];
}

// J^T F of the substep that is committed, which sum_forces() has found.
void ContactGroup::record_forces(double dt)
{
  for (const Body& body : bodies_) {
    if (body.recorded < 0) continue;
    ModalForces& record = modal_forces_[at(body.recorded)];
    record.durations.push_back(dt);
    const auto first = y_.begin() + body.first + body.rigid;
    record.forces.insert(record.forces.end(), first, first + body.modes);
  }
}

double ContactGroup::indentation(int contact) const
{
  return contacts_[at(contact)].d;
}
double ContactGroup::force(int contact) const
{
  return contacts_[at(contact)].force;
}
double ContactGroup::impulse(int contact) const
{
  return contacts_[at(contact)].impulse;
}
double ContactGroup::approach(int contact) const
{
  return contacts_[at(contact)].approach;
}

std::array<double, 2> ContactGroup::slip_force(int slip) const
{
  const Slip& s = slips_[at(slip)];
  return {-s.desc.stiffness * s.stretch[0], -s.desc.stiffness * s.stretch[1]};
}

std::array<double, 2> ContactGroup::slip_impulse(int slip) const
{
  return slips_[at(slip)].impulse;
}

double ContactGroup::kinetic_energy() const
{
  double sum = 0;
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.rigid; ++k) {
      const std::size_t i = at(body.first + k);
      if (inverse_mass_[i] > 0) sum += 0.5 * v_[i] * v_[i] / inverse_mass_[i];
    }
  }
  return sum;
}

double ContactGroup::modal_energy() const
{
  double sum = 0;
  for (const Body& body : bodies_) {
    for (int k = body.rigid; k < body.rigid + body.modes; ++k) {
      const std::size_t i = at(body.first + k);
      sum += 0.5 * (v_[i] * v_[i] + omega_[i] * omega_[i] * x_[i] * x_[i]);
    }
  }
  return sum;
}

// In contacts and in the springs of friction and joints.
double ContactGroup::stored_energy() const
{
  double sum = 0;
  for (const Contact& contact : contacts_) sum += contact.law.potential(contact.d);
  for (const Slip& slip : slips_) {
    for (std::size_t i = 0; i < at(slip.desc.count); ++i)
      sum += 0.5 * slip.desc.stiffness * slip.stretch[i] * slip.stretch[i];
  }
  return sum;
}

double ContactGroup::external_work() const
{
  return work_;
}

}  // namespace thrum::flexible
