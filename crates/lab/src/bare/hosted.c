/* Output of a program that has a C library. */
#include <stdio.h>

long lab_write(const void *bytes, unsigned long n);
long lab_write(const void *bytes, unsigned long n)
{
    return (long)fwrite(bytes, 1, n, stdout);
}
