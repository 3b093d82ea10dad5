type g = int -> string

let default : g option ref = ref None

let set_default g = default := Some g

(* Not a channel: what a channel has read ahead, a forked process would use a second time. *)
let system n =
  let file = Unix.openfile "/dev/urandom" [ Unix.O_RDONLY; Unix.O_CLOEXEC ] 0 in
  let buffer = Bytes.create n in
  let rec fill from =
    if from < n then
      match Unix.read file buffer from (n - from) with
      | 0 -> failwith "Santoku_ec.Rng: /dev/urandom has an end"
      | more -> fill (from + more)
      | exception Unix.Unix_error (Unix.EINTR, _, _) -> fill from
  in
  Fun.protect ~finally:(fun () -> Unix.close file) (fun () -> fill 0);
  Bytes.unsafe_to_string buffer

let generate ?g n =
  let s = match (g, !default) with Some g, _ | None, Some g -> g n | None, None -> system n in
  if String.length s <> n then invalid_arg "Santoku_ec.Rng: a generator gave another number of bytes";
  s
