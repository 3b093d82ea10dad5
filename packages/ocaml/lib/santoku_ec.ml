module Rng = Rng
module Hash = Hash

include Shapes

let error_to_string = function
  | `Invalid_format -> "invalid format"
  | `Not_on_curve -> "point is not on curve"
  | `At_infinity -> "point is at infinity"
  | `Invalid_length -> "invalid length"
  | `Invalid_range -> "invalid range"
  | `Low_order -> "low order"

let pp_error fmt e = Format.fprintf fmt "Cannot parse point: %s" (error_to_string e)

exception Message_too_long

(** What the bindings of a curve have: their lengths are those of the curve. *)
module type Unit = sig
  val public_key : sk:string -> string * int
  val is_private_key : sk:string -> bool
  val sign_hedged : digest:string -> sk:string -> entropy:string -> string * int
  val sign : digest:string -> sk:string -> string * int
  val sign_masked : digest:string -> sk:string -> mask:string -> string * int
  val sign_with_nonce : digest:string -> sk:string -> k:string -> string * int
  val sign_with_nonce_masked : digest:string -> sk:string -> k:string -> mask:string -> string * int
  val verify : digest:string -> sig_:string -> pk:string -> bool
  val recover : digest:string -> sig_:string -> recid:int -> string * int
  val point_multiply : sk:string -> pk:string -> string * int
  val point_add : p:string -> q:string -> string * int
  val ecdh : sk:string -> pk:string -> string * int
  val public_key_decode : encoded:string -> string * int
  val public_key_compress : pk:string -> string
  val signature_from_der : der:string -> string * int
  val signature_to_der : sig_:string -> string * int
  val signature_low_s : sig_:string -> string * int
end

module type Parameters = sig
  val bit_length : int

  val p : string
  (** The prime of the field, big-endian. *)

  val n : string
  (** The order of the base point, big-endian. *)
end

(** The result of a function that fails on arguments for which it is not called here. *)
let made what (result, status) = if status = 0 then result else failwith ("Santoku_ec: " ^ what)

module Make (U : Unit) (P : Parameters) : Curve = struct
  let bit_length = P.bit_length
  let byte_length = (bit_length + 7) / 8
  let width = String.length P.p

  (* Bytes of which a mask is made: 64 bits more than the order has. *)
  let mask_length = byte_length + 8

  module Scalar = struct
    let of_octets s =
      if String.length s <> byte_length then Error `Invalid_length else if U.is_private_key ~sk:s then Ok s else Error `Invalid_range

    let rec generate ?g () = match of_octets (Rng.generate ?g byte_length) with Ok d -> d | Error _ -> generate ?g ()
  end

  (* A point: x and y, or nothing for the point at infinity. *)
  module Point = struct
    let infinity = ""

    let decoded encoded =
      match U.public_key_decode ~encoded with
      | xy, 0 -> Ok xy
      | _ ->
          let below at = String.compare (String.sub encoded at width) P.p < 0 in
          let in_range = below 1 && (String.length encoded = 1 + width || below (1 + width)) in
          Error (if in_range then `Not_on_curve else `Invalid_range)

    let of_octets s =
      let length = String.length s in
      if length = 0 then Error `Invalid_format
      else
        match s.[0] with
        | '\x00' when length = 1 -> Error `At_infinity
        | ('\x02' | '\x03') when length = 1 + width -> decoded s
        | '\x04' when length = 1 + (2 * width) -> decoded s
        | '\x00' | '\x04' -> Error `Invalid_length
        | _ -> Error `Invalid_format

    let to_octets ~compress p = if p = infinity then "\x00" else if compress then U.public_key_compress ~pk:p else "\x04" ^ p
    let of_scalar d = made "a private key has no public key" (U.public_key ~sk:d)
    let sum p q = match U.point_add ~p ~q with r, 0 -> r | _ -> infinity
    let add p q = if p = infinity then q else if q = infinity then p else sum p q
    let multiply d p = if p = infinity then infinity else made "a multiple is no point" (U.point_multiply ~sk:d ~pk:p)
    let generator = of_scalar (String.init byte_length (fun i -> if i = byte_length - 1 then '\x01' else '\x00'))
  end

  module Dh = struct
    type secret = string

    let with_share ?(compress = false) d = (d, Point.to_octets ~compress (Point.of_scalar d))
    let secret_of_octets ?compress s = Result.map (fun d -> with_share ?compress d) (Scalar.of_octets s)
    let secret_to_octets d = d
    let gen_key ?compress ?g () = with_share ?compress (Scalar.generate ?g ())
    let key_exchange d received = Result.map (fun q -> made "nothing is shared" (U.ecdh ~sk:d ~pk:q)) (Point.of_octets received)
  end

  (* A number in as many bytes as the order has, with zeros before it. *)
  let padded s =
    let length = String.length s in
    let above = (8 * byte_length) - bit_length in
    if length > byte_length || (length = byte_length && Char.code s.[0] lsr (8 - above) <> 0) then raise Message_too_long;
    if length = byte_length then s else String.make (byte_length - length) '\x00' ^ s

  (* Bytes of which the number is that of a digest: of as many bytes as the order has, functions drop the bits that are too many at the end. *)
  let whole digest =
    let above = (8 * byte_length) - bit_length in
    let padded = padded digest in
    if above = 0 || String.length digest < byte_length then digest
    else
      let byte i = if i < byte_length then Char.code padded.[i] else 0 in
      String.init byte_length (fun i -> Char.chr (((byte i lsl above) lor (byte (i + 1) lsr (8 - above))) land 255))

  let pair rs = (String.sub rs 0 byte_length, String.sub rs byte_length byte_length)
  let joined (r, s) = padded r ^ padded s

  module Dsa = struct
    type priv = string
    type pub = string

    let byte_length = byte_length
    let bit_length = bit_length
    let priv_of_octets = Scalar.of_octets
    let priv_to_octets d = d
    let pub_of_octets = Point.of_octets
    let pub_to_octets ?(compress = false) q = Point.to_octets ~compress q
    let pub_of_priv = Point.of_scalar

    let generate ?g () =
      let d = Scalar.generate ?g () in
      (d, Point.of_scalar d)

    let mask_of = function
      | `No -> None
      | `Yes -> Some (Rng.generate mask_length)
      | `Yes_with g -> Some (Rng.generate ~g mask_length)

    let signature ~sk ?k mask digest =
      match (k, mask) with
      | None, None -> made "a digest has no signature" (U.sign ~digest ~sk)
      | None, Some mask -> made "a digest has no signature" (U.sign_masked ~digest ~sk ~mask)
      | Some k, mask -> (
          if Result.is_error (Scalar.of_octets k) then invalid_arg "k not in range";
          let with_nonce = match mask with None -> U.sign_with_nonce | Some mask -> U.sign_with_nonce_masked ~mask in
          match with_nonce ~digest ~sk ~k with rs, 0 -> rs | _ -> invalid_arg "k not suitable")

    let sign ?(mask = `Yes) ~key ?k digest =
      let mask = mask_of mask in
      pair (signature ~sk:key ?k mask (whole digest))

    let verify ~key rs digest =
      key <> Point.infinity
      && match (joined rs, whole digest) with sig_, digest -> U.verify ~digest ~sig_ ~pk:key | exception Message_too_long -> false

    (* RFC 6979, section 3.2; the names are its. *)
    module K_gen (H : Hash.S) = struct
      let hmac ~key s = Hash.hmac (module H) ~key s

      (* As many leftmost bits as the order has. *)
      let bits2int s =
        let shift = (8 * byte_length) - bit_length in
        let byte i = Char.code s.[i] in
        String.init byte_length (fun i -> Char.chr ((byte i lsr shift) lor if i = 0 then 0 else (byte (i - 1) lsl (8 - shift)) land 255))

      (* The number of a digest, which is below twice the order, modulo that. *)
      let bits2octets digest =
        let z = padded digest in
        let less = Bytes.create byte_length in
        let borrow = ref 0 in
        for i = byte_length - 1 downto 0 do
          let v = Char.code z.[i] - Char.code P.n.[i] - !borrow in
          Bytes.set less i (Char.chr (v land 255));
          borrow := if v < 0 then 1 else 0
        done;
        if !borrow = 1 then z else Bytes.to_string less

      let generate ~key digest =
        let seed = key ^ bits2octets digest in
        let n = H.digest_size in
        let rec candidate k v text =
          if String.length text < byte_length then
            let v = hmac ~key:k v in
            candidate k v (text ^ v)
          else
            let t = bits2int text in
            if U.is_private_key ~sk:t then t
            else
              let k = hmac ~key:k (v ^ "\x00") in
              candidate k (hmac ~key:k v) ""
        in
        let absorb (k, v) number =
          let k = hmac ~key:k (v ^ number ^ seed) in
          (k, hmac ~key:k v)
        in
        let k, v = List.fold_left absorb (String.make n '\x00', String.make n '\x01') [ "\x00"; "\x01" ] in
        candidate k v ""
    end

    module Precompute = struct
      let one = String.init width (fun i -> if i = width - 1 then '\x01' else '\x00')
      let coordinates p = [| String.sub p 0 width; String.sub p width width; one |]

      let generator_tables () =
        let base = ref Point.generator in
        let row _ =
          let multiples = Array.make 15 !base in
          for j = 1 to 14 do
            multiples.(j) <- Point.add !base multiples.(j - 1)
          done;
          base := Point.add !base multiples.(14);
          Array.map coordinates multiples
        in
        Array.init (2 * width) row
    end

    module Primitive = struct
      let generator = Point.generator
      let add = Point.add
      let scalar_mult = Point.multiply
    end
  end

  let sign_batch ?mask ~key digests = List.map (fun digest -> Dsa.sign ?mask ~key digest) digests

  let sign_hedged ?g ~key digest =
    let entropy = Rng.generate ?g 32 in
    pair (made "a digest has no signature" (U.sign_hedged ~digest:(whole digest) ~sk:key ~entropy))

  let recover ~recid rs digest =
    match U.recover ~digest:(whole digest) ~sig_:(joined rs) ~recid with
    | pk, 0 -> Some pk
    | _ -> None
    | exception Message_too_long -> None

  let signature_to_der rs =
    let der, length = U.signature_to_der ~sig_:(joined rs) in
    String.sub der 0 length

  let signature_of_der der = match U.signature_from_der ~der with rs, 0 -> Some (pair rs) | _ -> None
  let low_s rs = pair (fst (U.signature_low_s ~sig_:(joined rs)))
end

module P224 = Make (Raw.P224) (struct
  let bit_length = 224
  let p = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
  let n = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x16\xa2\xe0\xb8\xf0\x3e\x13\xdd\x29\x45\x5c\x5c\x2a\x3d"
end)

module P256 = Make (Raw.P256) (struct
  let bit_length = 256
  let p = "\xff\xff\xff\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
  let n = "\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x51"
end)

module P384 = Make (Raw.P384) (struct
  let bit_length = 384
  let p = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"
  let n = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xc7\x63\x4d\x81\xf4\x37\x2d\xdf\x58\x1a\x0d\xb2\x48\xb0\xa7\x7a\xec\xec\x19\x6a\xcc\xc5\x29\x73"
end)

module P521 = Make (Raw.P521) (struct
  let bit_length = 521
  let p = "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
  let n = "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfa\x51\x86\x87\x83\xbf\x2f\x96\x6b\x7f\xcc\x01\x48\xf7\x09\xa5\xd0\x3b\xb5\xc9\xb8\x89\x9c\x47\xae\xbb\x6f\xb7\x1e\x91\x38\x64\x09"
end)

module Secp256k1 = Make (Raw.Secp256k1) (struct
  let bit_length = 256
  let p = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xfc\x2f"
  let n = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xba\xae\xdc\xe6\xaf\x48\xa0\x3b\xbf\xd2\x5e\x8c\xd0\x36\x41\x41"
end)

module X25519 = struct
  type secret = string

  let key_length = 32
  let public d = Raw.Scalarmult_curve25519.x25519_base ~k:d
  let secret_of_octets ?compress:_ s = if String.length s = key_length then Ok (s, public s) else Error `Invalid_length
  let secret_to_octets d = d

  let gen_key ?compress:_ ?g () =
    let d = Rng.generate ?g key_length in
    (d, public d)

  let key_exchange d u =
    if String.length u <> key_length then Error `Invalid_length
    else
      let shared = Raw.Scalarmult_curve25519.x25519 ~k:d ~u in
      (* All bytes are looked at, whatever they are. *)
      if String.fold_left (fun seen c -> seen lor Char.code c) 0 shared = 0 then Error `Low_order else Ok shared
end

module Ed25519 = struct
  (* The seed and its public key. *)
  type priv = { seed : string; public : string }
  type pub = string

  let key_length = 32
  let of_seed seed = { seed; public = Raw.Ed25519.public_key ~seed }
  let priv_of_octets s = if String.length s = key_length then Ok (of_seed s) else Error `Invalid_length
  let priv_to_octets d = d.seed

  let pub_of_octets s =
    if String.length s <> key_length then Error `Invalid_length else if Raw.Ed25519.is_public_key ~pk:s then Ok s else Error `Not_on_curve

  let pub_to_octets q = q
  let pub_of_priv d = d.public

  let generate ?g () =
    let d = of_seed (Rng.generate ?g key_length) in
    (d, d.public)

  let has_small_order q = Raw.Ed25519.has_small_order ~pk:q
  let sign ~key m = Raw.Ed25519.sign ~m ~seed:key.seed ~pk:key.public
  let verify ~key signature ~msg = String.length signature = 2 * key_length && Raw.Ed25519.verify ~m:msg ~sig_:signature ~pk:key
end
