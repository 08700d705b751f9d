// SPDX-License-Identifier: MIT
// Bodies that contacts join, rigid and modal, over a slice of a step.
//
//   ContactGroup group;
//   const int plate = group.add_body({.modes = &modes, .q = q, .u = u});
//   const int ball = group.add_body({.inverse_mass = 1 / m, .velocity = v, .acceleration = g});
//   group.begin_patch();
//   group.add_contact(group.add_row({plate, -n, ra, row_a}, {ball, n, rb, row_b}), law, d, force);
//   group.advance(1e-3, settings);
//
// All motion within a slice is small: rows J, and the inertia of the bodies, stay as they were at its
// beginning. Then every coordinate moves independently under forces held over a substep of length dt,
// exactly (a rigid one as x + dt v + dt^2 / 2 (a + f / m), a mode by its damped oscillation), and
//
//     d1 = d_free - R F,       R = J W J^T,      W = dt^2 / 2m, or (1 - cos w dt) / w^2 of a mode         (1)
//
// for the indentations d of all contacts, with one force each that does the work of the contact's potential
// (elastic/held_contact.h). F grows with d1 and R is semidefinite, so that all forces together have one
// solution, also where contacts are redundant. It is found by sweeps over the contacts; each keeps the
// displacement W J^T F of the coordinates up to date, so that no matrix is formed and memory grows with the
// number of contacts.
//
// Friction is a spring across the normal (Mindlin) that is stretched by the slip over the substep and slips
// where its force would exceed mu times the normal force of its patch.
//
// Where we leave [Zheng11]: Hertz' contact instead of non-penetration, which with modes does not have the
// right restitution at any step; forces held over a step instead of impulses at its beginning; a mode that is
// too quiet to move stands where the forces hold it, q = J^T F / w^2, where the paper sets it to zero.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/held_contact.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/flexible/flexible_settings.h"
#include "thrum/flexible/group_problem.h"

namespace thrum::flexible {

/// A body at the beginning of a slice. One without `moves` and without modes needs no place in a group: its
/// number is kNoBody.
struct GroupBodyDesc {
  bool moves = false;                        ///< as a rigid body
  double inverse_mass = 0;                   ///< 0: it moves with its velocity, whatever pushes it [1/kg]
  Mat3 inertia_axes = Mat3::Identity();      ///< principal axes as columns, in world axes
  Vec3 inverse_inertia = Vec3::Zero();       ///< about them [1/(kg m^2)]
  Vec3 velocity = Vec3::Zero();              ///< [m/s]
  Vec3 angular_velocity = Vec3::Zero();      ///< [rad/s]
  Vec3 acceleration = Vec3::Zero();          ///< by forces other than contact [m/s^2]
  Vec3 angular_acceleration = Vec3::Zero();  ///< [rad/s^2]
  const elastic::ModeList* modes = nullptr;  ///< ascending, those that take part
  std::span<const double> mode_scale = {};   ///< root mean square of each shape on the surface
  std::span<const double> q = {};            ///< [kg^1/2 m]; empty: at rest
  std::span<const double> u = {};            ///< [kg^1/2 m/s]
  double weight = 0;            ///< of what it carries, for the threshold that wakes its modes [N]
  bool records_forces = false;  ///< for modal_forces()
};
inline constexpr int kNoBody = -1;

/// How the relative motion of two bodies along a direction follows from the coordinates of one of them.
struct RowSide {
  int body = kNoBody;
  Vec3 direction = Vec3::Zero();       ///< of the motion of the body, with its sign
  Vec3 moment = Vec3::Zero();          ///< arm x direction, or an axis of rotation
  std::span<const double> modes = {};  ///< direction . shape at the point, by mode
};

/// A spring in one or two directions whose force is limited by the normal force of its patch.
struct SlipDesc {
  std::array<int, 2> rows{};  ///< of add_row()
  int count = 2;
  double stiffness = 0;  ///< [N/m, or N m/rad about an axis]
  double damping = 0;    ///< [N s/m]
  double limit = 0;      ///< of the force, per normal force
  /// A joint: its force has no limit, and `limit` is the arm by which a torque counts as a force.
  bool is_joint = false;
  std::array<double, 2> force{};  ///< with which it starts
};

class ContactGroup {
 public:
  ContactGroup();
  ~ContactGroup();
  ContactGroup(ContactGroup&&) noexcept;
  ContactGroup& operator=(ContactGroup&&) noexcept;

  void clear();
  int add_body(const GroupBodyDesc& desc);
  int add_row(const RowSide& a, const RowSide& b);
  /// That an impulse along the row feels: of the rigid bodies, or of the modes where those do not yield [kg].
  [[nodiscard]] double effective_mass(int row) const;
  /// By which the vibration at the beginning of the slice moves the two surfaces apart, but for those of
  /// bodies that are left out [m].
  [[nodiscard]] double modal_separation(int row, bool without_a = false, bool without_b = false) const;
  /// Contacts and slips that follow are of this patch.
  void begin_patch();
  /// `d`: indentation, below 0 a gap [m]; `force` of the last substep, to begin with [N]; `row`: separation.
  int add_contact(int row, const elastic::HeldContact& law, double d, double force);
  int add_slip(const SlipDesc& desc);

  /// Moves everything by h [s].
  void advance(double h, const FlexibleSettings& settings, SubstepObserver* observer = nullptr);

  // The result, at the end of the slice.
  [[nodiscard]] Vec3 displacement(int body) const;      ///< of the centre of mass [m]
  [[nodiscard]] Vec3 rotation(int body) const;          ///< world axes [rad]
  [[nodiscard]] Vec3 velocity(int body) const;          ///< [m/s]
  [[nodiscard]] Vec3 angular_velocity(int body) const;  ///< [rad/s]
  [[nodiscard]] std::span<const double> q(int body) const;
  [[nodiscard]] std::span<const double> u(int body) const;
  /// Of a body with GroupBodyDesc::records_forces; its id is not set.
  [[nodiscard]] const ModalForces& modal_forces(int body) const;
  [[nodiscard]] double indentation(int contact) const;
  [[nodiscard]] double force(int contact) const;     ///< of the last substep [N]
  [[nodiscard]] double impulse(int contact) const;   ///< of the slice [N s]
  [[nodiscard]] double approach(int contact) const;  ///< speed of separation at the beginning [m/s]
  [[nodiscard]] std::array<double, 2> slip_force(int slip) const;    ///< held by the spring at the end [N]
  [[nodiscard]] std::array<double, 2> slip_impulse(int slip) const;  ///< [N s]
  [[nodiscard]] double kinetic_energy() const;                       ///< of the rigid motion [J]
  [[nodiscard]] double modal_energy() const;                         ///< [J]
  /// Work of `acceleration` and `angular_acceleration` over the slice [J].
  [[nodiscard]] double external_work() const;
  /// Energy that the slice took from motion, modes and contacts: at least 0 [J].
  [[nodiscard]] double lost_energy() const { return lost_; }
  [[nodiscard]] const GroupReport& report() const { return report_; }

  // For a SubstepObserver and for tests (group_problem.cpp).
  /// Of the substep that is under way.
  [[nodiscard]] GroupProblem problem(const FlexibleSettings& settings) const;
  /// Forces of a problem, from no forces at all.
  [[nodiscard]] static GroupSolution solve_problem(const GroupProblem& problem,
                                                   const FlexibleSettings& settings);
  [[nodiscard]] int contact_count() const { return static_cast<int>(contacts_.size()); }
  [[nodiscard]] int active_modes() const;  ///< of all bodies at the moment

 private:
  struct Body {
    int first = 0;   ///< coordinate
    int rigid = 0;   ///< 6 or 0: rigid coordinates, which come first
    int modes = 0;   ///< all
    int active = 0;  ///< that move at the moment, the lowest ones; the others stand where forces hold them
    Mat3 axes = Mat3::Identity();
    double weight = 0;
    int recorded = -1;  ///< place in modal_forces_
    [[nodiscard]] int coordinates() const { return rigid + modes; }
    [[nodiscard]] int moving() const { return rigid + active; }
  };
  struct Side {
    int body = kNoBody;
    std::size_t first = 0;  ///< coefficient
  };
  struct Row {
    Side a, b;
    double compliance = 0;  ///< R_kk of (1) [m/N]
    double free = 0;        ///< motion in the substep without contact forces [m]
  };
  /// A mode above the highest, which an impact at one contact sees.
  struct TailMode {
    double omega = 0;
    double shape = 0;
    double q = 0;
    double u = 0;
    double free = 0;  ///< displacement in the substep without force
    double u_free = 0;
  };
  struct Contact {
    int row = 0;
    elastic::HeldContact law;
    double d = 0;
    double force = 0;
    double held_force = 0;  ///< when modes were last chosen [N]
    double damper = 0;      ///< of the substep [N/m]
    double d_free = 0;
    double mass = 0;  ///< effective_mass() [kg]
    double impulse = 0;
    double approach = 0;
    double impact_step = 0;   ///< of an impact that is under way; 0: none [s]
    double impact_until = 0;  ///< time in the slice at which it is over at the latest [s]
    std::vector<TailMode> tail;
    double tail_compliance = 0;
  };
  struct Slip {
    SlipDesc desc;
    std::array<double, 2> stretch{};
    std::array<double, 2> force{};
    std::array<double, 2> impulse{};
    bool slips = false;
    [[nodiscard]] double max_force(double normal) const
    {
      return desc.is_joint ? std::numeric_limits<double>::infinity() : desc.limit * normal;
    }
  };
  class Newton;      // group_newton.cpp
  class HardNewton;  // hard_newton.cpp
  struct Patch {
    std::size_t first_contact = 0, end_contact = 0;
    std::size_t first_slip = 0, end_slip = 0;
  };

  /// Groups with more are solved by sweeps alone.
  static constexpr int kMaxNewtonCoordinates = 600;

  /// Nothing acts between its bodies: any substep is exact.
  [[nodiscard]] bool is_free() const { return contacts_.empty() && slips_.empty(); }

  // Choosing modes and the substep (group_adaptivity.cpp).
  void choose_modes(const FlexibleSettings& settings);
  [[nodiscard]] bool wake_modes(const FlexibleSettings& settings);
  [[nodiscard]] int wanted_level(double h, double time, const FlexibleSettings& settings);
  void find_running_impacts(const FlexibleSettings& settings);
  void begin_impact(Contact& contact, double speed, double time, const FlexibleSettings& settings);
  void add_tail(Contact& contact, double duration, const FlexibleSettings& settings);
  void drop_tail(Contact& contact);
  void prepare_level(double dt, const FlexibleSettings& settings);
  void weigh_rows(const std::vector<double>& weights);

  // A substep (contact_group.cpp).
  void move_freely(double dt);
  bool solve(double dt, const FlexibleSettings& settings);
  bool solve_by_newton(double dt, const FlexibleSettings& settings);
  double sweep_contact(Contact& contact);
  double change_force(Contact& contact, double force);
  double change_force(Slip& slip, const std::array<double, 2>& force);
  double sweep_slip(Slip& slip, double normal, double dt);
  void commit(double dt, const FlexibleSettings& settings);
  void stretch(Slip& slip);
  void sum_displacements();
  void sum_forces();
  void record_forces(double dt);  // group_results.cpp
  [[nodiscard]] double stored_energy() const;

  // Contact without indentation (hard_contact.cpp).
  void prepare_hard(double dt);
  bool solve_hard(double dt, const FlexibleSettings& settings);
  bool find_hard_forces(const FlexibleSettings& settings);
  double solve_hard_by_newton(const FlexibleSettings& settings, bool contacts, bool slips);
  [[nodiscard]] bool is_friction_culled() const;
  double solve_staggered(const FlexibleSettings& settings);
  double sweep_hard(const FlexibleSettings& settings, bool contacts, bool slips);
  double sweep_hard_contact(Contact& contact);
  double sweep_hard_slip(Slip& slip, double normal, int corners);
  [[nodiscard]] double joint_compliance(const Slip& slip) const;
  [[nodiscard]] VecX slip_forces() const;
  void set_slip_forces(const VecX& all);
  void commit_hard(double dt);

  [[nodiscard]] double along(const Row& row, const std::vector<double>& values) const;
  void add_along(const Row& row, const std::vector<double>& coefficients, double factor,
                 std::vector<double>& values) const;
  [[nodiscard]] double normal_force(const Patch& patch) const;
  /// As a share of `normal`, the largest normal force, or of the forces of joints where nothing presses.
  [[nodiscard]] double relative_change(double change, double normal) const;
  /// W^(1/2) J^T: a column for each row, and a row for each coordinate whose weight is not 0.
  [[nodiscard]] MatX scaled_rows(const std::vector<double>& weights) const;
  [[nodiscard]] VecX slip_limits() const;  ///< by the normal forces of the moment [N]
  void load_problem(const GroupProblem& problem);
  [[nodiscard]] int iterations() const { return static_cast<int>(report_.sweeps + report_.newton_steps); }

  std::vector<Body> bodies_;
  std::vector<Row> rows_;
  std::vector<Contact> contacts_;
  std::vector<Slip> slips_;
  std::vector<Patch> patches_;
  std::vector<ModalForces> modal_forces_;  ///< of the bodies that record them

  // By coordinate.
  std::vector<double> x_, v_, a_, inverse_mass_, omega_, decay_, scale_;
  std::vector<double> dx_, v_free_;  ///< of the substep without contact forces
  std::vector<double> weight_,
      v_weight_;  ///< displacement and speed that a unit force held over the substep gives
  std::vector<double> cosine_, sine_;   ///< of the modes over the substep
  std::vector<double> hard_weight_;     ///< displacement likewise
  std::vector<double> impulse_weight_;  ///< speed that a unit force over the substep gives at its beginning
  std::vector<double> z_;               ///< displacement by the contact forces, W J^T F
  std::vector<double> y_;               ///< J^T F
  // By coefficient of the rows.
  std::vector<double> J_, JW_;

  std::unique_ptr<Newton> newton_;
  bool newton_fits_ = false;  ///< the weights and modes of the moment

  GroupReport report_;
  double work_ = 0;
  double lost_ = 0;
  double residual_ = 0;           ///< of the last solution
  bool sweeps_are_slow_ = false;  ///< Newton's method was needed in this slice
  double prepared_ = 0;           ///< length of the substep for which weights are known [s]
};

}  // namespace thrum::flexible
