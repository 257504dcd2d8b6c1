import type { Format } from '../formats/format.ts'
import type { ByteStream } from '../lib/exchange.ts'
import type { RouteTarget } from '../routing/group.ts'
import { requestHeaders } from '../upstream/headers.ts'
import type { Ask } from '../upstream/request.ts'
import type { FailedAttempt, WholeAnswer } from './attempt.ts'
import type { Committed } from './commit.ts'
import { asJsonArray } from './json-array.ts'
import type { SpokenRequest } from './model-request.ts'
import { type RelayedStream, relayStream, type StreamEnd } from './relay.ts'

/** How a client's request reaches one target, and how the answer comes back: byte for byte, or translated. */
export interface Passage {
  /** The target's format, by which its streams are judged and its errors read. */
  format: Format
  ask: Ask
  /** Does the client get the provider's bytes, and its headers? */
  isVerbatim: boolean
  /** What is lost on the way there, such as `dropped:seed`. */
  warnings(): readonly string[]
  /** The answer as the client reads it. Throws `UPSTREAM_INVALID` when it cannot be read. */
  whole(answer: WholeAnswer): Uint8Array
  /** A failure with the provider's own error as the client reads it. */
  failed(attempt: FailedAttempt): FailedAttempt
  streamType: 'text/event-stream' | 'application/json'
  stream(body: ByteStream, committed: Committed, onEnd: (end: StreamEnd) => void): RelayedStream
}

/** The way to a target. Throws `INVALID_REQUEST` when the target's format cannot say what the client asks. */
export async function passageTo(request: SpokenRequest, target: RouteTarget): Promise<Passage> {
  if (target.format === request.format.name && !SEALED.test(request.call.text)) return verbatim(request, target)
  const { translated } = await import('./translation.ts')
  return translated(request, target)
}

/** Google streams one JSON array to who does not ask for events. */
export const wantsArray = ({ call, exchange }: SpokenRequest): boolean =>
  call.endpoint.streams === 'always' && !/[?&]alt=sse(&|$)/.test(exchange.query)

/** What the gateway itself has put into an earlier answer: how sealed state begins, plain and in base64 (formats/canonical/state.ts). */
const SEALED = /signalbox-1:|c2lnbmFsYm94LTE6/

function verbatim(request: SpokenRequest, target: RouteTarget): Passage {
  const { exchange, call, format } = request
  const isArray = wantsArray(request)
  return {
    format,
    ask: {
      path: call.endpoint.upstreamPath(target.model),
      query: upstreamQuery(exchange.query),
      headers: requestHeaders(exchange, format.defaultHeaders),
      body: call.bodyFor(target.model),
    },
    isVerbatim: true,
    warnings: () => [],
    whole: ({ bytes }) => bytes,
    failed: (attempt) => attempt,
    streamType: isArray ? 'application/json' : 'text/event-stream',
    stream(body, committed, onEnd) {
      const relayed = relayStream(body, committed, { format, onEnd })
      return isArray ? asJsonArray(relayed) : relayed
    },
  }
}

/** Of a client's query only what has a meaning to providers goes on. */
const upstreamQuery = (query: string) => (/[?&]beta=true(&|$)/.test(query) ? '?beta=true' : '')
