import { gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { type Answer, type Choice, type Finish, settleFinish } from '../canonical/answer.ts'
import { defined } from '../canonical/defined.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { textIn } from '../canonical/text-in.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import type { ReadContext } from '../translator.ts'
import { createAnswerReader } from './stream-parse.ts'
import { serviceTierOf } from './usage.ts'

/** A provider's whole answer. It is read as a stream of one chunk, so that both say the same. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  const parts: AssistantPart[] = []
  const choices: { content: AssistantPart[]; finish: Finish | undefined }[] = []
  let usage: TokenUsage | undefined

  function choiceAt(index: number) {
    while (choices.length <= index) choices.push({ content: [], finish: undefined })
    return choices[index] ?? { content: [], finish: undefined }
  }

  function take(event: ReaderEvent) {
    if (event.type === 'part-start') {
      const part = { ...event.part }
      parts[event.key] = part
      choiceAt(event.candidate).content.push(part)
    } else if (event.type === 'finish') choiceAt(event.candidate).finish ??= event.finish
    else if (event.type === 'usage') usage = event.usage
    else if (event.type === 'error') throw failed(event.error)
    else if ('key' in event) complete(parts[event.key], event)
  }

  const reader = createAnswerReader(context, take)
  reader.observe(body)
  reader.end()
  if (Array.isArray(body.candidates) && body.candidates.length > 0) choiceAt(0)
  if (choices.length === 0)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an answer without candidates.' })
  return defined<Answer>({
    id: textIn(body.responseId),
    model: textIn(body.modelVersion),
    choices: choices.map(settled),
    usage,
    serviceTier: serviceTierOf(body.usageMetadata),
  })
}

function complete(part: AssistantPart | undefined, event: ReaderEvent & { key: number }) {
  if (!part) return
  if (event.type === 'part-delta') {
    if (part.type === 'tool-call') part.arguments += event.text
    else if (part.type === 'text' || part.type === 'reasoning') part.text += event.text
    if (part.type === 'text' && event.logprobs) part.logprobs = [...(part.logprobs ?? []), ...event.logprobs]
  } else if (event.type === 'part-state' && (part.type === 'text' || part.type === 'reasoning'))
    part.state = event.state
  else if (event.type === 'part-citation' && part.type === 'text')
    part.citations = [...(part.citations ?? []), event.citation]
}

function settled({ content, finish }: { content: AssistantPart[]; finish: Finish | undefined }): Choice {
  return {
    content,
    finish: settleFinish(
      finish,
      content.some(({ type }) => type === 'tool-call'),
    ),
  }
}

const failed = ({ message, status, code }: { message: string; status: number; code?: string }) =>
  gatewayError('UPSTREAM_FAILED', { message, status, ...(code !== undefined && { data: { code } }) })
