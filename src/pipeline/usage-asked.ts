import { baseTraits } from '../formats/canonical/base-traits.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { createFinder } from '../lib/find-bytes.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { createSseParser } from '../lib/sse.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Catalog } from '../types.ts'
import { withMembers } from '../upstream/body-members.ts'
import type { SpokenRequest } from './model-request.ts'
import type { Passage } from './passage.ts'

/** A passage of Chat Completions whose stream tells its tokens to the gateway, though the client has not asked for them, and not to the client. */
export function askingUsage(passage: Passage, { call, context }: SpokenRequest, target: RouteTarget): Passage {
  if (!tellsUsage(target, context.catalog)) return passage
  const { ask, stream } = passage
  return {
    ...passage,
    ask: { ...ask, body: withUsage(String(ask.body), call.body.stream_options) },
    stream: (body, committed, terms) => stream(body, committed, { ...terms, shown: withoutUsage }),
  }
}

/** The body with `stream_options.include_usage`; every character but those of that member stays. */
function withUsage(body: string, options: unknown): string {
  const stream_options = { ...(isObject(options) && options), include_usage: true }
  const added = { stream_options }
  if (options === undefined) return body.replace('{', `${JSON.stringify(added).slice(0, -1)},`) // there is a model behind it
  return withMembers(body, { without: Object.keys(added), added })
}

/** Whole events of a stream without a chunk that tells nothing but tokens, as it comes but once, at the end. */
function withoutUsage(events: Uint8Array): Uint8Array {
  if (!hasEmptyList(events) || !hasNoChoices(events)) return events
  const all = decodeUtf8Lenient(events).split(BEHIND_EVENT)
  const kept = all.filter((event) => !tellsOnlyUsage(event))
  return kept.length === all.length ? events : encodeUtf8(kept.join(''))
}

/** Nearly all chunks are passed over by the first of them, at the speed of the platform. */
const hasEmptyList = createFinder(['[]'])
const hasNoChoices = createFinder(['"choices":[]', '"choices": []'])

const BEHIND_EVENT = /(?<=\n\r?\n|\r\r)/

function tellsOnlyUsage(event: string): boolean {
  let isUsage = false
  const parser = createSseParser(({ data }) => {
    const chunk = tryParseJson(data)
    isUsage =
      isObject(chunk) &&
      isObject(chunk.usage) &&
      Array.isArray(chunk.choices) &&
      chunk.choices.length === 0 &&
      !chunk.error
  })
  parser.push(event)
  parser.end()
  return isUsage
}

/** Does the target know the wish? Some tell their tokens unasked, and refuse what they do not know. */
function tellsUsage(target: RouteTarget, catalog: Catalog): boolean {
  let tells = known.get(target)
  if (tells === undefined) {
    tells = traitsFor(baseTraits, target, catalog).streamUsage
    known.set(target, tells)
  }
  return tells
}

const known = new WeakMap<RouteTarget, boolean>()
