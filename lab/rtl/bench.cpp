// Bench of the Rocket RTL: clock, reset, and one AXI slave on the memory-mapped port that serves the program image and
// the bench device.
//
// usage: e31 IMAGE [MAX_CYCLES [LINE_LATENCY [WORD_LATENCY]]]
// IMAGE holds the bytes from 0x20000000 on. Latencies are cycles from the address to the first data beat, of a cache line
// and of a single read (10 each unless told). Console bytes go to standard output, counters to standard error. The exit
// status is the program's, or 3 when MAX_CYCLES went by.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <vector>

#include "Rocket.h"
#include "verilated.h"

namespace {

constexpr uint32_t kFlash = 0x20000000;
constexpr size_t kFlashBytes = 1u << 20;
constexpr uint32_t kConsole = 0x3ff00000;
constexpr uint32_t kExit = 0x3ff00004;
constexpr uint64_t kResetCycles = 50;
constexpr size_t kOutstanding = 4;

struct Read {
    uint32_t addr;
    int id, beats_left, wait;
};

// The slave's state. Outputs are set before the clock edge, handshakes are sampled just before it and acted on after it.
class Slave {
  public:
    Slave(std::vector<uint8_t> image, int line_latency, int word_latency)
        : flash_(std::move(image)), line_latency_(line_latency), word_latency_(word_latency) {
        flash_.resize(kFlashBytes);
    }

    void drive(Rocket &top) {
        top.mmio_axi4_0_ar_ready = reads_.size() < kOutstanding;
        top.mmio_axi4_0_aw_ready = !have_address_ && !have_response_;
        top.mmio_axi4_0_w_ready = !have_data_ && !have_response_;
        top.mmio_axi4_0_b_valid = have_response_;
        top.mmio_axi4_0_b_bits_id = write_id_;
        top.mmio_axi4_0_b_bits_resp = 0;
        bool data = !reads_.empty() && reads_.front().wait == 0;
        top.mmio_axi4_0_r_valid = data;
        if (data) {
            const Read &read = reads_.front();
            uint32_t word;
            memcpy(&word, &flash_[(read.addr - kFlash) & (kFlashBytes - 1) & ~3u], 4);
            top.mmio_axi4_0_r_bits_data = word;
            top.mmio_axi4_0_r_bits_id = read.id;
            top.mmio_axi4_0_r_bits_last = read.beats_left == 1;
            top.mmio_axi4_0_r_bits_resp = 0;
        }
    }

    void sample(const Rocket &top) {
        ar_ = top.mmio_axi4_0_ar_valid && top.mmio_axi4_0_ar_ready;
        r_ = top.mmio_axi4_0_r_valid && top.mmio_axi4_0_r_ready;
        aw_ = top.mmio_axi4_0_aw_valid && top.mmio_axi4_0_aw_ready;
        w_ = top.mmio_axi4_0_w_valid && top.mmio_axi4_0_w_ready;
        b_ = top.mmio_axi4_0_b_valid && top.mmio_axi4_0_b_ready;
        int beats = top.mmio_axi4_0_ar_bits_len + 1;
        asked_ = {top.mmio_axi4_0_ar_bits_addr, top.mmio_axi4_0_ar_bits_id, beats, beats > 1 ? line_latency_ : word_latency_};
        if (aw_) {
            write_addr_ = top.mmio_axi4_0_aw_bits_addr;
            write_id_ = top.mmio_axi4_0_aw_bits_id;
        }
        if (w_) write_data_ = top.mmio_axi4_0_w_bits_data;
    }

    void edge() {
        if (!reads_.empty() && reads_.front().wait > 0) reads_.front().wait--;
        if (r_) {
            Read &read = reads_.front();
            read.addr += 4;
            if (--read.beats_left == 0) reads_.pop_front();
        }
        if (ar_) {
            (asked_.beats_left > 1 ? lines : words)++;
            reads_.push_back(asked_);
        }
        have_address_ |= aw_;
        have_data_ |= w_;
        if (b_) have_response_ = false;
        if (have_address_ && have_data_) {
            have_address_ = have_data_ = false;
            have_response_ = true;
            if (write_addr_ == kConsole) putchar(write_data_ & 0xff);
            if (write_addr_ == kExit) {
                exited = true;
                status = write_data_;
            }
        }
    }

    uint64_t lines = 0, words = 0;
    bool exited = false;
    uint32_t status = 0;

  private:
    std::vector<uint8_t> flash_;
    int line_latency_, word_latency_;
    std::deque<Read> reads_;
    bool have_address_ = false, have_data_ = false, have_response_ = false;
    uint32_t write_addr_ = 0, write_data_ = 0;
    int write_id_ = 0;
    bool ar_ = false, r_ = false, aw_ = false, w_ = false, b_ = false;
    Read asked_{};
};

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: e31 IMAGE [MAX_CYCLES [LINE_LATENCY [WORD_LATENCY]]]\n");
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    if (!file) {
        fprintf(stderr, "e31: cannot read %s\n", argv[1]);
        return 2;
    }
    std::vector<uint8_t> image((std::istreambuf_iterator<char>(file)), {});
    auto number = [&](int n, uint64_t otherwise) { return argc > n ? strtoull(argv[n], nullptr, 0) : otherwise; };
    const uint64_t max_cycles = number(2, 1000000000);
    const int line_latency = int(number(3, 10));
    Slave slave(std::move(image), line_latency, int(number(4, line_latency)));

    Verilated::commandArgs(argc, argv);
    Rocket top;
    top.interrupts = 0;
    top.debug_clockeddmi_dmi_req_valid = 0;
    top.debug_clockeddmi_dmi_resp_ready = 1;
    uint64_t cycle = 0;
    for (; !slave.exited && cycle < max_cycles; cycle++) {
        const bool reset = cycle < kResetCycles;
        top.reset = top.debug_clockeddmi_dmiReset = reset;
        slave.drive(top);
        top.clock = top.debug_clockeddmi_dmiClock = 0;
        top.eval();
        slave.sample(top);
        top.clock = top.debug_clockeddmi_dmiClock = 1;
        top.eval();
        if (!reset) slave.edge();
    }
    fflush(stdout);
    fprintf(stderr, "cycles=%llu line_fetches=%llu word_reads=%llu%s\n", (unsigned long long)cycle,
            (unsigned long long)slave.lines, (unsigned long long)slave.words, slave.exited ? "" : " TIMEOUT");
    return slave.exited ? int(slave.status) : 3;
}
