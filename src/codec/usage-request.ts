import type { UsageRequest } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { createExpiringMap } from '../lib/maps.ts'
import { once } from '../lib/promises.ts'
import { createSseParser, splitEvents } from '../lib/sse.ts'
import { REFUSE_USAGE_QUESTION } from '../providers/usage-question.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Clock } from '../types.ts'
import type { AskedRequest, Codec } from './codec.ts'
import type { FailedResponse } from './response.ts'

/** The question for the usage of streams that are passed through, with what one gateway remembers of who refuses it. */
export interface UsageQuestions {
  /**
   * The codec with the question in the request, whose answer is kept from the client, who has not asked. The same where the target refuses it;
   * one that does so now is asked again without it, and with it after a day.
   */
  asking(request: AskedRequest, target: RouteTarget, codec: Codec): Codec
}

export function createUsageQuestions(clock: Clock): UsageQuestions {
  const refusing = createExpiringMap<true>({ clock, ttlMs: KEPT_MS, max: MAX_TARGETS })

  return {
    asking({ call }, target, codec) {
      const { usageRequest: question } = call.endpoint
      const { body } = codec.request
      if (!question || typeof body !== 'string' || REFUSE_USAGE_QUESTION.test(target.provider)) return codec
      const key = keyOf(target)
      if (refusing.get(key)) return codec
      return {
        ...codec,
        request: { ...codec.request, body: question.ask(body, call.body) },
        async followUp(received) {
          if (received.kind !== 'failure' || !isRefusal(received)) return undefined
          const { refusedBy } = await loadRefusedOptions()
          if (refusedBy(received, FIELDS).length === 0) return undefined
          refusing.set(key, true)
          return codec
        },
        relay: keepingAnswer(codec.relay, question),
      }
    },
  }
}

/** Relays without the answer to the question. It lives as long as the stream, so it refers to nothing else of the codec. */
const keepingAnswer = (relay: Codec['relay'], question: UsageRequest): Codec['relay'] => {
  const keep = (events: Uint8Array) => withoutAnswer(events, question)
  return (stream, committed, terms) => relay(stream, committed, { ...terms, keep })
}

const FIELDS = ['stream_options', 'stream_options.include_usage']
const MAX_TARGETS = 1_000
const KEPT_MS = 24 * 60 * 60_000

const keyOf = ({ connection, model }: RouteTarget) => `${connection.id} ${model}`

const isRefusal = ({ head }: FailedResponse) => head?.status === 400 || head?.status === 422

/** Few targets refuse anything. */
const loadRefusedOptions = once(() => import('./refused-options.ts'))

/** Whole events without the one that only reports the usage. It is counted all the same. */
function withoutAnswer(events: Uint8Array, question: UsageRequest): Uint8Array {
  if (!mayReport(events)) return events
  const split = splitEvents(events)
  const kept = split.filter((event) => !isAnswer(event, question))
  return kept.length === split.length ? events : concatBytes(kept)
}

/** Is there `"usage":{` in the bytes, with whatever blanks? A provider that was asked sends `"usage":null` in all other events. */
function mayReport(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(G); at !== -1; at = bytes.indexOf(G, at + 1)) {
    if (bytes[at + 1] !== E || bytes[at + 2] !== QUOTE || bytes[at - 1] !== A || bytes[at - 2] !== S) continue
    let next = at + 3
    while (BLANKS.has(bytes[next] ?? 0) || bytes[next] === COLON) next++
    if (bytes[next] === OPEN) return true
  }
  return false
}

const codeOf = (character: string) => character.charCodeAt(0)
const A = codeOf('a')
const S = codeOf('s')
const G = codeOf('g')
const E = codeOf('e')
const QUOTE = codeOf('"')
const COLON = codeOf(':')
const OPEN = codeOf('{')
const BLANKS: ReadonlySet<number> = new Set([...' \t\r\n'].map(codeOf))

function isAnswer(bytes: Uint8Array, question: UsageRequest): boolean {
  let found = false
  const parser = createSseParser((event) => {
    found = question.isAnswer(event)
  })
  parser.push(decodeUtf8Lenient(bytes))
  parser.end()
  return found
}
