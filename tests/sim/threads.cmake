# SPDX-License-Identifier: MIT
# The same bits on any number of threads: a program of its own, so that it can be built alone with the thread sanitizer.
add_executable(test_threads sim/threads_test.cpp)
target_include_directories(test_threads PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(test_threads PRIVATE thrum_own_flags thrum::sim thrum::shapes GTest::gtest_main)
gtest_discover_tests(test_threads DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${test_timeout} LABELS sim)
