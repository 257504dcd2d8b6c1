import { createEnvironmentProxies, NoProxyError } from '../../adapters/mount/node/node-proxies.ts'
import type { Variables } from './cli-options.ts'
import { createProblem } from './problem.ts'

/**
 * Opens the proxies from the environment variables if `NODE_USE_ENV_PROXY` is 1, as Node does for its own calls. Throws a problem for a proxy that
 * isn't a URL. Also throws for an unreadable `NO_PROXY` entry, because requests to that host would go to the proxy.
 */
export async function openProxies(variables: Variables) {
  if (variables.NODE_USE_ENV_PROXY !== '1') return undefined
  return await createEnvironmentProxies(variables.no_proxy || variables.NO_PROXY || '').catch((cause: unknown) => {
    if (cause instanceof NoProxyError) throw createProblem(cause.message, { cause })
    throw createProblem(
      'HTTPS_PROXY and HTTP_PROXY must be URLs such as http://proxy.example:3128. Fix or unset them.',
      {
        cause,
      },
    )
  })
}

/**
 * Creates a `fetch` that uses these proxies. Node's own `fetch` reads `NO_PROXY` differently, which matters because commands send the admin token.
 */
export async function openProxiedFetch(variables: Variables): Promise<typeof fetch> {
  const dispatcher = await openProxies(variables)
  if (!dispatcher) return fetch
  return (input, init) => {
    const through: object = { ...init, dispatcher } // Node's `fetch` accepts a dispatcher, but its types don't include it
    return fetch(input, through)
  }
}
