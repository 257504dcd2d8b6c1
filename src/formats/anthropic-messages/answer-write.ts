import type { JsonObject } from '../../lib/json.ts'
import type { Answer } from '../canonical/answer.ts'
import { argumentsOf } from '../canonical/arguments.ts'
import { detachStates } from '../canonical/detach.ts'
import type { Losses } from '../canonical/losses.ts'
import type { AssistantPart, ServerToolPart, ToolCallPart } from '../canonical/parts.ts'
import type { WriteContext } from '../translator.ts'
import { wireCitation } from './citations.ts'
import { wireStop } from './stop-reason.ts'
import { wireThought } from './thoughts.ts'
import { wireUsage } from './usage-write.ts'
import type { WireBlock, WireMessage, WireSearch, WireSearchResults, WireToolUse } from './wire.ts'

/** A whole answer as a client of this format reads it. */
export function writeAnswer(answer: Answer, context: WriteContext): JsonObject {
  return wireMessage(answer, context)
}

function wireMessage({ choices, usage, serviceTier }: Answer, context: WriteContext): WireMessage {
  const { content, finish } = choices[0] ?? { content: [], finish: { reason: 'stop' } }
  const terms = { isHidden: hidesThoughts(context), losses: context.losses }
  const hasRefusal = content.some((part) => part.type === 'refusal')
  return {
    ...emptyMessage(context),
    content: detachStates(content).flatMap((part) => writeBlocks(part, terms)),
    ...wireStop(finish, hasRefusal),
    usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }, serviceTier),
  }
}

/** What is known of an answer before its first word. */
export function emptyMessage({ newId, model }: WriteContext) {
  return {
    id: `msg_${newId()}`,
    type: 'message' as const,
    role: 'assistant' as const,
    model,
    content: [],
    container: null,
    diagnostics: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
  }
}

/** `thinking.display: "omitted"`. */
export const hidesThoughts = ({ request }: WriteContext): boolean => request.options.reasoning?.show === 'none'

/** What blocks depend on besides: does the client want no thoughts? */
export interface BlockTerms {
  isHidden: boolean
  losses: Losses
}

/** A part as blocks. There is none for a sound or an image that the model made: of a sound its words remain. */
export function writeBlocks(part: AssistantPart, { isHidden, losses }: BlockTerms): WireBlock[] {
  switch (part.type) {
    case 'text': {
      const citations = part.citations?.flatMap((citation) => wireCitation(citation, losses) ?? []) ?? []
      if (part.text === '' && citations.length === 0) return []
      return [{ type: 'text', text: part.text, ...(citations.length > 0 && { citations }) }]
    }
    case 'refusal':
      return writeText(part.text)
    case 'reasoning':
      return [wireThought(part, isHidden) ?? []].flat()
    case 'tool-call':
      return [{ ...toolUse(part), input: part.isFreeForm ? { input: part.arguments } : argumentsOf(part.arguments) }]
    case 'server-tool':
      return writeSearch(part)
    case 'audio':
      losses.dropped('audio')
      return writeText(part.transcript ?? '')
    case 'image':
      losses.dropped('image')
      return []
    case 'compaction': // only clients of Responses ask for one
      return []
  }
}

const writeText = (text: string): WireBlock[] => (text === '' ? [] : [{ type: 'text', text }])

/** A call as it starts: its input comes later. */
export const toolUse = ({ id, name }: ToolCallPart): WireToolUse => ({
  type: 'tool_use',
  id,
  name,
  input: {},
  caller: { type: 'direct' },
})

/** A search that the provider made is two blocks: what it looked for, and what it found. */
function writeSearch({ id, query, error, results }: ServerToolPart): [WireSearch, WireSearchResults] {
  const caller = { type: 'direct' } as const
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query }, caller },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: error === undefined ? results.map(wireFound) : failure(error),
      caller,
    },
  ]
}

const wireFound = ({ url, title }: ServerToolPart['results'][number]) => ({
  type: 'web_search_result' as const,
  url,
  title,
  encrypted_content: '',
  page_age: null,
})

/** In one of the words that clients know. */
const failure = (error: string) => ({
  type: 'web_search_tool_result_error' as const,
  error_code: SEARCH_ERRORS.find((code) => code === error) ?? ('unavailable' as const),
})

const SEARCH_ERRORS = [
  ...(['invalid_tool_input', 'unavailable', 'max_uses_exceeded'] as const),
  ...(['too_many_requests', 'query_too_long', 'request_too_large'] as const),
] as const
