import { type ModelCall, wantsArray } from '../codec/model-call.ts'
import type { RequestBound } from '../formats/format.ts'
import { type KindEndpoint, kindEndpoint } from '../kinds/endpoint.ts'
import { imageEndpoints } from '../kinds/image/endpoints.ts'
import { speechEndpoints } from '../kinds/speech/endpoints.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { kindOfTarget } from '../routing/kinds.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { Kind } from '../types.ts'

/**
 * The call of a Google client that requests images or speech at the endpoint for chat. It becomes a call of that other kind if the model is known to
 * be of the kind that `responseModalities` names. Google's own models keep the endpoint for chat.
 */
export async function mediaCall(call: ModelCall, query: string, table: RouteTable): Promise<ModelCall> {
  const kind = kindAsked(call.body)
  if (!kind || wantsArray({ call, exchange: { query } })) return call
  const combo = table.comboOf(call.model)
  const [target] = combo ? [] : (table.targetsOf(call.model) ?? [])
  const isOwn = target && (target.format === 'gemini' || /(?:^|\/)gemini-/.test(target.model))
  const known = combo ? combo.kind : target && !isOwn ? await kindOfTarget(target, table) : undefined
  return known === kind ? { ...call, endpoint: endpointFor(kind, call) } : call
}

type AskedKind = keyof typeof MODALITIES

/** The modality of each kind, by Google's word. */
const MODALITIES = { image: 'IMAGE', tts: 'AUDIO' } as const satisfies Partial<Record<Kind, string>>

/** The kind that the request asks for: images before speech; `undefined` for text. */
function kindAsked(body: JsonObject): AskedKind | undefined {
  const config = configIn(body)
  const asked = [config.responseModalities ?? config.response_modalities]
    .flat()
    .map((name) => String(name).toUpperCase())
  return asked.includes(MODALITIES.image) ? 'image' : asked.includes(MODALITIES.tts) ? 'tts' : undefined
}

function configIn({ generationConfig, generation_config: config = generationConfig }: JsonObject): JsonObject {
  return isObject(config) ? config : {}
}

/** An endpoint for models of this kind, at the path that the client has called. */
function endpointFor(kind: AskedKind, { endpoint, stream }: ModelCall): KindEndpoint {
  const [own] = kind === 'image' ? imageEndpoints : speechEndpoints
  if (!own) throw new TypeError(`There is no endpoint for ${kind}.`)
  return kindEndpoint({
    ...own,
    path: endpoint.path,
    format: endpoint.format,
    client: stream ? 'gemini-stream' : 'gemini',
    streams: endpoint.streams,
    bound: kind === 'image' ? imageBound : speechBound,
  })
}

const countIn = (body: JsonObject): number => {
  const config = configIn(body)
  return Math.min(10, Math.max(1, Math.ceil(Number(config.candidateCount ?? config.candidate_count)) || 1))
}

/** The most tokens of an image: at most four megapixels, or sixteen where `imageSize` is `4K`. */
const imageBound: RequestBound = {
  isEither: true,
  answers: countIn,
  inputTokens: (_, estimate) => estimate(),
  outputTokens: (body) => (/4k/i.test(JSON.stringify(configIn(body))) ? 128_000 : 34_000),
  units: (body) => ({ image: countIn(body) }),
}

/** All characters of the body may be spoken, and make up to five tokens each. */
const speechBound: RequestBound = {
  isEither: true,
  inputTokens: (_, estimate) => estimate(),
  outputTokens: (body) => 5 * JSON.stringify(body).length,
  units: (body) => ({ character: JSON.stringify(body).length }),
}
