// SPDX-License-Identifier: MIT
// What a program that embeds thrum includes; it links thrum::thrum. docs/embedding.md walks through such a
// program.
#pragma once

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/elastic/material_library.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"
#include "thrum/shapes/unite_parts.h"
#include "thrum/sim/responder.h"
#include "thrum/sim/step_observer.h"
#include "thrum/sim/world.h"
#include "thrum/vibration/ringing_body.h"
