import { gatewayError } from '../errors.ts'
import { exactObject } from '../formats/canonical/exact-json.ts'
import { partsAsBytes } from '../formats/canonical/prepare/inputs.ts'
import { type PreparedRequest, prepareRequest } from '../formats/canonical/prepare/prepare.ts'
import type { ReasoningMemory } from '../formats/canonical/reasoning-memory.ts'
import type { CanonicalRequest, RequestOptions } from '../formats/canonical/request.ts'
import { createWarnings, type Warnings } from '../formats/canonical/warnings.ts'
import type { UpstreamFormat } from '../formats/format.ts'
import { upstreamFormatOf } from '../formats/formats.ts'
import type {
  ClientTranslator,
  ParseContext,
  TargetContext,
  UpstreamTranslator,
  WriteContext,
} from '../formats/translator.ts'
import type { JsonObject } from '../lib/json.ts'
import { newId } from '../lib/new-id.ts'
import { once } from '../lib/promises.ts'
import { targetName } from '../providers/target.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AskedRequest } from './codec.ts'
import { isStrict } from './losses.ts'
import type { ModelCall } from './model-call.ts'
import { wantsArray } from './model-call.ts'
import type { RefusedOptions } from './refused-options.ts'

/** A client's request in the canonical form, prepared for a target. */
export interface TranslatedRequest extends PreparedRequest {
  client: ClientTranslator
  upstream: UpstreamTranslator
  /** The target's format. */
  format: UpstreamFormat
  /** The request as the client made it. */
  asked: CanonicalRequest
  target: TargetContext
}

/** What translations remember between requests, and the calls of one request. */
export interface TranslationMemory {
  /** For clients that do not send back the reasoning that came with tool calls. */
  reasoning: ReasoningMemory
  refusedOptions: RefusedOptions
  /** The summaries of requests under way, so that a conversation is summarised once, however many targets are tried. */
  summaries: WeakMap<ModelCall, string>
}

interface TranslateOptions {
  memory: TranslationMemory
  parse(client: ClientTranslator, body: JsonObject, context: ParseContext): CanonicalRequest
}

/**
 * Parses a request with `parse` and prepares it for the target. Rejects with `INVALID_REQUEST` when the target's format cannot carry it.
 * Fetches media that the target takes as bytes only.
 */
export async function translateRequest(
  request: AskedRequest,
  target: RouteTarget,
  { memory, parse }: TranslateOptions,
): Promise<TranslatedRequest> {
  const { call, context, owner } = request
  const format = await upstreamFormatOf(target.format)
  const [client, upstream] = await Promise.all([request.format.loadTranslator(), format.loadTranslator()])

  const warnings = createWarnings({ isStrict: isStrict(request), names: client.fieldNames })
  const given = {
    ...parseContextOf(request, { warnings, stream: call.stream, isArray: wantsArray(request) }),
    targetFormat: target.format,
  }
  const parsed = limited(parse(client, exactObject(call.text, call.body), given), request)
  const asked = target.params ? (await loadEntryParams()).withinEntry(parsed, request, target) : parsed
  const traits = memory.refusedOptions.without(target, traitsFor(upstream.traits, target, context.catalog))
  const origin = { format: target.format, account: target.connection.id }
  const targetContext = { model: target.model, traits, origin, warnings }
  const recalled = memory.reasoning.recall(owner, asked.turns, origin)
  const addressed = context.fetchesMedia ? partsAsBytes(recalled, traits) : []
  const turns =
    addressed.length > 0 ? await (await loadMedia()).fetchMedia(recalled, addressed, { request, warnings }) : recalled
  return {
    ...prepareRequest(
      { ...asked, turns, options: optionsFor(asked, client, upstream) },
      { ...targetContext, carries: upstream.carries },
    ),
    ...{ client, upstream, format, asked, target: targetContext },
  }
}

/** The request with the limit of its answer that the gateway sets, if it sets one. */
const limited = (asked: CanonicalRequest, { outputLimit }: AskedRequest): CanonicalRequest =>
  outputLimit === undefined ? asked : { ...asked, options: { ...asked.options, maxOutputTokens: outputLimit } }

/** Few entries of combos set parameters. */
export const loadEntryParams = once(() => import('./entry-params.ts'))

/** Fetching media is needed by few requests. */
const loadMedia = once(() => import('./media.ts'))

/**
 * Asks for a summary of the reasoning where the client's format expects to be shown it, the provider hides it unless asked, and the request
 * has a budget but does not say.
 */
function optionsFor(
  { options }: CanonicalRequest,
  client: ClientTranslator,
  upstream: UpstreamTranslator,
): RequestOptions {
  const { reasoning } = options
  const isSet = reasoning?.show !== undefined || typeof reasoning?.budget !== 'number'
  if (isSet || !client.showsBudgetedReasoning || !upstream.hidesReasoning) return options
  return { ...options, reasoning: { ...reasoning, show: 'summary' } }
}

/** The error for an endpoint that the target's format does not have. */
export function untranslatable({ call }: AskedRequest, target: RouteTarget) {
  const { format, path } = call.endpoint
  return gatewayError('FORMAT_MISMATCH', {
    message: `A request to ${path} in the format "${format}" cannot be translated for ${targetName(target)}, which speaks "${target.format}".`,
  })
}

/** What the client's format needs, besides the body, to parse a request; `isArray`: see `ParseContext.route`. */
export function parseContextOf(
  { call, exchange, context, owner }: AskedRequest,
  { warnings, stream, isArray = false }: { warnings: Warnings; stream: boolean; isArray?: boolean },
): ParseContext {
  const { headers, version: ownVersion } = call.endpoint
  const version = exchange.header(headers?.version ?? 'anthropic-version') ?? ownVersion
  return {
    warnings,
    route: { model: call.model, stream, isArray },
    ...(version && { version }),
    itemOf: (id) => context.items.find(owner, id),
  }
}

/** What the client's format needs, besides the answer, to write it; stamped with the present time. */
export const writeContextOf = (
  { context, owner }: AskedRequest,
  answer: { request: CanonicalRequest } & Pick<WriteContext, 'model' | 'responseWarnings'>,
): WriteContext => ({
  ...answer,
  newId,
  now: Math.floor(context.clock.now() / 1_000),
  keepItem: (id, json) => context.items.keep(owner, id, json),
})
