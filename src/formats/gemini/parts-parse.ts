import { defined } from '../canonical/defined.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { AssistantPart, ReasoningPart, TextPart, ToolResultContent, UserPart } from '../canonical/parts.ts'
import type { ToolResult } from '../canonical/turns.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { CallBook } from './call-book.ts'
import { parseMedia } from './media-parse.ts'
import { partDetail } from './media-resolution.ts'
import { parseSignature } from './signature.ts'
import { parseResponse } from './tool-response.ts'

/** What a user says in a part; a result is `parseResult`'s. An empty text is no part. */
export function parseUserPart(part: Fields, warnings: Warnings): UserPart[] {
  const text = part.text('text')
  part.ignore('thought', 'thoughtSignature')
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }]
  const media = parseMedia(part, warnings) ?? refusePart(part, warnings)
  const detail = partDetail(part)
  if (media.type === 'image' && detail) media.detail = detail
  else if (part.any('mediaResolution') !== undefined) warnings.dropped(part.path('mediaResolution'))
  warnings.place(media, part.at, MEDIA_NAMES)
  return [media]
}

const MEDIA_NAMES = {
  detail: 'mediaResolution',
  name: 'inlineData.displayName',
  clip: 'videoMetadata',
}

/** What the model has said in a part, as the client gives it back; a call is the assembler's. */
export function parseModelPart(part: Fields, warnings: Warnings): AssistantPart[] {
  const text = part.text('text')
  const isThought = part.flag('thought') === true
  const state = parseSignature(part.text('thoughtSignature'))
  if (isThought && (text || state))
    return [defined<ReasoningPart>({ type: 'reasoning', text: text ?? '', isSummary: true, state })]
  if (text !== undefined) return text || state ? [defined<TextPart>({ type: 'text', text, state })] : []
  const ran = parseServerPart(part)
  if (ran?.length === 0) warnings.dropped(part.at)
  if (ran) return ran
  const media = parseMedia(part, warnings)
  if (!media)
    return state || isThought ? [defined<TextPart>({ type: 'text', text: '', state })] : refusePart(part, warnings)
  if (media.type !== 'image' && media.type !== 'audio')
    return warnings.refuse(part.at, 'a model does not answer with files.')
  warnings.place(media, part.at)
  return [media.type === 'image' && state ? { ...media, state } : media]
}

/** What ran at Google is told in words, as far as there are any. */
function parseServerPart(part: Fields): AssistantPart[] | undefined {
  const code = part.fields('executableCode')?.text('code')
  const output = part.fields('codeExecutionResult')?.text('output')
  const said = code ?? output
  if (said !== undefined)
    return [{ type: 'text', text: `\`\`\`${code === undefined ? '' : 'python'}\n${said}\n\`\`\`\n` }]
  return (part.any('toolCall') ?? part.any('toolResponse') ?? part.any('codeExecutionResult')) ? [] : undefined
}

/** A function's result, if the part is one. */
export function parseResult(part: Fields, calls: CallBook, warnings: Warnings): ToolResult | undefined {
  const response = part.fields('functionResponse')
  if (!response) return undefined
  const { id, name } = calls.result(response.text('id'), response.text('name'))
  const { text, isError } = parseResponse(response.object('response') ?? {})
  const content: ToolResultContent[] = text === '' ? [] : [{ type: 'text', text }]
  const list = response.list('parts') ?? []
  list.forEach((entry, index) => {
    const inner = elementFields(entry, `${response.path('parts')}[${index}]`, warnings)
    const media = parseMedia(inner, warnings) ?? refusePart(inner, warnings)
    warnings.place(media, inner.at)
    content.push(media)
  })
  response.drop()
  part.ignore('thoughtSignature')
  const result = defined<ToolResult>({ callId: id, name, content, isError: isError || undefined })
  warnings.place(result, part.at)
  return result
}

function refusePart({ at, value }: Fields, warnings: Warnings): never {
  const [kind = 'empty'] = Object.keys(value)
  return warnings.refuse(at, `a part that is "${kind}" cannot be passed on.`)
}
