import { assertNever } from '../../../lib/assert-never.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { type Answer, type Choice, type Finish, warnOfLostEnd } from '../../canonical/answer.ts'
import { argumentsOf } from '../../canonical/arguments.ts'
import type { AssistantPart } from '../../canonical/parts.ts'
import { defined } from '../../canonical/values.ts'
import type { WriteContext } from '../../translator.ts'
import { writeGrounding } from '../citations.ts'
import { wireFinish, wireLogprobs, wireUsage } from '../fields.ts'
import { writeMedia } from '../media.ts'
import { wireSignature } from '../reasoning.ts'
import type { WireAnswer, WireCandidate, WirePart } from '../wire.ts'

/** Writes a whole answer for a client. */
export function writeAnswer({ choices, usage }: Answer, context: WriteContext): WireAnswer {
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
    content: { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] }, // without content clients would see no turn
    ...writeFinish(finish, hasRefused, context),
    index,
    groundingMetadata: writeGrounding(texts, queries),
    logprobsResult: tokens.length > 0 ? wireLogprobs(tokens) : undefined,
  })
}

/** A refusal is written as a finish reason, since the format has no part for it. */
export function writeFinish(finish: Finish, hasRefused: boolean, { request, responseWarnings }: WriteContext) {
  const { explanation, ...end } = finish
  warnOfLostEnd(end, request, responseWarnings)
  const finishReason = wireFinish(hasRefused && end.reason === 'stop' ? 'content-filter' : end.reason)
  return { finishReason, finishMessage: explanation }
}

/** Writes a part of an answer; state of any vendor is sealed and sent on the part itself. */
export function writePart(part: AssistantPart, { request, responseWarnings }: WriteContext): WirePart[] {
  const signature = 'state' in part && part.state ? { thoughtSignature: wireSignature(part.state) } : {}
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ text: part.text, ...signature }]
    case 'reasoning': {
      const text = hidesReasoning(request.options.reasoning) ? '' : part.text
      return text !== '' || part.state ? [{ text, thought: true, ...signature }] : []
    }
    case 'tool-call': {
      const args = part.isFreeForm ? { input: part.arguments } : argumentsOf(part.arguments)
      return [{ functionCall: { id: part.id, name: part.name, args }, ...signature }]
    }
    case 'server-tool':
      if (part.results.length > 0) responseWarnings.noteDropped('web_search_results') // its queries are among the sources
      return []
    case 'compaction': // only clients of Responses ask for a compaction
      return []
    case 'image':
    case 'audio': {
      const media = writeMedia(part)
      if (!media) responseWarnings.noteDropped(part.type)
      return media ? [{ ...media, ...signature }] : []
    }
    default:
      return assertNever(part)
  }
}

/** Does the client want no reasoning? It still gets the signatures. */
export const hidesReasoning = (reasoning: { show?: string } | undefined): boolean => reasoning?.show === 'none'

/** Writes a count of tokens for a client. */
export const writeCount = (tokens: number): JsonObject => ({ totalTokens: tokens })
