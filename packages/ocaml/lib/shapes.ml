(* What the interface and the implementation both say: errors, and module types. *)

type error =
  [ `Invalid_range  (** A number is not below the order or the prime, or is 0. *)
  | `Invalid_format  (** The first byte says no form of a point, or there is none. *)
  | `Invalid_length
  | `Not_on_curve
  | `At_infinity  (** The point at infinity is no key. *)
  | `Low_order  (** What is shared would be 0: RFC 7748, section 6.1. *) ]

(** Key agreement. *)
module type Dh = sig
  type secret

  val secret_of_octets : ?compress:bool -> string -> (secret * string, error) result
  (** A private key, big-endian (X25519: as RFC 7748 has it), and its public key, as SEC 1, 2.3.3, writes it; [compress]: in its compressed form. *)

  val secret_to_octets : secret -> string

  val gen_key : ?compress:bool -> ?g:Rng.g -> unit -> secret * string
  (** A new private key and its public key. *)

  val key_exchange : secret -> string -> (string, error) result
  (** The x of the private key times a public key in either form, with all its bytes: to be hashed before it is used as a key. SP 800-56A, 5.7.1.2. *)
end

(** Signatures. *)
module type Dsa = sig
  type priv
  type pub

  val byte_length : int
  (** Bytes of a scalar: of [r], and of [s]. *)

  val bit_length : int
  (** Bits of the order. *)

  val priv_of_octets : string -> (priv, error) result
  val priv_to_octets : priv -> string

  val pub_of_octets : string -> (pub, error) result
  (** Uncompressed or compressed, SEC 1, 2.3.4; the hybrid form and the point at infinity are refused. *)

  val pub_to_octets : ?compress:bool -> pub -> string
  val pub_of_priv : priv -> pub
  val generate : ?g:Rng.g -> unit -> priv * pub

  val sign : ?mask:[ `No | `Yes | `Yes_with of Rng.g ] -> key:priv -> ?k:string -> string -> string * string
  (** [r] and [s] of a digest, FIPS 186-5, 6.4.1. The nonce is that of RFC 6979, or [k]. The mask, [`Yes] unless said otherwise, multiplies all products with
      the key by a random number, and changes neither [r] nor [s].
      @raise Invalid_argument if [k] is not in 1..n-1, has another length, or makes no signature.
      @raise Message_too_long if the digest is longer than the order. *)

  val verify : key:pub -> string * string -> string -> bool
  (** Of a digest, and [r] and [s] in [byte_length] bytes or fewer. [false] if one of them is too long. FIPS 186-5, 6.4.2. *)

  (** Nonces of RFC 6979 with any hash function. *)
  module K_gen (H : Hash.S) : sig
    val generate : key:priv -> string -> string
  end

  module Precompute : sig
    val generator_tables : unit -> string array array array
    (** Row [i], column [j]: the coordinates x, y and z = 1 of [(j + 1) 16^i] times the base point, big-endian. *)
  end
end

(** Both. *)
module type Dh_dsa = sig
  module Dh : Dh

  module Dsa : sig
    include Dsa

    (** Points of the curve; the point at infinity is among them here. *)
    module Primitive : sig
      val generator : pub
      val add : pub -> pub -> pub
      val scalar_mult : priv -> pub -> pub
    end
  end
end

(** What [Dh_dsa] has not. *)
module type Curve = sig
  include Dh_dsa

  val sign_batch : ?mask:[ `No | `Yes | `Yes_with of Rng.g ] -> key:Dsa.priv -> string list -> (string * string) list
  (** Signatures of several digests. *)

  val sign_hedged : ?g:Rng.g -> key:Dsa.priv -> string -> string * string
  (** With 32 random bytes in the nonce, RFC 6979, 3.6: against faults and leaks of the machine that signs. As good where they are not random. *)

  val recover : recid:int -> string * string -> string -> Dsa.pub option
  (** The public key of a signature: SEC 1, 4.1.6. Bit 0 of [recid], 0 to 3: the parity of y of the signature's point; bit 1: its x is [r + n]. *)

  val signature_to_der : string * string -> string
  (** RFC 3279, 2.2.3. [r] and [s] have [byte_length] bytes. *)

  val signature_of_der : string -> (string * string) option
  (** [None] for all but the one form that DER allows. *)

  val low_s : string * string -> string * string
  (** With the smaller of [s] and [n - s]. *)
end
