let () = Beside.Nonces.run ()
