/** The options of a mount that opens its own server. */
export interface ListenOptions {
  /** The port to listen on; default 0, any free one. */
  port?: number
  /** The address to listen on; default 127.0.0.1, reached from this machine only. */
  hostname?: string
  /**
   * Host names that are answered besides `localhost` and IP addresses; other hosts get a 403. Default: none on a loopback address, all
   * elsewhere.
   */
  allowedHosts?: readonly string[]
}
