/** The result of `Bun.serve`. Contains only the members that the adapters use. */
export interface BunServer {
  readonly url: URL
  readonly port: number | undefined
  /** Resolves when in-flight responses have finished; `true` aborts them. */
  stop(closeActiveConnections?: boolean): Promise<void>
}

/** The global `Bun`. Contains only the members that the adapters use. */
export interface BunRuntime {
  serve(options: {
    port: number
    hostname: string
    /** The idle timeout in seconds; 0 means none. */
    idleTimeout: number
    development: boolean
    reusePort: boolean
    fetch(request: Request, server?: unknown): Promise<Response>
  }): BunServer
}

/** The server that `serveDeno` returns, with the fields that it shares with a `Deno.serve` server. */
export interface DenoServer {
  readonly addr: { readonly hostname: string; readonly port: number }
  /** Resolves when the server has closed. */
  readonly finished: Promise<void>
}

/** The global `Deno`. Contains only the members that the adapters use. */
export interface DenoRuntime {
  listen(options: { port: number; hostname: string }): { readonly addr: DenoServer['addr']; close(): void }
}

/** The execution context that Workers pass as the third argument. Contains only the members that the adapters use. */
export interface WorkersContext {
  waitUntil(work: Promise<unknown>): void
}

/** A module worker's default export. */
export interface WorkersHandler<Env> {
  fetch(request: Request, env: Env, context: WorkersContext): Promise<Response>
}

/** The event that a service worker receives for each request from its pages. Contains only the members that the adapters use. */
export interface FetchEventLike {
  readonly request: Request
  respondWith(response: Promise<Response>): void
  waitUntil(work: Promise<unknown>): void
}
