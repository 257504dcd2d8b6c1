import { concatBytes, decodeUtf8Lenient } from '../../lib/bytes.ts'
import { removeMember } from '../../lib/json-edit.ts'
import { createExpiringMap } from '../../lib/maps.ts'
import { once } from '../../lib/promises.ts'
import { createSseParser, splitEvents } from '../../lib/sse.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import { addUsageRequest, isUsageEvent } from '../../protocols/formats/openai-chat/chat-usage-request.ts'
import { REJECTS_USAGE_REQUEST_PATTERN } from '../../protocols/providers/rejects-usage-request.ts'
import type { Clock } from '../../types.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Codec, CodecRequest } from './codec.ts'
import type { FailedResponse } from './response.ts'

/** Requests usage for passed-through Chat Completions streams, and remembers the targets that reject this. */
export interface UsageRequests {
  /**
   * Adds the usage request to a codec, and hides the usage event from clients that haven't requested it. If the target rejects the usage request, it
   * is called again without one. For a day after that, the codec is returned unchanged.
   */
  requestUsage(request: CodecRequest, target: RouteTarget, codec: Codec): Codec
  /** Removes stream options from the body of a request without `stream`. */
  removeOptions(body: string, endpoint: Pick<Endpoint, 'streamOnlyField'>): string
}

export function createUsageRequests(clock: Clock): UsageRequests {
  const rejections = createExpiringMap<true>({ clock, ttlMs: RETENTION_MS, maxSize: MAX_TARGETS })

  return {
    removeOptions: (body, { streamOnlyField = '' }) => removeMember(body, streamOnlyField),
    requestUsage({ call }, target, codec) {
      const { body } = codec.request
      if (typeof body !== 'string' || REJECTS_USAGE_REQUEST_PATTERN.test(target.provider)) return codec
      const key = getTargetKey(target)
      if (rejections.get(key)) return codec
      return {
        ...codec,
        request: { ...codec.request, body: addUsageRequest(body, call.body) },
        async followUp(received) {
          if (received.kind !== 'failure' || !isRejection(received)) return undefined
          const { findUnknownFields } = await loadRejectedOptions()
          if (findUnknownFields(received, USAGE_FIELDS).length === 0) return undefined
          rejections.set(key, true)
          return codec
        },
        relay: hideUsage(codec.relay),
      }
    },
  }
}

/** Relays a stream without its usage event. Its closure lives as long as the stream, so it must not capture the rest of the codec. */
const hideUsage =
  (relay: Codec['relay']): Codec['relay'] =>
  (stream, committed, options) =>
    relay(stream, committed, { ...options, filterEvents: removeUsage })

const USAGE_FIELDS = ['stream_options', 'stream_options.include_usage']
const MAX_TARGETS = 1_000
const RETENTION_MS = 24 * 60 * 60_000

const getTargetKey = ({ connection, model }: RouteTarget) => `${connection.id} ${model}`

const isRejection = ({ head }: FailedResponse) => head?.status === 400 || head?.status === 422

/** Lazy-loaded, because few targets reject options. */
const loadRejectedOptions = once(() => import('./rejected-options.ts'))

/** Removes the event that only reports the usage, which has already been counted. */
function removeUsage(events: Uint8Array): Uint8Array {
  if (!mayContainUsage(events)) return events
  const allEvents = splitEvents(events)
  const contentEvents = allEvents.filter((event) => !isUsageOnly(event))
  return contentEvents.length === allEvents.length ? events : concatBytes(contentEvents)
}

/** Returns whether the bytes contain `"usage":{`, with any whitespace. All other events of such a stream contain `"usage":null`. */
function mayContainUsage(bytes: Uint8Array): boolean {
  for (let index = bytes.indexOf(LETTER_G); index !== -1; index = bytes.indexOf(LETTER_G, index + 1)) {
    if (bytes[index + 1] !== E || bytes[index + 2] !== QUOTE || bytes[index - 1] !== A || bytes[index - 2] !== S)
      continue
    let position = index + 3
    while (BLANK_CODES.has(bytes[position] ?? 0) || bytes[position] === COLON) position++
    if (bytes[position] === OPEN_BRACE) return true
  }
  return false
}

const getCharCode = (character: string) => character.charCodeAt(0)
const A = getCharCode('a')
const S = getCharCode('s')
const LETTER_G = getCharCode('g')
const E = getCharCode('e')
const QUOTE = getCharCode('"')
const COLON = getCharCode(':')
const OPEN_BRACE = getCharCode('{')
const BLANK_CODES: ReadonlySet<number> = new Set([...' \t\r\n'].map(getCharCode))

function isUsageOnly(bytes: Uint8Array): boolean {
  let hasUsage = false
  const parser = createSseParser((event) => {
    hasUsage = isUsageEvent(event)
  })
  parser.push(decodeUtf8Lenient(bytes))
  parser.end()
  return hasUsage
}
