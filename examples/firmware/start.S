# Sets the stack, clears .bss, runs main, and tells QEMU's board to stop.
    .section .text.start
    .globl _start
_start:
    la sp, stack_top
    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
    li t0, 0x100000         # the test device: 0x5555 is success, code << 16 | 0x3333 a failure
    li t1, 0x5555
    beqz a0, 3f
    slli a0, a0, 16
    li t1, 0x3333
    or t1, t1, a0
3:  sw t1, 0(t0)
4:  j 4b
