// Back to an earlier stop: what the present, and what a traveller does of it. See debug/past.hpp.
#include "cpu/cpu.hpp"
#include "debug/debugger.hpp"
#include "text.hpp"

namespace axl {

namespace {

constexpr char BEGIN[] = "T05replaylog:begin;thread:1;", STOPPED[] = "T05thread:1;", BY_INTERRUPT[] = "T02thread:1;";

} // namespace

// ---- the present

// Returns only if this process stays the present.
void Debugger::go_back(bool steps) {
    Quest quest;
    quest.steps = steps;
    quest.said = said;
    quest.points = as_packets();
    const auto gives_up = [](void *self) {
        Connection &gdb = static_cast<Debugger *>(self)->link;
        return gdb.interrupted() || !gdb.open();
    };
    Past::Answer answer = Past::Answer::FAILED;
    for (size_t i = past.size(); i-- > 0 && answer != Past::Answer::INTERRUPTED;) {
        quest.lands = false;
        quest.stop = {};
        answer = past.ask(i, quest, quest.stop, gives_up, this);
        if (answer != Past::Answer::STOP)
            continue;
        if (quest.stop.moment.kind == Moment::NOWHERE && i > 0) {
            quest.end = past.number(i);
            continue;
        }
        if (quest.stop.moment.kind == Moment::NOWHERE && quest.end) { // once more, in one go: before it is said that there is none
            quest.end = 0;
            answer = past.ask(i, quest, quest.stop, gives_up, this);
        }
        if (quest.stop.moment.kind == Moment::NOWHERE)
            quest.stop = {{Moment::BEGIN, 0, 0}, BEGIN, ""};
        quest.lands = true;
        Stop unused;
        answer = past.ask(i, quest, unused, gives_up, this);
        if (answer == Past::Answer::STOP)
            past.leave(i);
    }
    if (answer != Past::Answer::INTERRUPTED)
        say("the past cannot be executed again");
    reply = answer == Past::Answer::INTERRUPTED ? BY_INTERRUPT : STOPPED;
    link.send(reply);
}

// `points`, for answer().
std::vector<std::string> Debugger::as_packets() const {
    std::vector<std::string> list{"@"};
    for (const uint32_t address : points.breaks)
        list.push_back(format("Z0,%x,4", address));
    for (const Watchpoint &point : points.watchpoints)
        list.push_back(format("Z%c,%x,%x", point.kind, point.address, point.size));
    for (const auto &[number, event] : points.events) {
        list.push_back(format("@%d", number));
        list.push_back("qRcmd," + to_hex("break " + event.text));
    }
    list.push_back(format("@%d", points.next_event));
    return list;
}

bool Debugger::next_packet(std::string &packet) {
    if (travels) {
        if (repeated == said.size())
            ends_search(true);
        packet = said[repeated++].packet;
        return true;
    }
    if (!link.receive(packet))
        return false;
    if (past.has_begun())
        said.push_back({Said::PACKET, packet, {}});
    return true;
}

// ---- a traveller

// This process is one from here on: what was said until now, it has heard.
void Debugger::travel() {
    travels = link.mute = true;
    repeated = said.size();
    said = past.quest.said;
    const Points now = points;
    for (const std::string &packet : past.quest.points)
        answer(packet);
    probes = points;
    points = now;
    watch();
}

void Debugger::note(const Moment &moment, const std::string &reply, const std::string &told) {
    if (serving)
        return;
    if (!(moment == noted.moment))
        before = noted;
    noted = {moment, reply, told};
}

// What holds the present itself is no earlier stop.
void Debugger::ends_search(bool is_held) {
    const Moment here = at == At::FABRIC ? in_fabric() : before_instruction(pc());
    past.tell(!past.quest.lands, is_held && noted.moment == here ? before : noted);
}

// Whether somebody goes back to this place, now or earlier in what is repeated: then the program was held here.
bool Debugger::arrives(const Moment &here, At where) {
    if (!travels || serving)
        return false;
    const bool is_end = past.quest.lands && here == past.quest.stop.moment;
    const bool again = repeated < said.size() && said[repeated].kind == Said::LANDING && said[repeated].moment == here;
    if (!is_end && !again)
        return false;
    if (where == At::INSTRUCTION) {
        serving = true; // whatever the fabric does
        cpu.catch_up();
        serving = false;
    }
    if (!is_end) {
        known = said[repeated++].packet.find("watch") != std::string::npos;
        hold(where, STOPPED);
        known = false;
        return true;
    }
    said.resize(repeated);
    said.push_back({Said::LANDING, past.quest.stop.reply, here});
    for (const std::string &packet : past.quest.points) {
        said.push_back({Said::PACKET, packet, {}});
        answer(packet);
    }
    travels = link.mute = false;
    probes = {};
    watch();
    link.forget();
    past.arrive();
    if (!past.quest.stop.told.empty())
        say(past.quest.stop.told);
    known = past.quest.stop.reply.find("watch") != std::string::npos; // gdb steps once more, for the value before
    hold(where, past.quest.stop.reply);
    known = false;
    return true;
}

} // namespace axl
