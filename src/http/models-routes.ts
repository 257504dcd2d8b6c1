import { toGatewayError } from '../errors.ts'
import { errorBody } from '../formats/formats.ts'
import type { Exchange, Reply, UpstreamFetch } from '../lib/exchange.ts'
import type { Listing } from '../listing/listing.ts'
import type { Kind, WireFormat } from '../types.ts'
import { findModel } from './models-find.ts'
import { modelBody, modelsBody, modelsFormat } from './models-reply.ts'
import { endingWith } from './models-upstream.ts'
import { emptyReply, jsonReply } from './reply.ts'
import type { Route, RoutedRequest } from './route.ts'

export interface ModelsRoutesOptions {
  /** The way to upstreams for this request. */
  upstream(exchange: Exchange): UpstreamFetch
  /** Told whole what the caller reads as a bare 500. */
  onError(error: unknown): void
}

/** `/v1/models/{kind}` and the kinds K that it lists (spec.md, Models). */
const kindPaths: ReadonlyArray<readonly [path: string, kinds: readonly Kind[]]> = [
  ['image', ['image']],
  ['tts', ['tts']],
  ['stt', ['stt']],
  ['embedding', ['embedding']],
  ['image-to-text', ['imageToText']],
  ['web', ['webSearch', 'webFetch']],
]

const anyOrigin = { 'access-control-allow-origin': '*' }
const preflight = { ...anyOrigin, 'access-control-allow-methods': 'GET, OPTIONS', 'access-control-allow-headers': '*' }
const onlyGoogle = (): WireFormat => 'gemini'

/** The model listing over HTTP. The order counts: a kind's name wins over a model of that name. */
export function modelsRoutes(listing: Listing, options: ModelsRoutesOptions): Route[] {
  const get = (path: string, body: Body, { format = modelsFormat, headers = {} }: Manner = {}): Route => ({
    method: 'GET',
    path,
    run: (request) => answer(request, { body, format: format(request.exchange), headers, onError: options.onError }),
  })
  const upstream = (exchange: Exchange) => endingWith(exchange, options.upstream(exchange))

  const list =
    (kinds: readonly Kind[]): Body =>
    async ({ exchange }, format) =>
      modelsBody(format, await listing.list(kinds, upstream(exchange)), { kinds, query: exchange.query })

  const find: Body = async ({ exchange, params }, format) => {
    const { entry, kinds } = await findModel(listing, params.id ?? '', upstream(exchange))
    return modelBody(format, entry, kinds)
  }

  return [
    get('/v1/models', list(['llm']), { headers: anyOrigin }),
    { method: 'OPTIONS', path: '/v1/models', run: async () => emptyReply(204, preflight) },
    ...kindPaths.map(([path, kinds]) => get(`/v1/models/${path}`, list(kinds))),
    get('/v1/models/:id+', find),
    get('/v1beta/models', list(['llm']), { format: onlyGoogle }),
    get('/v1beta/models/:id+', find, { format: onlyGoogle }),
  ]
}

type Body = (request: RoutedRequest, format: WireFormat) => Promise<object>

interface Manner {
  format?: (exchange: Exchange) => WireFormat
  headers?: Record<string, string>
}

interface Answering {
  body: Body
  format: WireFormat
  headers: Record<string, string>
  onError(error: unknown): void
}

async function answer(request: RoutedRequest, { body, format, headers, onError }: Answering): Promise<Reply> {
  try {
    return jsonReply(200, await body(request, format), headers)
  } catch (thrown) {
    const error = toGatewayError(thrown)
    if (error.status < 500) return jsonReply(error.status, errorBody(format, error), { ...error.headers, ...headers })
    onError(thrown)
    return jsonReply(500, failureBody(format), headers)
  }
}

/** spec.md, Errors: any unexpected failure. Says nothing of what is inside. */
function failureBody(format: WireFormat): object {
  const message = 'The models cannot be listed.'
  if (format === 'openai-chat') return { error: { message, type: 'server_error' } }
  return errorBody(format, { status: 500, code: 'INTERNAL', message })
}
