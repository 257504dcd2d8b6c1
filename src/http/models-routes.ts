import { formatOf } from '../formats/formats.ts'
import type { Exchange, UpstreamFetch } from '../lib/exchange.ts'
import type { Listing } from '../listing/listing.ts'
import type { Kind, WireFormat } from '../types.ts'
import { modelsFormat } from './caller-format.ts'
import { endingWith } from './models-upstream.ts'
import { emptyReply, jsonReply } from './reply.ts'
import type { Route, RoutedRequest } from './route.ts'

export interface ModelsRoutesOptions {
  /** The function that calls providers for this request. */
  upstream(exchange: Exchange): UpstreamFetch
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

/** The routes of the model listing. Their order counts: the name of a kind wins over a model of that name. */
export function modelsRoutes(listing: Listing, options: ModelsRoutesOptions): Route[] {
  const get = (path: string, body: Body, { format = modelsFormat, headers = {} }: Manner = {}): Route => ({
    method: 'GET',
    path,
    run: async (request) => jsonReply(200, await body(request, format(request.exchange)), headers),
  })
  const upstream = (exchange: Exchange) => endingWith(exchange, options.upstream(exchange))

  const list =
    (kinds: readonly Kind[]): Body =>
    async ({ exchange }, format) => {
      const models = await formatOf(format).loadModels()
      return models.list(await listing.list(kinds, upstream(exchange)), {
        kinds,
        query: new URLSearchParams(exchange.query),
      })
    }

  const find: Body = async ({ exchange, params }, format) => {
    const [{ findModel }, models] = await Promise.all([import('./models-find.ts'), formatOf(format).loadModels()])
    const { entry, kinds } = await findModel(listing, params.id ?? '', upstream(exchange))
    return models.one(entry, kinds)
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
