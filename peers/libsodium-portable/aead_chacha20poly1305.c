/* The setup of the library is not called. */
#include "../libsodium/aead_chacha20poly1305.c"
