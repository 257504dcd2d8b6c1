/** What `Deno.serve` returns, as far as a mount needs it. */
export interface DenoServer {
  readonly addr: { readonly hostname: string; readonly port: number }
  readonly finished: Promise<void>
}

/** The global `Deno`, as far as a mount needs it. */
export interface DenoRuntime {
  serve(
    options: { port: number; hostname: string; signal: AbortSignal; onListen(): void },
    handler: (request: Request, info: { readonly completed: Promise<void> }) => Promise<Response>,
  ): DenoServer
}
