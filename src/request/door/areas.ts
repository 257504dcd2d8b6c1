import { getFormat } from '../../protocols/formats/formats.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import type { Area } from './area.ts'
import type { HealthResponder } from './health-check.ts'

/** Model endpoint paths under prefixes that otherwise belong to your app, such as `/v2/embed`. */
const NON_V1_PATHS: ReadonlySet<string> = new Set(
  endpoints.map(({ path }) => path).filter((path) => !/^\/v1(?:beta)?\//.test(path)),
)

const isNonV1Endpoint = (path: string): boolean =>
  NON_V1_PATHS.has(path) || (getFormat('ai-sdk').clientDetection.paths?.test(path) ?? false)

/**
 * Creates the areas for model clients: everything under `/v1` and `/v1beta`, even paths without a route. Under other prefixes, they contain only the
 * endpoints, so your app keeps its own routes there.
 */
export function createModelAreas(serve: Area['serve']): Area[] {
  const sharedFields = { name: 'models', pageMethods: ['GET', 'HEAD', 'POST'], serve } as const
  const versionAreas = ['/v1', '/v1beta'].map((path): Area => ({ ...sharedFields, path }))
  const partialAreas = ['/v2', '/v3/ai', '/v4/ai'].map(
    (path): Area => ({ ...sharedFields, path, owns: isNonV1Endpoint }),
  )
  return [...versionAreas, ...partialAreas]
}

/** Creates the `/health` area, which load balancers call without a credential. */
export const createHealthArea = (respond: HealthResponder): Area => ({
  name: 'health',
  path: '/health',
  owns: (path) => path === '/health',
  serve: ({ exchange }) => respond(exchange),
})
