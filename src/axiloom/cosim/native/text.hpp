// One line of text, as printf writes it.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>

namespace axl {

[[gnu::format(printf, 1, 2)]] inline std::string format(const char *pattern, ...) {
    char text[1024];
    va_list values;
    va_start(values, pattern);
    vsnprintf(text, sizeof text, pattern, values);
    va_end(values);
    return text;
}

} // namespace axl
