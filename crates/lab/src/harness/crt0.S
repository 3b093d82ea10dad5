# Start-up code of measured programs: RAM image from flash, zeroed .bss, main, exit. With LAB_BENCH it speaks to the
# bench device of the RTL model, otherwise by semihosting (QEMU). The simulator knows both.
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    la a0, __data_load
    la a1, __data_start
    la a2, __data_end
1:  bgeu a1, a2, 2f
    lw a3, 0(a0)
    sw a3, 0(a1)
    addi a0, a0, 4
    addi a1, a1, 4
    j 1b
2:  la a1, __bss_start
    la a2, __bss_end
3:  bgeu a1, a2, 4f
    sw zero, 0(a1)
    addi a1, a1, 4
    j 3b
4:  call main
    .globl lab_exit
lab_exit:
#ifdef LAB_BENCH
    li a1, 0x3ff00004
    sw a0, 0(a1)
#else
    addi sp, sp, -16
    li a1, 0x20026
    sw a1, 0(sp)
    sw a0, 4(sp)
    li a0, 0x20
    mv a1, sp
    call lab_semihost
#endif
5:  j 5b

    .globl lab_putc
lab_putc:
#ifdef LAB_BENCH
    li a1, 0x3ff00000
    sw a0, 0(a1)
    ret
#else
    addi sp, sp, -16
    sw ra, 12(sp)
    sb a0, 0(sp)
    li a0, 3
    mv a1, sp
    call lab_semihost
    lw ra, 12(sp)
    addi sp, sp, 16
    ret

    # Aligned before compression is off: the linker needs the room that compressed code asks for.
    .balign 16
    .option push
    .option norvc
lab_semihost:
    slli zero, zero, 0x1f
    ebreak
    srai zero, zero, 7
    ret
    .option pop
#endif

    .balign 4
    .globl lab_window_begin
    .type lab_window_begin, @function
lab_window_begin:
    ret
    .size lab_window_begin, . - lab_window_begin

    .balign 4
    .globl lab_window_end
    .type lab_window_end, @function
lab_window_end:
    ret
    .size lab_window_end, . - lab_window_end

    .balign 4
    .globl lab_instret
lab_instret:
    csrr a0, minstret
    ret

    .balign 4
    .globl lab_cycle
lab_cycle:
    csrr a0, mcycle
    ret
