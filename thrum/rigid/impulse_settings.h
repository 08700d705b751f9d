// SPDX-License-Identifier: MIT
// How the impulse stepper works [Guendelman03]. The numbers are those of the authors' released library; each
// part can be switched off, so that its effect can be seen.
#pragma once

namespace thrum::rigid {

struct ImpulseSettings {
  // How often.
  int collision_iterations = 5;    ///< rounds over all pairs for impacts
  int contact_iterations = 10;     ///< passes over all pairs for resting contact
  int pair_iterations = 20;        ///< impulses at most, each time a pair is visited
  int shock_sweeps = 1;            ///< sweeps in which lower bodies do not yield
  int shock_level_iterations = 4;  ///< rounds over each level in such a sweep, at most; the authors use 2
  int shock_pair_iterations = 10;  ///< impulses at most, each time a pair is visited in it

  // The parts of the method.
  bool separate_collisions = true;  ///< impacts before the velocities are advanced; false: after, as is usual
  bool deepest_first = true;        ///< false: the points of a pair in the order of their numbers
  bool gradual_restitution = true;  ///< contact passes with -0.9, -0.8 ... 0; false: 0 in each
  bool contact_graph = true;  ///< from the ground up; false: as found, which also rules out shock propagation
  bool shock_propagation = true;
  bool friction = true;
  bool rolling_and_spinning = true;

  // What we add to the method.
  bool close_gaps = true;  ///< a gap may close within the step; false: motion stops where it is, gap or not
  bool solve_flat_patches = true;  ///< a flat patch that rests is settled as a whole; false: point by point
  bool warm_start = true;          ///< resting contact starts from the impulses of the step before
  bool mean_velocity = true;       ///< bodies in steady contact move with the mean of their two velocities
  bool push_out = true;            ///< overlap is removed by moving bodies, without giving them speed
  double push_out_share = 0.5;     ///< of the overlap, in each step
  double push_out_speed = 3.0;     ///< maximum, in length scales per second
  double slop = 2e-5;              ///< overlap left alone, as a share of the length scale
};

}  // namespace thrum::rigid
