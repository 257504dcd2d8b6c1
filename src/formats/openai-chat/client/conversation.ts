import { isObject } from '../../../lib/json.ts'
import { argumentsText } from '../../canonical/arguments.ts'
import { elementFields, type Fields } from '../../canonical/fields.ts'
import type { AssistantPart, AudioPart, ImagePart, ToolCallPart } from '../../canonical/parts.ts'
import { returnStateToParts } from '../../canonical/state-in-reasoning.ts'
import type { ToolResult, Turn } from '../../canonical/turns.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { parseContent, parseTexts } from '../../openai-fields.ts'
import { googleSignature, hasValues, memberInUse, textOfContent } from '../fields.ts'
import { contentForm, parseImage, parseMark } from './content.ts'
import { insertReasoning, PLAIN_TEXT, parseReasoning, UNKNOWN_ORIGIN } from './reasoning-details.ts'

/** Parses `messages`. Each is a turn; consecutive messages of tools are one turn. */
export function parseTurns(messages: readonly unknown[], warnings: Warnings): Turn[] {
  const turns: Turn[] = []
  const calls: LegacyCalls = { last: undefined, count: 0 }
  messages.forEach((entry, index) => {
    const message = elementFields(entry, `messages[${index}]`, warnings)
    const turn = parseTurn(message, calls, warnings)
    message.drop()
    warnings.place(turn, message.at)
    const last = turns.at(-1)
    if (turn.role === 'tool' && last?.role === 'tool') last.results.push(...turn.results)
    else turns.push(turn)
  })
  return turns
}

function parseTurn(message: Fields, calls: LegacyCalls, warnings: Warnings): Turn {
  const role = message.text('role')
  switch (role) {
    case 'system':
    case 'developer':
      return {
        role: 'system',
        as: role,
        content: parseTexts(message, 'content', warnings, contentForm),
        ...nameOf(message),
      }
    case 'user':
      return { role: 'user', content: parseContent(message, 'content', warnings, contentForm), ...nameOf(message) }
    case 'assistant':
      return { role: 'assistant', content: parseAssistant(message, calls, warnings), ...nameOf(message) }
    case 'tool':
    case 'function':
      return { role: 'tool', results: [parseResult(message, role, calls, warnings)] }
    default:
      return warnings.refuse(message.path('role'), 'must be system, developer, user, assistant or tool.')
  }
}

function parseResult(message: Fields, role: 'tool' | 'function', calls: LegacyCalls, warnings: Warnings): ToolResult {
  const callId = role === 'tool' ? message.text('tool_call_id') : calls.last
  if (callId === undefined)
    warnings.refuse(message.path('tool_call_id'), 'is required: the id of the call that this is the result of.')
  const result: ToolResult = {
    callId,
    content: parseContent(message, 'content', warnings, contentForm),
    ...nameOf(message),
  }
  warnings.place(result, message.at)
  return result
}

function nameOf(message: Fields): { name?: string } {
  const name = message.text('name')
  return name === undefined ? {} : { name }
}

/** The calls so far. A legacy `function_call` has no id: the result that follows it belongs to it. */
interface LegacyCalls {
  /** The id of the last legacy call. */
  last: string | undefined
  /** The number of all calls. */
  count: number
}

/** Parses an earlier message of the model, as the client sends it back. */
function parseAssistant(message: Fields, calls: LegacyCalls, warnings: Warnings): AssistantPart[] {
  const parts = parseContentParts(message, warnings)
  const refusal = message.text('refusal')
  if (refusal) parts.push({ type: 'refusal', text: refusal })
  const images = message.list('images') ?? [] // OpenRouter
  images.forEach((entry, index) => {
    parts.push(parseGeneratedImage(elementFields(entry, `${message.path('images')}[${index}]`, warnings), warnings))
  })
  const audioId = message.fields('audio')?.text('id')
  if (audioId !== undefined) {
    const audio: AudioPart = {
      type: 'audio',
      id: audioId,
      source: { type: 'file-id', id: audioId, format: 'openai-chat' },
    }
    warnings.place(audio, message.path('audio'))
    parts.push(audio)
  }
  const list = message.list('tool_calls') ?? []
  list.forEach((entry, index) => {
    parts.push(parseCall(elementFields(entry, `${message.path('tool_calls')}[${index}]`, warnings), calls, warnings))
  })
  const legacy = message.fields('function_call')
  if (legacy && hasValues(legacy.value)) parts.push(parseLegacyCall(legacy, calls))
  message.ignore('annotations', 'prefix')
  return returnStateToParts(insertReasoning(parseReasoning(message), parts))
}

/** Parses content: a string, or parts with text, a refusal, an image or Mistral's reasoning. */
function parseContentParts(message: Fields, warnings: Warnings): AssistantPart[] {
  const content = message.any('content')
  if (content === undefined || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const path = message.path('content')
  if (!Array.isArray(content)) return warnings.refuse(path, 'must be a string, an array of parts or null.')
  return content.flatMap((entry: unknown, index): AssistantPart[] => {
    const part = elementFields(entry, `${path}[${index}]`, warnings)
    const type = part.text('type')
    if (type === 'thinking') {
      const text = textOfContent(part.any('thinking'))
      part.ignore('closed')
      return text === '' ? [] : [{ type: 'reasoning', text, state: PLAIN_TEXT }]
    }
    if (type === 'image_url') return [parseGeneratedImage(part, warnings)]
    if (type !== 'text' && type !== 'refusal')
      return warnings.refuse(part.path('type'), `"${type}" is no type of content that an assistant has said.`)
    const text = part.text(type) ?? ''
    const cache = parseMark(part, warnings)
    part.drop()
    if (text === '') return []
    return type === 'text' ? [{ type, text, ...(cache && { cache }) }] : [{ type, text }]
  })
}

/** Parses an image that the model has generated. */
function parseGeneratedImage(fields: Fields, warnings: Warnings): ImagePart {
  const { detail, ...image } = parseImage(fields, undefined)
  if (detail) warnings.noteDropped(fields.path('image_url.detail')) // it only applies to images that the model is to read
  fields.ignore('type', 'index')
  fields.drop()
  warnings.place(image, fields.at)
  return image
}

function parseCall(call: Fields, calls: LegacyCalls, warnings: Warnings): ToolCallPart {
  const id = call.text('id') || `call_${calls.count}`
  calls.count++
  const kind = memberInUse(call.value)
  const callee = call.fields(kind) ?? warnings.refuse(call.path('function'), 'is required.')
  const name = callee.text('name') ?? warnings.refuse(callee.path('name'), 'is required.')
  call.ignore('type', 'index', 'extra_content')
  ignoreUnusedMember(call, kind)
  const part: ToolCallPart =
    kind === 'custom'
      ? { type: 'tool-call', id, name, arguments: callee.text('input') ?? '', isFreeForm: true }
      : { type: 'tool-call', id, name, arguments: argumentsText(callee.any('arguments') ?? '') }
  const signature = googleSignature(call.any('extra_content'))
  if (signature !== undefined) part.state = { origin: UNKNOWN_ORIGIN, kind: 'thought-signature', data: signature }
  callee.drop()
  call.drop()
  warnings.place(part, call.at)
  return part
}

/** Marks the other member as read if it is empty; otherwise it is reported as dropped. */
export function ignoreUnusedMember({ value, ignore }: Fields, kind: 'function' | 'custom'): void {
  const other = kind === 'function' ? 'custom' : 'function'
  const member = value[other]
  if (!isObject(member) || !hasValues(member)) ignore(other)
}

function parseLegacyCall(call: Fields, calls: LegacyCalls): ToolCallPart {
  const id = `call_${calls.count++}`
  calls.last = id
  return { type: 'tool-call', id, name: call.text('name') ?? '', arguments: call.text('arguments') ?? '' }
}
