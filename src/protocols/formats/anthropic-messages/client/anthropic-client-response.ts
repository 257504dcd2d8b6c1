import { assertNever } from '../../../../lib/assert-never.ts'
import { parseArguments } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, ServerToolPart, ToolCallPart } from '../../canonical/canonical-parts.ts'
import type { CanonicalResponse } from '../../canonical/canonical-response.ts'
import type { ResponseWarnings } from '../../canonical/canonical-warnings.ts'
import { moveStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import type { WriterContext } from '../../translator.ts'
import { writeCitation } from '../anthropic-citations.ts'
import { writeFinish, writeUsage } from '../anthropic-fields.ts'
import type { WireBlock, WireMessage, WireSearch, WireSearchResults, WireToolUse } from '../anthropic-wire.ts'
import { writeReasoning } from './anthropic-client-reasoning.ts'

/** Writes a complete response for a client. */
export function writeResponse({ choices, usage, serviceTier }: CanonicalResponse, context: WriterContext): WireMessage {
  const { content, finish } = choices[0] ?? { content: [], finish: { reason: 'stop' } }
  const options = { isReasoningHidden: hidesReasoning(context), responseWarnings: context.responseWarnings }
  const hasRefusal = content.some((part) => part.type === 'refusal')
  return {
    ...createEmptyMessage(context),
    content: moveStateToReasoning(content).flatMap((part) => writeBlocks(part, options)),
    ...writeFinish(finish, hasRefusal),
    usage: writeUsage(usage ?? { inputTokens: 0, outputTokens: 0 }, serviceTier),
  }
}

/** Creates the response fields that are known before the content. */
export function createEmptyMessage({ newId, model }: WriterContext) {
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

/** Returns whether the client set `thinking.display` to "omitted". */
export const hidesReasoning = ({ request }: WriterContext): boolean => request.options.reasoning?.show === 'none'

/** How to write blocks. `isReasoningHidden` means that the client wants reasoning signatures without the text. */
export interface BlockOptions {
  isReasoningHidden: boolean
  responseWarnings: ResponseWarnings
}

/** Writes a part as blocks. The format has no block for generated images or audio, so audio becomes its transcript. */
export function writeBlocks(part: AssistantPart, { isReasoningHidden, responseWarnings }: BlockOptions): WireBlock[] {
  switch (part.type) {
    case 'text': {
      const citations = part.citations?.flatMap((citation) => writeCitation(citation, responseWarnings) ?? []) ?? []
      if (part.text === '' && citations.length === 0) return []
      return [{ type: 'text', text: part.text, ...(citations.length > 0 && { citations }) }]
    }
    case 'refusal':
      return writeText(part.text)
    case 'reasoning':
      return [writeReasoning(part, isReasoningHidden) ?? []].flat()
    case 'tool-call':
      return [
        { ...writeToolUse(part), input: part.isFreeForm ? { input: part.arguments } : parseArguments(part.arguments) },
      ]
    case 'server-tool':
      return writeSearch(part)
    case 'audio':
      responseWarnings.recordDrop('audio')
      return writeText(part.transcript ?? '')
    case 'image':
      responseWarnings.recordDrop('image')
      return []
    case 'compaction': // only Responses clients request a compaction
      return []
    default:
      return assertNever(part)
  }
}

const writeText = (text: string): WireBlock[] => (text === '' ? [] : [{ type: 'text', text }])

/** Writes a tool call without its input, as it starts in a stream. */
export const writeToolUse = ({ id, name }: ToolCallPart): WireToolUse => ({
  type: 'tool_use',
  id,
  name,
  input: {},
  caller: { type: 'direct' },
})

function writeSearch({ id, query, error, results }: ServerToolPart): [WireSearch, WireSearchResults] {
  const caller = { type: 'direct' } as const
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query }, caller },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content:
        error === undefined
          ? results.map(writeSearchResult)
          : {
              type: 'web_search_tool_result_error',
              error_code: SEARCH_ERRORS.find((code) => code === error) ?? 'unavailable',
            },
      caller,
    },
  ]
}

const writeSearchResult = ({ url, title }: ServerToolPart['results'][number]) => ({
  type: 'web_search_result' as const,
  url,
  title,
  encrypted_content: '',
  page_age: null,
})

const SEARCH_ERRORS = [
  ...(['invalid_tool_input', 'unavailable', 'max_uses_exceeded'] as const),
  ...(['too_many_requests', 'query_too_long', 'request_too_large'] as const),
] as const

/** Writes a token count for a client. */
export const writeCount = (inputTokens: number): { input_tokens: number } => ({ input_tokens: inputTokens })
