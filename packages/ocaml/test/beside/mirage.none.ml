let run () = print_endline "skipped: beside mirage-crypto-ec: that, with strings for bytes (1.0 or newer), is not installed"
