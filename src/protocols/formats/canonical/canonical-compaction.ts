import { gatewayError } from '../../../errors.ts'
import { assertNever } from '../../../lib/assert-never.ts'
import { estimateTokens } from '../estimate-tokens.ts'
import type { AssistantPart, CompactionPart, UserPart } from './canonical-parts.ts'
import type { CanonicalRequest, CompactionMode, RequestOptions } from './canonical-request.ts'
import type { CanonicalResponse } from './canonical-response.ts'
import type { Origin } from './canonical-state.ts'
import type { StreamEvent } from './canonical-stream.ts'
import type { AssistantTurn, ToolTurn, Turn, UserTurn } from './canonical-turns.ts'
import { omitUndefined } from './canonical-values.ts'
import type { Warnings } from './canonical-warnings.ts'

/* Compaction for targets without it: the model writes a summary. The summary and the user's messages then replace the conversation. */

/** Returns whether a request of `tokens` tokens must be compacted first. The default threshold is 80% of the context window. */
export function shouldCompact(
  compact: CompactionMode | undefined,
  tokens: number,
  contextWindow: number | undefined,
): boolean {
  if (compact === undefined || compact === 'now') return false
  const {
    thresholdTokens = contextWindow === undefined ? Number.POSITIVE_INFINITY : contextWindow * DEFAULT_THRESHOLD_RATIO,
  } = compact
  return tokens > thresholdTokens
}

const DEFAULT_THRESHOLD_RATIO = 0.8

/** Returns how many estimated tokens of user messages to keep alongside a summary. A low threshold reduces the number. */
export const getRetentionBudget = (compact: CompactionMode | undefined): number =>
  compact === undefined || compact === 'now'
    ? MAX_RETAINED_TOKENS
    : Math.min(MAX_RETAINED_TOKENS, (compact.thresholdTokens ?? MAX_RETAINED_TOKENS * 2) / 2)

const MAX_RETAINED_TOKENS = 64_000

/** Keeps the last entries that fit within `budget` estimated tokens. Always keeps uncounted entries and the last counted entry. */
export function retainLast<T extends object>(
  items: readonly T[],
  budget: number,
  isCounted: (item: T) => boolean,
): T[] {
  const lastCounted = items.findLast(isCounted)
  let remaining = budget
  return items
    .toReversed()
    .filter((item) => {
      if (!isCounted(item)) return true
      remaining -= estimateTokens(item)
      return remaining >= 0 || item === lastCounted
    })
    .toReversed()
}

/** Replaces a conversation with its instructions, the last user messages, and the summary. */
export function compactTurns(turns: readonly Turn[], summary: string, budget: number): Turn[] {
  const retainedTurns = turns.filter((turn) => turn.role === 'system' || (turn.role === 'user' && !isSummary(turn)))
  return [...retainLast(retainedTurns, budget, ({ role }) => role === 'user'), createSummaryTurn(summary)]
}

const createSummaryTurn = (summary: string): UserTurn => ({
  role: 'user',
  content: [{ type: 'text', text: `${SUMMARY_INTRODUCTION}\n\n<summary>\n${summary.trim()}\n</summary>` }],
})

/** Returns whether the turn is an earlier summary, which the new one includes. */
const isSummary = ({ content: [firstPart] }: UserTurn) =>
  firstPart?.type === 'text' && firstPart.text.startsWith(SUMMARY_INTRODUCTION)

const SUMMARY_INTRODUCTION =
  'The conversation before this point had become too long and was replaced by the summary below. My messages before it, as far as they are still here, are my own words; what you said and did, and what tools returned, is only in the summary. Go on from where it ends, without mentioning it.'

/** Builds the request for a summary. It has no tools, and earlier tool calls become text, so any target accepts it. */
export function buildSummaryRequest({ turns, options, ...others }: CanonicalRequest): CanonicalRequest {
  const { output: _, toolChoice: __, ...rest } = others
  return {
    ...rest,
    turns: [...convertToolsToText(turns), { role: 'user', content: [{ type: 'text', text: SUMMARY_PROMPT }] }],
    tools: [],
    options: omitUndefined<RequestOptions>({
      cacheKey: options.cacheKey,
      endUser: options.endUser,
      labels: options.labels,
      reasoning: options.reasoning,
      serviceTier: options.serviceTier,
    }),
  }
}

const SUMMARY_PROMPT = `Stop here and write a summary of the whole conversation above. It will replace everything but the instructions and my own messages, so that a reader who has nothing else can go on with the work without asking again. Do not answer my last message, do not continue the work and do not call any tool; write only the summary, in the language of the conversation, under these headings, leaving out those that have nothing to say:

1. Task: what I want, with all requirements, limits and preferences, in my own words where the wording matters.
2. Done: what has been done and found, in order, with decisions and their reasons.
3. Facts: exact names, paths, ids, numbers, commands, code, quotations and results of tools that are still needed. Copy them; do not describe them.
4. Problems: errors that occurred, what was tried, what helped and what did not.
5. State: what is finished, what is under way, and what was happening last.
6. Next: what comes next, questions that are open, and whether my last message is answered.

If the conversation begins with a summary of an earlier part, take over from it what still matters. Be complete about what is needed and brief about everything else.`

function convertToolsToText(turns: readonly Turn[]): Turn[] {
  const toolNames = new Map<string, string>()
  return turns.flatMap((turn): Turn[] => {
    if (turn.role === 'tool') return [convertResults(turn, toolNames)]
    if (turn.role !== 'assistant') return [turn]
    const content = turn.content.flatMap((part) => convertCall(part, toolNames))
    return content.length > 0 ? [{ ...turn, content } satisfies AssistantTurn] : []
  })
}

function convertCall(part: AssistantPart, toolNames: Map<string, string>): AssistantPart[] {
  if (part.type === 'reasoning') return []
  if (part.type !== 'tool-call') return [part]
  toolNames.set(part.id, part.name)
  return [{ type: 'text', text: `[Called the tool ${part.name} with: ${part.arguments || '{}'}]` }]
}

function convertResults({ results }: ToolTurn, toolNames: ReadonlyMap<string, string>): UserTurn {
  const content = results.flatMap(({ callId, name, isError, content }): UserPart[] => {
    const heading = `${isError ? 'Error' : 'Result'} of the tool ${name ?? toolNames.get(callId) ?? callId}`
    const [first, ...rest] = content
    if (first?.type === 'text') return [{ ...first, text: `[${heading}] ${first.text}` }, ...rest]
    return [{ type: 'text', text: `[${heading}]` }, ...content]
  })
  return { role: 'user', content }
}

/** Builds the request that continues after a compaction, with the summary in place of the conversation. */
export const buildContinuationRequest = (request: CanonicalRequest, summary: string): CanonicalRequest => ({
  ...request,
  turns: compactTurns(request.turns, summary, getRetentionBudget(request.compact)),
})

/** Returns the text of the response to a summary request. Throws `UPSTREAM_INVALID` if there is none. */
export function getSummary({ choices }: CanonicalResponse): string {
  const text = (choices[0]?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
  if (text.trim() === '') throw gatewayError('UPSTREAM_INVALID', { message: NO_SUMMARY_MESSAGE })
  return text
}

const NO_SUMMARY_MESSAGE = 'The model wrote no summary of the conversation.'

/** Converts the response to a summary request to a compaction. Throws `UPSTREAM_INVALID` if it has no text. */
export const toCompaction = (response: CanonicalResponse): CanonicalResponse => ({
  ...response,
  choices: [{ content: [{ type: 'compaction', text: getSummary(response) }], finish: { reason: 'stop' } }],
})

/** Converts a summary stream to a compaction. A stream without text ends with an error. */
export function toCompactionStream(emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const textKeys = new Set<number>()
  let isStarted = false
  let hasText = false

  function addText(text: string) {
    if (!isStarted) emit({ type: 'part-start', key: 0, candidate: 0, part: { type: 'compaction', text: '' } })
    isStarted = true
    hasText ||= text.trim() !== ''
    emit({ type: 'part-delta', key: 0, text })
  }

  function endStream(event: StreamEvent & { type: 'end' }) {
    if (!hasText) {
      const { usage } = event
      const error = { kind: 'server', status: 502, code: 'UPSTREAM_INVALID', message: NO_SUMMARY_MESSAGE } as const
      return emit(usage ? { type: 'error', error, usage } : { type: 'error', error })
    }
    emit({ type: 'part-end', key: 0 })
    emit({ ...event, finishes: [{ reason: 'stop' }] })
  }

  return (event) => {
    switch (event.type) {
      case 'start':
      case 'error':
        return emit(event)
      case 'end':
        return endStream(event)
      case 'part-start':
        if (event.part.type === 'text' && event.candidate === 0) textKeys.add(event.key)
        return
      case 'part-delta':
        if (textKeys.has(event.key) && event.text !== '') addText(event.text)
        return
      case 'part-state':
      case 'part-citation':
      case 'part-end':
        return
      default:
        return assertNever(event)
    }
  }
}

/** Puts the compaction before a response's content. */
export const prependCompaction = (response: CanonicalResponse, summary: string): CanonicalResponse => ({
  ...response,
  choices: response.choices.map((choice) => ({
    ...choice,
    content: [createCompactionPart(summary), ...choice.content],
  })),
})

/** Puts the compaction before a stream's content. */
export function prependStreamCompaction(
  summary: string,
  emit: (event: StreamEvent) => void,
): (event: StreamEvent) => void {
  return (event) => {
    emit('key' in event ? { ...event, key: event.key + 1 } : event)
    if (event.type !== 'start') return
    emit({ type: 'part-start', key: 0, candidate: 0, part: createCompactionPart(summary) })
    emit({ type: 'part-end', key: 0 })
  }
}

const createCompactionPart = (text: string): CompactionPart => ({ type: 'compaction', text })

/** Rejects a compaction that another vendor encrypted, because the conversation would be lost without it. */
export function rejectForeignCompaction(
  turns: readonly Turn[],
  { origin, warnings }: { origin: Origin; warnings: Warnings },
) {
  if (origin.format === 'openai-responses') return
  for (const turn of turns) {
    const foreignPart = turn.role === 'assistant' && turn.content.find(({ type }) => type === 'compaction')
    if (foreignPart) warnings.reject(warnings.getPath(foreignPart, 'compaction'), FOREIGN_COMPACTION_MESSAGE)
  }
}

const FOREIGN_COMPACTION_MESSAGE =
  "was compacted and encrypted by another provider, so only that provider's models can read it. Send the original items, or send the request to that provider."
