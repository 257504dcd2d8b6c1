import type { FetchGateway } from '../types/gateway.ts'
import type { WorkersHandler } from '../types/workers.ts'

export type { FetchGateway } from '../types/gateway.ts'
export type { WorkersContext, WorkersHandler } from '../types/workers.ts'

/**
 * The default export of a module worker. `open` makes the gateway from the bindings, once an isolate; when it fails, the request
 * fails with it and the next one tries again. Throws a TypeError when it is no such function.
 */
export function toWorkersHandler<Env = unknown>(
  open: (env: Env) => FetchGateway | Promise<FetchGateway>,
): WorkersHandler<Env> {
  if (typeof open !== 'function' || 'fetch' in open)
    throw new TypeError('toWorkersHandler takes a function: toWorkersHandler((env) => createGateway({ storage })).')
  let gateway: FetchGateway | Promise<FetchGateway> | undefined
  return {
    async fetch(request, env, context) {
      gateway ??= open(env)
      try {
        gateway = await gateway
      } catch (error) {
        gateway = undefined
        throw error
      }
      return gateway.fetch(request, env, context)
    },
  }
}
