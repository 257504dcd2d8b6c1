import { gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { newId } from '../../lib/new-id.ts'
import { once } from '../../lib/promises.ts'
import type { CanonicalRequest, RequestOptions } from '../../protocols/formats/canonical/canonical-request.ts'
import { createWarnings, type Warnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { parseExactObject } from '../../protocols/formats/canonical/exact-json.ts'
import { findPartsToDownload } from '../../protocols/formats/canonical/prepare/inputs.ts'
import { type PreparedRequest, prepareRequest } from '../../protocols/formats/canonical/prepare/prepare.ts'
import type { ReasoningMemory } from '../../protocols/formats/canonical/reasoning-memory.ts'
import type { UpstreamFormat } from '../../protocols/formats/format.ts'
import { loadUpstreamFormat } from '../../protocols/formats/formats.ts'
import type {
  ClientTranslator,
  ParseContext,
  TargetContext,
  UpstreamTranslator,
  WriterContext,
} from '../../protocols/formats/translator.ts'
import { getTraits } from '../../protocols/providers/provider-traits.ts'
import { getTargetName } from '../../protocols/providers/target.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { CodecRequest } from './codec.ts'
import { isStrict } from './dropped-fields.ts'
import type { ModelCall } from './model-call.ts'
import { shouldSendArray } from './model-call.ts'
import type { RejectedOptions } from './rejected-options.ts'

/** Everything needed to translate a client's request to a target's format. */
export interface TranslationSetup {
  client: ClientTranslator
  upstream: UpstreamTranslator
  /** The target's format. */
  format: UpstreamFormat
  /** The client's body, with exact integers. */
  body: JsonObject
  parseContext: ParseContext
}

/** A client's request in the canonical format, prepared for a target. */
export interface TranslatedRequest extends PreparedRequest {
  client: ClientTranslator
  upstream: UpstreamTranslator
  /** The target's format. */
  format: UpstreamFormat
  /** The request before it was prepared. */
  canonicalRequest: CanonicalRequest
  target: TargetContext
}

/** Data that translations share across requests, and across the calls of one request. */
export interface TranslationMemory {
  /** Stores reasoning for clients that don't send back the reasoning that precedes tool calls. */
  reasoning: ReasoningMemory
  rejectedOptions: RejectedOptions
  /** The summaries for in-flight requests, so that a conversation is summarized once, even if several targets are tried. */
  summaries: WeakMap<ModelCall, string>
}

/** Loads both formats' translators. Doesn't translate the client's request yet. */
export async function setUpTranslation(request: CodecRequest, target: RouteTarget): Promise<TranslationSetup> {
  const { call } = request
  const format = await loadUpstreamFormat(target.format)
  const [client, upstream] = await Promise.all([request.format.loadTranslator(), format.loadTranslator()])
  const warnings = createWarnings({ isStrict: isStrict(request), names: client.fieldNames })
  const parseContext = {
    ...createParseContext(request, { warnings, stream: call.stream, isArray: shouldSendArray(request) }),
    targetFormat: target.format,
  }
  return { client, upstream, format, body: parseExactObject(call.text, call.body), parseContext }
}

/**
 * Prepares the parsed request for the target, and downloads media that the target accepts only as bytes. Rejects with `INVALID_REQUEST` if the
 * target's format doesn't support the request.
 */
export async function prepareForTarget(
  parsedRequest: CanonicalRequest,
  { client, upstream, format, parseContext: { warnings } }: TranslationSetup,
  { request, target, memory }: { request: CodecRequest; target: RouteTarget; memory: TranslationMemory },
): Promise<TranslatedRequest> {
  const { context, owner, outputLimit } = request
  const limitedRequest =
    outputLimit === undefined
      ? parsedRequest
      : { ...parsedRequest, options: { ...parsedRequest.options, maxOutputTokens: outputLimit } }
  const canonicalRequest = target.params
    ? (await loadEntryParams()).applyEntryParams(limitedRequest, request, target)
    : limitedRequest
  const traits = memory.rejectedOptions.removeRejected(target, getTraits(upstream.traits, target, context.catalog))
  const origin = { format: target.format, account: target.connection.id }
  const targetContext = { model: target.model, traits, origin, warnings }
  const turnsWithReasoning = memory.reasoning.recall(owner, canonicalRequest.turns, origin)
  const partsToDownload = context.fetchesMedia ? findPartsToDownload(turnsWithReasoning, traits) : []
  const turns =
    partsToDownload.length > 0
      ? await (await loadMedia()).fetchMedia(turnsWithReasoning, partsToDownload, { request, warnings })
      : turnsWithReasoning
  return {
    ...prepareRequest(
      { ...canonicalRequest, turns, options: addReasoningSummary(canonicalRequest.options, client, upstream) },
      { ...targetContext, supportedOptions: upstream.supportedOptions },
    ),
    ...{ client, upstream, format, canonicalRequest, target: targetContext },
  }
}

/** Lazy-loaded, because few combo entries set parameters. */
export const loadEntryParams = once(() => import('./entry-params.ts'))

/** Lazy-loaded, because few requests need media to be downloaded. */
const loadMedia = once(() => import('./media-codec.ts'))

/**
 * Requests a reasoning summary if the client's format expects one, the provider hides reasoning by default, and the request sets a budget without
 * specifying how to show reasoning.
 */
function addReasoningSummary(
  options: RequestOptions,
  client: ClientTranslator,
  upstream: UpstreamTranslator,
): RequestOptions {
  const { reasoning } = options
  const hasExplicitSetting = reasoning?.show !== undefined || typeof reasoning?.budget !== 'number'
  if (hasExplicitSetting || !client.showsBudgetedReasoning || !upstream.hidesReasoning) return options
  return { ...options, reasoning: { ...reasoning, show: 'summary' } }
}

/** Creates the error for an endpoint that the target's format lacks. */
export function createUntranslatableError({ call }: CodecRequest, target: RouteTarget) {
  const { format, path } = call.endpoint
  return gatewayError('FORMAT_MISMATCH', {
    message: `Requests to ${path} in the format "${format}" cannot be translated for ${getTargetName(target)}, which uses the format "${target.format}".`,
  })
}

/** Creates the context for parsing a request in the client's format. For `isArray`, see `ParseContext.route`. */
export function createParseContext(
  { call, exchange, context, owner }: CodecRequest,
  { warnings, stream, isArray = false }: { warnings: Warnings; stream: boolean; isArray?: boolean },
): ParseContext {
  const { headers, version: endpointVersion } = call.endpoint
  const version = exchange.header(headers?.version ?? 'anthropic-version') ?? endpointVersion
  return {
    warnings,
    route: { model: call.model, stream, isArray },
    ...(version && { version }),
    getItem: (id) => context.items.find(owner, id),
  }
}

/** Creates the context for writing a response in the client's format, with the current time. */
export const createWriterContext = (
  { context, owner }: CodecRequest,
  response: { request: CanonicalRequest } & Pick<WriterContext, 'model' | 'responseWarnings'>,
): WriterContext => ({
  ...response,
  newId,
  nowSeconds: Math.floor(context.clock.now() / 1_000),
  storeItem: (id, json) => context.items.store(owner, id, json),
})
