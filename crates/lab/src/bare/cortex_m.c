/* Start of a program on a Cortex-M board: the vector table, initialised data, then main. Output and the end go by semihosting (Arm,
 * "Semihosting for AArch32 and AArch64", operations SYS_OPEN, SYS_WRITE, SYS_EXIT_EXTENDED). */
#include <stddef.h>
#include <stdint.h>

long lab_write(const void *bytes, unsigned long n);
int main(void);
void lab_reset(void);

extern unsigned char lab_stack_top[], lab_data_load[], lab_data_start[], lab_data_end[], lab_bss_start[], lab_bss_end[];
void *memcpy(void *restrict, const void *restrict, size_t);
void *memset(void *, int, size_t);

__attribute__((section(".vectors"), used)) static const void *const vectors[2] = {lab_stack_top, (const void *)lab_reset};

static long host(long operation, const void *block)
{
    register long r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

long lab_write(const void *bytes, unsigned long n)
{
    static uint32_t handle;
    if (!handle) {
        /* Mode 4 is "w". */
        const uint32_t opened[3] = {(uint32_t)":tt", 4, 3};
        handle = (uint32_t)host(1, opened);
    }
    const uint32_t block[3] = {handle, (uint32_t)bytes, n};
    return (long)n - host(5, block);
}

void lab_reset(void)
{
    memcpy(lab_data_start, lab_data_load, (size_t)(lab_data_end - lab_data_start));
    memset(lab_bss_start, 0, (size_t)(lab_bss_end - lab_bss_start));
    /* ADP_Stopped_ApplicationExit, and the status. */
    const uint32_t block[2] = {0x20026, (uint32_t)main()};
    for (;;) {
        host(0x20, block);
    }
}
