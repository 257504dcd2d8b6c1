import { gatewayError } from '../errors.ts'
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
    if (!methods || isCustomMethod(path, method)) {
      const { hintFor } = await import('./no-route.ts')
      const hint = hintFor(path, exact.keys())
      throw gatewayError('NOT_FOUND', {
        message: `There is no ${exchange.method} ${path} here.${hint ? ` ${hint}` : ''}`,
      })
    }
    const allow = [...methods].map((name) => (name === 'GET' ? 'GET, HEAD' : name)).join(', ')
    // Clients probe an endpoint by HEAD before they post to it.
    if (PROBES.has(exchange.method)) return { status: 204, headers: { allow: `${allow}, OPTIONS` } }
    throw gatewayError('METHOD_NOT_ALLOWED', {
      message: `${exchange.method} is not allowed here; allowed: ${allow}.`,
      headers: { allow },
    })
  }

  return (path, exchange, key) => {
    const route = exact.get(path)?.get(methodOf(exchange))
    return route ? route.run({ exchange, params: NO_PARAMS, key }) : search(path, exchange, key)
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

const PROBES: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS'])

const methodOf = ({ method }: Exchange) => (method === 'HEAD' ? 'GET' : method)

/** `models/x:generateContent` is a path of its own, not one more method of the model `x:generateContent`. */
const isCustomMethod = (path: string, method: string) => method === 'POST' && /:[A-Za-z]+$/.test(path)
