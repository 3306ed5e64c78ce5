#include "debug/target.hpp"

namespace axl {

std::string Target::xml() const {
    std::string text = "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\"><architecture>" +
                       architecture + "</architecture>";
    for (const Feature &feature : features) {
        text += "<feature name=\"" + feature.name + "\">";
        for (const Register &one : feature.registers)
            text += "<reg name=\"" + one.name + "\" bitsize=\"" + std::to_string(one.bits) + "\"" +
                    (one.type.empty() ? "" : " type=\"" + one.type + "\"") + "/>";
        text += "</feature>";
    }
    return text + "</target>";
}

} // namespace axl
