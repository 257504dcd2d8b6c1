import type { Exchange, Reply } from '../lib/exchange.ts'
import { once } from '../lib/once.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Method, Route } from './route.ts'

/** Runs the route of a path below the base path. Throws `NOT_FOUND` and `METHOD_NOT_ALLOWED`. */
export type Dispatch = (path: string, exchange: Exchange, key?: PresentedKey) => Promise<Reply>

/**
 * A route table as one function; the first route that fits wins. Paths without parameters are looked up before any pattern is tried, and
 * most gateways never need the patterns. `admit`: see `SurfaceOptions`.
 */
export function createRouter(routes: readonly Route[], admit: () => void): Dispatch {
  const exact = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    const { method, path } = route
    if (!path.includes(':')) exact.set(path, (exact.get(path) ?? new Map()).set(method, route))
  }
  const loadPatterns = once(async () => {
    const { patternsOf } = await import('./route-patterns.ts')
    return patternsOf(routes)
  })

  async function search(path: string, exchange: Exchange, key?: PresentedKey): Promise<Reply> {
    const { router, allowed } = await loadPatterns()
    admit()
    const method = methodOf(exchange)
    const url = `http://gateway${path}`
    const reply: Reply | undefined = await router.fetch({ method, url }, exchange, key)
    if (reply) return reply
    const methods: Set<Method> | undefined = await allowed.fetch({ method, url })
    const { withoutRoute } = await import('./no-route.ts')
    return withoutRoute(path, exchange, { methods, paths: exact.keys() })
  }

  return (path, exchange, key) => {
    const route = exact.get(path)?.get(methodOf(exchange))
    return route ? route.run({ exchange, params: NO_PARAMS, key }) : search(path, exchange, key)
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

const methodOf = ({ method }: Exchange) => (method === 'HEAD' ? 'GET' : method)
