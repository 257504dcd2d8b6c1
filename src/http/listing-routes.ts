import { PROTOCOLS } from '../formats/ai-sdk/format.ts'
import type { ModelListFormat } from '../formats/model-list.ts'
import type { Exchange, UpstreamFetch } from '../lib/exchange.ts'
import { startCall } from '../lib/fetch-call.ts'
import { scopeOfClient } from '../lib/scope.ts'
import type { Listing, ListReader } from '../listing/listing.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Kind } from '../types.ts'
import { callerFormat } from './caller-format.ts'
import { emptyReply, jsonReply } from './reply.ts'
import type { HttpRoute, RoutedRequest } from './router.ts'

interface ModelsRoutesOptions {
  /** Loads the listing, with the first request for it. */
  listing(): Promise<Listing>
  /** What a key may ask for; `undefined`: everything. */
  readerOf(key: PresentedKey | undefined): Promise<ListReader | undefined>
  /** The function that calls providers for this request. */
  upstream(exchange: Exchange): UpstreamFetch
}

/** A path of the model listing. */
export interface ListingPath {
  path: string
  /** The kinds that it lists (src/rules.md, Model lists of OpenAI clients); absent: it finds one model. */
  kinds?: readonly Kind[]
  /** The version of the AI SDK's protocol in which it lists the models, each with its kind. */
  version?: string
  /** May pages of every origin read it? Then preflight requests are answered as well. */
  isPublic?: true
}

/** The kinds of models that the AI SDK has. */
const AI_SDK_KINDS: readonly Kind[] = ['llm', 'embedding', 'image', 'tts', 'stt']

/** All paths of the model listing. Their order counts: the name of a kind wins over a model of that name. */
export const listingPaths: readonly ListingPath[] = [
  { path: '/v1/models', kinds: ['llm'], isPublic: true },
  { path: '/v1/models/image', kinds: ['image'] },
  { path: '/v1/models/tts', kinds: ['tts'] },
  { path: '/v1/models/stt', kinds: ['stt'] },
  { path: '/v1/models/embedding', kinds: ['embedding'] },
  { path: '/v1/models/image-to-text', kinds: ['imageToText'] },
  { path: '/v1/models/web', kinds: ['webSearch', 'webFetch'] },
  { path: '/v1/models/:id+' },
  { path: '/v1beta/models', kinds: ['llm'] },
  { path: '/v1beta/models/:id+' },
  ...PROTOCOLS.map((version) => ({ path: `/v${version}/ai/config`, kinds: AI_SDK_KINDS, version })),
]

const anyOrigin = { 'access-control-allow-origin': '*' }
const preflight = { ...anyOrigin, 'access-control-allow-methods': 'GET, OPTIONS', 'access-control-allow-headers': '*' }

/** Makes the body of a response in the caller's format. `fetch` calls providers, and aborts these calls when the client disconnects. */
type Body = (request: RoutedRequest, listing: Listing, caller: Caller) => Promise<object>

interface Caller {
  reader: ListReader | undefined
  form: ModelListFormat
  fetch: UpstreamFetch
}

/** The routes of the model listing. */
export function modelsRoutes({ listing: load, readerOf, upstream }: ModelsRoutesOptions): HttpRoute[] {
  const get = (path: string, body: Body, headers = {}): HttpRoute => ({
    method: 'GET',
    path,
    async run(request) {
      const { exchange, key } = request
      const [listing, reader] = await Promise.all([load(), readerOf(key)])
      const form = listing.forms[callerFormat(path, exchange).name]
      const content = await whileClientWaits(exchange, upstream(exchange), (fetch) =>
        body(request, listing, { reader, form, fetch }),
      )
      return jsonReply(200, content, headers)
    },
  })

  const list =
    (kinds: readonly Kind[]): Body =>
    async ({ exchange }, listing, { reader, form, fetch }) =>
      form.list(await listing.list(kinds, fetch, reader && { reader }), {
        kinds,
        query: new URLSearchParams(exchange.query),
      })

  const find: Body = async ({ params }, listing, { reader, form, fetch }) => {
    const { entry, kinds } = await listing.find(params.id ?? '', fetch, reader)
    return form.one(entry, kinds)
  }

  const config =
    (kinds: readonly Kind[], version: string): Body =>
    async (_, listing, { reader, form, fetch }) => {
      const lists = kinds.map(async (kind) => ({
        kind,
        entries: await listing.list([kind], fetch, reader && { reader }),
      }))
      return form.byKind?.(await Promise.all(lists), version) ?? {}
    }

  return listingPaths.flatMap(({ path, kinds, version, isPublic }): HttpRoute[] => {
    const body = kinds ? (version === undefined ? list(kinds) : config(kinds, version)) : find
    if (!isPublic) return [get(path, body)]
    return [get(path, body, anyOrigin), { method: 'OPTIONS', path, run: async () => emptyReply(204, preflight) }]
  })
}

/** Runs `work` with a `fetch` whose calls are aborted when the client disconnects. */
async function whileClientWaits<T>(
  exchange: Pick<Exchange, 'onAbort'>,
  fetch: UpstreamFetch,
  work: (fetch: UpstreamFetch) => Promise<T>,
): Promise<T> {
  const { scope, close } = scopeOfClient(exchange)
  const plain: UpstreamFetch = (input, init) => fetch(input, init)
  plain.raw = (call) => {
    const pending = startCall(fetch, call)
    scope.add((reason) => pending.cancel(reason))
    return pending
  }
  try {
    return await work(plain)
  } finally {
    close()
  }
}
