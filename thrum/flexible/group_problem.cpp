// SPDX-License-Identifier: MIT
#include "thrum/flexible/group_problem.h"

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

GroupProblem ContactGroup::problem(const FlexibleSettings& settings) const
{
  const bool is_hard = settings.contact == ContactLaw::hard;
  const std::vector<double>& weights = is_hard ? hard_weight_ : weight_;
  GroupProblem out;
  out.law = settings.contact;
  out.dt = prepared_;
  std::vector<int> column(x_.size(), -1);
  std::vector<double> used;
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.coordinates(); ++k) {
      const std::size_t i = at(body.first + k);
      if (!(weights[i] > 0)) continue;
      column[i] = static_cast<int>(used.size());
      used.push_back(weights[i]);
    }
  }
  out.weight = Eigen::Map<const VecX>(used.data(), static_cast<Eigen::Index>(used.size()));
  out.J.setZero(static_cast<Eigen::Index>(rows_.size()), out.weight.size());
  out.free.resize(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    out.free[static_cast<Eigen::Index>(r)] = rows_[r].free;
    for (const Side& side : {rows_[r].a, rows_[r].b}) {
      if (side.body == kNoBody) continue;
      const Body& body = bodies_[at(side.body)];
      for (int k = 0; k < body.coordinates(); ++k) {
        const int c = column[at(body.first + k)];
        if (c >= 0) out.J(static_cast<Eigen::Index>(r), c) += J_[side.first + at(k)];
      }
    }
  }
  for (const Contact& contact : contacts_) {
    out.contacts.push_back({contact.row, contact.d, contact.d_free, contact.law.stiffness, contact.damper,
                            contact.tail_compliance});
  }
  for (const Slip& slip : slips_) {
    out.slips.push_back({slip.desc.rows, slip.desc.count, slip.desc.stiffness, slip.desc.damping,
                         slip.desc.limit, slip.desc.is_joint, slip.stretch});
  }
  for (const Patch& patch : patches_) {
    out.patches.push_back({static_cast<int>(patch.first_contact), static_cast<int>(patch.end_contact),
                           static_cast<int>(patch.first_slip), static_cast<int>(patch.end_slip)});
  }
  return out;
}

// As a group of one body whose modes are the coordinates of the problem.
void ContactGroup::load_problem(const GroupProblem& problem)
{
  clear();
  const auto columns = at(problem.weight.size());
  Body body;
  body.modes = static_cast<int>(columns);
  body.active = body.modes;
  bodies_.push_back(body);
  for (std::vector<double>* values : {&x_, &v_, &a_, &omega_, &decay_, &dx_, &v_free_, &z_, &y_})
    values->assign(columns, 0.0);
  inverse_mass_.assign(columns, 1.0);
  weight_.assign(problem.weight.data(), problem.weight.data() + columns);
  hard_weight_ = weight_;
  prepared_ = problem.dt;
  J_.reserve(at(problem.J.size()));
  for (Eigen::Index r = 0; r < problem.J.rows(); ++r) {
    Row row;
    row.a = {0, J_.size()};
    row.free = problem.free[r];
    for (Eigen::Index c = 0; c < problem.J.cols(); ++c) J_.push_back(problem.J(r, c));
    rows_.push_back(row);
  }
  JW_.assign(J_.size(), 0.0);
  weigh_rows(weight_);
  for (const GroupProblem::Contact& from : problem.contacts) {
    Contact contact;
    contact.row = from.row;
    contact.law.stiffness = from.stiffness;
    contact.d = from.d;
    contact.d_free = from.d_free;
    contact.damper = from.damper;
    contact.tail_compliance = from.tail_compliance;
    contacts_.push_back(contact);
  }
  for (const GroupProblem::Slip& from : problem.slips) {
    Slip slip;
    slip.desc = {.rows = from.rows,
                 .count = from.count,
                 .stiffness = from.stiffness,
                 .damping = from.damping,
                 .limit = from.limit,
                 .is_joint = from.is_joint};
    slip.stretch = from.stretch;
    slips_.push_back(slip);
  }
  for (const GroupProblem::Patch& from : problem.patches)
    patches_.push_back(
        {at(from.first_contact), at(from.end_contact), at(from.first_slip), at(from.end_slip)});
}

GroupSolution ContactGroup::solve_problem(const GroupProblem& problem, const FlexibleSettings& settings)
{
  ContactGroup group;
  group.load_problem(problem);
  group.sum_displacements();
  const bool solved =
      problem.law == ContactLaw::hard ? group.find_hard_forces(settings) : group.solve(problem.dt, settings);
  GroupSolution out;
  out.status = solved ? SolveStatus::solved : SolveStatus::iteration_limit;
  out.residual = group.residual_;
  out.iterations = group.iterations();
  out.force.setZero(problem.J.rows());
  for (const Contact& contact : group.contacts_) out.force[contact.row] = contact.force;
  for (const Slip& slip : group.slips_) {
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) out.force[slip.desc.rows[i]] = slip.force[i];
  }
  return out;
}

int ContactGroup::active_modes() const
{
  int sum = 0;
  for (const Body& body : bodies_) sum += body.active;
  return sum;
}

}  // namespace thrum::flexible
