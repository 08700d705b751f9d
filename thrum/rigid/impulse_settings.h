// SPDX-License-Identifier: MIT
// How the impulse stepper works [Guendelman03]. The numbers are those of the authors' released library; each
// part can be switched off, so that its effect can be seen.
#pragma once

#include <cstdint>

namespace thrum::rigid {

/// Where two bodies are pushed apart.
enum class ContactPoints : std::uint8_t {
  /// The patches of the narrow phase, of at most four points each, found once in a slice and moved to first
  /// order.
  reduced,
  /// Every vertex of one body inside the other and the lowest points of edges that dip in, found again at
  /// the predicted positions each time a pair is visited [sections 3 to 5]. Pairs with a sphere, a capsule or
  /// a compound keep their patches.
  paper,
};

/// Which body is below which in the contact graph.
enum class ContactLevels : std::uint8_t {
  gravity,    ///< what a body would run into if it moved by gravity alone
  predicted,  ///< if it moved with its velocity, alone, while the others stand still [section 8.1]
};

struct ImpulseSettings {
  // How often.
  int collision_iterations = 5;  ///< rounds over all pairs for impacts
  int contact_iterations = 10;   ///< passes over all pairs for resting contact
  int extra_contact_iterations =
      60;                          ///< further passes at most, while points of resting bodies approach each
                                   ///< other faster than a hundredth of what gravity gives in a step, others
                                   ///< than a fifth; the authors have none
  int pair_iterations = 6;         ///< impulses at most, each time a pair is visited; the authors use 20
  int shock_sweeps = 1;            ///< sweeps in which lower bodies do not yield
  int shock_level_iterations = 4;  ///< rounds over each level in such a sweep, at most; the authors use 2
  int shock_pair_iterations = 5;  ///< impulses at most, each time a pair is visited in it; the authors use 10

  // The parts of the method.
  bool separate_collisions = true;  ///< impacts before the velocities are advanced; false: after, as is usual
  bool deepest_first = true;        ///< false: the points of a pair in the order of their numbers
  bool gradual_restitution = true;  ///< contact passes with -0.9, -0.8 ... 0; false: 0 in each
  bool contact_graph = true;  ///< from the ground up; false: as found, which also rules out shock propagation
  bool shock_propagation = true;
  bool friction = true;
  bool rolling_and_spinning = true;

  // Where we leave the method; the last value of each is that of the paper.
  ContactPoints contact_points = ContactPoints::reduced;
  ContactLevels levels = ContactLevels::gravity;
  bool accumulate_impulses = true;  ///< sums obey the laws, so part of an impulse may be taken back; false:
                                    ///< each single impulse does
  bool hold_resting_only = true;    ///< shock propagation holds what rests; false: every body of the level

  // What we add to the method.
  bool close_gaps = true;  ///< a gap may close within the step; false: motion stops where it is, gap or not
  bool solve_flat_patches = true;  ///< a flat patch that rests is settled as a whole; false: point by point
  bool warm_start = true;          ///< resting contact starts from the impulses of the step before
  bool mean_velocity = true;       ///< bodies in steady contact move with the mean of their two velocities
  bool push_out = true;            ///< overlap is removed by moving bodies, without giving them speed
  double push_out_share = 0.2;     ///< of the overlap, in each step
  double push_out_speed = 3.0;     ///< maximum, in length scales per second
  double slop = 2e-5;              ///< overlap left alone, as a share of the length scale
};

}  // namespace thrum::rigid
