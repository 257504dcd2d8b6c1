/** What `Bun.serve` returns, as far as a mount needs it. */
export interface BunServer {
  readonly url: URL
  readonly port: number | undefined
  /** Settles when answers under way are finished; `true` cuts them. */
  stop(closeActiveConnections?: boolean): Promise<void>
}

/** The global `Bun`, as far as a mount needs it. */
export interface BunRuntime {
  serve(options: {
    port: number
    hostname: string
    /** Seconds; 0 is none. */
    idleTimeout: number
    development: boolean
    reusePort: boolean
    fetch(request: Request, server?: unknown): Promise<Response>
  }): BunServer
}
