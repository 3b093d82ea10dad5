let plant () = Mirage_crypto_rng_unix.use_default ()
