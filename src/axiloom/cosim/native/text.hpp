// One line of text for a fault.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace axl {

inline std::string format(const char *pattern, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
    char text[200];
    snprintf(text, sizeof text, pattern, a, b, c);
    return text;
}

} // namespace axl
