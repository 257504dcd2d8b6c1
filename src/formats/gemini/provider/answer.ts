import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { type Answer, type Choice, type Finish, settleFinish, type TokenUsage } from '../../canonical/answer.ts'
import { createGatheredParts } from '../../canonical/answer-events.ts'
import type { AssistantPart } from '../../canonical/parts.ts'
import type { ReaderEvent } from '../../canonical/stream.ts'
import { defined, textIn, tokenCount } from '../../canonical/values.ts'
import type { ReadContext } from '../../translator.ts'
import { serviceTierOf } from '../fields.ts'
import { createAnswerReader } from './stream.ts'

/** Parses a provider's whole answer. It is read as a stream of one chunk, so that both give the same result. */
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

/** Parses the count in an answer to `countTokens`; `undefined` when there is none. */
export function parseCount(answer: unknown): number | undefined {
  return isObject(answer) && typeof answer.totalTokens === 'number' ? tokenCount(answer.totalTokens) : undefined
}
