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
  const fixedPathEndpoints = endpoints.filter((endpoint) => !pathModelEndpoints.includes(endpoint))
  const folders = new Set(pathModelEndpoints.map(({ path }) => path.slice(0, path.indexOf(MODEL_PARAMETER))))
  return [
    ...fixedPathEndpoints.map((endpoint) => createRoute(endpoint.path, () => ({ route: endpoint }), serve)),
    ...Array.from(folders, (folder) =>
      createRoute(
        `${folder}:id+`,
        ({ id: modelPath = '' }) => {
          const endpoint = pathModelEndpoints.find(
            ({ path }) => path.startsWith(folder) && modelPath.endsWith(getPathAfterModel(path)),
          )
          return (
            endpoint && {
              route: endpoint,
              pathModel: modelPath.slice(0, modelPath.length - getPathAfterModel(endpoint.path).length),
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

const createRoute = (
  path: string,
  matchEndpoint: NonNullable<HttpRoute['matchEndpoint']>,
  serve: Serve,
): HttpRoute => ({
  method: 'POST',
  path,
  matchEndpoint,
  run({ exchange, params, endpointMatch, caller, log }) {
    if (endpointMatch && log instanceof ModelLog)
      return serve({ exchange, caller, log, route: log.route, pathModel: endpointMatch.pathModel })
    return Promise.reject(createNoEndpointError(path, params.id ?? ''))
  },
})

function createNoEndpointError(path: string, modelPath: string): GatewayError {
  if (/:[A-Za-z]+$/.test(modelPath))
    return gatewayError('NOT_FOUND', { message: `POST ${path.replace(':id+', modelPath)} does not exist here.` })
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
  path.includes(':') ? path.replace(BARE_MODEL_PATH, '/$1/models/$2') : path

const BARE_MODEL_PATH =
  /^\/(v1|v1beta)\/(?!models\/|v1\/|v1beta\/)([^/]+\/.+:(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents))$/
