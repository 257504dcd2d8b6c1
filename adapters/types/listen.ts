/** Options for a framework adapter that opens its own server. */
export interface ListenOptions {
  /** The port. Default: 0, which picks a free port. */
  port?: number
  /** The address to listen on. Default: 127.0.0.1, which only this machine can reach. */
  hostname?: string
  /**
   * Host names to accept in addition to `localhost` and IP addresses; other hosts get a 403. Default: none on a loopback address, and all on any
   * other address.
   */
  allowedHosts?: readonly string[]
}
