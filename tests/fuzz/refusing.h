// Calls of parsers that may refuse what they are given, in one way only.
#pragma once

#include "firn/base/error.h"

/// Calls f, which may fail with an Error: bytes refused with a code are as they should be.
template <typename F>
void refusing(F&& f) {
    try {
        f();
    } catch (const firn::Error&) {
    }
}
