# Start of a CKB-VM program. The VM leaves argc at sp and the pointers after it; exit is system call 93.
    .section .text._start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    ld a0, 0(sp)
    addi a1, sp, 8
    call main
    li a7, 93
    ecall
1:  j 1b
    .size _start, . - _start
