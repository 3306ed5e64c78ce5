// The functional model as an accelerator: beats in, beats out, and the cycles that are stated in between.
//
// Words gather until the model has as many as it waits for; then it runs, at once and whole. Its computes pass an
// array one after the other, its results wait for the computes before them and leave a beat a cycle. Both queues
// are short, as buffers with two halves are: where one is full, no beat is taken.

#include <cstddef>
#include <deque>
#include <vector>

#include "axl_core.h"
#include "axl_model.h"

namespace {

struct Result {
    uint64_t after;  // so many computes must have ended
    uint64_t from;   // when it may leave, once they have: what is offered stays, whatever ends behind it
    std::vector<uint32_t> words;
    std::vector<uint8_t> last;
    std::size_t at = 0;
};

class Model {
public:
    void connect(int number, uint32_t beat_words, uint32_t ahead, uint32_t latency, axl_model_function function) {
        number_ = number, beat_words_ = beat_words, ahead_ = ahead, latency_ = latency, function_ = function;
        fresh_ = false;
        reset();
    }

    void reset() {
        if (fresh_ || !function_) return;  // the line is high for many cycles
        input_.clear(), computes_.clear(), results_.clear();
        left_ = begun_ = ended_ = sendable_ = clock_ = 0;
        run();
        fresh_ = true;
    }

    void word(uint32_t word) {
        fresh_ = false;
        input_.push_back(word);
    }

    int step(bool taken) {
        if (!function_) return 0;
        ++clock_;
        if (taken) sent();
        if (left_ && --left_ == 0) {
            ++ended_;
            sendable_ = clock_ + latency_;
            for (Result &result : results_) {
                if (result.after == ended_) result.from = sendable_;
            }
        }
        if (!error_ && !input_.empty() && input_.size() >= wanted_) run();
        if (!left_ && !computes_.empty()) {
            left_ = computes_.front();
            computes_.pop_front();
        }
        return flags();
    }

    int out(int lane) const { return static_cast<int>(results_.front().words[results_.front().at + lane]); }

private:
    // The model takes what has gathered: nothing, for a reset.
    void run() {
        axl_answer answer = {};
        function_(number_, input_.data(), static_cast<uint32_t>(input_.size()), &answer);
        input_.clear();
        wanted_ = answer.wanted, error_ = answer.error;
        if (answer.cycles) {
            computes_.push_back(answer.cycles);
            ++begun_;
        }
        if (answer.n) {
            // `sendable_` is of the compute that ended last: it holds if that is the one before this result.
            results_.push_back({begun_, sendable_, {answer.words, answer.words + answer.n}, {answer.last, answer.last + answer.n}});
        }
    }

    void sent() {
        Result &result = results_.front();
        result.at += beat_words_;
        if (result.at >= result.words.size()) results_.pop_front();
    }

    bool offered() const {
        if (results_.empty()) return false;
        const Result &next = results_.front();
        return ended_ >= next.after && clock_ >= next.from;
    }

    int flags() const {
        const bool valid = offered(), computing = left_ != 0;
        const bool room = computes_.size() + computing < ahead_ && results_.size() < ahead_;
        int bits = static_cast<int>(error_) << AXL_MODEL_ERROR_SHIFT;
        if (room && !error_) bits |= AXL_MODEL_READY;
        if (valid) bits |= AXL_MODEL_VALID;
        if (valid && results_.front().last[results_.front().at + beat_words_ - 1]) bits |= AXL_MODEL_LAST;
        if (computing) bits |= AXL_MODEL_COMPUTE;
        if (computing || (!valid && !results_.empty())) bits |= AXL_MODEL_BUSY;
        return bits;
    }

    int number_ = 0;
    uint32_t beat_words_ = 1, ahead_ = 1, latency_ = 0, wanted_ = 1, error_ = 0;
    axl_model_function function_ = nullptr;
    bool fresh_ = false;
    std::vector<uint32_t> input_;
    std::deque<uint64_t> computes_;  // cycles of those that wait for the array
    std::deque<Result> results_;
    uint64_t left_ = 0;              // cycles of the one under way
    uint64_t begun_ = 0, ended_ = 0, sendable_ = 0, clock_ = 0;
};

Model models[AXL_ACCELERATORS];

}  // namespace

extern "C" {
void axl_model_reset(int number) { models[number].reset(); }
void axl_model_word(int number, int word) { models[number].word(static_cast<uint32_t>(word)); }
int axl_model_step(int number, int taken) { return models[number].step(taken != 0); }
int axl_model_out(int number, int lane) { return models[number].out(lane); }
void axl_model_connect(int number, uint32_t beat_words, uint32_t ahead, uint32_t latency, axl_model_function function) {
    models[number].connect(number, beat_words, ahead, latency, function);
}
}
