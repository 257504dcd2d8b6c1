import { assertNever } from '../../../../lib/assert-never.ts'
import type { InputKind, Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import { isYouTubeUrl, type MediaSource } from '../canonical-media.ts'
import type {
  AssistantPart,
  AudioPart,
  FilePart,
  ImagePart,
  Part,
  TextPart,
  UserPart,
  VideoPart,
} from '../canonical-parts.ts'
import type { AssistantTurn, ToolResult, Turn } from '../canonical-turns.ts'
import type { Warnings } from '../canonical-warnings.ts'

/**
 * Rejects inputs that the target doesn't support. An input that the target doesn't support in tool results moves into a user turn after the results.
 * A search result becomes text if the target has no part for it.
 */
export function fitInputs(turns: readonly Turn[], target: TargetContext): Turn[] {
  const { traits, warnings } = target
  const visibleTurns = traits.assistantImages ? turns : moveAssistantImages(turns, warnings)
  return visibleTurns.flatMap((turn): Turn[] => {
    if (turn.role === 'user') return [{ ...turn, content: turn.content.flatMap((part) => fitPart(part, target)) }]
    if (turn.role === 'assistant') for (const part of turn.content) if (part.type === 'image') fitPart(part, target) // `fitPart` rejects the image
    if (turn.role !== 'tool') return [turn]
    const movedParts: UserPart[] = []
    const results = turn.results.map((result) => fitResult(result, movedParts, target))
    return movedParts.length > 0
      ? [
          { ...turn, results },
          { role: 'user', content: movedParts },
        ]
      : [{ ...turn, results }]
  })
}

function fitPart(part: UserPart, target: TargetContext): UserPart[] {
  const { traits, warnings } = target
  const unsupportedKind = listInputKinds(part).find((kind) => !traits.inputs.includes(kind))
  if (part.type === 'search-result' && unsupportedKind) return toTextParts(part, warnings)
  if (unsupportedKind) return warnings.reject(warnings.getPath(part, 'turns'), getRejectionMessage(unsupportedKind))
  checkFileId(part, target)
  return fitDocument(part, target)
}

function fitResult(result: ToolResult, movedParts: UserPart[], target: TargetContext): ToolResult {
  const { traits, warnings } = target
  const content = result.content.flatMap((part) => {
    const isSupported = listInputKinds(part).every((kind) => traits.toolResultInputs.includes(kind))
    if (isSupported) {
      checkFileId(part, target)
      return fitDocument(part, target)
    }
    if (part.type === 'search-result') return toTextParts(part, warnings)
    movedParts.push(
      { type: 'text', text: `From the result of the tool call ${result.callId}:` },
      ...fitPart(part, target),
    )
    warnings.recordChange(warnings.getPath(part, 'turns'), 'moved')
    return [{ type: 'text' as const, text: `[${part.type}: see the message after the results]` }]
  })
  return { ...result, content }
}

function listInputKinds(part: UserPart): InputKind[] {
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
      if (part.source.type !== 'url') return [part.type]
      return [part.type, part.type === 'video' && isYouTubeUrl(part.source.url) ? 'youtube' : `${part.type}-url`]
    default:
      return assertNever(part)
  }
}

function checkFileId(part: UserPart, { origin, warnings }: TargetContext) {
  if (!('source' in part) || typeof part.source === 'string' || part.source.type !== 'file-id') return
  const vendorFormat = part.source.format
  if (vendorFormat === origin.format || (vendorFormat.startsWith('openai-') && origin.format.startsWith('openai-')))
    return
  warnings.reject(
    warnings.getPath(part, 'turns'),
    'a file ID is only valid with its own vendor. Send the file as base64.',
  )
}

function toTextParts(part: UserPart & { type: 'search-result' }, warnings: Warnings): TextPart[] {
  warnings.recordChange(warnings.getPath(part, 'turns'), 'replaced')
  const text = [part.title, part.source, '', ...part.content.map(({ text }) => text)].join('\n')
  return [part.cache ? { type: 'text', text, cache: part.cache } : { type: 'text', text }]
}

function getRejectionMessage(unsupportedKind: InputKind): string {
  const advice = unsupportedKind.endsWith('-url')
    ? 'Send the bytes as base64.'
    : 'Remove it, or use a model that supports it.'
  return `the target does not support ${KIND_NAMES[unsupportedKind]}. ${advice}`
}

const KIND_NAMES: Readonly<Record<InputKind, string>> = {
  image: 'images',
  'image-url': 'images by URL',
  file: 'files',
  'file-url': 'files by URL',
  audio: 'audio',
  'audio-url': 'audio by URL',
  video: 'video',
  'video-url': 'video by URL',
  youtube: 'YouTube videos',
  'search-result': 'search results',
}

/** Converts a document for a target that only supports files. Plain text and context become text parts, and the document is no longer citable. */
function fitDocument<P extends UserPart>(part: P, { traits, warnings }: TargetContext): (P | TextPart)[] {
  if (part.type !== 'file' || traits.documents) return [part]
  if (part.citable) warnings.recordDrop(warnings.getPath(part, 'turns', 'citable'))
  const { source, name, context, cache } = part
  if (source.type === 'text') return [createTextPart([name, context, source.text], cache)]
  return context === undefined ? [part] : [createTextPart([context]), part]
}

function createTextPart(texts: readonly (string | undefined)[], cache?: FilePart['cache']): TextPart {
  const text = texts.filter((piece) => piece).join('\n\n')
  return cache ? { type: 'text', text, cache } : { type: 'text', text }
}

/**
 * Moves the model's images into the next user turn, or into a new one after the tool results, for targets that don't support images in assistant
 * turns.
 */
function moveAssistantImages(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const fittedTurns: Turn[] = []
  let pendingImages: UserPart[] = []

  function flush() {
    if (pendingImages.length > 0) fittedTurns.push({ role: 'user', content: pendingImages })
    pendingImages = []
  }

  for (const turn of turns) {
    if (turn.role === 'user') {
      fittedTurns.push(pendingImages.length > 0 ? { ...turn, content: [...pendingImages, ...turn.content] } : turn)
      pendingImages = []
      continue
    }
    if (turn.role !== 'tool') flush()
    const images = turn.role === 'assistant' ? turn.content.filter(isImage) : []
    if (turn.role !== 'assistant' || images.length === 0) {
      fittedTurns.push(turn)
      continue
    }
    for (const image of images) warnings.recordChange(warnings.getPath(image, 'turns'), 'moved')
    fittedTurns.push(removeImages(turn))
    pendingImages = [
      { type: 'text', text: 'From your answer before:' },
      ...images.map(({ state: _, ...image }) => image),
    ]
  }
  flush()
  return fittedTurns
}

const isImage = (part: AssistantPart): part is ImagePart => part.type === 'image'

/** Removes an assistant turn's images. A turn with only images gets text instead, because user and assistant must alternate. */
function removeImages(turn: AssistantTurn): AssistantTurn {
  const remainingParts = turn.content.filter((part) => !isImage(part))
  const hasContent = remainingParts.some(
    (part) => part.type !== 'reasoning' && (part.type !== 'text' || part.text.trim() !== ''),
  )
  return {
    ...turn,
    content: hasContent ? remainingParts : [...remainingParts, { type: 'text', text: '[image: see the next message]' }],
  }
}

/** An image, document, audio, or video that the client sent as a URL. */
export type UrlPart = (ImagePart | FilePart | AudioPart | VideoPart) & { source: MediaSource & { type: 'url' } }

/** Finds the parts that the target accepts as bytes but not as a URL, wherever they end up: in tool results or in a user turn. */
export function findPartsToDownload(turns: readonly Turn[], traits: Traits): UrlPart[] {
  const { inputs, toolResultInputs } = traits
  return turns.flatMap((turn): UrlPart[] => {
    if (turn.role === 'system') return []
    if (turn.role !== 'tool') {
      const parts: readonly Part[] = turn.content // in an assistant turn, only images have URLs
      return parts.filter(canDownload).filter((part) => inputs.includes(part.type) && !acceptsUrl(part, inputs))
    }
    const resultParts = turn.results.flatMap(({ content }) => content.filter(canDownload))
    return resultParts.filter((part) => {
      const isAccepted = acceptsUrl(part, inputs) || acceptsUrl(part, toolResultInputs)
      return !isAccepted && (inputs.includes(part.type) || toolResultInputs.includes(part.type))
    })
  })
}

export function replaceSources(turns: readonly Turn[], sources: ReadonlyMap<object, MediaSource>): Turn[] {
  const replaceSource = <P extends object>(part: P): P => {
    const source = sources.get(part)
    return source ? { ...part, source } : part
  }
  return turns.map((turn): Turn => {
    if (turn.role === 'user') return { ...turn, content: turn.content.map(replaceSource) }
    if (turn.role === 'assistant') return { ...turn, content: turn.content.map(replaceSource) }
    if (turn.role !== 'tool') return turn
    return {
      ...turn,
      results: turn.results.map((result) => ({ ...result, content: result.content.map(replaceSource) })),
    }
  })
}

/** Returns whether the part's source can be downloaded. YouTube pages aren't video files, and only http and https URLs can be fetched. */
function canDownload(part: Part): part is UrlPart {
  if (!('source' in part) || typeof part.source === 'string' || part.source.type !== 'url') return false
  return /^https?:/i.test(part.source.url) && !isYouTubeUrl(part.source.url)
}

const acceptsUrl = ({ type }: UrlPart, inputs: readonly InputKind[]) =>
  inputs.includes(type) && inputs.includes(`${type}-url`)
