(* Checks are counted; none is a failure, and so is one that does not hold. *)

let () = Seed.plant ()
let count = ref 0
let failed = ref 0

let check what holds =
  incr count;
  if not holds then (
    incr failed;
    if !failed <= 10 then Printf.printf "failed: %s\n%!" what)

let raises what expected f =
  check what (match f () with _ -> false | exception e -> expected e)

let finish what =
  Printf.printf "%s: %d checks, %d failed\n%!" what !count !failed;
  if !count = 0 || !failed > 0 then exit 1

let of_hex s = String.init (String.length s / 2) (fun i -> Char.chr (int_of_string ("0x" ^ String.sub s (2 * i) 2)))

(* Bytes that are the same in every run: a linear congruence modulo 2^30. *)
let bytes =
  let state = ref 12345 in
  let next () =
    state := ((!state * 1103515245) + 12345) land 0x3fffffff;
    Char.chr ((!state lsr 16) land 255)
  in
  fun n -> String.init n (fun _ -> next ())
