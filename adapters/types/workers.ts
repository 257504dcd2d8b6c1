/** The execution context that Workers pass as the third argument, as far as a mount needs it. */
export interface WorkersContext {
  waitUntil(work: Promise<unknown>): void
}

/** The default export of a module worker. */
export interface WorkersHandler<Env> {
  fetch(request: Request, env: Env, context: WorkersContext): Promise<Response>
}
