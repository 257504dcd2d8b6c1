import { gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { type Answer, type Choice, type Finish, settleFinish } from '../canonical/answer.ts'
import { defined } from '../canonical/defined.ts'
import { createGatheredParts } from '../canonical/gathered-parts.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { textIn } from '../canonical/text-in.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import type { ReadContext } from '../translator.ts'
import { createAnswerReader } from './stream-parse.ts'
import { serviceTierOf } from './usage.ts'

/** A provider's whole answer. It is read as a stream of one chunk, so that both say the same. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  const parts = createGatheredParts()
  const finishes: (Finish | undefined)[] = []
  let usage: TokenUsage | undefined

  function take(event: ReaderEvent) {
    if (event.type === 'finish') finishes[event.candidate] ??= event.finish
    else if (event.type === 'usage') usage = event.usage
    else if (event.type === 'error') throw failed(event.error)
    else if ('key' in event) parts.take(event)
  }

  const reader = createAnswerReader(context, take)
  reader.observe(body)
  reader.end()
  const contents = parts.contents()
  const isGiven = Array.isArray(body.candidates) && body.candidates.length > 0
  const length = Math.max(contents.length, finishes.length, isGiven ? 1 : 0)
  if (length === 0)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an answer without candidates.' })
  return defined<Answer>({
    id: textIn(body.responseId),
    model: textIn(body.modelVersion),
    choices: Array.from({ length }, (_, index) => settled(contents[index] ?? [], finishes[index])),
    usage,
    serviceTier: serviceTierOf(body.usageMetadata),
  })
}

function settled(content: AssistantPart[], finish: Finish | undefined): Choice {
  const hasCalls = content.some(({ type }) => type === 'tool-call')
  return { content, finish: settleFinish(finish, hasCalls) }
}

const failed = ({ message, status, code }: { message: string; status: number; code?: string }) =>
  gatewayError('UPSTREAM_FAILED', { message, status, ...(code !== undefined && { data: { code } }) })
