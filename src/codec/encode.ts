import { answersOf, type SharedFormat } from '../formats/format.ts'
import { sharedFormatOf } from '../formats/formats.ts'
import { hasForms } from '../kinds/endpoint.ts'
import { withoutMember } from '../lib/json-scan.ts'
import { once } from '../lib/promises.ts'
import type { RouteTarget } from '../routing/group.ts'
import { requireKind } from '../routing/kinds.ts'
import type { ClientFormat } from '../types.ts'
import { requestHeaders } from '../upstream/headers.ts'
import type { AskedRequest, Codec } from './codec.ts'
import { asJsonArray } from './json-array.ts'
import { bodyFor, type ModelCall, wantsArray } from './model-call.ts'
import { relayStream } from './relay.ts'

/**
 * The codec of a request for a target: pass-through where the target speaks the client's format, otherwise through the canonical form.
 * Rejects with `INVALID_REQUEST` or `FORMAT_MISMATCH` when the target's format cannot carry the request.
 */
export async function encode(request: AskedRequest, routeTarget: RouteTarget): Promise<Codec> {
  const { call, context, format } = request
  const { endpoint } = call
  await requireKind(request, routeTarget)
  if (hasForms(endpoint)) return (await loadKindCodec()).kindCodec(request, routeTarget)
  const shared = sharedFormatOf(format.name)
  const target = speaking(format.name, routeTarget)
  if (!shared || needsTranslation(request, target)) return (await context.translation()).codecFor(request, target)
  if (asksToCompact(call)) {
    const translation = await context.translation()
    if (await translation.isCompactionOurs(request, target)) return translation.codecFor(request, target)
  }
  const plain = passThrough(request, target, shared)
  const isLimited = request.outputLimit !== undefined && endpoint.outputLimit
  const codec =
    isLimited || target.params ? await (await context.translation()).withOptions(request, target, plain) : plain
  if (!context.asksForUsage || !call.stream || !endpoint.usageRequest?.isOpen(call.body)) return codec
  return (await context.usageQuestions()).asking(request, target, codec)
}

/**
 * The same for an answer of at most so many tokens, unless the request asks for less. A warning names the limit, such as
 * `clamped:max_tokens=2048`; it is no loss of a translation, so
 * that strict requests are limited as well.
 */
export async function encodeLimited(request: AskedRequest, target: RouteTarget, outputLimit: number): Promise<Codec> {
  const { outputLimit: place } = request.call.endpoint
  const own = target.params?.maxTokens ?? place?.of(request.call.body) ?? Number.POSITIVE_INFINITY
  if (!place || own <= outputLimit) return encode(request, target)
  const codec = await encode({ ...request, outputLimit }, target)
  const { warnings } = codec
  return { ...codec, warnings: () => [...warnings(), `clamped:${place.name}=${outputLimit}`] }
}

/** Few requests are of another kind than chat. */
const loadKindCodec = once(() => import('./kind-codec.ts'))

/** The target in the client's own format, if it speaks that too. */
const speaking = (format: ClientFormat, target: RouteTarget): RouteTarget => {
  const spoken = target.format === format ? undefined : target.alsoSpeaks?.find((other) => other === format)
  return spoken ? { ...target, format: spoken } : target
}

function needsTranslation({ call, format, context, owner }: AskedRequest, target: RouteTarget): boolean {
  const { operation, referencesIn } = call.endpoint
  if (target.format !== format.name || SEALED.test(call.text)) return true
  if (operation.missing?.isTranslated && context.missingEndpoints.isMissing(target, operation)) return true
  // Does it refer to an item that this gateway wrote, so that the provider does not know it?
  return referencesIn?.(call).some((id) => context.items.has(owner, id)) ?? false
}

/**
 * The mark of sealed state that the gateway put into an earlier answer, plain and in base64 (formats/canonical/state.ts). Only translation
 * opens it.
 */
const SEALED = /signalbox-1:|c2lnbmFsYm94LTE6/

/** Is the conversation to be compacted before the answer? Most requests do not ask for that, which their text shows at once. */
const asksToCompact = ({ endpoint: { compactionIn }, text, body }: ModelCall): boolean =>
  compactionIn !== undefined && text.includes('"compaction') && compactionIn(body) !== undefined

/** The request with a body that is the client's but for the model's name. */
function passThrough(request: AskedRequest, target: RouteTarget, format: SharedFormat): Codec {
  const { exchange, call } = request
  const { endpoint } = call
  const isArray = wantsArray(request)
  const answers = answersOf(format, endpoint.operation)
  return {
    format,
    operation: endpoint.operation,
    answers,
    request: {
      path: endpoint.upstreamPath(target.model),
      query: BETA.test(exchange.query) ? '?beta=true' : '',
      headers: requestHeaders(exchange, format.defaultHeaders),
      body: endpoint.bodyFor?.(call.text, target.model) ?? withoutStreamMember(bodyFor(target.model, call), call),
    },
    isPassThrough: true,
    isForClient: true,
    warnings: noWarnings,
    readWhole: bytesOf,
    readFailure: unchanged,
    streamType: isArray ? 'application/json' : 'text/event-stream',
    relay(body, committed, terms) {
      const relayed = relayStream(body, committed, { format, answers, ...terms })
      return isArray ? asJsonArray(relayed) : relayed
    },
  }
}

/** Clients leave `stream_options` in requests for whole answers, which OpenAI refuses. */
function withoutStreamMember(body: string, { stream, body: given, endpoint: { streamMember } }: ModelCall): string {
  if (stream || streamMember === undefined || (given[streamMember] ?? null) === null) return body
  return withoutMember(body, streamMember)
}

/** The only parameter of a client's query that means something to providers. */
const BETA = /[?&]beta=true(&|$)/

const NONE: readonly string[] = []
const noWarnings: Codec['warnings'] = () => NONE
const bytesOf: Codec['readWhole'] = ({ bytes }) => bytes
const unchanged: Codec['readFailure'] = (failed) => failed
