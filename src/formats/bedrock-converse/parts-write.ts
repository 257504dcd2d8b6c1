import { requestArguments } from '../canonical/arguments.ts'
import type { AssistantPart, CacheMark, TextPart, UserPart } from '../canonical/parts.ts'
import type { ToolResult } from '../canonical/turns.ts'
import type { TargetContext } from '../translator.ts'
import { writeDocument, writeImage, writeVideo } from './media.ts'
import type { WireBlock, WireCachePoint, WireMedium, WireText } from './wire.ts'

/** The target, and the names of documents that the request has so far. */
export interface WriteState extends TargetContext {
  names: Set<string>
}

/** What a user says; a point to cache up to is a block of its own behind it. */
export function writePart(part: UserPart, state: WriteState): WireBlock[] {
  const blocks: WireBlock[] = writeMedium(part, state)
  if (blocks.length > 0) blocks.push(...writeMark(part.type === 'video' ? undefined : part.cache, state))
  return blocks
}

/** Text of nothing but blanks is refused, so that it is left out. */
function writeMedium(part: UserPart, state: WriteState): WireMedium[] {
  const { warnings, names } = state
  switch (part.type) {
    case 'text':
      return writeText(part)
    case 'image':
      if (part.detail && part.detail !== 'auto') warnings.dropped(warnings.pathOf(part, 'image', 'detail'))
      return [writeImage(part, state)]
    case 'file':
      return [writeDocument(part, names, state)]
    case 'video':
      return [writeVideo(part, state)]
    case 'search-result': {
      const { source, title, citable = false } = part
      return [
        { searchResult: { source, title, content: part.content.flatMap(writeText), citations: { enabled: citable } } },
      ]
    }
    case 'audio':
      return warnings.refuse(warnings.pathOf(part, part.type), `the target takes no ${part.type}.`)
  }
}

export const writeText = ({ text }: Pick<TextPart, 'text'>): WireText[] => (text.trim() === '' ? [] : [{ text }])

export function writeMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireCachePoint[] {
  if (!cache || traits.cacheMarks === 'none') return []
  const { ttl } = cache
  if (ttl === undefined) return [{ cachePoint: { type: 'default' } }]
  if (ttl !== '5m' && ttl !== '1h') warnings.changed(warnings.pathOf(cache, 'cache', 'ttl'), 'replaced')
  return [{ cachePoint: { type: 'default', ttl: ttl === '5m' ? ttl : '1h' } }]
}

export function writeResult({ callId, content, isError, cache }: ToolResult, state: WriteState): WireBlock[] {
  const blocks = content.flatMap((part) => writeMedium(part, state))
  return [
    {
      toolResult: {
        toolUseId: callId,
        content: blocks.length > 0 ? blocks : [{ text: '(no output)' }],
        ...(isError && { status: 'error' }),
      },
    },
    ...writeMark(cache, state),
  ]
}

/** What the model said before. What it cannot be told that it said is left out. */
export function writeAssistant(part: AssistantPart, state: WriteState): WireBlock[] {
  const { warnings } = state
  switch (part.type) {
    case 'text': {
      const blocks = writeText(part)
      return blocks.length > 0 ? [...blocks, ...writeMark(part.cache, state)] : []
    }
    case 'refusal':
      return writeText(part)
    case 'reasoning':
      if (part.state?.kind === 'redacted') return [{ reasoningContent: { redactedContent: part.state.data } }]
      if (part.state?.kind !== 'signature') return []
      return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.state.data } } }]
    case 'tool-call':
      return [
        { toolUse: { toolUseId: part.id, name: part.name, input: requestArguments(part, warnings) } },
        ...writeMark(part.cache, state),
      ]
    case 'audio':
      if (part.transcript === undefined) warnings.dropped(warnings.pathOf(part, 'audio'))
      return writeText({ text: part.transcript ?? '' })
    case 'image': // a user has shown it already
      return []
    case 'server-tool':
      return [] // `prepareRequest` has made text of it
    case 'compaction': // `prepareRequest` has refused it
      return []
  }
}
