#include "debug/target.hpp"

namespace axl {

std::string Target::xml() const {
    std::string text = "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\"><architecture>" +
                       architecture + "</architecture>";
    for (const Feature &feature : features) {
        text += "<feature name=\"" + feature.name + "\">";
        for (const Register &entry : feature.registers)
            text += "<reg name=\"" + entry.name + "\" bitsize=\"" + std::to_string(entry.bits) + "\"" +
                    (entry.type.empty() ? "" : " type=\"" + entry.type + "\"") + "/>";
        text += "</feature>";
    }
    return text + "</target>";
}

} // namespace axl
