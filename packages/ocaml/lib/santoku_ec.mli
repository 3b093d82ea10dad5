(** Elliptic curves: ECDSA, ECDH, Ed25519 and X25519.

    The module types are those of [Mirage_crypto_ec] 2.4, so that a program changes one word. What computes is C that Santoku made of proved programs:
    no branch and no address depends on a secret. Strings that hold secrets stay in OCaml's heap, which may copy them and does not overwrite them. *)

(** Random bytes: [Mirage_crypto_rng] where the package was built beside it, and else the system's, or what [Rng.set_default] is given. *)
module Rng = Rng

(** What is asked of hash functions: [Digestif.S] where the package was built beside digestif. *)
module Hash = Hash

include module type of Shapes
(** Errors, and the shapes of the modules below. *)

val pp_error : Format.formatter -> error -> unit

exception Message_too_long
(** A digest, [r] or [s] has more bits than the order of the curve. *)

module P224 : Curve
module P256 : Curve
module P384 : Curve
module P521 : Curve
module Secp256k1 : Curve

(** RFC 7748. *)
module X25519 : Dh

(** RFC 8032, section 5.1. *)
module Ed25519 : sig
  type priv
  type pub

  val priv_of_octets : string -> (priv, error) result
  val priv_to_octets : priv -> string

  val pub_of_octets : string -> (pub, error) result
  (** The one encoding of a point. *)

  val pub_to_octets : pub -> string
  val pub_of_priv : priv -> pub
  val generate : ?g:Rng.g -> unit -> priv * pub

  val has_small_order : pub -> bool
  (** Whether 8 times the key is the neutral element: a signature under such a key says nothing of the message. *)

  val sign : key:priv -> string -> string
  val verify : key:pub -> string -> msg:string -> bool
end
