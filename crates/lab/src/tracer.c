/* A plugin of QEMU that hashes what runs between two functions: the address of every instruction and of every access to memory. One line a window
 * goes to the file that `out=` names: hash, instructions, accesses. Windows begin where `begin=` names a function, and end at `end=`.
 * The interface is version 1 of QEMU's plugins (QEMU documentation, "QEMU TCG Plugins"), declared here because distributions do not ship its header. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t id_t_;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
void qemu_plugin_register_vcpu_tb_trans_cb(id_t_, void (*)(id_t_, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int, int, void *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

static char begin[128], end[128];
static FILE *out;
static bool inside;
static uint64_t hash, instructions, accesses;

static void take(uint64_t x)
{
  /* FNV-1a, a word at a time. */
  hash = (hash ^ x) * UINT64_C(0x100000001b3);
  hash ^= hash >> 29;
}

static void starts(unsigned cpu, void *unused)
{
  (void)cpu, (void)unused;
  if (inside) return;
  inside = true;
  hash = UINT64_C(0xcbf29ce484222325);
  instructions = accesses = 0;
}

static void ends(unsigned cpu, void *unused)
{
  (void)cpu, (void)unused;
  if (!inside) return;
  inside = false;
  fprintf(out, "%016" PRIx64 " %" PRIu64 " %" PRIu64 "\n", hash, instructions, accesses);
  fflush(out);
}

static void runs(unsigned cpu, void *address)
{
  (void)cpu;
  if (!inside) return;
  instructions++;
  take((uintptr_t)address);
}

static void touches(unsigned cpu, uint32_t kind, uint64_t address, void *unused)
{
  (void)cpu, (void)unused;
  if (!inside) return;
  accesses++;
  take(address);
  take(kind);
}

static void translated(id_t_ id, struct qemu_plugin_tb *tb)
{
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
    const char *symbol = qemu_plugin_insn_symbol(insn);
    void *at = (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn);
    if (symbol && !strcmp(symbol, begin)) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, starts, NO_REGISTERS, 0);
    } else if (symbol && !strcmp(symbol, end)) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, ends, NO_REGISTERS, 0);
    } else {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, runs, NO_REGISTERS, at);
      qemu_plugin_register_vcpu_mem_cb(insn, touches, NO_REGISTERS, READS_AND_WRITES, 0);
    }
  }
}

__attribute__((visibility("default"))) int qemu_plugin_install(id_t_ id, const void *info, int argc, char **argv)
{
  (void)info;
  for (int i = 0; i < argc; i++) {
    if (!strncmp(argv[i], "out=", 4)) out = fopen(argv[i] + 4, "w");
    if (!strncmp(argv[i], "begin=", 6)) snprintf(begin, sizeof begin, "%s", argv[i] + 6);
    if (!strncmp(argv[i], "end=", 4)) snprintf(end, sizeof end, "%s", argv[i] + 4);
  }
  if (!out || !*begin || !*end) return -1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
