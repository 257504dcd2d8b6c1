import { gatewayError } from '../errors.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { Answer } from './canonical/answer.ts'
import { notTooDeep } from './canonical/deep-answer.ts'
import { createGatheredParts } from './canonical/gathered-parts.ts'
import { createSequence } from './canonical/sequence.ts'
import type { EndEvent, StartEvent, StreamEvent } from './canonical/stream.ts'
import type { ReadContext, UpstreamTranslator } from './translator.ts'

/** How the events of a provider are read. */
export interface GatherTerms {
  from: UpstreamTranslator
  read: ReadContext
  /** The number that the client has asked for; default 1. */
  candidates: number | undefined
}

/** The whole answer that a provider's stream makes up. Throws `UPSTREAM_INVALID` when it has no normal end, or cannot be read. */
export function gatherStream(events: readonly SseEvent[], { from, read, candidates = 1 }: GatherTerms): Answer {
  for (const { data } of events) notTooDeep(data)
  const told = from.answerIn?.(events)
  if (told) return from.parseAnswer(told, read)
  const parts = createGatheredParts()
  let start: StartEvent | undefined
  let end: EndEvent | undefined
  let message = 'The provider sent a stream that cannot be read.'

  function push(event: StreamEvent) {
    if (event.type === 'start') start = event
    else if (event.type === 'end') end = event
    else if (event.type === 'error')
      message = event.error.code?.startsWith('UPSTREAM_') ? event.error.message : message // the gateway's own words
    else parts.take(event)
  }

  const sequence = createSequence(push, candidates)
  const reader = from.createReader(read, sequence.take)
  for (const event of events) reader.observe(event)
  reader.end()
  sequence.end()
  if (!end) throw gatewayError('UPSTREAM_INVALID', { message })
  const contents = parts.contents()
  const { id, model } = start ?? {}
  return {
    ...(id && { id }),
    ...(model && { model }),
    choices: end.finishes.map((finish, index) => ({ content: contents[index] ?? [], finish })),
    ...(end.usage && { usage: end.usage }),
  }
}
