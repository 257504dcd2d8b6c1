import { gatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { getSettledValue, once } from '../../lib/promises.ts'
import { loadErrorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import { loadResponseReader, type SharedFormat } from '../../protocols/formats/format.ts'
import { getSharedFormat } from '../../protocols/formats/formats.ts'
import { hasAdapters } from '../../protocols/kinds/endpoint.ts'
import type { ClientFormat, CustomModel } from '../../types.ts'
import type { RouteTarget } from '../routing/group.ts'
import { requireKind } from '../routing/model-kinds.ts'
import { copyRequestHeaders } from '../upstream/upstream-headers.ts'
import type { Codec, CodecRequest } from './codec.ts'
import { type ModelCall, replaceModelName, shouldSendArray } from './model-call.ts'

/**
 * Returns the codec for a request and a target: pass-through if the target supports the client's format, otherwise a translation. Rejects with
 * `INVALID_REQUEST` or `FORMAT_MISMATCH` if the target's format doesn't support the request.
 */
export async function encodeRequest(request: CodecRequest, routeTarget: RouteTarget): Promise<Codec> {
  const { call, context, format } = request
  const { endpoint } = call
  const customModelsPromise = request.table.loadCustomModels()
  requireKind(
    request,
    routeTarget,
    getSettledValue(customModelsPromise) ?? (await customModelsPromise.catch(() => NO_MODELS)),
  )
  if (hasAdapters(endpoint)) {
    const [{ createKindCodec }] = await Promise.all([loadKindCodec(), context.estimates.load()])
    return createKindCodec(request, routeTarget)
  }
  const sharedFormat = getSharedFormat(format.name)
  const target = useClientFormat(format.name, routeTarget)
  if (!sharedFormat || needsTranslation(request, target))
    return (await context.loadTranslation()).createCodec(request, target)
  if (requestsCompaction(call)) {
    const translation = await context.loadTranslation()
    if (await translation.needsCompaction(request, target)) return translation.createCodec(request, target)
  }
  const foreignId = endpoint.getReferences?.(call).find((id) => context.items.belongsToOtherOwner(request.owner, id))
  if (foreignId !== undefined) throw createUnknownItemError(foreignId)
  const passedRequest = await passThrough(request, target, sharedFormat)
  if (sharedFormat.name === 'anthropic-messages' && call.text.includes('x-anthropic-billing-header:'))
    (await loadBilling()).removeBillingFromBody(passedRequest.request, target)
  const shouldLimitOutput = request.outputLimit !== undefined && endpoint.limitsOutput
  const codec =
    shouldLimitOutput || target.params
      ? await (await context.loadTranslation()).applyOptions(request, target, passedRequest)
      : passedRequest
  if (!context.includesStreamUsage || !call.stream || !endpoint.mayRequestUsage?.(call.body)) return codec
  return (await context.loadUsageRequests()).requestUsage(request, target, codec)
}

/** Lazy-loaded, because only Claude Code sends a billing line. */
const loadBilling = once(() => import('../../protocols/formats/claude-code.ts'))

/** Lazy-loaded, because most requests are for chat. */
const loadKindCodec = once(async () => {
  const [codec] = await Promise.all([import('./kind-codec.ts'), loadErrorReaders()])
  return codec
})

/** Returns the target with the client's own format, if the target also supports that format. */
export const useClientFormat = (format: ClientFormat, target: RouteTarget): RouteTarget => {
  const matchingFormat = target.format === format ? undefined : target.alsoSpeaks?.find((other) => other === format)
  return matchingFormat ? { ...target, format: matchingFormat } : target
}

function needsTranslation({ call, format, context, owner }: CodecRequest, target: RouteTarget): boolean {
  const { operation, getReferences } = call.endpoint
  if (target.format !== format.name || ENCRYPTED_STATE_PATTERN.test(call.text)) return true
  if (operation.missing?.isTranslated && context.missingEndpoints.isMissing(target, operation)) return true
  // the provider doesn't know items that this gateway wrote
  return getReferences?.(call).some((id) => context.items.has(owner, id)) ?? false
}

/**
 * The prefix of sealed state in the gateway's earlier responses, plain and in base64 (protocols/formats/canonical/canonical-state.ts). Only translation can
 * read it.
 */
const ENCRYPTED_STATE_PATTERN = /signalbox-1:|c2lnbmFsYm94LTE6/

/** Returns whether the conversation must be compacted before the response. For most requests, a text search rules this out without parsing. */
const requestsCompaction = ({ endpoint: { getCompactionMode }, text, body }: ModelCall): boolean =>
  getCompactionMode !== undefined && text.includes('"compaction') && getCompactionMode(body) !== undefined

/** Creates the same error as for an unknown item, so it doesn't reveal whether someone else has the item. */
const createUnknownItemError = (id: string) =>
  gatewayError('INVALID_REQUEST', {
    message: `"input": this gateway does not store the item "${id}" or no longer has it. Send the items themselves, as clients do with "store": false.`,
    data: { param: 'input' },
  })

const getItemIds = (items: unknown): string[] =>
  Array.isArray(items) ? items.flatMap((item) => (isObject(item) && typeof item.id === 'string' ? [item.id] : [])) : []

/** Passes the client's body through, replacing only the model name and removing stray stream options. */
async function passThrough(request: CodecRequest, target: RouteTarget, format: SharedFormat): Promise<Codec> {
  const { exchange, call, context, owner } = request
  const { endpoint } = call
  const isArray = shouldSendArray(request)
  const hasItems = endpoint.getReferences !== undefined && call.body.store !== false
  const reader = await loadResponseReader(format, endpoint.operation)
  const namedBody = endpoint.replaceModel?.(call.text, target.model) ?? replaceModelName(target.model, call)
  return {
    format,
    operation: endpoint.operation,
    reader,
    request: {
      path: endpoint.upstreamPath(target.model),
      query: BETA_QUERY_PATTERN.test(exchange.query) ? '?beta=true' : '',
      headers: copyRequestHeaders(exchange, format.defaultHeaders),
      body: hasStrayOptions(call) ? (await context.loadUsageRequests()).removeOptions(namedBody, endpoint) : namedBody,
    },
    isPassThrough: true,
    isForClient: true,
    warnings: noWarnings,
    readWhole(response) {
      if (hasItems) context.items.recordOwner(owner, getItemIds(response.json.output))
      return response.bytes
    },
    readFailure: keepFailure,
    streamType: isArray ? 'application/json' : 'text/event-stream',
    relay(body, committed, options) {
      const onEnd: typeof options.onEnd = (end) => {
        if (hasItems) context.items.recordOwner(owner, getItemIds(committed.state.items))
        options.onEnd(end)
      }
      return options.passThrough(body, committed, { format, reader, isArray, ...options, onEnd })
    },
  }
}

/** Returns whether a request without `stream` contains `stream_options`, which OpenAI rejects. Some clients leave it in. */
const hasStrayOptions = ({ stream, body, endpoint: { streamOnlyField } }: ModelCall): boolean =>
  !stream && streamOnlyField !== undefined && (body[streamOnlyField] ?? null) !== null

/** Matches the only query parameter of clients that providers support. */
const BETA_QUERY_PATTERN = /[?&]beta=true(&|$)/

/** Used if custom models can't be read, so that the request continues without the model's kind. */
const NO_MODELS: readonly CustomModel[] = []
const NO_WARNINGS: readonly string[] = []
const noWarnings: Codec['warnings'] = () => NO_WARNINGS
const keepFailure: Codec['readFailure'] = (failed) => failed
