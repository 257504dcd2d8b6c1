import { gatewayError } from '../errors.ts'
import { summaryIn } from '../formats/canonical/compaction.ts'
import { exactObject, notTooDeep } from '../formats/canonical/exact-json.ts'
import { createReasoningMemory } from '../formats/canonical/reasoning-memory.ts'
import { restoreAnswer, restoreStream } from '../formats/canonical/restore.ts'
import { isHosted } from '../formats/canonical/tools.ts'
import { createResponseWarnings, type ResponseWarnings } from '../formats/canonical/warnings.ts'
import { answersOf } from '../formats/format.ts'
import { type OperationName, operations } from '../formats/operations.ts'
import { gatherStream } from '../formats/translate-stream.ts'
import type { ClientTranslator, TargetContext, UpstreamTranslator } from '../formats/translator.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { tryParseShallow } from '../lib/json.ts'
import { entryOf } from '../lib/maps.ts'
import { newId } from '../lib/new-id.ts'
import { targetName } from '../providers/target.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { OptionName } from '../traits.ts'
import type { Clock } from '../types.ts'
import { translatedHeaders } from '../upstream/headers.ts'
import { answerOf, outputOf, seemsFiltered } from './canonical-answer.ts'
import type { AskedRequest, Codec, Translation } from './codec.ts'
import { carryRequest, isCompactionOurs } from './compaction.ts'
import { statusFor } from './failure.ts'
import { wantsArray } from './model-call.ts'
import { limitingOutput } from './output-limit.ts'
import { createRefusedOptions, isBadRequest, type RefusableOption } from './refused-options.ts'
import { relayTranslated } from './relay-translated.ts'
import { forEvents, forWhole } from './reshaped.ts'
import type { FailedResponse, WholeResponse } from './response.ts'
import {
  loadEntryParams,
  type TranslatedRequest,
  type TranslationMemory,
  translateRequest,
  untranslatable,
  writeContextOf,
} from './translate-request.ts'

/** Makes the translation of one gateway, which remembers nothing yet. */
export function createTranslation(clock: Clock): Translation {
  const memory: TranslationMemory = {
    reasoning: createReasoningMemory(),
    refusedOptions: createRefusedOptions(clock),
    summaries: new WeakMap(),
  }
  return {
    async codecFor(request, target) {
      const codecFor = entryOf<CodecOf | undefined>(codecs, request.call.endpoint.operation.name)
      if (!codecFor) throw untranslatable(request, target)
      return codecFor(request, target, { memory })
    },
    isCompactionOurs,
    outputOf,
    answerOf,
    seemsFiltered,
    withOptions: async (request, target, codec) =>
      target.params
        ? (await loadEntryParams()).settingParams(request, target, codec)
        : limitingOutput(request, target, codec),
    forEvents,
    forWhole: (request, target, codec) => forWhole(request, target, { codec, memory }),
  }
}

interface CodecOptions {
  memory: TranslationMemory
  /** The options that the target has just refused. */
  leftOut?: readonly RefusableOption[]
  /** How often the attempt has left out refused options. */
  corrections?: number
}

/** How often one attempt leaves out refused options: some targets name only one at a time. */
const MAX_CORRECTIONS = 3

/** The codec of a request for an answer or a compaction. */
async function answerCodec(
  request: AskedRequest,
  routeTarget: RouteTarget,
  { memory, leftOut = [], corrections = 0 }: CodecOptions,
): Promise<Codec> {
  const { call, context, owner } = request
  const carried = await carryRequest(request, routeTarget, memory)
  const { client, upstream, format, asked, target, restoration, isBefore, shape, shapeStream } = carried
  const { origin, traits } = target
  const responseWarnings = createResponseWarnings()
  const hasHosted = asked.tools.some(isHosted)
  const read = { origin, traits, newId, responseWarnings, hasHosted }
  const describe = request.describe?.(routeTarget)
  const write = {
    ...writeContextOf(request, { request: asked, model: target.model, responseWarnings }),
    requestWarnings: target.warnings.list,
    ...(describe && { describe }),
  }
  const isArray = wantsArray(request)
  const remembered = { owner, turns: asked.turns, origin }

  const answerOf = ({ json, bytes, events }: WholeResponse) =>
    events
      ? gatherStream(events, { from: upstream, read, candidates: asked.options.candidates })
      : upstream.parseAnswer(exactObject(notTooDeep(decodeUtf8Lenient(bytes)), json), read)

  async function afterSummary(response: WholeResponse): Promise<Codec> {
    memory.summaries.set(call, summaryIn(answerOf(response)))
    return answerCodec(request, routeTarget, { memory, corrections })
  }

  async function withoutRefused(failed: FailedResponse): Promise<Codec | undefined> {
    if (corrections === MAX_CORRECTIONS) return undefined
    const { refusedOptions } = memory
    const found = refusedOptions.note(routeTarget, failed, sentOptions(carried))
    if (found.length > 0) {
      const options = { memory, leftOut: found, corrections: corrections + 1 }
      return answerCodec(request, routeTarget, options).catch(() => undefined) // a strict request loses nothing
    }
    if (isBadRequest(failed)) refusedOptions.forget(routeTarget, leftOut)
    return undefined
  }

  return {
    format,
    request: requestOf(request, carried, upstream.writeRequest(carried.request, target)),
    isPassThrough: false,
    isForClient: !isBefore,
    operation: operations.generate,
    answers: answersOf(format, operations.generate),
    warnings: warningsOf(target, responseWarnings),
    readWhole(response) {
      const restored = restoreAnswer(answerOf(response), restoration)
      memory.reasoning.keep(remembered, restored.choices[0]?.content ?? [])
      const answer = shape(restored)
      const written =
        call.endpoint.operation === operations.compact && client.writeCompaction
          ? client.writeCompaction(answer, write, call.body)
          : client.writeAnswer(answer, write)
      return encodeUtf8(JSON.stringify(written))
    },
    restored: (answer) => shape(restoreAnswer(answer, restoration)),
    async followUp(received) {
      if (received.kind === 'failure') return withoutRefused(received)
      return isBefore ? afterSummary(received) : undefined
    },
    readFailure: (failed) => translatedFailure(failed, { client, upstream, now: context.clock.now() }),
    streamType: isArray ? 'application/json' : 'text/event-stream',
    relay: (body, committed, terms) =>
      relayTranslated(body, committed, {
        translation: {
          from: upstream,
          framing: format.framing,
          to: client,
          read,
          write,
          restore: (emit) => restoreStream(restoration)(memory.reasoning.listen(remembered, shapeStream(emit))),
        },
        clock: context.clock,
        ...terms,
      }),
  }
}

/**
 * What was lost in translation; losses of a stream's answer come after its headers. It lives as long as the stream, so it refers to nothing
 * else of the request, whose conversation may be large.
 */
const warningsOf =
  ({ warnings }: TargetContext, responseWarnings: ResponseWarnings): Codec['warnings'] =>
  () => [...warnings.list(), ...responseWarnings.list()]

/** The codec that asks for the number of tokens of a request. */
async function countCodec(request: AskedRequest, routeTarget: RouteTarget, { memory }: CodecOptions): Promise<Codec> {
  const { context } = request
  const carried = await translateRequest(request, routeTarget, {
    memory,
    parse: (client, ...given) => (client.counter?.parseRequest ?? client.parseRequest)(...given),
  })
  const { client, upstream, format, target } = carried
  const { counter } = upstream
  const clientCounter = client.counter
  if (!counter || !clientCounter) throw untranslatable(request, routeTarget)

  const { operation } = request.call.endpoint
  return {
    format,
    operation,
    answers: answersOf(format, operation),
    request: requestOf(request, carried, counter.writeRequest(carried.request, target)),
    isPassThrough: false,
    isForClient: true,
    warnings: target.warnings.list,
    readWhole({ json }) {
      const tokens = counter.parseCount(json)
      if (tokens === undefined) throw noCount(routeTarget)
      return encodeUtf8(JSON.stringify(clientCounter.writeCount(tokens)))
    },
    readFailure: (failed) => translatedFailure(failed, { client, upstream, now: context.clock.now() }),
    streamType: 'application/json',
    relay: () => {
      throw noCount(routeTarget)
    },
  }
}

type CodecOf = (request: AskedRequest, target: RouteTarget, options: CodecOptions) => Promise<Codec>

/** How each operation gets to targets of other formats; one without a codec does not. */
const codecs: Readonly<Record<OperationName, CodecOf | undefined>> = {
  generate: answerCodec,
  compact: answerCodec,
  'count-tokens': countCodec,
  complete: undefined,
}

const noCount = (target: RouteTarget) =>
  gatewayError('UPSTREAM_INVALID', { message: `${targetName(target)} answered without a count of tokens.` })

const requestOf = (
  { exchange }: AskedRequest,
  { format }: TranslatedRequest,
  { path, headers, body }: ReturnType<UpstreamTranslator['writeRequest']>,
): Codec['request'] => ({
  path,
  query: '',
  headers: { ...translatedHeaders(exchange, format.defaultHeaders), ...headers },
  body: JSON.stringify(body),
})

/** The options of a request that may be left out, by their paths in the provider's request. */
function sentOptions({ request, upstream }: TranslatedRequest): Map<string, RefusableOption> {
  const names = (Object.keys(request.options) as OptionName[]).filter((name) => !NEEDED.has(name)) // the options have no other keys
  const sent = names.map((name): [string, RefusableOption] => [upstream.fieldNames?.[name] ?? name, name])
  return new Map(request.stream ? [...sent, ['stream_options', 'streamUsage']] : sent)
}

/** Without these the answer would be another one, or longer than the client has room for. */
const NEEDED: ReadonlySet<OptionName> = new Set(['candidates', 'maxOutputTokens', 'modalities', 'moderation', 'speech'])

/** The failure with the provider's error in the client's format; unchanged when the provider sent no body. */
function translatedFailure(
  failed: FailedResponse,
  { client, upstream, now }: { client: ClientTranslator; upstream: UpstreamTranslator; now: number },
): FailedResponse {
  const { failure, head } = failed
  if (!head || !failure.body) return failed
  const text = decodeUtf8Lenient(failure.body)
  const sent = head.status < 300 ? failure.status : statusFor(head.status) // an error in a 200 stands for another status
  const body = tryParseShallow(text) ?? text
  const error = upstream.parseError({ status: sent, body, header: (name) => head.header(name), now })
  const written = client.writeError(error)
  const { upstreamStatus = sent } = failure
  return {
    ...failed,
    failure: {
      ...failure,
      status: written.status,
      upstreamStatus,
      headers: written.headers,
      body: encodeUtf8(JSON.stringify(written.body)),
    },
  }
}
