import { dataUrl } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import type { MediaSource } from '../canonical/media.ts'
import type { AudioPart, CacheMark, FilePart, ImagePart, UserPart } from '../canonical/parts.ts'
import { writeBreakpoint } from '../openai-breakpoint.ts'
import { fileName } from '../openai-file-name.ts'
import type { TargetContext } from '../translator.ts'
import type { WireInputPart, WireMark } from './wire.ts'

/** User content, or a tool's: a string when that says it all, else parts. */
export function writeContent(parts: readonly UserPart[], target: TargetContext): string | WireInputPart[] {
  const [only] = parts
  if (parts.length === 0) return ''
  if (parts.length === 1 && only?.type === 'text' && !only.cache) return only.text
  return parts.flatMap((part) => writePart(part, target))
}

function writePart(part: UserPart, target: TargetContext): WireInputPart[] {
  const mark = writeMark(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text, ...mark }]
    case 'image':
      return [{ type: 'input_image', detail: part.detail ?? 'auto', ...imageSource(part, target), ...mark }]
    case 'file':
      return [{ ...writeFile(part, target), ...mark }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: writeAudio(part, target), ...mark }]
    case 'search-result':
      return part.content.map(({ text }) => ({
        type: 'input_text',
        text: `${part.title}\n${part.source}\n\n${text}`,
        ...mark,
      }))
    case 'video':
      return target.warnings.refuse(target.warnings.pathOf(part, 'video'), 'the target takes no video.')
  }
}

function imageSource(part: ImagePart, target: TargetContext) {
  const { source } = part
  if (source.type === 'file-id') return { file_id: fileId(source, part, target) }
  if (source.type === 'base64') return { image_url: dataUrl(source) }
  if (source.type === 'url') return { image_url: source.url }
  return target.warnings.refuse(target.warnings.pathOf(part, 'image'), 'text is no image.')
}

function writeFile(part: FilePart, target: TargetContext): WireInputPart {
  const { source, name } = part
  if (source.type === 'text') return { type: 'input_text', text: source.text } // a document is text by now
  if (source.type === 'file-id') {
    if (name !== undefined) target.warnings.dropped(target.warnings.pathOf(part, 'file', 'name')) // it has the one of its upload
    return { type: 'input_file', file_id: fileId(source, part, target) }
  }
  if (source.type === 'url')
    return defined<WireInputPart & { type: 'input_file' }>({ type: 'input_file', file_url: source.url, filename: name })
  return { type: 'input_file', file_data: dataUrl(source), filename: fileName(name, source.mediaType) }
}

function fileId(source: MediaSource & { type: 'file-id' }, part: object, { warnings }: TargetContext): string {
  if (source.format === 'openai-responses' || source.format === 'openai-chat') return source.id
  return warnings.refuse(
    warnings.pathOf(part, 'file'),
    'the id of a file at another vendor means nothing to the target.',
  )
}

function writeAudio(part: AudioPart, { warnings }: TargetContext): { data: string; format: 'wav' | 'mp3' } {
  const { source } = part
  const format = source.type === 'base64' ? /(wav|wave|mpeg|mp3)$/.exec(source.mediaType)?.[1] : undefined
  if (source.type !== 'base64' || !format)
    return warnings.refuse(warnings.pathOf(part, 'audio'), 'the target takes audio as WAV or MP3 data only.')
  return { data: source.data, format: format.startsWith('w') ? 'wav' : 'mp3' }
}

function writeMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireMark {
  if (!cache || traits.cacheMarks !== 'prompt_cache_breakpoint') return {}
  return { prompt_cache_breakpoint: writeBreakpoint(cache, warnings) }
}
