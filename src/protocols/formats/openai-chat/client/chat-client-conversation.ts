import { isObject } from '../../../../lib/json.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import { type Fields, readElementFields, requireString } from '../../canonical/canonical-fields.ts'
import type {
  AssistantPart,
  AudioPart,
  CacheBreakpoint,
  ImagePart,
  ToolCallPart,
} from '../../canonical/canonical-parts.ts'
import type { ToolResult, Turn } from '../../canonical/canonical-turns.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { returnStateToParts } from '../../canonical/state-in-reasoning.ts'
import { parseContent, parseTexts } from '../../openai-fields.ts'
import { getContentText, getToolType, hasFieldValues, readGoogleSignature } from '../chat-fields.ts'
import { contentSyntax, parseBreakpoint, parseImage } from './chat-client-content.ts'
import { insertReasoning, PLAIN_TEXT_STATE, parseReasoning, UNKNOWN_ORIGIN } from './chat-client-reasoning-details.ts'

/** Parses `messages`. Each message becomes a turn, except that consecutive tool messages become one. */
export function parseTurns(messages: readonly unknown[], warnings: Warnings): Turn[] {
  const turns: Turn[] = []
  const legacyCalls: LegacyCalls = { lastId: undefined, callCount: 0 }
  messages.forEach((entry, index) => {
    const message = readElementFields(entry, `messages[${index}]`, warnings)
    const turn = parseTurn(message, legacyCalls, warnings)
    addBreakpoint(turn, parseBreakpoint(message, warnings), warnings)
    message.dropUnread()
    warnings.setPath(turn, message.path)
    const lastTurn = turns.at(-1)
    if (turn.role === 'tool' && lastTurn?.role === 'tool') lastTurn.results.push(...turn.results)
    else turns.push(turn)
  })
  return turns
}

function parseTurn(message: Fields, legacyCalls: LegacyCalls, warnings: Warnings): Turn {
  const role = message.string('role')
  switch (role) {
    case 'system':
    case 'developer':
      return {
        role: 'system',
        sentAs: role,
        content: parseTexts(message, warnings, contentSyntax),
        ...readName(message),
      }
    case 'user':
      return { role: 'user', content: parseContent(message, 'content', warnings, contentSyntax), ...readName(message) }
    case 'assistant':
      return { role: 'assistant', content: parseAssistant(message, legacyCalls, warnings), ...readName(message) }
    case 'tool':
    case 'function':
      return { role: 'tool', results: [parseResult(message, role, legacyCalls, warnings)] }
    default:
      return warnings.reject(message.getPath('role'), 'must be system, developer, user, assistant, or tool.')
  }
}

/** Adds a message-level cache breakpoint, which LiteLLM and OpenRouter also accept, to the message's last part or its result. */
function addBreakpoint(turn: Turn, cache: CacheBreakpoint | undefined, warnings: Warnings): void {
  if (!cache) return
  const lastPart =
    turn.role === 'tool'
      ? turn.results.at(-1)
      : turn.content.findLast(({ type }) => type === 'text' || type === 'image')
  if (lastPart) Object.assign(lastPart, { cache })
  else warnings.recordDrop(warnings.getPath(cache, 'cache'))
}

function parseResult(
  message: Fields,
  role: 'tool' | 'function',
  legacyCalls: LegacyCalls,
  warnings: Warnings,
): ToolResult {
  const callId = role === 'tool' ? message.string('tool_call_id') : legacyCalls.lastId
  if (callId === undefined)
    warnings.reject(message.getPath('tool_call_id'), 'is required: the ID of the call that this result belongs to.')
  const result: ToolResult = {
    callId,
    content: parseContent(message, 'content', warnings, contentSyntax),
    ...readName(message),
  }
  warnings.setPath(result, message.path)
  return result
}

function readName(message: Fields): { name?: string } {
  const name = message.string('name')
  return name === undefined ? {} : { name }
}

/** The calls so far. A legacy `function_call` has no ID, so the next function result belongs to it. */
interface LegacyCalls {
  /** The ID of the last legacy call. */
  lastId: string | undefined
  callCount: number
}

function parseAssistant(message: Fields, legacyCalls: LegacyCalls, warnings: Warnings): AssistantPart[] {
  const parts = parseContentParts(message, warnings)
  const refusal = message.string('refusal')
  if (refusal) parts.push({ type: 'refusal', text: refusal })
  const images = message.list('images') ?? [] // OpenRouter's field for generated images
  images.forEach((entry, index) => {
    parts.push(
      parseGeneratedImage(readElementFields(entry, `${message.getPath('images')}[${index}]`, warnings), warnings),
    )
  })
  const audioId = message.fields('audio')?.string('id')
  if (audioId !== undefined) {
    const audio: AudioPart = {
      type: 'audio',
      id: audioId,
      source: { type: 'file-id', id: audioId, format: 'openai-chat' },
    }
    warnings.setPath(audio, message.getPath('audio'))
    parts.push(audio)
  }
  const toolCalls = message.list('tool_calls') ?? []
  toolCalls.forEach((entry, index) => {
    parts.push(
      parseCall(
        readElementFields(entry, `${message.getPath('tool_calls')}[${index}]`, warnings),
        legacyCalls,
        warnings,
      ),
    )
  })
  const legacyCall = message.fields('function_call')
  if (legacyCall && hasFieldValues(legacyCall.value)) {
    const id = `call_${legacyCalls.callCount++}`
    legacyCalls.lastId = id
    parts.push({
      ...{ type: 'tool-call', id, name: legacyCall.string('name') ?? '' },
      arguments: legacyCall.string('arguments') ?? '',
    })
  }
  message.ignore('annotations', 'prefix')
  return returnStateToParts(insertReasoning(parseReasoning(message), parts))
}

function parseContentParts(message: Fields, warnings: Warnings): AssistantPart[] {
  const content = message.any('content')
  if (content === undefined || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const path = message.getPath('content')
  if (!Array.isArray(content)) return warnings.reject(path, 'must be a string, an array of parts, or null.')
  return content.flatMap((entry: unknown, index): AssistantPart[] => {
    const part = readElementFields(entry, `${path}[${index}]`, warnings)
    const type = part.string('type')
    if (type === 'thinking') {
      const text = getContentText(part.any('thinking'))
      part.ignore('closed')
      return text === '' ? [] : [{ type: 'reasoning', text, state: PLAIN_TEXT_STATE }]
    }
    if (type === 'image_url') return [parseGeneratedImage(part, warnings)]
    if (type !== 'text' && type !== 'refusal')
      return warnings.reject(part.getPath('type'), `content of type "${type}" is not allowed in an assistant message.`)
    const text = part.string(type) ?? ''
    const cache = parseBreakpoint(part, warnings)
    part.dropUnread()
    if (text === '') return []
    return type === 'text' ? [{ type, text, ...(cache && { cache }) }] : [{ type, text }]
  })
}

function parseGeneratedImage(fields: Fields, warnings: Warnings): ImagePart {
  const { detail, ...image } = parseImage(fields, undefined)
  if (detail) warnings.recordDrop(fields.getPath('image_url.detail')) // the detail only applies to input images
  fields.ignore('type', 'index')
  fields.dropUnread()
  warnings.setPath(image, fields.path)
  return image
}

function parseCall(call: Fields, legacyCalls: LegacyCalls, warnings: Warnings): ToolCallPart {
  const id = call.string('id') || `call_${legacyCalls.callCount}`
  legacyCalls.callCount++
  const kind = getToolType(call.value)
  const definition = call.fields(kind) ?? warnings.reject(call.getPath('function'), 'is required.')
  const name = requireString(definition, 'name', warnings)
  call.ignore('type', 'index', 'extra_content')
  ignoreUnusedField(call, kind)
  const part: ToolCallPart =
    kind === 'custom'
      ? { type: 'tool-call', id, name, arguments: definition.string('input') ?? '', isFreeForm: true }
      : { type: 'tool-call', id, name, arguments: stringifyArguments(definition.any('arguments') ?? '') }
  const signature = readGoogleSignature(call.any('extra_content'))
  if (signature !== undefined) part.state = { origin: UNKNOWN_ORIGIN, kind: 'thought-signature', data: signature }
  definition.dropUnread()
  call.dropUnread()
  warnings.setPath(part, call.path)
  return part
}

/** Ignores the other tool type's field if it is empty. Otherwise, a warning reports it as dropped. */
export function ignoreUnusedField({ value, ignore }: Fields, type: 'function' | 'custom'): void {
  const name = type === 'function' ? 'custom' : 'function'
  const field = value[name]
  if (!isObject(field) || !hasFieldValues(field)) ignore(name)
}
