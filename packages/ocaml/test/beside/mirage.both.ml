(* The same calls of this package and of mirage-crypto-ec, with random, spoilt and edge arguments: they must give the same. *)

open Checks

module Both (M : Mirage_crypto_ec.Dh_dsa) (S : Santoku_ec.Dh_dsa) (N : sig val name : string end) = struct
  let check what = check (N.name ^ ": " ^ what)
  let size = M.Dsa.byte_length
  let same show a b = match (a, b) with Ok x, Ok y -> show x y | Error e, Error f -> e = f | _ -> false
  let key n = String.init size (fun i -> if i = size - 1 then Char.chr n else '\x00')

  (* Private keys: small ones, the greatest ones that both take, and random ones. *)
  let secrets = List.map key [ 0; 1; 2; 3; 255 ] @ [ String.make size '\xff'; String.make (size - 1) '\x01'; "" ] @ List.init 40 (fun _ -> String.mapi (fun i c -> if i = 0 && size = 66 then '\x00' else c) (bytes size))

  let spoil s i = String.mapi (fun j c -> if j = i then Char.chr (Char.code c lxor 1) else c) s

  let encodings () =
    let _, q = M.Dsa.generate () in
    let long, short = (M.Dsa.pub_to_octets q, M.Dsa.pub_to_octets ~compress:true q) in
    let cut n = String.sub long 0 n in
    let first c s = String.mapi (fun i x -> if i = 0 then c else x) s in
    [ ""; "\x00"; "\x00\x00"; "\x04"; long; short; long ^ "\x00"; cut (String.length long - 1); first '\x05' long; first '\x06' long; first '\x00' long ]
    @ [ first '\x02' short; first '\x03' short; first '\x04' short; "\x02" ^ String.make (String.length short - 1) '\xff'; "\x04" ^ String.make (String.length long - 1) '\x00' ]
    @ List.init (String.length long) (spoil long)
    @ List.init (String.length short) (spoil short)

  (* Versions before 2.4 take the point at infinity for a key, and of some compressed keys the wrong y. *)
  let defects = ref 0

  let known_defect encoding = function
    | Ok q when encoding = "\x00" || q = "\x00" -> true
    | Ok q -> encoding.[0] <> '\x04' && Char.code encoding.[0] land 1 <> Char.code q.[String.length q - 1] land 1
    | Error _ -> false

  let decoded () =
    List.iter
      (fun e ->
        let theirs = Result.map M.Dsa.pub_to_octets (M.Dsa.pub_of_octets e) in
        let ours = Result.map S.Dsa.pub_to_octets (S.Dsa.pub_of_octets e) in
        let defect = known_defect e theirs in
        if defect then incr defects;
        check "public keys" (defect || same ( = ) theirs ours);
        if not defect then
        match (M.Dh.secret_of_octets (key 77), S.Dh.secret_of_octets (key 77)) with
        | Ok (d, _), Ok (d', _) -> check "exchange" (same ( = ) (M.Dh.key_exchange d e) (S.Dh.key_exchange d' e))
        | _ -> check "a small key" false)
      (encodings ())

  let digests = [ ""; "\x00"; String.make size '\x00'; String.make (size + 1) '\x00'; String.make size '\xff'; String.make 20 '\xff' ] @ List.init 6 (fun i -> bytes (8 * (i + 1)))
  let attempt f = match f () with x -> Ok x | exception e -> Error (match e with Mirage_crypto_ec.Message_too_long | Santoku_ec.Message_too_long -> "long" | e -> Printexc.to_string e)

  let signed m s =
    List.iteri
      (fun i digest ->
        (* Where a digest is above the order, mirage-crypto-ec makes another nonce than RFC 6979, 2.3.4, does. *)
        let above = String.length digest = size && digest.[0] = '\xff' && size <> 66 in
        let a = attempt (fun () -> M.Dsa.sign ~key:m digest) and b = attempt (fun () -> S.Dsa.sign ~key:s digest) in
        check "signatures" (above || a = b);
        (* It refuses every signature of a digest whose number is 0. *)
        let zero = String.for_all (( = ) '\x00') digest in
        (match b with Ok rs when not zero -> check (Printf.sprintf "verified there, digest %S" digest) (M.Dsa.verify ~key:(M.Dsa.pub_of_priv m) rs digest) | _ -> ());
        match a with
        | Ok ((r, t) as rs) when not zero ->
            let q, q' = (M.Dsa.pub_of_priv m, S.Dsa.pub_of_priv s) in
            let cases = [ (rs, digest); ((t, r), digest); ((spoil r (i mod size), t), digest); (rs, digest ^ "\x00"); (("", t), digest); ((String.sub r 1 (size - 1), t), digest); ((r, "\x00" ^ t), digest) ] in
            List.iteri (fun j (rs, d) -> check (Printf.sprintf "verdicts %d, digest %S" j digest) (M.Dsa.verify ~key:q rs d = S.Dsa.verify ~key:q' rs d)) cases;
            let k = key (i + 1) in
            check "with a nonce" (attempt (fun () -> M.Dsa.sign ~key:m ~k digest) = attempt (fun () -> S.Dsa.sign ~key:s ~k digest))
        | _ -> ())
      digests

  let keys () =
    List.iter
      (fun d ->
        check "exchange keys" (same ( = ) (Result.map snd (M.Dh.secret_of_octets d)) (Result.map snd (S.Dh.secret_of_octets d)));
        match (M.Dsa.priv_of_octets d, S.Dsa.priv_of_octets d) with
        | Ok m, Ok s ->
            check "public" (M.Dsa.pub_to_octets (M.Dsa.pub_of_priv m) = S.Dsa.pub_to_octets (S.Dsa.pub_of_priv s));
            signed m s
        | Error e, Error f -> check "errors" (e = f)
        | _ -> check "keys" false)
      secrets

  let all () =
    keys ();
    decoded ();
    if !defects > 0 then Printf.printf "%s: %d keys aside, which this version of mirage-crypto-ec reads wrongly\n" N.name !defects
end

module X = Both (Mirage_crypto_ec.P256) (Santoku_ec.P256) (struct let name = "P-256" end)
module Y = Both (Mirage_crypto_ec.P384) (Santoku_ec.P384) (struct let name = "P-384" end)
module Z = Both (Mirage_crypto_ec.P521) (Santoku_ec.P521) (struct let name = "P-521" end)

let x25519 () =
  for _ = 1 to 100 do
    let d, u = (bytes 32, bytes 32) in
    let exchange secret_of_octets key_exchange = Result.bind (secret_of_octets d) (fun (d, q) -> Result.map (fun s -> (q, s)) (key_exchange d u)) in
    check "X25519" (exchange Mirage_crypto_ec.X25519.secret_of_octets Mirage_crypto_ec.X25519.key_exchange = exchange Santoku_ec.X25519.secret_of_octets Santoku_ec.X25519.key_exchange)
  done

let ed25519 () =
  for n = 0 to 100 do
    let seed, m = (bytes 32, bytes n) in
    match (Mirage_crypto_ec.Ed25519.priv_of_octets seed, Santoku_ec.Ed25519.priv_of_octets seed) with
    | Ok a, Ok b ->
        let s = Santoku_ec.Ed25519.sign ~key:b m in
        check "Ed25519" (Mirage_crypto_ec.Ed25519.sign ~key:a m = s);
        let q, q' = (Mirage_crypto_ec.Ed25519.pub_of_priv a, Santoku_ec.Ed25519.pub_of_priv b) in
        check "Ed25519 keys" (Mirage_crypto_ec.Ed25519.pub_to_octets q = Santoku_ec.Ed25519.pub_to_octets q');
        let spoilt = String.mapi (fun i c -> if i = n mod 64 then Char.chr (Char.code c lxor 4) else c) s in
        List.iter (fun s -> check "Ed25519 verdicts" (Mirage_crypto_ec.Ed25519.verify ~key:q s ~msg:m = Santoku_ec.Ed25519.verify ~key:q' s ~msg:m)) [ s; spoilt; "" ]
    | _ -> check "a seed" false
  done

let run () =
  X.all ();
  Y.all ();
  Z.all ();
  x25519 ();
  ed25519 ();
  finish "beside mirage-crypto-ec"
