import { gatewayError } from '../../errors.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { tryParseShallow } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { newId } from '../../lib/new-id.ts'
import { getSummary } from '../../protocols/formats/canonical/canonical-compaction.ts'
import { isHostedTool } from '../../protocols/formats/canonical/canonical-tools.ts'
import { createResponseWarnings, type ResponseWarnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { checkDepth, parseExactObject } from '../../protocols/formats/canonical/exact-json.ts'
import { createReasoningMemory } from '../../protocols/formats/canonical/reasoning-memory.ts'
import { restoreResponse, restoreStream } from '../../protocols/formats/canonical/restore.ts'
import { loadResponseReader } from '../../protocols/formats/format.ts'
import { type OperationName, operations } from '../../protocols/formats/model-operations.ts'
import { assembleStream } from '../../protocols/formats/translate-stream.ts'
import type {
  ClientTranslator,
  TargetContext,
  UpstreamRequest,
  UpstreamTranslator,
} from '../../protocols/formats/translator.ts'
import { getTargetName } from '../../protocols/providers/target.ts'
import type { OptionName } from '../../traits.ts'
import type { Clock } from '../../types.ts'
import type { RouteTarget } from '../routing/group.ts'
import { copyNeutralHeaders } from '../upstream/upstream-headers.ts'
import { toSendableStatus } from './call-failure.ts'
import type { Codec, CodecRequest, Translation } from './codec.ts'
import { needsCompaction, translateExchange } from './compaction-codec.ts'
import { shouldSendArray } from './model-call.ts'
import { limitOutput } from './output-limit.ts'
import { createRejectedOptions, type DroppableOption, isBadRequest } from './rejected-options.ts'
import { relayTranslatedStream } from './relay-translated.ts'
import type { BufferedResponse, FailedResponse } from './response.ts'
import { adaptToEvents, adaptToWhole } from './stream-adapters.ts'
import {
  createUntranslatableError,
  createWriterContext,
  loadEntryParams,
  prepareForTarget,
  setUpTranslation,
  type TranslatedRequest,
  type TranslationMemory,
} from './translate-request.ts'
import { getOutputFormat, isFiltered, readCanonicalResponse } from './translated-response.ts'

/** Creates a gateway's translation, with empty memory. */
export function createTranslation(clock: Clock): Translation {
  const memory: TranslationMemory = {
    reasoning: createReasoningMemory(),
    rejectedOptions: createRejectedOptions(clock),
    summaries: new WeakMap(),
  }
  return {
    async createCodec(request, target) {
      const getCodec = getEntry<CodecFactory | undefined>(codecFactories, request.call.endpoint.operation.name)
      if (!getCodec) throw createUntranslatableError(request, target)
      return getCodec(request, target, { memory })
    },
    needsCompaction,
    getOutputFormat,
    readCanonicalResponse,
    isFiltered,
    applyOptions: async (request, target, codec) =>
      target.params
        ? (await loadEntryParams()).writeEntryParams(request, target, codec)
        : limitOutput(request, target, codec),
    adaptToEvents,
    adaptToWhole: (request, target, codec) => adaptToWhole(request, target, { codec, memory }),
  }
}

interface CodecOptions {
  memory: TranslationMemory
  /** The options that the target has just rejected. */
  droppedNames?: readonly DroppableOption[]
  /** How many times the attempt has dropped rejected options so far. */
  correctionCount?: number
}

/** How many times an attempt may drop rejected options, because some targets name only one option at a time. */
const MAX_CORRECTIONS = 3

/** Creates the codec for a response request or a compaction request. */
async function createResponseCodec(
  request: CodecRequest,
  routeTarget: RouteTarget,
  { memory, droppedNames = [], correctionCount = 0 }: CodecOptions,
): Promise<Codec> {
  const { call, context, owner } = request
  const translated = await translateExchange(request, routeTarget, memory)
  const { client, upstream, format, canonicalRequest, target, restoration } = translated
  const { isPreliminary, convertResponse, convertStream } = translated
  const { origin, traits } = target
  const responseWarnings = createResponseWarnings()
  const hasHostedTools = canonicalRequest.tools.some(isHostedTool)
  const readerContext = { origin, traits, newId, responseWarnings, hasHostedTools }
  const describe = request.describe?.(routeTarget)
  const writerContext = {
    ...createWriterContext(request, { request: canonicalRequest, model: target.model, responseWarnings }),
    requestWarnings: target.warnings.list,
    ...(describe && { describe }),
  }
  const wireRequest = upstream.writeRequest(translated.request, target)
  const isArray = shouldSendArray(request)
  const conversation = { owner, turns: canonicalRequest.turns, origin }

  const parseResponse = ({ json, bytes, events }: BufferedResponse) =>
    events
      ? assembleStream(events, { from: upstream, readerContext, candidates: canonicalRequest.options.candidates })
      : upstream.parseResponse(parseExactObject(checkDepth(decodeUtf8Lenient(bytes)), json), readerContext)

  async function continueAfterSummary(response: BufferedResponse): Promise<Codec> {
    memory.summaries.set(call, getSummary(parseResponse(response)))
    return createResponseCodec(request, routeTarget, { memory, correctionCount })
  }

  async function dropRejectedOptions(failed: FailedResponse): Promise<Codec | undefined> {
    if (correctionCount === MAX_CORRECTIONS) return undefined
    const { rejectedOptions } = memory
    const rejectedNames = rejectedOptions.record(routeTarget, failed, listSentOptions(translated))
    if (rejectedNames.length > 0) {
      const options = { memory, droppedNames: rejectedNames, correctionCount: correctionCount + 1 }
      return createResponseCodec(request, routeTarget, options).catch(() => undefined) // rejects if a strict request would lose options
    }
    if (isBadRequest(failed)) rejectedOptions.forget(routeTarget, droppedNames)
    return undefined
  }

  return {
    format,
    request: createRequest(request, translated, isPreliminary ? wireRequest : editBody(wireRequest, request)),
    isPassThrough: false,
    isForClient: !isPreliminary,
    operation: operations.generate,
    reader: await loadResponseReader(format, operations.generate),
    warnings: createWarningsList(target, responseWarnings),
    readWhole(response) {
      const restoredResponse = restoreResponse(parseResponse(response), restoration)
      memory.reasoning.store(conversation, restoredResponse.choices[0]?.content ?? [])
      const clientResponse = convertResponse(restoredResponse)
      const wireRequest =
        call.endpoint.operation === operations.compact && client.writeCompaction
          ? client.writeCompaction(clientResponse, writerContext, call.body)
          : client.writeResponse(clientResponse, writerContext)
      return encodeUtf8(JSON.stringify(wireRequest))
    },
    restoreResponse: (response) => convertResponse(restoreResponse(response, restoration)),
    async followUp(received) {
      if (received.kind === 'failure') return dropRejectedOptions(received)
      return isPreliminary ? continueAfterSummary(received) : undefined
    },
    readFailure: (failed) => translateFailure(failed, { client, upstream, now: context.clock.now() }),
    streamType: isArray ? 'application/json' : 'text/event-stream',
    relay: (body, committed, options) =>
      relayTranslatedStream(body, committed, {
        translation: {
          from: upstream,
          framing: format.framing,
          to: client,
          readerContext,
          writerContext,
          restore: (emit) =>
            restoreStream(restoration)(memory.reasoning.storeFromStream(conversation, convertStream(emit))),
        },
        clock: context.clock,
        ...options,
      }),
  }
}

/**
 * Lists warnings about the translation. For a streamed response, some come after its headers. The function lives as long as the stream, so it must
 * not refer to the rest of the request, because its conversation may be large.
 */
const createWarningsList =
  ({ warnings }: TargetContext, responseWarnings: ResponseWarnings): Codec['warnings'] =>
  () => [...warnings.list(), ...responseWarnings.list()]

/** Creates the codec for a token-count request. */
async function createCountCodec(
  request: CodecRequest,
  routeTarget: RouteTarget,
  { memory }: CodecOptions,
): Promise<Codec> {
  const { context } = request
  const setup = await setUpTranslation(request, routeTarget)
  const { client, upstream, format } = setup
  const clientCounter = client.tokenCounter
  const { tokenCounter } = upstream
  const parseRequest = clientCounter?.parseRequest ?? client.parseRequest
  const parsed = parseRequest(setup.body, setup.parseContext)
  const translated = await prepareForTarget(parsed, setup, { request, target: routeTarget, memory })
  const { target } = translated
  if (!tokenCounter || !clientCounter) throw createUntranslatableError(request, routeTarget)

  const { operation } = request.call.endpoint
  return {
    format,
    operation,
    reader: await loadResponseReader(format, operation),
    request: createRequest(request, translated, tokenCounter.writeRequest(translated.request, target)),
    isPassThrough: false,
    isForClient: true,
    warnings: target.warnings.list,
    readWhole({ json }) {
      const tokens = tokenCounter.parseCount(json)
      if (tokens === undefined) throw createCountError(routeTarget)
      return encodeUtf8(JSON.stringify(clientCounter.writeCount(tokens)))
    },
    readFailure: (failed) => translateFailure(failed, { client, upstream, now: context.clock.now() }),
    streamType: 'application/json',
    relay: () => {
      throw createCountError(routeTarget)
    },
  }
}

const editBody = (request: UpstreamRequest, { editBody: editRequestBody }: CodecRequest): UpstreamRequest =>
  editRequestBody ? { ...request, body: editRequestBody(request.body) } : request

type CodecFactory = (request: CodecRequest, target: RouteTarget, options: CodecOptions) => Promise<Codec>

/** Each operation's codec for targets with other formats. An operation without one isn't translated. */
const codecFactories: Readonly<Record<OperationName, CodecFactory | undefined>> = {
  generate: createResponseCodec,
  compact: createResponseCodec,
  'count-tokens': createCountCodec,
  complete: undefined,
}

const createCountError = (target: RouteTarget) =>
  gatewayError('UPSTREAM_INVALID', { message: `${getTargetName(target)} returned no token count.` })

const createRequest = (
  { exchange }: CodecRequest,
  { format }: TranslatedRequest,
  { path, headers, body }: UpstreamRequest,
): Codec['request'] => ({
  path,
  query: '',
  headers: { ...copyNeutralHeaders(exchange, format.defaultHeaders), ...headers },
  body: JSON.stringify(body),
})

/** Returns a request's droppable options, by their paths in the provider's request. */
function listSentOptions({ request, upstream }: TranslatedRequest): Map<string, DroppableOption> {
  const names = (Object.keys(request.options) as OptionName[]).filter((name) => !REQUIRED_OPTIONS.has(name)) // `RequestOptions` has no other keys
  const sentOptions = names.map((name): [string, DroppableOption] => [upstream.fieldNames?.[name] ?? name, name])
  return new Map(request.stream ? [...sentOptions, ['stream_options', 'streamUsage']] : sentOptions)
}

/** Options that can't be dropped, because the response would be different, or longer than the client can handle. */
const REQUIRED_OPTIONS: ReadonlySet<OptionName> = new Set([
  'candidates',
  'maxOutputTokens',
  'modalities',
  'moderation',
  'speech',
])

/** Converts the provider's error to the client's format. Returns the failure unchanged if the provider sent no body. */
function translateFailure(
  failed: FailedResponse,
  { client, upstream, now: nowMs }: { client: ClientTranslator; upstream: UpstreamTranslator; now: number },
): FailedResponse {
  const { failure, head } = failed
  if (!head || !failure.body) return failed
  const text = decodeUtf8Lenient(failure.body)
  const status = head.status < 300 ? failure.status : toSendableStatus(head.status) // an error in a 200 response has its own status
  const body = tryParseShallow(text) ?? text
  const error = upstream.parseError({ status, body, header: (name) => head.header(name), nowMs })
  const wireError = client.writeError(error)
  const { upstreamStatus = status } = failure
  return {
    ...failed,
    failure: {
      ...failure,
      status: wireError.status,
      upstreamStatus,
      headers: wireError.headers,
      body: encodeUtf8(JSON.stringify(wireError.body)),
    },
  }
}
