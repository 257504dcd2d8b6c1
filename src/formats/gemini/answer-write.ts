import type { JsonObject } from '../../lib/json.ts'
import type { Answer, Choice, Finish } from '../canonical/answer.ts'
import { argumentsOf } from '../canonical/arguments.ts'
import { defined } from '../canonical/defined.ts'
import { loseEnd } from '../canonical/losses.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { WriteContext } from '../translator.ts'
import { wireFinish } from './finish-reason.ts'
import { writeGrounding } from './grounding-write.ts'
import { wireLogprobs } from './logprobs.ts'
import { writeMedia } from './media-write.ts'
import { wireSignature } from './signature.ts'
import { wireUsage } from './usage.ts'
import type { WireAnswer, WireCandidate, WirePart } from './wire.ts'

/** A whole answer as a client reads it. */
export function writeAnswer(answer: Answer, context: WriteContext): JsonObject {
  return generateContentResponse(answer, context)
}

function generateContentResponse({ choices, usage }: Answer, context: WriteContext): WireAnswer {
  return defined<WireAnswer>({
    candidates: choices.map((choice, index) => writeChoice(choice, index, context)),
    usageMetadata: usage && wireUsage(usage),
    modelVersion: context.model,
    responseId: context.newId(),
  })
}

function writeChoice({ content, finish }: Choice, index: number, context: WriteContext): WireCandidate {
  const parts: WirePart[] = []
  const tokens = content.flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))
  const texts = content.flatMap((part) => {
    const at = parts.length
    parts.push(...writePart(part, context))
    return part.type === 'text' ? [{ text: part.text, citations: part.citations ?? [], partIndex: at }] : []
  })
  const queries = content.flatMap((part) => (part.type === 'server-tool' ? [part.query] : []))
  const hasRefused = content.some(({ type }) => type === 'refusal')
  return defined<WireCandidate>({
    content: { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] }, // clients take no content for no turn
    ...writeFinish(finish, hasRefused, context),
    index,
    groundingMetadata: writeGrounding(texts, queries),
    logprobsResult: tokens.length > 0 ? wireLogprobs(tokens) : undefined,
  })
}

/** There is no other way to say that the model has refused. */
export function writeFinish(finish: Finish, hasRefused: boolean, { request, losses }: WriteContext) {
  const { explanation, ...end } = finish
  loseEnd(end, request, losses)
  const finishReason = wireFinish(hasRefused && end.reason === 'stop' ? 'content-filter' : end.reason)
  return { finishReason, finishMessage: explanation }
}

/** A part of an answer; state of any maker goes to the client sealed, on the part itself. */
export function writePart(part: AssistantPart, { request, losses }: WriteContext): WirePart[] {
  const signature = 'state' in part && part.state ? { thoughtSignature: wireSignature(part.state) } : {}
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ text: part.text, ...signature }]
    case 'reasoning': {
      const text = hidesThoughts(request.options.reasoning) ? '' : part.text
      return text !== '' || part.state ? [{ text, thought: true, ...signature }] : []
    }
    case 'tool-call': {
      const args = part.isFreeForm ? { input: part.arguments } : argumentsOf(part.arguments)
      return [{ functionCall: { id: part.id, name: part.name, args }, ...signature }]
    }
    case 'server-tool':
      if (part.results.length > 0) losses.dropped('web_search_results') // its queries are among the sources
      return []
    case 'compaction': // only clients of Responses ask for one
      return []
    case 'image':
    case 'audio': {
      const media = writeMedia(part)
      if (!media) losses.dropped(part.type)
      return media ? [{ ...media, ...signature }] : []
    }
  }
}

/** Has the client said that it wants no thoughts? Their signatures it gets all the same. */
export const hidesThoughts = (reasoning: { show?: string } | undefined): boolean => reasoning?.show === 'none'
