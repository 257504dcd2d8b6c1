import type { AddressKind, InputKind, MediaKind, Traits } from '../../../traits.ts'
import { isAtYouTube } from '../at-google.ts'
import type { TextPart, UserPart } from '../parts.ts'
import type { Origin } from '../state.ts'
import type { AssistantTurn, ToolResult, Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'
import { fitDocument } from './documents.ts'
import { showSaidImages } from './said-images.ts'

interface Target {
  traits: Traits
  origin: Origin
  warnings: Warnings
}

/**
 * Refuses what the target cannot look at. What only a tool's result cannot hold there moves into a user turn behind the run of results; a
 * search result becomes text where there is no part for it.
 */
export function fitInputs(turns: readonly Turn[], target: Target): Turn[] {
  const { traits, warnings } = target
  const shown = traits.saidImages ? turns : showSaidImages(turns, warnings)
  return shown.flatMap((turn): Turn[] => {
    if (turn.role === 'user') return [{ ...turn, content: turn.content.flatMap((part) => fitPart(part, target)) }]
    if (turn.role === 'assistant') checkSaidImages(turn, target)
    if (turn.role !== 'tool') return [turn]
    const moved: UserPart[] = []
    const results = turn.results.map((result) => fitResult(result, moved, target))
    return moved.length > 0
      ? [
          { ...turn, results },
          { role: 'user', content: moved },
        ]
      : [{ ...turn, results }]
  })
}

/** Pictures in the model's own turns are refused as a user's would be; nothing of them is to be changed. */
function checkSaidImages({ content }: AssistantTurn, target: Target) {
  for (const part of content) if (part.type === 'image') fitPart(part, target)
}

function fitPart(part: UserPart, target: Target): UserPart[] {
  const { traits, warnings } = target
  const missing = kindsOf(part).find((kind) => !traits.inputs.includes(kind))
  if (part.type === 'search-result' && missing) return asText(part, warnings)
  if (missing) return warnings.refuse(warnings.pathOf(part, 'turns'), refusal(missing))
  checkFileId(part, target)
  return fitDocument(part, target)
}

function fitResult(result: ToolResult, moved: UserPart[], target: Target): ToolResult {
  const { traits, warnings } = target
  const content = result.content.flatMap((part) => {
    const fits = kindsOf(part).every((kind) => traits.toolResultInputs.includes(kind))
    if (fits) {
      checkFileId(part, target)
      return fitDocument(part, target)
    }
    if (part.type === 'search-result') return asText(part, warnings)
    moved.push({ type: 'text', text: `From the result of the tool call ${result.callId}:` }, ...fitPart(part, target))
    warnings.changed(warnings.pathOf(part, 'turns'), 'moved')
    return [{ type: 'text' as const, text: `[${part.type}: see the message after the results]` }]
  })
  return { ...result, content }
}

/** What a target has to know of to take a part. */
function kindsOf(part: UserPart): InputKind[] {
  switch (part.type) {
    case 'text':
      return []
    case 'search-result':
      return [part.type]
    default:
      if (part.source.type === 'text') return []
      return part.source.type === 'url' ? [part.type, addressKindOf(part.type, part.source.url)] : [part.type]
  }
}

const addressKindOf = (kind: MediaKind, url: string): AddressKind =>
  kind === 'video' && isAtYouTube(url) ? 'youtube' : `${kind}-url`

function checkFileId(part: UserPart, { origin, warnings }: Target) {
  if (!('source' in part) || typeof part.source === 'string' || part.source.type !== 'file-id') return
  const maker = part.source.format
  if (maker === origin.format || (maker.startsWith('openai-') && origin.format.startsWith('openai-'))) return
  warnings.refuse(
    warnings.pathOf(part, 'turns'),
    'the id of a file at one vendor means nothing to another. Send its bytes as base64.',
  )
}

function asText(part: UserPart & { type: 'search-result' }, warnings: Warnings): TextPart[] {
  warnings.changed(warnings.pathOf(part, 'turns'), 'replaced')
  const text = [part.title, part.source, '', ...part.content.map((piece) => piece.text)].join('\n')
  return [part.cache ? { type: 'text', text, cache: part.cache } : { type: 'text', text }]
}

function refusal(missing: InputKind): string {
  const advice = missing.endsWith('-url') ? 'Send the bytes as base64.' : 'Leave it out, or use a model that takes it.'
  return `the target cannot take ${WORDS[missing]}. ${advice}`
}

const WORDS: Readonly<Record<InputKind, string>> = {
  image: 'images',
  'image-url': 'images by their address',
  file: 'files',
  'file-url': 'files by their address',
  audio: 'sound',
  'audio-url': 'sound by its address',
  video: 'video',
  'video-url': 'video by its address',
  youtube: 'videos at YouTube',
  'search-result': 'search results',
}
