import { formatScalar, isObject, type JsonObject } from '../lib/json.ts'
import type { RequestBound } from '../protocols/formats/format.ts'
import { createEndpoint, type KindEndpoint } from '../protocols/kinds/endpoint.ts'
import { imageEndpoints } from '../protocols/kinds/image/image-endpoints.ts'
import { speechEndpoints } from '../protocols/kinds/speech/speech-endpoints.ts'
import type { Kind } from '../types.ts'
import { type ModelCall, shouldSendArray } from './codec/model-call.ts'
import { getTargetKind } from './routing/other-kinds.ts'
import type { RouteTable } from './routing/route-table.ts'

/**
 * Redirects a Google client's image or speech request from the chat endpoint. It becomes a call of that kind if the model is known to be of the kind
 * that `responseModalities` names. Google's own models stay at the chat endpoint.
 */
export async function redirectMediaCall(call: ModelCall, query: string, table: RouteTable): Promise<ModelCall> {
  const kind = findRequestedKind(call.body)
  if (!kind || shouldSendArray({ call, exchange: { query } })) return call
  const combo = table.findCombo(call.model)
  const [target] = combo ? [] : (table.findTargets(call.model) ?? [])
  const isGemini = target && (target.format === 'gemini' || /(?:^|\/)gemini-/.test(target.model))
  const modelKind = combo ? combo.kind : target && !isGemini ? await getTargetKind(target, table) : undefined
  return modelKind === kind ? { ...call, endpoint: createMediaEndpoint(kind, call) } : call
}

type MediaKind = keyof typeof MODALITIES

/** Google's name for the modality of each kind. */
const MODALITIES = { image: 'IMAGE', tts: 'AUDIO' } as const satisfies Partial<Record<Kind, string>>

/** Returns the requested kind: images before speech, or `undefined` for text. */
function findRequestedKind(body: JsonObject): MediaKind | undefined {
  const config = getGenerationConfig(body)
  const modalities = [config.responseModalities ?? config.response_modalities]
    .flat()
    .map((name) => formatScalar(name).toUpperCase())
  return modalities.includes(MODALITIES.image) ? 'image' : modalities.includes(MODALITIES.tts) ? 'tts' : undefined
}

function getGenerationConfig({
  generationConfig,
  generation_config: config = generationConfig,
}: JsonObject): JsonObject {
  return isObject(config) ? config : {}
}

/** Creates an endpoint for models of this kind, at the path that the client called. */
function createMediaEndpoint(kind: MediaKind, { endpoint, stream }: ModelCall): KindEndpoint {
  const [mediaEndpoint] = kind === 'image' ? imageEndpoints : speechEndpoints
  if (!mediaEndpoint) throw new TypeError(`There is no endpoint for ${kind}.`)
  return createEndpoint({
    ...mediaEndpoint,
    path: endpoint.path,
    format: endpoint.format,
    client: stream ? 'gemini-stream' : 'gemini',
    streams: endpoint.streams,
    bound: kind === 'image' ? imageBound : speechBound,
  })
}

const countImages = (body: JsonObject): number => {
  const config = getGenerationConfig(body)
  return Math.min(
    10,
    Math.max(1, Math.ceil(Number(formatScalar(config.candidateCount ?? config.candidate_count))) || 1),
  )
}

/** The maximum tokens for an image: at most four megapixels, or sixteen if `imageSize` is `4K`. */
const imageBound: RequestBound = {
  isBilledOnce: true,
  countResponses: countImages,
  inputTokens: (_, estimate) => estimate(),
  outputTokens: (body) => (/4k/i.test(JSON.stringify(getGenerationConfig(body))) ? 128_000 : 34_000),
  units: (body) => ({ image: countImages(body) }),
}

/** Assumes that every character of the body is spoken, at up to five tokens each. */
const speechBound: RequestBound = {
  isBilledOnce: true,
  inputTokens: (_, estimate) => estimate(),
  outputTokens: (body) => 5 * JSON.stringify(body).length,
  units: (body) => ({ character: JSON.stringify(body).length }),
}
