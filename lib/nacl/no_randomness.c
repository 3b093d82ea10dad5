/* Stands for a caller's source of randomness in programs that make no keys; libraries that have one keep theirs. */
void randombytes(unsigned char *x, unsigned long long n) __attribute__((weak));
void randombytes(unsigned char *x, unsigned long long n)
{
    while (n) {
        x[--n] = 0;
    }
}
