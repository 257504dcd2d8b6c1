import { gatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import { endpoints } from '../formats/formats.ts'
import type { Reply } from '../lib/exchange.ts'
import type { HttpRoute, RoutedRequest } from './router.ts'

/** `pathModel`: the model's name, where the path has it. */
type Run = (request: RoutedRequest, endpoint: Endpoint, pathModel?: string) => Promise<Reply>

const MODEL = '{model}'

/** The endpoints for model requests as routes. */
export function modelRoutes(run: Run): HttpRoute[] {
  const named = endpoints.filter(({ path }) => path.includes(MODEL))
  const plain = endpoints.filter((endpoint) => !named.includes(endpoint))
  const folders = new Set(named.map(({ path }) => path.slice(0, path.indexOf(MODEL))))
  return [
    ...plain.map(
      (endpoint): HttpRoute => ({ method: 'POST', path: endpoint.path, run: (request) => run(request, endpoint) }),
    ),
    ...Array.from(
      folders,
      (folder): HttpRoute => ({
        method: 'POST',
        path: `${folder}:id+`,
        run: (request) => {
          const { id: call = '' } = request.params
          const colon = call.lastIndexOf(':')
          const endpoint = named.find(({ path }) => path === `${folder}${MODEL}${call.slice(colon)}`)
          if (endpoint) return run(request, endpoint, call.slice(0, colon))
          if (/:[A-Za-z]+$/.test(call))
            throw gatewayError('NOT_FOUND', { message: `There is no POST ${folder}${call} here.` })
          throw gatewayError('METHOD_NOT_ALLOWED', {
            message: 'POST is not allowed here; allowed: GET, HEAD.',
            headers: { allow: 'GET, HEAD' },
          })
        },
      }),
    ),
  ]
}

/**
 * The path with `models/` before the model's name. Google's clients send it; those of the AI SDK leave it out when the name contains a
 * slash, as in `tunedModels/…`.
 */
export const withModelsFolder = (path: string): string =>
  path.includes(':') ? path.replace(BARE_NAME, '/$1/models/$2') : path

const BARE_NAME =
  /^\/(v1|v1beta)\/(?!models\/|v1\/|v1beta\/)([^/]+\/.+:(?:generateContent|streamGenerateContent|countTokens))$/
