import { withoutMember } from '../lib/json-scan.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { WireFormat } from '../types.ts'
import { requestHeaders } from '../upstream/headers.ts'
import type { AskedRequest, Codec } from './codec.ts'
import { asJsonArray } from './json-array.ts'
import { bodyFor, wantsArray } from './model-call.ts'
import { relayStream } from './relay.ts'

/**
 * The codec of a request for a target: pass-through where the target speaks the client's format, otherwise through the canonical form.
 * Rejects with `INVALID_REQUEST` or `FORMAT_MISMATCH` when the target's format cannot carry the request.
 */
export async function encode(request: AskedRequest, routeTarget: RouteTarget): Promise<Codec> {
  const { call, format, context } = request
  const target = speaking(format.name, routeTarget)
  if (needsTranslation(request, target)) return (await context.translation()).codecFor(request, target)
  if (asksToCompact(request)) {
    const translation = await context.translation()
    if (await translation.isCompactionOurs(request, target)) return translation.codecFor(request, target)
  }
  const body =
    format.countBody && call.endpoint.operation.translation === 'count'
      ? await format.countBody(call.text, target.model)
      : withoutStreamMember(bodyFor(target.model, call), request)
  const codec = passThrough(request, target, body)
  const isOpen = context.asksForUsage && call.stream && format.usageRequest?.isOpen(call.body)
  return isOpen ? (await context.translation()).askingForUsage(request, target, codec) : codec
}

/** The target in the client's own format, if it speaks that too. */
const speaking = (format: WireFormat, target: RouteTarget): RouteTarget =>
  target.format !== format && target.alsoSpeaks?.includes(format) ? { ...target, format } : target

function needsTranslation(request: AskedRequest, target: RouteTarget): boolean {
  const { call, format, context, owner } = request
  if (target.format !== format.name || SEALED.test(call.text)) return true
  if (call.endpoint.operation.isCompaction && context.compactions.isLacking(target)) return true
  // Does it refer to an item that this gateway wrote, so that the provider does not know it?
  return format.referencesIn?.(call).some((id) => context.items.has(owner, id)) ?? false
}

/**
 * The mark of sealed state that the gateway put into an earlier answer, plain and in base64 (formats/canonical/state.ts). Only translation
 * opens it.
 */
const SEALED = /signalbox-1:|c2lnbmFsYm94LTE6/

/** Is the conversation to be compacted before the answer? Most requests do not ask for that, which their text shows at once. */
const asksToCompact = ({ call, format }: AskedRequest): boolean =>
  format.compactionIn !== undefined &&
  call.endpoint.operation.mayCompact &&
  call.text.includes('"compaction') &&
  format.compactionIn(call.body) !== undefined

/** The request with a body that is the client's but for the model's name. */
function passThrough(request: AskedRequest, target: RouteTarget, body: string): Codec {
  const { exchange, call, format } = request
  const isArray = wantsArray(request)
  return {
    format,
    request: {
      path: call.endpoint.upstreamPath(target.model),
      query: BETA.test(exchange.query) ? '?beta=true' : '',
      headers: requestHeaders(exchange, format.defaultHeaders),
      body,
    },
    isPassThrough: true,
    warnings: noWarnings,
    readWhole: bytesOf,
    readFailure: unchanged,
    streamType: isArray ? 'application/json' : 'text/event-stream',
    relay(body, committed, terms) {
      const relayed = relayStream(body, committed, { format, ...terms })
      return isArray ? asJsonArray(relayed) : relayed
    },
  }
}

/** Clients leave `stream_options` in requests for whole answers, which OpenAI refuses. */
function withoutStreamMember(body: string, { call, format: { streamMember } }: AskedRequest): string {
  if (call.stream || streamMember === undefined || (call.body[streamMember] ?? null) === null) return body
  return withoutMember(body, streamMember)
}

/** The only parameter of a client's query that means something to providers. */
const BETA = /[?&]beta=true(&|$)/

const NONE: readonly string[] = []
const noWarnings: Codec['warnings'] = () => NONE
const bytesOf: Codec['readWhole'] = ({ bytes }) => bytes
const unchanged: Codec['readFailure'] = (failed) => failed
