let name = Some "mirage-crypto-ec"
let prepare () = Mirage_crypto_rng_unix.use_default ()

(* A result that is an error would be measured as a fast one. *)
let ok = function Ok x -> x | Error _ -> failwith "mirage-crypto-ec refuses what santoku-ec takes"

module Curve (M : Mirage_crypto_ec.Dh_dsa) = struct
  let calls ~key ~digest ~signature ~peer =
    let d = ok (M.Dsa.priv_of_octets key) in
    let q = M.Dsa.pub_of_priv d in
    let e, _ = ok (M.Dh.secret_of_octets key) in
    [
      ("sign", fun () -> ignore (M.Dsa.sign ~key:d digest));
      ("verify", fun () -> if not (M.Dsa.verify ~key:q signature digest) then failwith "verify");
      ("key exchange", fun () -> ignore (ok (M.Dh.key_exchange e peer)));
      ("public key", fun () -> ignore (M.Dsa.pub_of_priv d));
    ]
end

module P256 = Curve (Mirage_crypto_ec.P256)
module P384 = Curve (Mirage_crypto_ec.P384)
module P521 = Curve (Mirage_crypto_ec.P521)

let curve = function "P-256" -> Some P256.calls | "P-384" -> Some P384.calls | "P-521" -> Some P521.calls | _ -> None

let ed25519 ~seed ~message ~signature =
  let module M = Mirage_crypto_ec.Ed25519 in
  let d = ok (M.priv_of_octets seed) in
  let q = M.pub_of_priv d in
  [ ("sign", fun () -> ignore (M.sign ~key:d message)); ("verify", fun () -> if not (M.verify ~key:q signature ~msg:message) then failwith "verify") ]

let x25519 ~secret ~peer =
  let module M = Mirage_crypto_ec.X25519 in
  let d, _ = ok (M.secret_of_octets secret) in
  [ ("key exchange", fun () -> ignore (ok (M.key_exchange d peer))) ]
