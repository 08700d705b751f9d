# SPDX-License-Identifier: MIT
# The impulse stepper, from one impulse to whole scenes: a program of its own, since the scenes take longest.
add_executable(test_impulse rigid/impact_reflection_test.cpp rigid/point_impulse_test.cpp
  rigid/support_graph_test.cpp sim/impulse_figures_test.cpp sim/impulse_points_test.cpp
  sim/impulse_stacks_test.cpp sim/impulse_stepper_test.cpp)
target_include_directories(test_impulse PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(test_impulse PRIVATE thrum_own_flags thrum::sim thrum::shapes GTest::gtest_main rapidcheck rapidcheck_gtest)
gtest_discover_tests(test_impulse DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${test_timeout} LABELS rigid)
