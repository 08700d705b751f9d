# SPDX-License-Identifier: MIT
# The same bits from every build type: a program of its own, so that it can be built alone in another one.
add_executable(test_state_hash sim/state_hash_test.cpp)
target_include_directories(test_state_hash PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(test_state_hash PRIVATE thrum_own_flags thrum::sim GTest::gtest_main)
gtest_discover_tests(test_state_hash DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${test_timeout} LABELS sim)
