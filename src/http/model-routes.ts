import { gatewayError } from '../errors.ts'
import { endpoints } from '../kinds/kinds.ts'
import type { Reply } from '../lib/exchange.ts'
import type { ServedRequest } from '../pipeline/steps.ts'
import type { HttpRoute } from './router.ts'

/** Serves a request to a model endpoint. */
type Serve = (request: ServedRequest) => Promise<Reply>

const MODEL = '{model}'

/** The endpoints for model requests as routes. */
export function modelRoutes(serve: Serve): HttpRoute[] {
  const named = endpoints.filter(({ path }) => path.includes(MODEL))
  const plain = endpoints.filter((endpoint) => !named.includes(endpoint))
  const folders = new Set(named.map(({ path }) => path.slice(0, path.indexOf(MODEL))))
  return [
    ...plain.map((endpoint) => routeOf(endpoint.path, () => ({ endpoint }), serve)),
    ...Array.from(folders, (folder) =>
      routeOf(
        `${folder}:id+`,
        ({ id: call = '' }) => {
          const endpoint = named.find(({ path }) => path.startsWith(folder) && call.endsWith(behindModel(path)))
          return endpoint && { endpoint, pathModel: call.slice(0, call.length - behindModel(endpoint.path).length) }
        },
        serve,
      ),
    ),
  ]
}

/** What stands behind the model's name in the path of an endpoint. */
const behindModel = (path: string) => path.slice(path.indexOf(MODEL) + MODEL.length)

const routeOf = (path: string, servedEndpoint: NonNullable<HttpRoute['servedEndpoint']>, serve: Serve): HttpRoute => ({
  method: 'POST',
  path,
  servedEndpoint,
  async run({ exchange, params, served, key, log }) {
    if (served && log) return serve({ exchange, key, log, ...served })
    const { id: call = '' } = params
    if (/:[A-Za-z]+$/.test(call))
      throw gatewayError('NOT_FOUND', { message: `There is no POST ${path.replace(':id+', call)} here.` })
    throw gatewayError('METHOD_NOT_ALLOWED', {
      message: 'POST is not allowed here; allowed: GET, HEAD.',
      headers: { allow: 'GET, HEAD' },
    })
  },
})

/**
 * The path with `models/` before the model's name. Google's clients send it; those of the AI SDK leave it out when the name contains a
 * slash, as in `tunedModels/…`.
 */
export const withModelsFolder = (path: string): string =>
  path.includes(':') ? path.replace(BARE_NAME, '/$1/models/$2') : path

const BARE_NAME =
  /^\/(v1|v1beta)\/(?!models\/|v1\/|v1beta\/)([^/]+\/.+:(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents))$/
