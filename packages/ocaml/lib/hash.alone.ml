(** What is asked of a hash function: [Digestif.S] has all of it. *)
module type S = sig
  type t

  val digest_size : int
  val hmac_string : key:string -> string -> t
  val to_raw_string : t -> string
end

let hmac (type a) (module H : S with type t = a) ~key s = H.to_raw_string (H.hmac_string ~key s)
