(* All vectors of vectors.txt, through the interface: RFC 6979, and Wycheproof's ECDSA, ECDH, X25519 and Ed25519. A line is a source and number, a function,
   its arguments, and behind an arrow what it leaves and gives back. *)

open Santoku_ec
open Checks

type vector = { id : string; operation : string; arguments : (string * string) list; results : string list; valid : bool option }

let parse line =
  match String.split_on_char ' ' line with
  | id :: operation :: rest ->
      let rec split before = function
        | "->" :: after -> (List.rev before, after)
        | field :: after -> split (field :: before) after
        | [] -> failwith ("no result: " ^ line)
      in
      let arguments, after = split [] rest in
      let argument field =
        let at = String.index field '=' in
        (String.sub field 0 at, of_hex (String.sub field (at + 1) (String.length field - at - 1)))
      in
      let valid = if List.mem "valid" after then Some true else if List.mem "invalid" after then Some false else None in
      let results = List.map of_hex (List.filter (fun r -> r <> "valid" && r <> "invalid") after) in
      { id; operation; arguments = List.map argument arguments; results; valid }
  | _ -> failwith ("no vector: " ^ line)

(* The curves of these vectors are told by what functions begin with. *)
let curves : (string * (module Curve)) list =
  [
    ("santoku_p224_", (module P224));
    ("santoku_p256_", (module P256));
    ("santoku_p384_", (module P384));
    ("santoku_p521_", (module P521));
    ("santoku_secp256k1_", (module Secp256k1));
  ]

let starts prefix s = String.length s >= String.length prefix && String.sub s 0 (String.length prefix) = prefix

module Of_curve (C : Curve) = struct
  let size = C.Dsa.byte_length

  (* The interface takes no digest that is longer than the order: its leftmost bytes count. *)
  let digest v =
    let d = List.assoc "digest" v.arguments in
    if String.length d > size then String.sub d 0 size else d

  let key v = match C.Dsa.pub_of_octets v with Ok q -> Some q | Error _ -> None
  let halves s = (String.sub s 0 size, String.sub s size size)
  let verified key rs d = match (key, rs) with Some key, Some rs -> C.Dsa.verify ~key rs d | _ -> false

  let holds operation v =
    let argument name = List.assoc name v.arguments in
    match operation with
    | "sign" -> (
        match (C.Dsa.priv_of_octets (argument "sk"), v.results) with
        | Ok key, [ rs; _ ] -> C.Dsa.sign ~mask:`No ~key (digest v) = halves rs && C.Dsa.sign ~key (digest v) = halves rs
        | _ -> false)
    | "verify" ->
        let rs = argument "sig" in
        Some (verified (key ("\x04" ^ argument "pk")) (Some (halves rs)) (digest v)) = v.valid
    | "verify_der" -> Some (verified (key (argument "pk")) (C.signature_of_der (argument "sig")) (digest v)) = v.valid
    | "ecdh" | "ecdh_encoded" -> (
        let peer = if operation = "ecdh" then "\x04" ^ argument "pk" else argument "encoded" in
        let shared = match C.Dh.secret_of_octets (argument "sk") with Ok (d, _) -> C.Dh.key_exchange d peer | Error e -> Error e in
        match (shared, v.results) with
        | Ok s, [ expected; status ] -> s = expected && status = "\x00\x00\x00\x00"
        | Error _, [ _; status ] -> status = "\xff\xff\xff\xff"
        | _ -> false)
    | _ -> failwith ("no test for " ^ v.operation)
end

let x25519 v =
  let argument name = List.assoc name v.arguments in
  match (X25519.secret_of_octets (argument "k"), v.results) with
  | Ok (d, _), [ expected ] -> (
      match X25519.key_exchange d (argument "u") with
      | Ok shared -> shared = expected
      | Error `Low_order -> expected = String.make 32 '\x00'
      | Error _ -> false)
  | _ -> false

let ed25519 v =
  let argument name = List.assoc name v.arguments in
  let made of_key = match Ed25519.priv_of_octets (argument "seed") with Ok key -> [ of_key key ] = v.results | Error _ -> false in
  match v.operation with
  | "santoku_ed25519_public_key" -> made (fun key -> Ed25519.pub_to_octets (Ed25519.pub_of_priv key))
  | "santoku_ed25519_sign" -> made (fun key -> Ed25519.sign ~key (argument "m"))
  | _ ->
      let verified =
        match Ed25519.pub_of_octets (argument "pk") with
        | Ok key -> Ed25519.verify ~key (argument "sig") ~msg:(argument "m")
        | Error _ -> false
      in
      Some verified = v.valid

let holds v =
  match List.find_opt (fun (prefix, _) -> starts prefix v.operation) curves with
  | Some (prefix, (module C)) ->
      let module T = Of_curve (C) in
      let at = String.length prefix in
      T.holds (String.sub v.operation at (String.length v.operation - at)) v
  | None -> if starts "santoku_ed25519_" v.operation then ed25519 v else x25519 v

let () =
  let file = open_in "vectors.txt" in
  let wrong = ref 0 in
  (try
     while true do
       let line = input_line file in
       if line <> "" && line.[0] <> '#' then (
         let v = parse line in
         check (v.id ^ " " ^ v.operation) (holds v);
         (* Another digest or another result does not hold. *)
         if !count mod 50 = 0 && v.valid = Some true then (
           let spoilt = List.map (fun (name, s) -> (name, if name = "digest" || name = "m" then s ^ "x" else s)) v.arguments in
           incr wrong;
           check ("a spoilt " ^ v.id) (not (holds { v with arguments = List.map (fun (n, s) -> if n = "digest" then (n, bytes 20) else (n, s)) spoilt }))))
     done
   with End_of_file -> close_in file);
  check "spoilt vectors were tried" (!wrong > 50);
  finish "vectors"
