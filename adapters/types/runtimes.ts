/** What `Bun.serve` returns, as far as a mount needs it. */
export interface BunServer {
  readonly url: URL
  readonly port: number | undefined
  /** Settles when the responses under way are finished; with `true` they are cut. */
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

/** The server of `serveDeno`, with the members that one of `Deno.serve` has, too. */
export interface DenoServer {
  readonly addr: { readonly hostname: string; readonly port: number }
  /** Resolves when the server has closed. */
  readonly finished: Promise<void>
}

/** The global `Deno`, as far as a mount needs it. */
export interface DenoRuntime {
  listen(options: { port: number; hostname: string }): { readonly addr: DenoServer['addr']; close(): void }
}

/** The execution context that Workers pass as the third argument, as far as a mount needs it. */
export interface WorkersContext {
  waitUntil(work: Promise<unknown>): void
}

/** The default export of a module worker. */
export interface WorkersHandler<Env> {
  fetch(request: Request, env: Env, context: WorkersContext): Promise<Response>
}

/** The event that a service worker gets for each request of its pages, as far as a mount needs it. */
export interface FetchEventLike {
  readonly request: Request
  respondWith(response: Promise<Response>): void
  waitUntil(work: Promise<unknown>): void
}
