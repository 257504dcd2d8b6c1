import { isObject } from '../../../../lib/json.ts'
import { type Fields, readElementFields } from '../../canonical/canonical-fields.ts'
import type {
  AssistantPart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultContent,
  UserPart,
} from '../../canonical/canonical-parts.ts'
import type { SystemTurn, ToolResult, Turn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { type CompleteCall, createCallAssembler, parseResponse } from '../gemini-function-calls.ts'
import { parseMedia, readDetail } from '../gemini-media.ts'
import { parseSignature } from '../gemini-reasoning.ts'

/** Parses `contents`. The results among a user's parts become a tool turn, followed by a user turn with the other parts. */
export function parseContents(body: Fields, warnings: Warnings): Turn[] {
  const value = body.any('contents')
  const contents = isObject(value) ? [value] : (body.list('contents') ?? [])
  const turns: Turn[] = []
  const calls = createCallRegistry()
  const assembler = createCallAssembler(() => warnings.recordDrop('functionCall'))

  contents.forEach((entry, index) => {
    const content = readElementFields(entry, `contents[${index}]`, warnings)
    const parts = readParts(content, warnings)
    const role = content.string('role') || 'user'
    if (role === 'model') addModelParts(parts)
    else if (role === 'user' || role === 'function') addUserParts(parts, content.path)
    else warnings.reject(content.getPath('role'), 'must be "user" or "model".')
    content.dropUnread()
  })
  addToAssistant(assembler.flush().map((call) => createCallPart(call, undefined)))
  return turns

  function addUserParts(parts: readonly Fields[], path: string) {
    addToAssistant(assembler.flush().map((call) => createCallPart(call, undefined)))
    const results: ToolResult[] = []
    const content: UserPart[] = []
    for (const part of parts) {
      const result = parseResult(part, calls, warnings)
      if (result) results.push(result)
      else content.push(...parseUserPart(part, warnings))
      part.dropUnread()
    }
    addResults(results)
    if (content.length === 0 && results.length > 0) return
    const turn: Turn = { role: 'user', content }
    warnings.setPath(turn, path)
    turns.push(turn)
  }

  function addModelParts(parts: readonly Fields[]) {
    for (const part of parts) {
      const call = part.fields('functionCall')
      const isCall = call !== undefined
      call?.ignore('id', 'name', 'args', 'partialArgs', 'willContinue')
      call?.dropUnread()
      const completeCall = isCall ? assembler.addPart(part.value) : assembler.flush()
      addToAssistant(completeCall.map((call) => createCallPart(call, isCall ? part : undefined)))
      if (isCall) part.ignore('thought', 'thoughtSignature')
      else {
        const result = parseResult(part, calls, warnings) // the result of a Google-run function
        if (result) addResults([result])
        else addToAssistant(parseModelPart(part, warnings))
      }
      part.dropUnread()
    }
  }

  function createCallPart(
    { id, name, arguments: args, signature }: CompleteCall,
    location: Fields | undefined,
  ): ToolCallPart {
    const part: ToolCallPart = { type: 'tool-call', id: calls.addCall(id, name), name, arguments: args }
    const state = parseSignature(signature)
    if (state) part.state = state
    if (location) warnings.setPath(part, location.path)
    return part
  }

  function addToAssistant(parts: readonly AssistantPart[]) {
    if (parts.length === 0) return
    const lastTurn = turns.at(-1)
    const content = lastTurn?.role === 'assistant' ? lastTurn.content : []
    if (lastTurn?.role !== 'assistant') turns.push({ role: 'assistant', content })
    for (const part of parts) addJoined(content, part)
  }

  function addResults(results: readonly ToolResult[]) {
    if (results.length === 0) return
    const lastTurn = turns.at(-1)
    if (lastTurn?.role === 'tool') lastTurn.results.push(...results)
    else turns.push({ role: 'tool', results: [...results] })
  }
}

/** Parses `systemInstruction`. Each of its parts becomes a block. */
export function parseSystem(body: Fields, warnings: Warnings): SystemTurn[] {
  const value = body.any('systemInstruction')
  if (typeof value === 'string') return value === '' ? [] : [toSystemTurn([{ type: 'text', text: value }])]
  const content = body.fields('systemInstruction')
  if (!content) return []
  const texts = readParts(content, warnings).map((part): TextPart => {
    const text = part.string('text') ?? warnings.reject(part.path, 'system instructions must be text.')
    part.dropUnread()
    return { type: 'text', text }
  })
  return texts.length > 0 ? [toSystemTurn(texts)] : []
}

const toSystemTurn = (content: TextPart[]): SystemTurn => ({ role: 'system', sentAs: 'instructions', content })

function readParts(content: Fields, warnings: Warnings): Fields[] {
  const value = content.any('parts')
  const parts = isObject(value) ? [value] : (content.list('parts') ?? [])
  return parts.map((entry, index) => readElementFields(entry, `${content.getPath('parts')}[${index}]`, warnings))
}

/** Adds a part, joining the small pieces of streamed text. A signature is on the last piece of the text that it signs. */
function addJoined(content: AssistantPart[], part: AssistantPart) {
  const lastPart = content.at(-1)
  if (
    !lastPart ||
    !isTextOrReasoning(lastPart) ||
    !isTextOrReasoning(part) ||
    lastPart.type !== part.type ||
    lastPart.state
  )
    content.push(part)
  else content.splice(-1, 1, { ...lastPart, ...part, text: lastPart.text + part.text })
}

const isTextOrReasoning = (part: AssistantPart): part is TextPart | ReasoningPart =>
  part.type === 'text' || part.type === 'reasoning'

/** Parses a user part that isn't a result. Returns no part for empty text. */
function parseUserPart(part: Fields, warnings: Warnings): UserPart[] {
  const text = part.string('text')
  part.ignore('thought', 'thoughtSignature')
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }]
  const media = parseMedia(part, warnings) ?? rejectPart(part, warnings)
  const detail = readDetail(part)
  if (media.type === 'image' && detail) media.detail = detail
  else if (part.any('mediaResolution') !== undefined) warnings.recordDrop(part.getPath('mediaResolution'))
  warnings.setPath(media, part.path, MEDIA_FIELD_NAMES)
  return [media]
}

const MEDIA_FIELD_NAMES = {
  detail: 'mediaResolution',
  name: 'inlineData.displayName',
  clip: 'videoMetadata',
}

function parseModelPart(part: Fields, warnings: Warnings): AssistantPart[] {
  const text = part.string('text')
  const isReasoning = part.boolean('thought') === true
  const state = parseSignature(part.string('thoughtSignature'))
  if (isReasoning && (text || state))
    return [omitUndefined<ReasoningPart>({ type: 'reasoning', text: text ?? '', isSummary: true, state })]
  if (text !== undefined) return text || state ? [omitUndefined<TextPart>({ type: 'text', text, state })] : []
  const serverParts = parseServerPart(part)
  if (serverParts?.length === 0) warnings.recordDrop(part.path)
  if (serverParts) return serverParts
  const media = parseMedia(part, warnings)
  if (!media)
    return state || isReasoning
      ? [omitUndefined<TextPart>({ type: 'text', text: '', state })]
      : rejectPart(part, warnings)
  if (media.type !== 'image' && media.type !== 'audio')
    return warnings.reject(part.path, 'model messages cannot contain files.')
  warnings.setPath(media, part.path)
  return [media.type === 'image' && state ? { ...media, state } : media]
}

/** Converts a call or result of a Google-run tool to text. Returns no part if there is no text. */
function parseServerPart(part: Fields): AssistantPart[] | undefined {
  const code = part.fields('executableCode')?.string('code')
  const output = part.fields('codeExecutionResult')?.string('output')
  const text = code ?? output
  if (text !== undefined)
    return [{ type: 'text', text: `\`\`\`${code === undefined ? '' : 'python'}\n${text}\n\`\`\`\n` }]
  return (part.any('toolCall') ?? part.any('toolResponse') ?? part.any('codeExecutionResult')) ? [] : undefined
}

/** Parses a function's result. Returns `undefined` for any other part. */
function parseResult(part: Fields, calls: CallRegistry, warnings: Warnings): ToolResult | undefined {
  const response = part.fields('functionResponse')
  if (!response) return undefined
  const { id, name } = calls.addResult(response.string('id'), response.string('name'))
  const { text, isError } = parseResponse(response.object('response') ?? {})
  const content: ToolResultContent[] = text === '' ? [] : [{ type: 'text', text }]
  const resultParts = response.list('parts') ?? []
  resultParts.forEach((entry, index) => {
    const resultPart = readElementFields(entry, `${response.getPath('parts')}[${index}]`, warnings)
    const media = parseMedia(resultPart, warnings) ?? rejectPart(resultPart, warnings)
    warnings.setPath(media, resultPart.path)
    content.push(media)
  })
  response.dropUnread()
  part.ignore('thoughtSignature')
  const result = omitUndefined<ToolResult>({ callId: id, name, content, isError: isError || undefined })
  warnings.setPath(result, part.path)
  return result
}

function rejectPart({ path, value }: Fields, warnings: Warnings): never {
  const [kind = 'empty'] = Object.keys(value)
  return warnings.reject(path, `parts of type "${kind}" are not supported.`)
}

/** Gives IDs to calls and results, which may have none in this format. */
interface CallRegistry {
  /** Returns a call's ID: its own, or one derived from its position in the conversation. */
  addCall(id: string | undefined, name: string): string
  /** Returns the ID and name of a result's call. Finds the call by ID, or else takes the first call with that name that has no result yet. */
  addResult(id: string | undefined, name: string | undefined): { id: string; name: string | undefined }
}

function createCallRegistry(): CallRegistry {
  const namesById = new Map<string, string>()
  const openIds: string[] = []
  let callCount = 0

  function createId(): string {
    let id = `call_${callCount++}`
    while (namesById.has(id)) id = `call_${callCount++}`
    return id
  }

  function closeCall(id: string, name: string | undefined) {
    const index = openIds.indexOf(id)
    if (index !== -1) openIds.splice(index, 1)
    return { id, name: name ?? namesById.get(id) }
  }

  return {
    addCall(callId, name) {
      const id = callId || createId()
      namesById.set(id, name)
      openIds.push(id)
      return id
    },
    addResult(callId, name) {
      if (callId && namesById.has(callId)) return closeCall(callId, name)
      const firstOpenId = openIds.find((id) => name === undefined || namesById.get(id) === name)
      return firstOpenId === undefined ? { id: callId || createId(), name } : closeCall(firstOpenId, name)
    },
  }
}
