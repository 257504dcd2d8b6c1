import { assertNever } from '../../../../lib/assert-never.ts'
import type { JsonObject } from '../../../../lib/json.ts'
import { parseArguments } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart } from '../../canonical/canonical-parts.ts'
import {
  type CanonicalResponse,
  type Choice,
  type Finish,
  warnAboutFinish,
} from '../../canonical/canonical-response.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { WriterContext } from '../../translator.ts'
import { writeGrounding } from '../gemini-citations.ts'
import { writeFinishReason, writeLogprobs, writeUsage } from '../gemini-fields.ts'
import { writeMedia } from '../gemini-media.ts'
import { writeSignature } from '../gemini-reasoning.ts'
import type { WireCandidate, WirePart, WireResponse } from '../gemini-wire.ts'

/** Writes a complete response for a client. */
export function writeResponse({ choices, usage }: CanonicalResponse, context: WriterContext): WireResponse {
  return omitUndefined<WireResponse>({
    candidates: choices.map((choice, index) => writeChoice(choice, index, context)),
    usageMetadata: usage && writeUsage(usage),
    modelVersion: context.model,
    responseId: context.newId(),
  })
}

function writeChoice({ content, finish }: Choice, index: number, context: WriterContext): WireCandidate {
  const parts: WirePart[] = []
  const tokens = content.flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))
  const texts = content.flatMap((part) => {
    const index = parts.length
    parts.push(...writePart(part, context))
    return part.type === 'text' ? [{ text: part.text, citations: part.citations ?? [], partIndex: index }] : []
  })
  const queries = content.flatMap((part) => (part.type === 'server-tool' ? [part.query] : []))
  const hasRefusal = content.some(({ type }) => type === 'refusal')
  return omitUndefined<WireCandidate>({
    content: { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] }, // without content, clients wouldn't see a turn
    ...writeFinish(finish, hasRefusal, context),
    index,
    groundingMetadata: writeGrounding(texts, queries),
    logprobsResult: tokens.length > 0 ? writeLogprobs(tokens) : undefined,
  })
}

/** Writes how a response finished. A refusal becomes a finish reason, because the format has no part for it. */
export function writeFinish(finish: Finish, hasRefusal: boolean, { request, responseWarnings }: WriterContext) {
  const { explanation, ...finishFields } = finish
  warnAboutFinish(finishFields, request, responseWarnings)
  const finishReason = writeFinishReason(
    hasRefusal && finishFields.reason === 'stop' ? 'content-filter' : finishFields.reason,
  )
  return { finishReason, finishMessage: explanation }
}

/** Writes a part of a response. State from any vendor is sealed and sent on the part itself. */
export function writePart(part: AssistantPart, { request, responseWarnings }: WriterContext): WirePart[] {
  const signature = 'state' in part && part.state ? { thoughtSignature: writeSignature(part.state) } : {}
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ text: part.text, ...signature }]
    case 'reasoning': {
      const text = hidesReasoning(request.options.reasoning) ? '' : part.text
      return text !== '' || part.state ? [{ text, thought: true, ...signature }] : []
    }
    case 'tool-call': {
      const args = part.isFreeForm ? { input: part.arguments } : parseArguments(part.arguments)
      return [{ functionCall: { id: part.id, name: part.name, args }, ...signature }]
    }
    case 'server-tool':
      if (part.results.length > 0) responseWarnings.recordDrop('web_search_results') // the sources already contain its queries
      return []
    case 'compaction': // only Responses clients request a compaction
      return []
    case 'image':
    case 'audio': {
      const media = writeMedia(part)
      if (!media) responseWarnings.recordDrop(part.type)
      return media ? [{ ...media, ...signature }] : []
    }
    default:
      return assertNever(part)
  }
}

/** Returns whether the client asked to hide reasoning. Such clients still get the signatures. */
export const hidesReasoning = (reasoning: { show?: string } | undefined): boolean => reasoning?.show === 'none'

/** Writes a token count for a client. */
export const writeCount = (tokens: number): JsonObject => ({ totalTokens: tokens })
