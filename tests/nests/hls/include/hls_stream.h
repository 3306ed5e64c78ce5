// A stand-in for AMD's hls_stream.h: a FIFO without end, which says when it is read empty.
#ifndef AXILOOM_HLS_STREAM_H
#define AXILOOM_HLS_STREAM_H

#include <cstdio>
#include <cstdlib>
#include <deque>

namespace hls {
template <typename T> class stream {
    std::deque<T> elements;

  public:
    stream() {}
    explicit stream(const char *) {}
    void write(const T &value) { elements.push_back(value); }
    T read() {
        if (elements.empty()) {
            std::fprintf(stderr, "hls::stream: read while empty\n");
            std::abort();
        }
        T value = elements.front();
        elements.pop_front();
        return value;
    }
    bool empty() const { return elements.empty(); }
    size_t size() const { return elements.size(); }
};
} // namespace hls

#endif
