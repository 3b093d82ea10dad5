let () = Beside.Mirage.run ()
