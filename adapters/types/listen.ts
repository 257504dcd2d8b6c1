/** Where a mount that brings its own server listens, and whom it answers there. */
export interface ListenOptions {
  /** Default 0: any free port. */
  port?: number
  /** Default 127.0.0.1: this machine only. */
  hostname?: string
  /** Host names that are answered beside IP addresses and `localhost`. Default: none on a loopback address, all on others. */
  allowedHosts?: readonly string[]
}
