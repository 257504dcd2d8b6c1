import { gatewayError } from '../../errors.ts'
import { assertNever } from '../../lib/assert-never.ts'
import { estimateTokens } from '../estimate-tokens.ts'
import type { Answer } from './answer.ts'
import type { AssistantPart, CompactionPart, UserPart } from './parts.ts'
import type { CanonicalRequest, CompactionMode, RequestOptions } from './request.ts'
import type { Origin } from './state.ts'
import type { StreamEvent } from './stream.ts'
import type { AssistantTurn, ToolTurn, Turn, UserTurn } from './turns.ts'
import { defined } from './values.ts'
import type { Warnings } from './warnings.ts'

/*
 * Compaction for targets that have none: the model is asked for a summary of the conversation, and the summary, with the messages of the
 * user, takes the place of the conversation.
 */

/** Must a request of `tokens` be compacted before it is answered? The default threshold is 80 % of the context window. */
export function mustCompact(compact: CompactionMode | undefined, tokens: number, window: number | undefined): boolean {
  if (compact === undefined || compact === 'now') return false
  const { above = window === undefined ? Number.POSITIVE_INFINITY : window * DEFAULT_SHARE } = compact
  return tokens > above
}

const DEFAULT_SHARE = 0.8

/** How many tokens (estimated) of the user's messages are kept beside a summary; fewer if the threshold is low. */
export const keptTokens = (compact: CompactionMode | undefined): number =>
  compact === undefined || compact === 'now'
    ? KEPT_TOKENS
    : Math.min(KEPT_TOKENS, (compact.above ?? KEPT_TOKENS * 2) / 2)

const KEPT_TOKENS = 64_000

/**
 * Keeps the last entries of a list that fit into `budget`, in estimated tokens. The last counted entry is always kept, and so are all entries
 * for which `counted` is false.
 */
export function keepLast<T extends object>(list: readonly T[], budget: number, counted: (one: T) => boolean): T[] {
  const last = list.findLast(counted)
  let left = budget
  return list
    .toReversed()
    .filter((one) => {
      if (!counted(one)) return true
      left -= estimateTokens(one)
      return left >= 0 || one === last
    })
    .toReversed()
}

/** The turns that replace a compacted conversation: its instructions, the last messages of its user, and the summary. */
export function compactedTurns(turns: readonly Turn[], summary: string, budget: number): Turn[] {
  const kept = turns.filter((turn) => turn.role === 'system' || (turn.role === 'user' && !isSummary(turn)))
  return [...keepLast(kept, budget, ({ role }) => role === 'user'), summaryTurn(summary)]
}

const summaryTurn = (summary: string): UserTurn => ({
  role: 'user',
  content: [{ type: 'text', text: `${INTRODUCTION}\n\n<summary>\n${summary.trim()}\n</summary>` }],
})

/** Earlier summaries are left out: the later one contains them. */
const isSummary = ({ content: [first] }: UserTurn) => first?.type === 'text' && first.text.startsWith(INTRODUCTION)

const INTRODUCTION =
  'The conversation before this point had become too long and was replaced by the summary below. My messages before it, as far as they are still here, are my own words; what you said and did, and what tools returned, is only in the summary. Go on from where it ends, without mentioning it.'

/** The request for a summary. It has no tools, and earlier tool calls are written as text, so that any target accepts it. */
export function summaryRequest({ turns, options, ...asked }: CanonicalRequest): CanonicalRequest {
  const { output: _, toolChoice: __, ...rest } = asked
  return {
    ...rest,
    turns: [...withoutTools(turns), { role: 'user', content: [{ type: 'text', text: PROMPT }] }],
    tools: [],
    options: defined<RequestOptions>({
      cacheKey: options.cacheKey,
      endUser: options.endUser,
      labels: options.labels,
      reasoning: options.reasoning,
      serviceTier: options.serviceTier,
    }),
  }
}

const PROMPT = `Stop here and write a summary of the whole conversation above. It will replace everything but the instructions and my own messages, so that a reader who has nothing else can go on with the work without asking again. Do not answer my last message, do not continue the work and do not call any tool; write only the summary, in the language of the conversation, under these headings, leaving out those that have nothing to say:

1. Task: what I want, with all requirements, limits and preferences, in my own words where the wording matters.
2. Done: what has been done and found, in order, with decisions and their reasons.
3. Facts: exact names, paths, ids, numbers, commands, code, quotations and results of tools that are still needed. Copy them; do not describe them.
4. Problems: errors that occurred, what was tried, what helped and what did not.
5. State: what is finished, what is under way, and what was happening last.
6. Next: what comes next, questions that are open, and whether my last message is answered.

If the conversation begins with a summary of an earlier part, take over from it what still matters. Be complete about what is needed and brief about everything else.`

function withoutTools(turns: readonly Turn[]): Turn[] {
  const names = new Map<string, string>()
  return turns.flatMap((turn): Turn[] => {
    if (turn.role === 'tool') return [resultsAsText(turn, names)]
    if (turn.role !== 'assistant') return [turn]
    const content = turn.content.flatMap((part) => callAsText(part, names))
    return content.length > 0 ? [{ ...turn, content } satisfies AssistantTurn] : []
  })
}

function callAsText(part: AssistantPart, names: Map<string, string>): AssistantPart[] {
  if (part.type === 'reasoning') return []
  if (part.type !== 'tool-call') return [part]
  names.set(part.id, part.name)
  return [{ type: 'text', text: `[Called the tool ${part.name} with: ${part.arguments || '{}'}]` }]
}

function resultsAsText({ results }: ToolTurn, names: ReadonlyMap<string, string>): UserTurn {
  const content = results.flatMap(({ callId, name, isError, content }): UserPart[] => {
    const what = `${isError ? 'Error' : 'Result'} of the tool ${name ?? names.get(callId) ?? callId}`
    const [first, ...more] = content
    if (first?.type === 'text') return [{ ...first, text: `[${what}] ${first.text}` }, ...more]
    return [{ type: 'text', text: `[${what}]` }, ...content]
  })
  return { role: 'user', content }
}

/** Makes the request that goes on after a compaction: its conversation is replaced by the summary. */
export const continuedRequest = (request: CanonicalRequest, summary: string): CanonicalRequest => ({
  ...request,
  turns: compactedTurns(request.turns, summary, keptTokens(request.compact)),
})

/** The text of an answer to `summaryRequest`. Throws `UPSTREAM_INVALID` when there is none. */
export function summaryIn({ choices }: Answer): string {
  const text = (choices[0]?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
  if (text.trim() === '') throw gatewayError('UPSTREAM_INVALID', { message: NO_SUMMARY })
  return text
}

const NO_SUMMARY = 'The model wrote no summary of the conversation.'

/** Converts the answer to `summaryRequest` to a compaction alone. Throws `UPSTREAM_INVALID` when it has no text. */
export const asCompaction = (answer: Answer): Answer => ({
  ...answer,
  choices: [{ content: [{ type: 'compaction', text: summaryIn(answer) }], finish: { reason: 'stop' } }],
})

/** `asCompaction` for a stream; a stream without text ends with an error. */
export function asCompactionStream(emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const texts = new Set<number>()
  let isStarted = false
  let hasText = false

  function add(text: string) {
    if (!isStarted) emit({ type: 'part-start', key: 0, candidate: 0, part: { type: 'compaction', text: '' } })
    isStarted = true
    hasText ||= text.trim() !== ''
    emit({ type: 'part-delta', key: 0, text })
  }

  function end(event: StreamEvent & { type: 'end' }) {
    if (!hasText) {
      const { usage } = event
      const error = { kind: 'server', status: 502, code: 'UPSTREAM_INVALID', message: NO_SUMMARY } as const
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
        return end(event)
      case 'part-start':
        if (event.part.type === 'text' && event.candidate === 0) texts.add(event.key)
        return
      case 'part-delta':
        if (texts.has(event.key) && event.text !== '') add(event.text)
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

/** Puts the compaction before the content of an answer. */
export const afterCompaction = (answer: Answer, summary: string): Answer => ({
  ...answer,
  choices: answer.choices.map((choice) => ({ ...choice, content: [compactionOf(summary), ...choice.content] })),
})

/** `afterCompaction` for a stream. */
export function afterCompactionStream(
  summary: string,
  emit: (event: StreamEvent) => void,
): (event: StreamEvent) => void {
  return (event) => {
    emit('key' in event ? { ...event, key: event.key + 1 } : event)
    if (event.type !== 'start') return
    emit({ type: 'part-start', key: 0, candidate: 0, part: compactionOf(summary) })
    emit({ type: 'part-end', key: 0 })
  }
}

const compactionOf = (text: string): CompactionPart => ({ type: 'compaction', text })

/** Refuses a compaction that another vendor has encrypted: without it, the conversation would be lost. */
export function refuseForeignCompaction(
  turns: readonly Turn[],
  { origin, warnings }: { origin: Origin; warnings: Warnings },
) {
  if (origin.format === 'openai-responses') return
  for (const turn of turns) {
    const foreign = turn.role === 'assistant' && turn.content.find(({ type }) => type === 'compaction')
    if (foreign) warnings.refuse(warnings.pathOf(foreign, 'compaction'), FOREIGN)
  }
}

const FOREIGN =
  'was compacted and encrypted by another provider, and only its own models can read it. Send the items that it stands for, or send the request to that provider.'
