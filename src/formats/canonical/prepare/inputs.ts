import { assertNever } from '../../../lib/assert-never.ts'
import type { AddressKind, InputKind, MediaKind, Traits } from '../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import { isAtYouTube, type MediaSource } from '../media.ts'
import type { AssistantPart, AudioPart, FilePart, ImagePart, Part, TextPart, UserPart, VideoPart } from '../parts.ts'
import type { AssistantTurn, ToolResult, Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/**
 * Refuses inputs that the target cannot read. An input that its tool results cannot hold moves into a user turn after the results. A search
 * result becomes text where the target has no part for it.
 */
export function fitInputs(turns: readonly Turn[], target: TargetContext): Turn[] {
  const { traits, warnings } = target
  const shown = traits.assistantImages ? turns : showAssistantImages(turns, warnings)
  return shown.flatMap((turn): Turn[] => {
    if (turn.role === 'user') return [{ ...turn, content: turn.content.flatMap((part) => fitPart(part, target)) }]
    if (turn.role === 'assistant') checkAssistantImages(turn, target)
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

/** Refuses images in an assistant turn as those in a user turn; changes nothing. */
function checkAssistantImages({ content }: AssistantTurn, target: TargetContext) {
  for (const part of content) if (part.type === 'image') fitPart(part, target)
}

function fitPart(part: UserPart, target: TargetContext): UserPart[] {
  const { traits, warnings } = target
  const missing = kindsOf(part).find((kind) => !traits.inputs.includes(kind))
  if (part.type === 'search-result' && missing) return asText(part, warnings)
  if (missing) return warnings.refuse(warnings.pathOf(part, 'turns'), refusal(missing))
  checkFileId(part, target)
  return fitDocument(part, target)
}

function fitResult(result: ToolResult, moved: UserPart[], target: TargetContext): ToolResult {
  const { traits, warnings } = target
  const content = result.content.flatMap((part) => {
    const fits = kindsOf(part).every((kind) => traits.toolResultInputs.includes(kind))
    if (fits) {
      checkFileId(part, target)
      return fitDocument(part, target)
    }
    if (part.type === 'search-result') return asText(part, warnings)
    moved.push({ type: 'text', text: `From the result of the tool call ${result.callId}:` }, ...fitPart(part, target))
    warnings.noteChanged(warnings.pathOf(part, 'turns'), 'moved')
    return [{ type: 'text' as const, text: `[${part.type}: see the message after the results]` }]
  })
  return { ...result, content }
}

/** The kinds of input that a target must support to accept a part. */
function kindsOf(part: UserPart): InputKind[] {
  switch (part.type) {
    case 'text':
      return []
    case 'search-result':
      return [part.type]
    case 'image':
    case 'audio':
    case 'file':
    case 'video':
      if (part.source.type === 'text') return []
      return part.source.type === 'url' ? [part.type, addressKindOf(part.type, part.source.url)] : [part.type]
    default:
      return assertNever(part)
  }
}

const addressKindOf = (kind: MediaKind, url: string): AddressKind =>
  kind === 'video' && isAtYouTube(url) ? 'youtube' : `${kind}-url`

function checkFileId(part: UserPart, { origin, warnings }: TargetContext) {
  if (!('source' in part) || typeof part.source === 'string' || part.source.type !== 'file-id') return
  const maker = part.source.format
  if (maker === origin.format || (maker.startsWith('openai-') && origin.format.startsWith('openai-'))) return
  warnings.refuse(
    warnings.pathOf(part, 'turns'),
    'the id of a file at one vendor means nothing to another. Send its bytes as base64.',
  )
}

function asText(part: UserPart & { type: 'search-result' }, warnings: Warnings): TextPart[] {
  warnings.noteChanged(warnings.pathOf(part, 'turns'), 'replaced')
  const text = [part.title, part.source, '', ...part.content.map((piece) => piece.text)].join('\n')
  return [part.cache ? { type: 'text', text, cache: part.cache } : { type: 'text', text }]
}

function refusal(missing: InputKind): string {
  const advice = missing.endsWith('-url') ? 'Send the bytes as base64.' : 'Leave it out, or use a model that takes it.'
  return `the target cannot take ${KIND_NAMES[missing]}. ${advice}`
}

const KIND_NAMES: Readonly<Record<InputKind, string>> = {
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

/**
 * Converts a document for a target that has only files: a text document becomes a text after its title; the context of another one becomes a
 * text before it. It cannot be cited.
 */
function fitDocument<P extends UserPart>(part: P, { traits, warnings }: TargetContext): (P | TextPart)[] {
  if (part.type !== 'file' || traits.documents) return [part]
  if (part.citable) warnings.noteDropped(warnings.pathOf(part, 'turns', 'citable'))
  const { source, name, context, cache } = part
  if (source.type === 'text') return [textPart([name, context, source.text], cache)]
  return context === undefined ? [part] : [textPart([context]), part]
}

function textPart(texts: readonly (string | undefined)[], cache?: FilePart['cache']): TextPart {
  const text = texts.filter((piece) => piece).join('\n\n')
  return cache ? { type: 'text', text, cache } : { type: 'text', text }
}

/**
 * Moves images of the model into user turns, for a target whose assistant turns hold none: into the next user turn, or into one after the
 * results of that turn's calls. There they count as images of a user, and are refused where a user's images are.
 */
function showAssistantImages(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const all: Turn[] = []
  let shown: UserPart[] = []

  function show() {
    if (shown.length > 0) all.push({ role: 'user', content: shown })
    shown = []
  }

  for (const turn of turns) {
    if (turn.role === 'user') {
      all.push(shown.length > 0 ? { ...turn, content: [...shown, ...turn.content] } : turn)
      shown = []
      continue
    }
    if (turn.role !== 'tool') show()
    const images = turn.role === 'assistant' ? turn.content.filter(isImage) : []
    if (turn.role !== 'assistant' || images.length === 0) {
      all.push(turn)
      continue
    }
    for (const image of images) warnings.noteChanged(warnings.pathOf(image, 'turns'), 'moved')
    all.push(withoutImages(turn))
    shown = [{ type: 'text', text: 'From your answer before:' }, ...images.map(withoutState)]
  }
  show()
  return all
}

const isImage = (part: AssistantPart): part is ImagePart => part.type === 'image'

/** Removes the images of an assistant turn. A turn that had only images gets a text instead, since user and assistant must alternate. */
function withoutImages(turn: AssistantTurn): AssistantTurn {
  const rest = turn.content.filter((part) => !isImage(part))
  const hasContent = rest.some((part) => part.type !== 'reasoning' && (part.type !== 'text' || part.text.trim() !== ''))
  return { ...turn, content: hasContent ? rest : [...rest, { type: 'text', text: '[image: see the next message]' }] }
}

function withoutState(image: ImagePart): ImagePart {
  const { state: _, ...rest } = image
  return rest
}

/** An image, document, audio or video that the client gives by its address. */
export type AddressedPart = (ImagePart | FilePart | AudioPart | VideoPart) & { source: MediaSource & { type: 'url' } }

/** The parts that the target accepts as bytes but not by their address, in any place where they may end up. */
export function partsAsBytes(turns: readonly Turn[], traits: Traits): AddressedPart[] {
  const { inputs, toolResultInputs } = traits
  return turns.flatMap((turn): AddressedPart[] => {
    if (turn.role === 'system') return []
    if (turn.role !== 'tool') {
      const parts: readonly Part[] = turn.content // in an assistant turn only images are addressed
      return parts.filter(isAddressed).filter((part) => wantsBytes(part, inputs))
    }
    const inResults = turn.results.flatMap(({ content }) => content.filter(isAddressed))
    return inResults.filter((part) => {
      const isTaken = takesAddress(part, inputs) || takesAddress(part, toolResultInputs)
      return !isTaken && (inputs.includes(part.type) || toolResultInputs.includes(part.type))
    })
  })
}

/** Replaces the sources of some parts. */
export function withSources(turns: readonly Turn[], sources: ReadonlyMap<object, MediaSource>): Turn[] {
  const replaced = <P extends object>(part: P): P => {
    const source = sources.get(part)
    return source ? { ...part, source } : part
  }
  return turns.map((turn): Turn => {
    if (turn.role === 'user') return { ...turn, content: turn.content.map(replaced) }
    if (turn.role === 'assistant') return { ...turn, content: turn.content.map(replaced) }
    if (turn.role !== 'tool') return turn
    return {
      ...turn,
      results: turn.results.map((result) => ({ ...result, content: result.content.map(replaced) })),
    }
  })
}

/** Can the part's source be downloaded? Pages of YouTube are no video files, and only http and https can be fetched. */
function isAddressed(part: Part): part is AddressedPart {
  if (!('source' in part) || typeof part.source === 'string' || part.source.type !== 'url') return false
  return /^https?:/i.test(part.source.url) && !isAtYouTube(part.source.url)
}

const wantsBytes = (part: AddressedPart, taken: readonly InputKind[]) =>
  taken.includes(part.type) && !takesAddress(part, taken)

const takesAddress = ({ type }: AddressedPart, taken: readonly InputKind[]) =>
  taken.includes(type) && taken.includes(`${type}-url`)
