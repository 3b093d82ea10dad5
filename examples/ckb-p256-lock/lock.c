/* A lock script: spending needs an ECDSA signature on P-256 over SHA-256 of the transaction's hash.
 *
 * args of the script: the public key, x and y, 32 bytes each, big-endian.
 * lock of the first witness of the group: the signature, r and s, 32 bytes each, big-endian.
 * Exit: 0 unlocked; 1 the signature is wrong; 2 script or witness are not of this form; 3 a system call failed.
 *
 * The transaction's hash covers inputs, outputs and data, not the other witnesses: a lock for real use hashes these too. */
#include "hash_sha256.h"
#include "p256_ecdsa_verify.h"

/* Numbers of system calls and sources: CKB RFC 0009. */
enum { LOAD_TX_HASH = 2061, LOAD_SCRIPT = 2052, LOAD_WITNESS = 2074, EXIT = 93 };
static const uint64_t group_input = 0x0100000000000001;

static long call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
    register uint64_t a0 __asm__("a0") = a;
    register uint64_t a1 __asm__("a1") = b;
    register uint64_t a2 __asm__("a2") = c;
    register uint64_t a3 __asm__("a3") = d;
    register uint64_t a4 __asm__("a4") = e;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
    return (long)a0;
}

/* Loads the whole of it, of at most `room` bytes; gives its size, or stops the script. */
static uint64_t load(long number, uint8_t *to, uint64_t room, uint64_t index, uint64_t source) {
    uint64_t size = room;
    if (call(number, (uint64_t)to, (uint64_t)&size, 0, index, source) != 0) call(EXIT, 3, 0, 0, 0, 0);
    if (size > room) call(EXIT, 2, 0, 0, 0, 0);
    return size;
}

static uint32_t le32(const uint8_t *b) { return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24; }

/* Field `n` of a table with three fields (Molecule), which has to be a byte string of 64 bytes; 0: it is none. */
static const uint8_t *field(const uint8_t *table, uint64_t size, int n) {
    if (size < 16 || le32(table) != size || le32(table + 4) != 16) return 0;
    uint64_t from = le32(table + 4 + 4 * n), to = n == 2 ? size : le32(table + 8 + 4 * n);
    if (to > size || from > to || to - from != 4 + 64 || le32(table + from) != 64) return 0;
    return table + from + 4;
}

int main(void) {
    static uint8_t script[256], witness[1024], hash[32], digest[32];
    uint64_t script_size = load(LOAD_SCRIPT, script, sizeof script, 0, 0);
    uint64_t witness_size = load(LOAD_WITNESS, witness, sizeof witness, 0, group_input);
    if (load(LOAD_TX_HASH, hash, sizeof hash, 0, 0) != sizeof hash) return 2;
    const uint8_t *key = field(script, script_size, 2), *signature = field(witness, witness_size, 0);
    if (!key || !signature) return 2;
    santoku_sha256(digest, sizeof hash, hash);
    return p256_ecdsa_verify(digest, signature, key) == 0 ? 0 : 1;
}

/* The VM starts here. */
__attribute__((naked, used, section(".text._start"))) void _start(void) {
    __asm__("call main\n li a7, 93\n ecall");
}
