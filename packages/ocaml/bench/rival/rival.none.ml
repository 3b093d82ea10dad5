let name : string option = None
let prepare () = ()

type call = string * (unit -> unit)

let curve (_ : string) : (key:string -> digest:string -> signature:string * string -> peer:string -> call list) option = None
let ed25519 ~seed:(_ : string) ~message:(_ : string) ~signature:(_ : string) : call list = []
let x25519 ~secret:(_ : string) ~peer:(_ : string) : call list = []
