import type { FeatureRoute } from '../../feature.ts'
import type { Exchange, UpstreamFetch } from '../../lib/exchange.ts'
import { PROTOCOL_VERSIONS } from '../../protocols/formats/ai-sdk/ai-sdk-format.ts'
import type { Caller } from '../../request/caller.ts'
import { createEmptyReply } from '../../request/door/reply.ts'
import type { UnrecordedRequest } from '../../request/feature-requests.ts'
import type { Kind } from '../../types.ts'
import type { Listing, ListReader } from './listing.ts'

export interface ListingRoutesOptions {
  /** Loads the listing on the first request. */
  listing(): Promise<Listing>
  /** Returns which models a caller may use; `undefined` means all. */
  getReader(caller: Caller): Promise<ListReader | undefined>
  /** Returns the function that calls providers for this request. */
  upstream(exchange: Exchange): UpstreamFetch
}

/** A path that lists models. */
export interface ListingPath {
  path: string
  /** The kinds to list (src/rules.md, Model lists of OpenAI clients). If absent, the path returns a single model. */
  kinds?: readonly Kind[]
  /** The version of the AI SDK protocol. Its clients get each model's kind. */
  version?: string
  /** Set to allow requests from any origin, including preflight requests. */
  isPublic?: true
}

const AI_SDK_KINDS: readonly Kind[] = ['llm', 'embedding', 'image', 'tts', 'stt']

/** All paths that list models. The order matters: kinds take precedence over models with the same name. */
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
  ...PROTOCOL_VERSIONS.map((version) => ({ path: `/v${version}/ai/config`, kinds: AI_SDK_KINDS, version })),
]

const publicHeaders = { 'access-control-allow-origin': '*' }
const preflight = {
  ...publicHeaders,
  'access-control-allow-methods': 'GET, OPTIONS',
  'access-control-allow-headers': '*',
}

/** Creates the model listing routes. */
export function createListingRoutes(options: ListingRoutesOptions): FeatureRoute[] {
  return listingPaths.flatMap((listingPath): FeatureRoute[] => {
    const { path, isPublic } = listingPath
    const get: FeatureRoute = {
      method: 'GET',
      path,
      isRecorded: false,
      async run(request: UnrecordedRequest) {
        const { replyWithList } = await import('./listing-reply.ts')
        return replyWithList(request, listingPath, { ...options, headers: isPublic ? publicHeaders : {} })
      },
    }
    const probe: FeatureRoute = {
      method: 'OPTIONS',
      path,
      isRecorded: false,
      run: async () => createEmptyReply(preflight),
    }
    return isPublic ? [get, probe] : [get]
  })
}
