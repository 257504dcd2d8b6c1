import type { Exchange, Reply } from '../../lib/exchange.ts'
import { getFormat } from '../../protocols/formats/formats.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import { type Area, findArea } from './area.ts'
import { managementErrorReply } from './error-reply.ts'
import type { HealthResponder } from './health-check.ts'
import { type MountedPage, type PageGuards, servePage } from './pages.ts'

/** The paths of endpoints for models below prefixes that are otherwise the host's, such as `/v2/embed`. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  endpoints.map(({ path }) => path).filter((path) => !/^\/v1(?:beta)?\//.test(path)),
)

const isEndpointElsewhere = (path: string): boolean =>
  ELSEWHERE.has(path) || (getFormat('ai-sdk').clientDetection.paths?.test(path) ?? false)

/**
 * The areas of model clients: everything below `/v1` and `/v1beta`, even paths without a route. Below other prefixes, only the endpoints,
 * so your app keeps its own routes there.
 */
export function createModelAreas(serve: Area['serve']): Area[] {
  const shared = { name: 'models', guard: 'key', methods: ['GET', 'HEAD', 'POST'], isForPages: true, serve } as const
  const whole = ['/v1', '/v1beta'].map((path): Area => ({ ...shared, path }))
  const partial = ['/v2', '/v3/ai', '/v4/ai'].map((path): Area => ({ ...shared, path, owns: isEndpointElsewhere }))
  return [...whole, ...partial]
}

interface PlainAreaOptions {
  /** Throws `CLOSED` once the gateway has closed. */
  admit(): void
  onError(error: unknown): void
}

/** The management API. `manage` authorizes a request and replies; errors use the management API's format. */
export function createManagementArea(
  manage: (path: string, exchange: Exchange) => Promise<Reply>,
  { admit, onError }: PlainAreaOptions,
): Area {
  return {
    name: 'management',
    path: '/api',
    guard: 'management',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    isForPages: false,
    async serve({ exchange, path }) {
      try {
        admit()
        return await manage(path, exchange)
      } catch (error) {
        return managementErrorReply(error, onError)
      }
    },
  }
}

/** `/health`, which load balancers call without a credential. */
export const createHealthArea = (respond: HealthResponder): Area => ({
  name: 'health',
  path: '/health',
  owns: (path) => path === '/health',
  guard: 'none',
  methods: ['GET', 'HEAD'],
  isForPages: false,
  serve: ({ exchange }) => respond(exchange),
})

/** A page, such as the dashboard or `/metrics`, which guards itself. */
export function createPageArea(page: MountedPage, guards: PageGuards, { admit, onError }: PlainAreaOptions): Area {
  return {
    name: page.hasFolder ? 'dashboard' : 'metrics',
    path: page.path,
    ...(!page.hasFolder && { owns: (path: string) => path === page.path }),
    guard: 'own',
    methods: ['GET', 'HEAD'],
    isForPages: false,
    async serve({ exchange, path }) {
      try {
        admit()
        return await servePage(page, path, { exchange, guards })
      } catch (error) {
        return managementErrorReply(error, onError)
      }
    },
  }
}

/** Throws a TypeError for an area that another one hides, as it comes first and has the path, too. */
export function checkAreas(areas: readonly Area[]): void {
  for (const [at, { path }] of areas.entries()) {
    const other = areas.slice(0, at).find((one) => one.path === path || findArea([one], path) !== undefined)
    if (other) throw new TypeError(`The area "${path}" is hidden by "${other.path}". Change one path.`)
  }
}
