import { isObject, type JsonObject } from '../../lib/json.ts'
import { argumentsText } from '../canonical/arguments.ts'
import { attachStates } from '../canonical/detach.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { AssistantPart, AudioPart, ImagePart, ToolCallPart } from '../canonical/parts.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseImage, parseMark } from './parts-parse.ts'
import { parseThoughts, placeThoughts } from './reasoning-details.ts'

/** The old `function_call` has no id: its result belongs to the call before it. */
export interface LegacyCalls {
  last: string | undefined
  count: number
}

/** A message that the model said before, as the client gives it back. */
export function parseAssistant(message: Fields, calls: LegacyCalls, warnings: Warnings): AssistantPart[] {
  const said = parseSaid(message, warnings)
  const refusal = message.text('refusal')
  if (refusal) said.push({ type: 'refusal', text: refusal })
  const images = message.list('images') ?? [] // OpenRouter
  images.forEach((entry, index) => {
    said.push(parsePicture(elementFields(entry, `${message.path('images')}[${index}]`, warnings), warnings))
  })
  const audioId = message.fields('audio')?.text('id')
  if (audioId !== undefined) {
    const audio: AudioPart = {
      type: 'audio',
      id: audioId,
      source: { type: 'file-id', id: audioId, format: 'openai-chat' },
    }
    warnings.place(audio, message.path('audio'))
    said.push(audio)
  }
  const list = message.list('tool_calls') ?? []
  list.forEach((entry, index) => {
    said.push(parseCall(elementFields(entry, `${message.path('tool_calls')}[${index}]`, warnings), calls, warnings))
  })
  const legacy = message.fields('function_call')
  if (legacy && saysSomething(legacy.value)) said.push(parseLegacyCall(legacy, calls))
  message.ignore('annotations', 'prefix')
  const { thoughts, places } = parseThoughts(message)
  return attachStates(placeThoughts(thoughts, places, said))
}

/** Content: a string, or parts of text, of a refusal, or of Mistral's thoughts. */
function parseSaid(message: Fields, warnings: Warnings): AssistantPart[] {
  const content = message.any('content')
  if (content === undefined || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const path = message.path('content')
  if (!Array.isArray(content)) return warnings.refuse(path, 'must be a string, an array of parts or null.')
  return content.flatMap((entry: unknown, index): AssistantPart[] => {
    const part = elementFields(entry, `${path}[${index}]`, warnings)
    const type = part.text('type')
    if (type === 'thinking') {
      const text = textOf(part.any('thinking'))
      part.ignore('closed')
      return text === '' ? [] : [{ type: 'reasoning', text, state: BARE_TEXT }]
    }
    if (type === 'image_url') return [parsePicture(part, warnings)]
    if (type !== 'text' && type !== 'refusal')
      return warnings.refuse(part.path('type'), `"${type}" is no type of content that an assistant has said.`)
    const text = part.text(type) ?? ''
    const cache = parseMark(part, warnings)
    part.drop()
    if (text === '') return []
    return type === 'text' ? [{ type, text, ...(cache && { cache }) }] : [{ type, text }]
  })
}

/** A picture that the model has made. */
function parsePicture(fields: Fields, warnings: Warnings): ImagePart {
  const { detail, ...image } = parseImage(fields, undefined)
  if (detail) warnings.dropped(fields.path('image_url.detail')) // it is how closely a user wants one to be looked at
  fields.ignore('type', 'index')
  fields.drop()
  warnings.place(image, fields.at)
  return image
}

function parseCall(call: Fields, calls: LegacyCalls, warnings: Warnings): ToolCallPart {
  const id = call.text('id') || `call_${calls.count}`
  calls.count++
  const kind = calledMember(call.value)
  const callee = call.fields(kind) ?? warnings.refuse(call.path('function'), 'is required.')
  const name = callee.text('name') ?? warnings.refuse(callee.path('name'), 'is required.')
  call.ignore('type', 'index', 'extra_content')
  ignoreOther(call, kind)
  const part: ToolCallPart =
    kind === 'custom'
      ? { type: 'tool-call', id, name, arguments: callee.text('input') ?? '', isFreeForm: true }
      : { type: 'tool-call', id, name, arguments: argumentsText(callee.any('arguments') ?? '') }
  const signature = googleSignature(call.any('extra_content'))
  if (signature !== undefined)
    part.state = { origin: { format: 'openai-chat', account: '' }, kind: 'thought-signature', data: signature }
  callee.drop()
  call.drop()
  warnings.place(part, call.at)
  return part
}

/**
 * The member of a call, a tool or a choice of one that counts: the one that its type names, else the one that is not empty. Servers and
 * clients written in Go send both, the other one empty.
 */
export function calledMember(call: JsonObject): 'function' | 'custom' {
  const { type, function: callee, custom } = call
  if (!isObject(custom)) return 'function'
  if (!isObject(callee)) return 'custom'
  if (type === 'function' || type === 'custom') return type
  return saysSomething(custom) && !saysSomething(callee) ? 'custom' : 'function'
}

/** Ignores the member that does not count, unless it is not empty and so lost. */
export function ignoreOther({ value, ignore }: Fields, kind: 'function' | 'custom'): void {
  const other = kind === 'function' ? 'custom' : 'function'
  const member = value[other]
  if (!isObject(member) || !saysSomething(member)) ignore(other)
}

const saysSomething = (member: JsonObject): boolean =>
  Object.values(member).some((value) => value !== '' && value !== null && value !== false)

function parseLegacyCall(call: Fields, calls: LegacyCalls): ToolCallPart {
  const id = `call_${calls.count++}`
  calls.last = id
  return { type: 'tool-call', id, name: call.text('name') ?? '', arguments: call.text('arguments') ?? '' }
}

/** Google's layer over Gemini signs calls in `extra_content.google.thought_signature`. */
export function googleSignature(extra: unknown): string | undefined {
  const google = isObject(extra) ? extra.google : undefined
  const signature = isObject(google) ? google.thought_signature : undefined
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

/** The text of Mistral's `thinking`: a string, or parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

const BARE_TEXT = { origin: { format: 'openai-chat', account: '' }, kind: 'text', data: '' } as const
