/* What the calibration program signs: 256 bytes under an arbitrary key. */
int crypto_sign_ed25519_tweet(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long,
                              const unsigned char *);
static unsigned char message[256] = {1, 2, 3}, key[64] = {4, 5, 6}, signed_message[256 + 64];
static unsigned long long length;
static void sign(void) { crypto_sign_ed25519_tweet(signed_message, &length, message, sizeof message, key); }
