// SPDX-License-Identifier: MIT
// A view of a Cholesky factor in supernodes: neighbouring columns with the same rows, stored as one dense
// block.
#pragma once

namespace thrum::numerics {

/// L in supernodes, D = 1. Supernode s holds columns [column[s], column[s+1]); its rows are rows[row[s] ..
/// row[s+1]), the first of which are its own columns, and its block is column-major at values[value[s]] with
/// as many rows.
struct SupernodalFactor {
  int size = 0;
  int supernodes = 0;
  int max_rows = 0;  ///< largest number of rows of a supernode
  const int* column = nullptr;
  const int* row = nullptr;
  const int* value = nullptr;
  const int* rows = nullptr;
  const double* values = nullptr;
};

}  // namespace thrum::numerics
