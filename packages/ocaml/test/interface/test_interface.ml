(* What the interface promises beyond the vectors, on every curve. *)

open Santoku_ec
open Checks

let curves : (string * (module Curve) * int) list =
  [ ("P-224", (module P224), 28); ("P-256", (module P256), 32); ("P-384", (module P384), 48); ("P-521", (module P521), 66); ("secp256k1", (module Secp256k1), 32) ]

let number size n = String.init size (fun i -> if size - 1 - i < 4 then Char.chr ((n lsr (8 * (size - 1 - i))) land 255) else '\x00')
let ok what = function Ok x -> x | Error e -> failwith (Format.asprintf "%s: %a" what pp_error e)
let is_error e = function Ok _ -> false | Error e' -> e = e'

module Of_curve (C : Curve) (N : sig val name : string val width : int end) = struct
  open C.Dsa

  let size = byte_length
  let check what = check (N.name ^ ": " ^ what)
  let point q = pub_to_octets q
  let key n = ok "a small key" (priv_of_octets (number size n))

  let keys () =
    check "zero is no key" (is_error `Invalid_range (priv_of_octets (number size 0)));
    check "a large number is no key" (is_error `Invalid_range (priv_of_octets (String.make size '\xff')));
    check "a short key" (is_error `Invalid_length (priv_of_octets (String.make (size - 1) '\x01')));
    check "a long key" (is_error `Invalid_length (priv_of_octets (String.make (size + 1) '\x01')));
    check "keys are as they were" (priv_to_octets (key 77) = number size 77);
    let d, q = generate () in
    check "the public key of a new key" (point (pub_of_priv d) = point q);
    check "two new keys differ" (priv_to_octets d <> priv_to_octets (fst (generate ())))

  let encodings () =
    let q = pub_of_priv (key 5) in
    let long, short = (point q, pub_to_octets ~compress:true q) in
    check "uncompressed" (String.length long = 1 + (2 * N.width) && long.[0] = '\x04');
    check "compressed" (String.length short = 1 + N.width && (short.[0] = '\x02' || short.[0] = '\x03'));
    check "both are read" (Result.map point (pub_of_octets long) = Ok long && Result.map point (pub_of_octets short) = Ok long);
    let spoil at c = String.mapi (fun i x -> if i = at then c else x) in
    check "nothing" (is_error `Invalid_format (pub_of_octets ""));
    check "infinity" (is_error `At_infinity (pub_of_octets "\x00"));
    check "hybrid" (is_error `Invalid_format (pub_of_octets (spoil 0 '\x06' long)));
    check "an unknown form" (is_error `Invalid_format (pub_of_octets (spoil 0 '\x05' long)));
    check "too short" (is_error `Invalid_length (pub_of_octets (String.sub long 0 (String.length long - 1))));
    check "too long" (is_error `Invalid_length (pub_of_octets (long ^ "\x00")));
    check "no point" (is_error `Not_on_curve (pub_of_octets (spoil (2 * N.width) (Char.chr (Char.code long.[2 * N.width] lxor 1)) long)));
    check "x above the prime" (is_error `Invalid_range (pub_of_octets ("\x02" ^ String.make N.width '\xff')));
    check "y above the prime" (is_error `Invalid_range (pub_of_octets (String.sub long 0 (1 + N.width) ^ String.make N.width '\xff')))

  let group () =
    let open Primitive in
    let g n = pub_of_priv (key n) in
    check "the generator" (point generator = point (g 1));
    check "1 + 1" (point (add generator generator) = point (g 2));
    check "2 + 3" (point (add (g 2) (g 3)) = point (g 5));
    check "3 times 4" (point (scalar_mult (key 3) (g 4)) = point (g 12));
    let opposite = String.mapi (fun i c -> if i = 0 then Char.chr (Char.code c lxor 1) else c) (pub_to_octets ~compress:true (g 7)) in
    let opposite = ok "the opposite point" (pub_of_octets opposite) in
    let nothing = add (g 7) opposite in
    check "infinity is written as such" (point nothing = "\x00");
    check "infinity is neutral" (point (add nothing (g 9)) = point (g 9) && point (add (g 9) nothing) = point (g 9));
    check "infinity times a key" (point (scalar_mult (key 5) nothing) = "\x00");
    check "no signature under infinity" (not (verify ~key:nothing (number size 1, number size 1) "x"));
    let tables = Precompute.generator_tables () in
    check "tables" (Array.length tables = 2 * N.width && "\x04" ^ tables.(1).(2).(0) ^ tables.(1).(2).(1) = point (g 48))

  let signatures () =
    let d, q = generate () in
    let digest = bytes (min size 32) in
    let r, s = sign ~mask:`No ~key:d digest in
    check "r and s" (String.length r = size && String.length s = size);
    check "it verifies" (verify ~key:q (r, s) digest);
    check "not of another digest" (not (verify ~key:q (r, s) (bytes (min size 32))));
    check "not by another key" (not (verify ~key:(pub_of_priv (key 3)) (r, s) digest));
    check "not r for s" (not (verify ~key:q (s, r) digest));
    check "a mask changes nothing" (sign ~key:d digest = (r, s));
    let k = number size 12345 in
    check "with a nonce" (verify ~key:q (sign ~key:d ~k digest) digest && sign ~key:d ~k digest = sign ~mask:`No ~key:d ~k digest);
    check "the nonce's point" (fst (sign ~key:d ~k digest) = String.make (size - N.width) '\x00' ^ String.sub (point (pub_of_priv (key 12345))) 1 N.width);
    let refused = function Invalid_argument _ -> true | _ -> false in
    raises "nonce 0" refused (fun () -> sign ~key:d ~k:(number size 0) digest);
    raises "a short nonce" refused (fun () -> sign ~key:d ~k:"\x01" digest);
    raises "a long digest" (( = ) Message_too_long) (fun () -> sign ~key:d (String.make (size + 1) '\x01'));
    check "a long digest is not verified" (not (verify ~key:q (r, s) (String.make (size + 1) '\x01')));
    check "long numbers are not verified" (not (verify ~key:q ("\x00" ^ r, s) digest));
    let hedged = C.sign_hedged ~key:d digest in
    check "hedged" (verify ~key:q hedged digest && hedged <> (r, s) && hedged <> C.sign_hedged ~key:d digest);
    check "several" (C.sign_batch ~key:d [ digest; "x" ] = [ (r, s); sign ~key:d "x" ]);
    check "an empty digest" (verify ~key:q (sign ~key:d "") "");
    check "zeros before a digest" (size > 32 = verify ~key:q (r, s) ("\x00" ^ digest));
    (* As many bytes as the order, and no more bits. *)
    let full = number size 0x1234567 in
    check "a digest of the order's length is its number" (sign ~key:d full = sign ~key:d "\x01\x23\x45\x67");
    (* DER, low s, recovery. *)
    check "DER" (C.signature_of_der (C.signature_to_der (r, s)) = Some (r, s));
    check "DER with something behind it" (C.signature_of_der (C.signature_to_der (r, s) ^ "\x00") = None);
    let low = C.low_s (r, s) in
    check "low s" (verify ~key:q low digest && snd low <= s && C.low_s low = low);
    let found = List.filter_map (fun recid -> C.recover ~recid (r, s) digest) [ 0; 1; 2; 3 ] in
    check "recovery" (List.exists (fun p -> point p = point q) found && List.for_all (fun p -> verify ~key:p (r, s) digest) found);
    raises "a recovery number" refused (fun () -> C.recover ~recid:4 (r, s) digest)

  let agreement () =
    let d, a = C.Dh.gen_key () in
    let e, b = C.Dh.gen_key ~compress:true () in
    check "compressed" (String.length b = 1 + N.width);
    check "they agree" (C.Dh.key_exchange d b = C.Dh.key_exchange e a && Result.is_ok (C.Dh.key_exchange d b));
    check "all bytes of x" (Result.map String.length (C.Dh.key_exchange d b) = Ok N.width);
    check "no point" (is_error `Not_on_curve (C.Dh.key_exchange d ("\x04" ^ number N.width 1 ^ number N.width 1)));
    check "the secret again" (Result.map snd (C.Dh.secret_of_octets (C.Dh.secret_to_octets d)) = Ok a)

  let all () = List.iter (fun f -> f ()) [ keys; encodings; group; signatures; agreement ]
end

let ed25519 () =
  let d = ok "a seed" (Ed25519.priv_of_octets (bytes 32)) in
  let q = Ed25519.pub_of_priv d in
  let m = bytes 100 in
  let s = Ed25519.sign ~key:d m in
  check "Ed25519" (Ed25519.verify ~key:q s ~msg:m && not (Ed25519.verify ~key:q s ~msg:(m ^ "x")));
  check "Ed25519: a short signature" (not (Ed25519.verify ~key:q (String.sub s 0 63) ~msg:m));
  check "Ed25519: no message" (Ed25519.verify ~key:q (Ed25519.sign ~key:d "") ~msg:"");
  check "Ed25519: lengths" (is_error `Invalid_length (Ed25519.pub_of_octets "x") && is_error `Invalid_length (Ed25519.priv_of_octets "x"));
  check "Ed25519: no point" (is_error `Not_on_curve (Ed25519.pub_of_octets ("\x02" ^ String.make 31 '\x00')));
  let small = ok "a point" (Ed25519.pub_of_octets ("\x01" ^ String.make 31 '\x00')) in
  check "Ed25519: small order" (Ed25519.has_small_order small && not (Ed25519.has_small_order q))

let x25519 () =
  let d, a = X25519.gen_key () in
  let e, b = X25519.gen_key () in
  check "X25519" (X25519.key_exchange d b = X25519.key_exchange e a && a <> b);
  check "X25519: lengths" (is_error `Invalid_length (X25519.key_exchange d "x") && is_error `Invalid_length (X25519.secret_of_octets "x"));
  check "X25519: low order" (is_error `Low_order (X25519.key_exchange d (String.make 32 '\x00')))

let () =
  List.iter
    (fun (name, (module C : Curve), width) ->
      let module T = Of_curve (C) (struct let name = name let width = width end) in
      T.all ())
    curves;
  ed25519 ();
  x25519 ();
  finish "interface"
