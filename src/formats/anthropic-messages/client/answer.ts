import { assertNever } from '../../../lib/assert-never.ts'
import type { Answer } from '../../canonical/answer.ts'
import { argumentsOf } from '../../canonical/arguments.ts'
import type { AssistantPart, ServerToolPart, ToolCallPart } from '../../canonical/parts.ts'
import { moveStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import type { ResponseWarnings } from '../../canonical/warnings.ts'
import type { WriteContext } from '../../translator.ts'
import { wireCitation } from '../citations.ts'
import { wireStop, wireUsage } from '../fields.ts'
import type { WireBlock, WireMessage, WireSearch, WireSearchResults, WireToolUse } from '../wire.ts'
import { wireReasoning } from './reasoning.ts'

/** Writes a whole answer for a client. */
export function writeAnswer({ choices, usage, serviceTier }: Answer, context: WriteContext): WireMessage {
  const { content, finish } = choices[0] ?? { content: [], finish: { reason: 'stop' } }
  const options = { isHidden: hidesReasoning(context), responseWarnings: context.responseWarnings }
  const hasRefusal = content.some((part) => part.type === 'refusal')
  return {
    ...emptyMessage(context),
    content: moveStateToReasoning(content).flatMap((part) => writeBlocks(part, options)),
    ...wireStop(finish, hasRefusal),
    usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }, serviceTier),
  }
}

/** The fields of an answer that are known before its content. */
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

/** Has the client set `thinking.display` to "omitted"? */
export const hidesReasoning = ({ request }: WriteContext): boolean => request.options.reasoning?.show === 'none'

/** `isHidden`: the client wants signatures without the text of reasoning. */
export interface BlockOptions {
  isHidden: boolean
  responseWarnings: ResponseWarnings
}

/** Writes a part as blocks. The format has no block for generated images, nor for generated audio, of which the transcript is written. */
export function writeBlocks(part: AssistantPart, { isHidden, responseWarnings }: BlockOptions): WireBlock[] {
  switch (part.type) {
    case 'text': {
      const citations = part.citations?.flatMap((citation) => wireCitation(citation, responseWarnings) ?? []) ?? []
      if (part.text === '' && citations.length === 0) return []
      return [{ type: 'text', text: part.text, ...(citations.length > 0 && { citations }) }]
    }
    case 'refusal':
      return writeText(part.text)
    case 'reasoning':
      return [wireReasoning(part, isHidden) ?? []].flat()
    case 'tool-call':
      return [{ ...toolUse(part), input: part.isFreeForm ? { input: part.arguments } : argumentsOf(part.arguments) }]
    case 'server-tool':
      return writeSearch(part)
    case 'audio':
      responseWarnings.noteDropped('audio')
      return writeText(part.transcript ?? '')
    case 'image':
      responseWarnings.noteDropped('image')
      return []
    case 'compaction': // only clients of Responses ask for a compaction
      return []
    default:
      return assertNever(part)
  }
}

const writeText = (text: string): WireBlock[] => (text === '' ? [] : [{ type: 'text', text }])

/** A call as it starts in a stream: its input follows. */
export const toolUse = ({ id, name }: ToolCallPart): WireToolUse => ({
  type: 'tool_use',
  id,
  name,
  input: {},
  caller: { type: 'direct' },
})

/** Writes a web search by the provider as two blocks: its query and its results. */
function writeSearch({ id, query, error, results }: ServerToolPart): [WireSearch, WireSearchResults] {
  const caller = { type: 'direct' } as const
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query }, caller },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: error === undefined ? results.map(wireFound) : searchError(error),
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

/** Writes the error of a web search with one of the codes that clients know. */
const searchError = (error: string) => ({
  type: 'web_search_tool_result_error' as const,
  error_code: SEARCH_ERRORS.find((code) => code === error) ?? ('unavailable' as const),
})

const SEARCH_ERRORS = [
  ...(['invalid_tool_input', 'unavailable', 'max_uses_exceeded'] as const),
  ...(['too_many_requests', 'query_too_long', 'request_too_large'] as const),
] as const

/** Writes a count of tokens for a client. */
export const writeCount = (inputTokens: number): { input_tokens: number } => ({ input_tokens: inputTokens })
