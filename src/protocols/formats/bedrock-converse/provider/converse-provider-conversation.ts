import { assertNever } from '../../../../lib/assert-never.ts'
import { parseRequestArguments } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, CacheBreakpoint, TextPart, UserPart } from '../../canonical/canonical-parts.ts'
import { CONTINUE_TEXT, dropLabels, type ToolResult, type Turn } from '../../canonical/canonical-turns.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireBlock, WireCachePoint, WireMedium, WireMessage, WireText } from '../converse-wire.ts'
import { writeDocument, writeImage, writeVideo } from './converse-provider-media.ts'

/** Writes `system` and `messages`. Converse requires alternating roles, starting with the user, and text next to every document. */
export function writeTurns(turns: readonly Turn[], target: TargetContext) {
  const state: ConversationContext = { ...target, documentNames: new Set() }
  const firstTurnIndex = turns.findIndex(({ role }) => role !== 'system')
  const messagesStart = firstTurnIndex === -1 ? turns.length : firstTurnIndex
  for (const turn of turns) dropLabels(turn, target.warnings, {})
  const system = turns.slice(0, messagesStart).flatMap((turn) =>
    turn.role !== 'system'
      ? []
      : turn.content.flatMap((part) => {
          const text = writeText(part)
          return text.length > 0 ? [...text, ...writeBreakpoint(part.cache, target)] : []
        }),
  )
  const messages = mergeMessages(turns.slice(messagesStart).map((turn) => writeTurn(turn, state)))
  if (messages[0]?.role !== 'user') {
    target.warnings.recordChange('turns', 'added')
    messages.unshift({ role: 'user', content: [{ text: CONTINUE_TEXT }] })
  }
  for (const { role, content } of messages) {
    const hasText = content.some((block) => 'text' in block || 'toolResult' in block)
    if (role === 'user' && !hasText && content.some((block) => 'document' in block))
      // Converse rejects documents without text
      content.push({ text: '(see the document)' })
  }
  return { system, messages: trimLastText(messages) }
}

function writeTurn(turn: Turn, state: ConversationContext): WireMessage {
  switch (turn.role) {
    case 'system': // `prepareRequest` leaves no instructions after the first turn
      return { role: 'user', content: turn.content.flatMap(writeText) }
    case 'user':
      return { role: 'user', content: turn.content.flatMap((part) => writePart(part, state)) }
    case 'assistant':
      return { role: 'assistant', content: turn.content.flatMap((part) => writeAssistantPart(part, state)) }
    case 'tool':
      return { role: 'user', content: turn.results.flatMap((result) => writeResult(result, state)) }
    default:
      return assertNever(turn)
  }
}

function mergeMessages(messages: readonly WireMessage[]): WireMessage[] {
  const mergedMessages: WireMessage[] = []
  for (const message of messages) {
    const lastMessage = mergedMessages.at(-1)
    if (message.content.length === 0) continue
    if (lastMessage?.role === message.role) lastMessage.content.push(...message.content)
    else mergedMessages.push(message)
  }
  return mergedMessages
}

/** Removes white space at the end of a response that the model should continue, because Converse rejects it. */
function trimLastText(messages: WireMessage[]): WireMessage[] {
  const lastMessage = messages.at(-1)
  const block = lastMessage?.role === 'assistant' ? lastMessage.content.at(-1) : undefined
  if (block && 'text' in block) block.text = block.text.trimEnd()
  return messages
}

/** The target, and the document names so far. */
interface ConversationContext extends TargetContext {
  documentNames: Set<string>
}

/** Writes a part of a user turn. A cache point is a separate block that follows it. */
function writePart(part: UserPart, state: ConversationContext): WireBlock[] {
  const blocks: WireBlock[] = writeMedium(part, state)
  if (blocks.length > 0) blocks.push(...writeBreakpoint(part.type === 'video' ? undefined : part.cache, state))
  return blocks
}

/** Writes text or media. Drops blank text, because Converse rejects it. */
function writeMedium(part: UserPart, state: ConversationContext): WireMedium[] {
  const { warnings, documentNames } = state
  switch (part.type) {
    case 'text':
      return writeText(part)
    case 'image':
      if (part.detail && part.detail !== 'auto') warnings.recordDrop(warnings.getPath(part, 'image', 'detail'))
      return [writeImage(part, state)]
    case 'file':
      return [writeDocument(part, documentNames, state)]
    case 'video':
      return [writeVideo(part, state)]
    case 'search-result': {
      const { source, title, citable = false } = part
      return [
        { searchResult: { source, title, content: part.content.flatMap(writeText), citations: { enabled: citable } } },
      ]
    }
    case 'audio':
      return warnings.reject(warnings.getPath(part, part.type), `the target does not support ${part.type}.`)
    default:
      return assertNever(part)
  }
}

const writeText = ({ text }: Pick<TextPart, 'text'>): WireText[] => (text.trim() === '' ? [] : [{ text }])

export function writeBreakpoint(
  cache: CacheBreakpoint | undefined,
  { traits, warnings }: TargetContext,
): WireCachePoint[] {
  if (!cache || traits.cacheBreakpoints === 'none') return []
  const { ttl } = cache
  if (ttl === undefined) return [{ cachePoint: { type: 'default' } }]
  if (ttl !== '5m' && ttl !== '1h') warnings.recordChange(warnings.getPath(cache, 'cache', 'ttl'), 'replaced')
  return [{ cachePoint: { type: 'default', ttl: ttl === '5m' ? ttl : '1h' } }]
}

function writeResult({ callId, content, isError, cache }: ToolResult, state: ConversationContext): WireBlock[] {
  const blocks = content.flatMap((part) => writeMedium(part, state))
  return [
    {
      toolResult: {
        toolUseId: callId,
        content: blocks.length > 0 ? blocks : [{ text: '(no output)' }],
        ...(isError && { status: 'error' }),
      },
    },
    ...writeBreakpoint(cache, state),
  ]
}

/** Writes a part of an earlier response. Drops a part for which the format has no block. */
function writeAssistantPart(part: AssistantPart, state: ConversationContext): WireBlock[] {
  const { warnings } = state
  switch (part.type) {
    case 'text': {
      const blocks = writeText(part)
      return blocks.length > 0 ? [...blocks, ...writeBreakpoint(part.cache, state)] : []
    }
    case 'refusal':
      return writeText(part)
    case 'reasoning':
      if (part.state?.kind === 'redacted') return [{ reasoningContent: { redactedContent: part.state.data } }]
      if (part.state?.kind !== 'signature') return []
      return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.state.data } } }]
    case 'tool-call':
      return [
        { toolUse: { toolUseId: part.id, name: part.name, input: parseRequestArguments(part, warnings) } },
        ...writeBreakpoint(part.cache, state),
      ]
    case 'audio':
      if (part.transcript === undefined) warnings.recordDrop(warnings.getPath(part, 'audio'))
      return writeText({ text: part.transcript ?? '' })
    case 'image': // `prepareRequest` has moved it to a user turn
      return []
    case 'server-tool':
      return [] // `prepareRequest` has converted it to text
    case 'compaction': // `prepareRequest` has rejected it
      return []
    default:
      return assertNever(part)
  }
}
