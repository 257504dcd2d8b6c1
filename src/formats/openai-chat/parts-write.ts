import { entryOf } from '../../lib/entry-of.ts'
import { dataUrl } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import type { MediaSource } from '../canonical/media.ts'
import type { AudioPart, CacheMark, FilePart, ImagePart, UserPart } from '../canonical/parts.ts'
import { writeBreakpoint } from '../openai-breakpoint.ts'
import { fileName } from '../openai-file-name.ts'
import type { TargetContext } from '../translator.ts'
import type { WireMarks, WireTextPart, WireUserPart } from './wire.ts'

/** User content: a string when that says it all, else parts. */
export function writeContent(parts: readonly UserPart[], target: TargetContext): string | WireUserPart[] {
  const [only] = parts
  if (!only) return ''
  if (parts.length === 1 && only.type === 'text' && !only.cache) return only.text
  return parts.flatMap((part) => writePart(part, target))
}

/** Instructions and results: a string unless it holds marks of caching. `joint` stands between texts that become one. */
export function writeTexts(parts: readonly UserPart[], target: TargetContext, joint: string): string | WireTextPart[] {
  const texts = parts.flatMap((part) => writePart(part, target)).filter((part) => part.type === 'text')
  const isMarked = texts.some((part) => part.cache_control ?? part.prompt_cache_breakpoint)
  return isMarked ? texts : texts.map((part) => part.text).join(joint)
}

function writePart(part: UserPart, target: TargetContext): WireUserPart[] {
  const marks = writeMark(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...marks }]
    case 'image':
      return [{ type: 'image_url', image_url: defined({ url: urlOf(part, target), detail: part.detail }), ...marks }]
    case 'file':
      return [{ ...writeFile(part, target), ...marks }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: writeAudio(part, target), ...marks }]
    case 'search-result':
      return part.content.map(({ text }) => ({
        type: 'text',
        text: `${part.title}\n${part.source}\n\n${text}`,
        ...marks,
      }))
    case 'video': // an extension that only some vendors know; their traits say so
      if (part.fps ?? part.startOffset ?? part.endOffset)
        target.warnings.dropped(target.warnings.pathOf(part, 'turns', 'clip'))
      return [{ type: 'video_url', video_url: { url: urlOf(part, target) } }]
  }
}

function writeFile(part: FilePart, target: TargetContext): WireUserPart {
  const { source, name } = part
  if (source.type === 'text') return { type: 'text', text: source.text } // a document is text by now
  if (source.type === 'file-id') {
    if (name !== undefined) target.warnings.dropped(target.warnings.pathOf(part, 'file', 'name')) // it has the one of its upload
    return { type: 'file', file: { file_id: fileId(source, part, target) } }
  }
  const filename = source.type === 'base64' ? fileName(name, source.mediaType) : (name ?? 'file.pdf')
  return { type: 'file', file: { file_data: urlOf(part, target), filename } }
}

function writeAudio(part: AudioPart, target: TargetContext): { data: string; format: 'wav' | 'mp3' } {
  const { source } = part
  const format = source.type === 'base64' ? entryOf(formats, source.mediaType) : undefined
  if (source.type !== 'base64' || !format)
    return target.warnings.refuse(
      target.warnings.pathOf(part, 'audio'),
      'the target takes audio as WAV or MP3 data only.',
    )
  return { data: source.data, format }
}

/** The address of an image or a file: its data where the bytes are at hand. */
export function urlOf(part: ImagePart | FilePart | { source: MediaSource }, { warnings }: TargetContext): string {
  const { source } = part
  if (source.type === 'base64') return dataUrl(source)
  if (source.type === 'url') return source.url
  return warnings.refuse(warnings.pathOf(part, 'content'), 'the target takes no file by its id here.')
}

function fileId(source: MediaSource & { type: 'file-id' }, part: object, { warnings }: TargetContext): string {
  if (source.format === 'openai-chat' || source.format === 'openai-responses') return source.id
  return warnings.refuse(
    warnings.pathOf(part, 'file'),
    'the id of a file at another vendor means nothing to the target.',
  )
}

export function writeMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireMarks {
  if (!cache || traits.cacheMarks === 'none') return {}
  if (traits.cacheMarks === 'cache_control') return { cache_control: { type: 'ephemeral', ...cache } }
  return { prompt_cache_breakpoint: writeBreakpoint(cache, warnings) }
}

const formats: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}
