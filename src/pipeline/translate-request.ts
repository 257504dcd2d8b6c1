import { gatewayError } from '../errors.ts'
import { exactObject } from '../formats/canonical/exact-json.ts'
import { partsAsBytes } from '../formats/canonical/prepare/as-bytes.ts'
import { type PreparedRequest, prepareRequest } from '../formats/canonical/prepare/prepare.ts'
import type { CanonicalRequest, RequestOptions } from '../formats/canonical/request.ts'
import type { ThoughtMemory } from '../formats/canonical/thought-memory.ts'
import { createWarnings } from '../formats/canonical/warnings.ts'
import type { UpstreamFormat } from '../formats/format.ts'
import { upstreamFormatOf } from '../formats/formats.ts'
import type { ParseContext, TargetContext, Translator, UpstreamTranslator } from '../formats/translator.ts'
import type { JsonObject } from '../lib/json.ts'
import { targetName } from '../providers/target.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import { parseContextOf } from './format-contexts.ts'
import type { SpokenRequest } from './model-request.ts'
import { wantsArray } from './transform.ts'

/** A client's request in the canonical form, prepared for a target. */
export interface TranslatedRequest extends PreparedRequest {
  client: Translator
  upstream: UpstreamTranslator
  /** The target's format. */
  format: UpstreamFormat
  /** The request as the client made it. */
  asked: CanonicalRequest
  target: TargetContext
  /** For clients that do not send back the thoughts that came with tool calls. */
  memory: ThoughtMemory
}

/**
 * Parses a request with `parse` and prepares it for the target. Rejects with `INVALID_REQUEST` when the target's format cannot carry it.
 * Fetches media that the target takes as bytes only.
 */
export async function translateRequest(
  request: SpokenRequest,
  target: RouteTarget,
  parse: (client: Translator, body: JsonObject, context: ParseContext) => CanonicalRequest,
): Promise<TranslatedRequest> {
  const { call, context, owner } = request
  const format = await upstreamFormatOf(target.format)
  const [client, upstream] = await Promise.all([request.format.loadTranslator(), format.loadTranslator()])

  const warnings = createWarnings({ isStrict: isStrict(request), names: client.fieldNames })
  const given = parseContextOf(request, { warnings, stream: call.stream, isArray: wantsArray(request) })
  const asked = parse(client, exactObject(call.text, call.body), given)
  const refused = await context.refusedOptions()
  const traits = refused.without(target, traitsFor(upstream.traits, target, context.catalog))
  const origin = { format: target.format, account: target.connection.id }
  const told = { model: target.model, traits, origin, warnings }
  const memory = await context.thoughts()
  const recalled = memory.recall(owner, asked.turns, origin)
  const addressed = context.fetchesMedia ? partsAsBytes(recalled, traits) : []
  const turns =
    addressed.length > 0
      ? await (await import('./fetch-media.ts')).fetchMedia(recalled, addressed, { request, warnings })
      : recalled
  return {
    ...prepareRequest(
      { ...asked, turns, options: optionsFor(asked, client, upstream) },
      { ...told, carries: upstream.carries },
    ),
    ...{ client, upstream, format, asked, target: told, memory },
  }
}

/**
 * Asks for a summary of the thoughts where the client's format expects to be shown them, the provider hides them unless asked, and the
 * request has a budget but does not say.
 */
function optionsFor({ options }: CanonicalRequest, client: Translator, upstream: UpstreamTranslator): RequestOptions {
  const { reasoning } = options
  const isSaid = reasoning?.show !== undefined || typeof reasoning?.budget !== 'number'
  if (isSaid || !client.expectsThoughts || !upstream.keepsThoughts) return options
  return { ...options, reasoning: { ...reasoning, show: 'summary' } }
}

/** The error for an endpoint that the target's format does not have. */
export function untranslatable({ call }: SpokenRequest, target: RouteTarget) {
  const { format, path } = call.endpoint
  return gatewayError('FORMAT_MISMATCH', {
    message: `A request to ${path} in the format "${format}" cannot be translated for ${targetName(target)}, which speaks "${target.format}".`,
  })
}

/** The header can only make a request strict, not lenient. */
const isStrict = ({ exchange, context }: SpokenRequest) =>
  context.isStrict || /^(true|1)$/i.test(exchange.header('x-signalbox-strict')?.trim() ?? '')
