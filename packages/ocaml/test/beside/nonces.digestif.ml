(* Nonces of RFC 6979 with the hash function of a curve are those that signatures have; with another one, they are not. *)

open Santoku_ec
open Checks

module Of_curve (C : Curve) (Own : Hash.S) (Other : Hash.S) = struct
  module K = C.Dsa.K_gen (Own)
  module L = C.Dsa.K_gen (Other)

  let () =
    for i = 0 to 20 do
      let key, _ = C.Dsa.generate () in
      (* The last is above the order, the bits that are too many aside. *)
      let digest =
        if i < 20 then bytes (min C.Dsa.byte_length 32)
        else String.init C.Dsa.byte_length (fun i -> if i = 0 then Char.chr ((1 lsl (((C.Dsa.bit_length - 1) mod 8) + 1)) - 1) else '\xff')
      in
      let k = K.generate ~key digest in
      check "the nonce of a signature" (C.Dsa.sign ~key ~k digest = C.Dsa.sign ~key digest);
      check "another nonce" (L.generate ~key digest <> k)
    done
end

module A = Of_curve (P256) (Digestif.SHA256) (Digestif.SHA512)
module B = Of_curve (P384) (Digestif.SHA384) (Digestif.SHA256)
module D = Of_curve (P521) (Digestif.SHA512) (Digestif.SHA256)
module E = Of_curve (P224) (Digestif.SHA256) (Digestif.SHA512)
module F = Of_curve (Secp256k1) (Digestif.SHA256) (Digestif.SHA512)

let run () = finish "nonces"
