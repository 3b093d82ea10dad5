/* What the C of NaCl's key pairs asks for; Python's own key pairs take their bytes from os.urandom. Stops the program where the system has no random bytes. */
#include <stdlib.h>
#include <unistd.h>
#include <sys/random.h>

void randombytes(unsigned char *x, unsigned long long n)
{
    while (n > 0) {
        size_t now = n < 256 ? (size_t)n : 256;
        if (getentropy(x, now) != 0) {
            abort();
        }
        x += now;
        n -= now;
    }
}
