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
