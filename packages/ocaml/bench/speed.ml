(* Whole calls of santoku-ec, beside mirage-crypto-ec where that is installed: operations in a second, the median of rounds in which both take turns. *)

open Santoku_ec

let rounds = 41
let round_seconds = 0.01

let seconds n f =
  let start = Unix.gettimeofday () in
  for _ = 1 to n do
    f ()
  done;
  Unix.gettimeofday () -. start

(* So many calls fill a round. *)
let fitting f =
  let rec double n = if seconds n f < round_seconds then double (2 * n) else n in
  double 1

let median samples =
  let sorted = List.sort compare samples in
  List.nth sorted (List.length sorted / 2)

let measured calls =
  let counts = List.map (fun f -> (f, fitting f)) calls in
  let samples = List.init rounds (fun _ -> List.map (fun (f, n) -> seconds n f /. float_of_int n) counts) in
  List.mapi (fun i _ -> 1. /. median (List.map (fun row -> List.nth row i) samples)) calls

let line what ours theirs =
  match theirs with
  | None ->
      let[@warning "-8"] [ a ] = measured [ ours ] in
      Printf.printf "%-28s %10.0f\n%!" what a
  | Some f ->
      let[@warning "-8"] [ a; b ] = measured [ ours; f ] in
      Printf.printf "%-28s %10.0f %18.0f %7.2f\n%!" what a b (a /. b)

let ok = function Ok x -> x | Error e -> failwith (Format.asprintf "%a" pp_error e)

let curve name (module C : Curve) =
  let size = C.Dsa.byte_length in
  let number first = String.init size (fun i -> if i = 0 then '\x00' else Char.chr ((first + (7 * i)) land 255)) in
  let key = number 1 in
  let d = ok (C.Dsa.priv_of_octets key) in
  let q = C.Dsa.pub_of_priv d in
  let secret, _ = ok (C.Dh.secret_of_octets key) in
  let _, peer = ok (C.Dh.secret_of_octets (number 2)) in
  let digest = String.sub (number 3) 0 (min size 32) in
  let signature = C.Dsa.sign ~mask:`No ~key:d digest in
  let rival = match Rival.curve name with Some calls -> calls ~key ~digest ~signature ~peer | None -> [] in
  List.iter
    (fun (operation, call) -> line (name ^ " " ^ operation) call (List.assoc_opt operation rival))
    [
      ("sign", fun () -> ignore (C.Dsa.sign ~mask:`No ~key:d digest));
      ("sign with a mask", fun () -> ignore (C.Dsa.sign ~key:d digest));
      ("verify", fun () -> if not (C.Dsa.verify ~key:q signature digest) then failwith "verify");
      ("key exchange", fun () -> ignore (ok (C.Dh.key_exchange secret peer)));
      ("public key", fun () -> ignore (C.Dsa.pub_of_priv d));
    ]

let ed25519 () =
  let seed, message = (String.make 32 'k', String.make 256 'm') in
  let d = ok (Ed25519.priv_of_octets seed) in
  let q = Ed25519.pub_of_priv d in
  let signature = Ed25519.sign ~key:d message in
  let rival = Rival.ed25519 ~seed ~message ~signature in
  List.iter
    (fun (operation, call) -> line ("Ed25519 " ^ operation) call (List.assoc_opt operation rival))
    [
      ("sign", fun () -> ignore (Ed25519.sign ~key:d message));
      ("verify", fun () -> if not (Ed25519.verify ~key:q signature ~msg:message) then failwith "verify");
    ]

let x25519 () =
  let secret = String.make 32 's' in
  let d, _ = ok (X25519.secret_of_octets secret) in
  let _, peer = ok (X25519.secret_of_octets (String.make 32 'p')) in
  let rival = Rival.x25519 ~secret ~peer in
  line "X25519 key exchange" (fun () -> ignore (ok (X25519.key_exchange d peer))) (List.assoc_opt "key exchange" rival)

let () =
  Rival.prepare ();
  (match Rival.name with
  | Some name -> Printf.printf "%-28s %10s %18s %7s\n" "operations in a second" "santoku-ec" name "ratio"
  | None -> Printf.printf "%-28s %10s   (mirage-crypto-ec 1.0 or newer is not installed)\n" "operations in a second" "santoku-ec");
  let curves : (string * (module Curve)) list =
    [ ("P-256", (module P256)); ("P-384", (module P384)); ("P-521", (module P521)); ("P-224", (module P224)); ("secp256k1", (module Secp256k1)) ]
  in
  List.iter (fun (name, c) -> curve name c) curves;
  ed25519 ();
  x25519 ()
