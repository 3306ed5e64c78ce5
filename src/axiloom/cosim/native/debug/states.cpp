#include "debug/states.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace axl {

namespace {

using Handle = uint32_t *;
enum { TYPE = 1, FULL_NAME = 3, SIZE = 4, VECTOR = 9, MEMORY = 29, MODULE = 32, PARAMETER = 41, REGISTER = 48, LEFT = 79, RIGHT = 83, ARRAY = 116 };
struct Part {
    uint32_t a, b;
};
struct Value {
    int32_t format;
    union {
        Part *vector;
        double size_of_the_largest;
    } value;
};

template <class Function> Function *simulator(const char *name) { return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name)); }

// The functions of VPI that are used here; null outside a simulator.
struct Vpi {
    Handle (*iterate)(int32_t, Handle) = simulator<Handle(int32_t, Handle)>("vpi_iterate");
    Handle (*scan)(Handle) = simulator<Handle(Handle)>("vpi_scan");
    Handle (*by_index)(Handle, int32_t) = simulator<Handle(Handle, int32_t)>("vpi_handle_by_index");
    Handle (*related)(int32_t, Handle) = simulator<Handle(int32_t, Handle)>("vpi_handle");
    int32_t (*get)(int32_t, Handle) = simulator<int32_t(int32_t, Handle)>("vpi_get");
    char *(*text)(int32_t, Handle) = simulator<char *(int32_t, Handle)>("vpi_get_str");
    void (*value)(Handle, Value *) = simulator<void(Handle, Value *)>("vpi_get_value");
    int32_t (*release)(Handle) = simulator<int32_t(Handle)>("vpi_free_object");
};

const Vpi &vpi() {
    static const Vpi functions;
    return functions;
}

constexpr char SOC[] = "axiloom_tb.soc.";

int32_t number(Handle expression) {
    Value value{6, {}}; // vpiIntVal
    vpi().value(expression, &value);
    return static_cast<int32_t>(reinterpret_cast<uintptr_t>(value.value.vector) & 0xFFFFFFFFu);
}

void append(std::string &bytes, Handle handle, uint32_t bits) {
    Value value{VECTOR, {}};
    vpi().value(handle, &value);
    for (uint32_t part = 0; part < (bits + 31) / 32; part++) {
        const uint32_t mask = bits - 32 * part >= 32 ? ~0u : (1u << (bits - 32 * part)) - 1;
        const uint32_t known = value.value.vector[part].a & ~value.value.vector[part].b & mask;
        bytes.append(reinterpret_cast<const char *>(&known), sizeof known);
    }
}

} // namespace

const std::vector<States::Element> &States::all() {
    if (!has_looked && vpi().iterate && vpi().value)
        look(nullptr);
    has_looked = true;
    std::sort(elements.begin(), elements.end(), [](const Element &a, const Element &b) { return a.name < b.name; });
    return elements;
}

void States::look(uint32_t *module) {
    const Vpi &v = vpi();
    for (const int32_t kind : {REGISTER, MEMORY}) {
        const Handle list = module ? v.iterate(kind, module) : nullptr;
        for (Handle entry; list && (entry = v.scan(list));) {
            const char *const full = v.text(FULL_NAME, entry), *const below = full ? strstr(full, SOC) : nullptr;
            if (!below || v.get(TYPE, entry) == PARAMETER)
                continue;
            Element element{below + strlen(SOC), entry, 0, 0};
            const int32_t type = v.get(TYPE, entry);
            if (type == MEMORY || type == ARRAY) {
                const Handle word = v.by_index(entry, number(v.related(LEFT, entry)));
                element.words = static_cast<uint32_t>(v.get(SIZE, entry));
                element.bits = word ? static_cast<uint32_t>(v.get(SIZE, word)) : 0;
            } else {
                element.bits = static_cast<uint32_t>(v.get(SIZE, entry));
            }
            if (element.bits)
                elements.push_back(element);
        }
    }
    const Handle list = v.iterate(MODULE, module);
    for (Handle below; list && (below = v.scan(list));)
        look(below);
}

const States::Element *States::find(const std::string &name, std::string &error) {
    std::vector<const Element *> fitting;
    for (const Element &element : all()) {
        const size_t size = element.name.size();
        if (element.name == name)
            return &element;
        if (size > name.size() && element.name[size - name.size() - 1] == '.' && !element.name.compare(size - name.size(), name.size(), name))
            fitting.push_back(&element);
    }
    if (fitting.size() == 1)
        return fitting[0];
    error = fitting.empty() ? "there is no register or memory '" + name + "'" : "'" + name + "' is the end of several names:";
    for (const Element *element : fitting)
        error += " " + element->name;
    return nullptr;
}

std::string States::read(const Element &element, uint64_t first, uint64_t count) {
    std::string bytes;
    if (!element.words) {
        append(bytes, element.handle, element.bits);
        return bytes;
    }
    const Vpi &v = vpi();
    const int32_t begin = std::min(number(v.related(LEFT, element.handle)), number(v.related(RIGHT, element.handle)));
    for (uint64_t i = first; i < std::min<uint64_t>(element.words, first + std::min<uint64_t>(count, element.words)); i++) {
        const Handle word = v.by_index(element.handle, begin + static_cast<int32_t>(i));
        append(bytes, word, element.bits);
        v.release(word);
    }
    return bytes;
}

uint64_t States::low(const Element &element, uint64_t word) {
    const std::string bytes = read(element, word, 1);
    uint64_t value = 0;
    memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
}

} // namespace axl
