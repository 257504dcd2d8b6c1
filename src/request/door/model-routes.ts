import { type GatewayError, gatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import { ModelLog } from '../model-log.ts'
import type { ServedRequest } from '../steps.ts'
import type { HttpRoute } from './router.ts'

/** Handles a request to a model endpoint. */
type Serve = (request: ServedRequest) => Promise<Reply>

const MODEL_PARAMETER = '{model}'

/** Creates the routes for the model endpoints. */
export function createModelRoutes(serve: Serve): HttpRoute[] {
  const pathModelEndpoints = endpoints.filter(({ path }) => path.includes(MODEL_PARAMETER))
  const otherEndpoints = endpoints.filter((endpoint) => !pathModelEndpoints.includes(endpoint))
  const folders = new Set(pathModelEndpoints.map(({ path }) => path.slice(0, path.indexOf(MODEL_PARAMETER))))
  return [
    ...otherEndpoints.map((endpoint) => createRoute(endpoint.path, () => ({ route: endpoint }), serve)),
    ...Array.from(folders, (folder) =>
      createRoute(
        `${folder}:id+`,
        ({ id: call = '' }) => {
          const endpoint = pathModelEndpoints.find(
            ({ path }) => path.startsWith(folder) && call.endsWith(getPathAfterModel(path)),
          )
          return (
            endpoint && {
              route: endpoint,
              pathModel: call.slice(0, call.length - getPathAfterModel(endpoint.path).length),
            }
          )
        },
        serve,
      ),
    ),
  ]
}

/** Returns the part of an endpoint's path that follows the model name. */
const getPathAfterModel = (path: string) => path.slice(path.indexOf(MODEL_PARAMETER) + MODEL_PARAMETER.length)

const createRoute = (path: string, serves: NonNullable<HttpRoute['serves']>, serve: Serve): HttpRoute => ({
  method: 'POST',
  path,
  serves,
  run({ exchange, params, served, caller, log }) {
    if (served && log instanceof ModelLog)
      return serve({ exchange, caller, log, route: log.route, pathModel: served.pathModel })
    return Promise.reject(withoutEndpoint(path, params.id ?? ''))
  },
})

function withoutEndpoint(path: string, call: string): GatewayError {
  if (/:[A-Za-z]+$/.test(call))
    return gatewayError('NOT_FOUND', { message: `POST ${path.replace(':id+', call)} does not exist here.` })
  return gatewayError('METHOD_NOT_ALLOWED', {
    message: 'POST is not allowed here. Allowed: GET, HEAD.',
    headers: { allow: 'GET, HEAD' },
  })
}

/**
 * Returns the path with `models/` before the model name. Google's clients send it; the AI SDK omits it if the name contains a slash, as in
 * `tunedModels/…`.
 */
export const withModelsFolder = (path: string): string =>
  path.includes(':') ? path.replace(BARE_NAME_ADVICE, '/$1/models/$2') : path

const BARE_NAME_ADVICE =
  /^\/(v1|v1beta)\/(?!models\/|v1\/|v1beta\/)([^/]+\/.+:(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents))$/
