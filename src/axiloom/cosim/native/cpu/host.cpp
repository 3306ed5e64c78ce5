#include "cpu/host.hpp"

#include <cstring>
#include <map>

#include "cpu/cpu.hpp"

namespace axl {

namespace {

// Hosts register themselves while the library is loaded, in whatever order: so it is made at first use.
std::map<std::string, MakeHost> &hosts() {
    static std::map<std::string, MakeHost> all;
    return all;
}

} // namespace

MakeHost find_host(const std::string &name) {
    const auto found = hosts().find(name);
    return found == hosts().end() ? nullptr : found->second;
}

std::string host_names() {
    std::string names;
    for (const auto &[name, make] : hosts())
        names += (names.empty() ? "" : ", ") + name;
    return names;
}

RegisterHostAs::RegisterHostAs(const char *name, MakeHost make) { hosts()[name] = make; }

uint32_t Host::word_at(uint32_t address) const {
    uint32_t word = 0;
    if (address <= RAM_SIZE - sizeof word)
        memcpy(&word, cpu.ram + address, sizeof word);
    return word;
}

} // namespace axl
