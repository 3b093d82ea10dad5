type g = Mirage_crypto_rng.g

let generate ?g n = Mirage_crypto_rng.generate ?g n
