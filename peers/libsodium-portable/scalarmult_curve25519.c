/* The setup of the library is not called. */
#include "../libsodium/scalarmult_curve25519.c"
