import type { FetchGateway } from '../types/gateway-types.ts'
import type { WorkersHandler } from '../types/runtimes.ts'

export type { FetchGateway } from '../types/gateway-types.ts'
export type { WorkersContext, WorkersHandler } from '../types/runtimes.ts'

/**
 * Creates a module worker's default export. `open` creates the gateway from the bindings, once per isolate. If `open` fails, the request fails with
 * its error, and the next request calls `open` again. Throws a TypeError if `open` isn't a function.
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
