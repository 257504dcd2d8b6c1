import { isObject } from '../../../lib/json.ts'
import { elementFields, type Fields } from '../../canonical/fields.ts'
import type {
  AssistantPart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultContent,
  UserPart,
} from '../../canonical/parts.ts'
import type { SystemTurn, ToolResult, Turn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { createCallAssembler, parseResponse, type WholeCall } from '../function-calls.ts'
import { parseMedia, partDetail } from '../media.ts'
import { parseSignature } from '../reasoning.ts'

/**
 * Parses `contents`. Parts of the model become assistant turns; the results among a user's parts become a tool turn, and the other parts a
 * user turn after it.
 */
export function parseContents(body: Fields, warnings: Warnings): Turn[] {
  const given = body.any('contents')
  const contents = isObject(given) ? [given] : (body.list('contents') ?? [])
  const turns: Turn[] = []
  const calls = createCallRegistry()
  const assembler = createCallAssembler(() => warnings.noteDropped('functionCall'))

  contents.forEach((entry, index) => {
    const content = elementFields(entry, `contents[${index}]`, warnings)
    const parts = partsOf(content, warnings)
    const role = content.text('role') || 'user'
    if (role === 'model') addModel(parts)
    else if (role === 'user' || role === 'function') addUser(parts, content.at)
    else warnings.refuse(content.path('role'), 'must be "user" or "model".')
    content.drop()
  })
  addToAssistant(assembler.flush().map((call) => callPart(call, undefined)))
  return turns

  function addUser(parts: readonly Fields[], at: string) {
    addToAssistant(assembler.flush().map((call) => callPart(call, undefined)))
    const results: ToolResult[] = []
    const content: UserPart[] = []
    for (const part of parts) {
      const result = parseResult(part, calls, warnings)
      if (result) results.push(result)
      else content.push(...parseUserPart(part, warnings))
      part.drop()
    }
    addResults(results)
    if (content.length === 0 && results.length > 0) return
    const turn: Turn = { role: 'user', content }
    warnings.place(turn, at)
    turns.push(turn)
  }

  function addModel(parts: readonly Fields[]) {
    for (const part of parts) {
      const call = part.fields('functionCall')
      const isCall = call !== undefined
      call?.ignore('id', 'name', 'args', 'partialArgs', 'willContinue')
      call?.drop()
      const whole = isCall ? assembler.take(part.value) : assembler.flush()
      addToAssistant(whole.map((call) => callPart(call, isCall ? part : undefined)))
      if (isCall) part.ignore('thought', 'thoughtSignature')
      else {
        const result = parseResult(part, calls, warnings) // a function that ran at Google
        if (result) addResults([result])
        else addToAssistant(parseModelPart(part, warnings))
      }
      part.drop()
    }
  }

  function callPart({ id, name, arguments: args, signature }: WholeCall, at: Fields | undefined): ToolCallPart {
    const part: ToolCallPart = { type: 'tool-call', id: calls.call(id, name), name, arguments: args }
    const state = parseSignature(signature)
    if (state) part.state = state
    if (at) warnings.place(part, at.at)
    return part
  }

  function addToAssistant(parts: readonly AssistantPart[]) {
    if (parts.length === 0) return
    const last = turns.at(-1)
    const content = last?.role === 'assistant' ? last.content : []
    if (last?.role !== 'assistant') turns.push({ role: 'assistant', content })
    for (const part of parts) joinText(content, part)
  }

  function addResults(results: readonly ToolResult[]) {
    if (results.length === 0) return
    const last = turns.at(-1)
    if (last?.role === 'tool') last.results.push(...results)
    else turns.push({ role: 'tool', results: [...results] })
  }
}

/** Parses `systemInstruction`; each of its parts is a block. */
export function parseSystem(body: Fields, warnings: Warnings): SystemTurn[] {
  const given = body.any('systemInstruction')
  if (typeof given === 'string') return given === '' ? [] : [instructions([{ type: 'text', text: given }])]
  const content = body.fields('systemInstruction')
  if (!content) return []
  const texts = partsOf(content, warnings).map((part): TextPart => {
    const text = part.text('text') ?? warnings.refuse(part.at, 'instructions are texts.')
    part.drop()
    return { type: 'text', text }
  })
  return texts.length > 0 ? [instructions(texts)] : []
}

const instructions = (content: TextPart[]): SystemTurn => ({ role: 'system', as: 'instructions', content })

function partsOf(content: Fields, warnings: Warnings): Fields[] {
  const given = content.any('parts')
  const parts = isObject(given) ? [given] : (content.list('parts') ?? [])
  return parts.map((entry, index) => elementFields(entry, `${content.path('parts')}[${index}]`, warnings))
}

/**
 * Adds a part, and joins consecutive texts: clients return a streamed answer in the many small texts in which they received it. A signature
 * is on the last of the texts that it signs.
 */
function joinText(content: AssistantPart[], part: AssistantPart) {
  const last = content.at(-1)
  if (!last || !isWords(last) || !isWords(part) || last.type !== part.type || last.state) content.push(part)
  else content.splice(-1, 1, { ...last, ...part, text: last.text + part.text })
}

const isWords = (part: AssistantPart): part is TextPart | ReasoningPart =>
  part.type === 'text' || part.type === 'reasoning'

/** Parses a part of a user that is no result. An empty text gives no part. */
function parseUserPart(part: Fields, warnings: Warnings): UserPart[] {
  const text = part.text('text')
  part.ignore('thought', 'thoughtSignature')
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }]
  const media = parseMedia(part, warnings) ?? refusePart(part, warnings)
  const detail = partDetail(part)
  if (media.type === 'image' && detail) media.detail = detail
  else if (part.any('mediaResolution') !== undefined) warnings.noteDropped(part.path('mediaResolution'))
  warnings.place(media, part.at, MEDIA_NAMES)
  return [media]
}

const MEDIA_NAMES = {
  detail: 'mediaResolution',
  name: 'inlineData.displayName',
  clip: 'videoMetadata',
}

/** Parses a part of the model that the client returns and that is no call. */
function parseModelPart(part: Fields, warnings: Warnings): AssistantPart[] {
  const text = part.text('text')
  const isReasoning = part.flag('thought') === true
  const state = parseSignature(part.text('thoughtSignature'))
  if (isReasoning && (text || state))
    return [defined<ReasoningPart>({ type: 'reasoning', text: text ?? '', isSummary: true, state })]
  if (text !== undefined) return text || state ? [defined<TextPart>({ type: 'text', text, state })] : []
  const ran = parseServerPart(part)
  if (ran?.length === 0) warnings.noteDropped(part.at)
  if (ran) return ran
  const media = parseMedia(part, warnings)
  if (!media)
    return state || isReasoning ? [defined<TextPart>({ type: 'text', text: '', state })] : refusePart(part, warnings)
  if (media.type !== 'image' && media.type !== 'audio')
    return warnings.refuse(part.at, 'a model does not answer with files.')
  warnings.place(media, part.at)
  return [media.type === 'image' && state ? { ...media, state } : media]
}

/** A call or result of a tool that ran at Google becomes its text; without one, there is no part. */
function parseServerPart(part: Fields): AssistantPart[] | undefined {
  const code = part.fields('executableCode')?.text('code')
  const output = part.fields('codeExecutionResult')?.text('output')
  const text = code ?? output
  if (text !== undefined)
    return [{ type: 'text', text: `\`\`\`${code === undefined ? '' : 'python'}\n${text}\n\`\`\`\n` }]
  return (part.any('toolCall') ?? part.any('toolResponse') ?? part.any('codeExecutionResult')) ? [] : undefined
}

/** Parses a function's result; `undefined` for any other part. */
function parseResult(part: Fields, calls: CallRegistry, warnings: Warnings): ToolResult | undefined {
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

/** Gives ids to calls and results, which need not have any in this format. */
interface CallRegistry {
  /** The id of a call: its own, or one by its place in the conversation. */
  call(id: string | undefined, name: string): string
  /** Id and name of the call that a result belongs to: by its id, else the first call of the name without a result. */
  result(id: string | undefined, name: string | undefined): { id: string; name: string | undefined }
}

function createCallRegistry(): CallRegistry {
  const names = new Map<string, string>()
  const open: string[] = []
  let count = 0

  function freshId(): string {
    let id = `call_${count++}`
    while (names.has(id)) id = `call_${count++}`
    return id
  }

  function answer(id: string, name: string | undefined) {
    const at = open.indexOf(id)
    if (at !== -1) open.splice(at, 1)
    return { id, name: name ?? names.get(id) }
  }

  return {
    call(given, name) {
      const id = given || freshId()
      names.set(id, name)
      open.push(id)
      return id
    },
    result(given, name) {
      if (given && names.has(given)) return answer(given, name)
      const first = open.find((id) => name === undefined || names.get(id) === name)
      return first === undefined ? { id: given || freshId(), name } : answer(first, name)
    },
  }
}
