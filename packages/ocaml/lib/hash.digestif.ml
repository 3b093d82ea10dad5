module type S = Digestif.S

let hmac (type a) (module H : S with type t = a) ~key s = H.to_raw_string (H.hmac_string ~key s)
