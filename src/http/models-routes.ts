import type { ModelsTelling } from '../formats/models-telling.ts'
import type { Exchange, UpstreamFetch } from '../lib/exchange.ts'
import type { Listing } from '../listing/listing.ts'
import type { Kind } from '../types.ts'
import { callerFormat } from './caller-format.ts'
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

/** The routes of the model listing. Their order counts: the name of a kind wins over a model of that name. */
export function modelsRoutes(listing: Listing, options: ModelsRoutesOptions): Route[] {
  const get = (path: string, body: Body, headers = {}): Route => ({
    method: 'GET',
    path,
    async run(request) {
      const telling = await callerFormat(path, request.exchange).loadModels()
      return jsonReply(200, await body(request, telling), headers)
    },
  })

  /** Does work that may ask providers, for as long as the client waits. */
  async function asking<T>(exchange: Exchange, work: (fetch: UpstreamFetch) => Promise<T>): Promise<T> {
    const { endingWith } = await import('./models-upstream.ts')
    return endingWith(exchange, options.upstream(exchange), work)
  }

  const list =
    (kinds: readonly Kind[]): Body =>
    async ({ exchange }, telling) => {
      const entries = await asking(exchange, (fetch) => listing.list(kinds, fetch))
      return telling.list(entries, { kinds, query: new URLSearchParams(exchange.query) })
    }

  const find: Body = async ({ exchange, params }, telling) => {
    const { findModel } = await import('./models-find.ts')
    const { entry, kinds } = await asking(exchange, (fetch) => findModel(listing, params.id ?? '', fetch))
    return telling.one(entry, kinds)
  }

  return [
    get('/v1/models', list(['llm']), anyOrigin),
    { method: 'OPTIONS', path: '/v1/models', run: async () => emptyReply(204, preflight) },
    ...kindPaths.map(([path, kinds]) => get(`/v1/models/${path}`, list(kinds))),
    get('/v1/models/:id+', find),
    get('/v1beta/models', list(['llm'])),
    get('/v1beta/models/:id+', find),
  ]
}

type Body = (request: RoutedRequest, telling: ModelsTelling) => Promise<object>
