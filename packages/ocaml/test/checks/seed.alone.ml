(* The random bytes of the system need no beginning. *)
let plant () = ()
