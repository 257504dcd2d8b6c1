import { isObject, type JsonObject } from '../../../lib/json.ts'
import { argumentsText } from '../../canonical/arguments.ts'
import { elementFields, type Fields } from '../../canonical/fields.ts'
import type {
  AssistantPart,
  ImagePart,
  ReasoningPart,
  ServerToolPart,
  TextPart,
  ToolCallPart,
  ToolResultContent,
  UserPart,
} from '../../canonical/parts.ts'
import { hostedPart, type Tool } from '../../canonical/tools.ts'
import type { ToolResult, Turn } from '../../canonical/turns.ts'
import { defined, textOrEmpty } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { WireDocument } from '../wire.ts'
import { FILE_NAMES, type FileContext, parseFile, parseResultFile } from './files.ts'
import { returnedImage } from './hosted-tools.ts'
import { parseMark, parsePhase, parseState } from './metadata.ts'

interface PromptContext extends FileContext {
  /** The tools of the request, some of which take free text. */
  tools: readonly Tool[]
}

/** Parses `prompt`. Each message is a turn; consecutive messages of tools are one turn. */
export function parsePrompt(body: Fields, context: PromptContext): Turn[] {
  const { warnings } = context
  const messages = body.list('prompt') ?? warnings.refuse('prompt', 'is required: a list of messages.')
  const turns: Turn[] = []
  messages.forEach((entry, index) => {
    const message = elementFields(entry, `prompt[${index}]`, warnings)
    const turn = parseMessage(message, context)
    message.ignore('providerOptions')
    message.drop()
    warnings.place(turn, message.at)
    const last = turns.at(-1)
    if (turn.role === 'tool' && last?.role === 'tool') last.results.push(...turn.results)
    else if (turn.role !== 'tool' || turn.results.length > 0) turns.push(turn)
  })
  return turns
}

/** The documents that an answer may cite, by their index; none where no document of the request may be cited. */
export function citableDocuments(turns: readonly Turn[]): WireDocument[] {
  const content = turns.flatMap((turn): readonly (UserPart | AssistantPart)[] =>
    turn.role === 'tool' ? turn.results.flatMap((result) => result.content) : turn.content,
  )
  const files = content.filter((part) => part.type === 'file')
  if (!files.some(({ citable }) => citable)) return []
  return files.map(({ source, name }, index) => ({
    mediaType: ('mediaType' in source && source.mediaType) || 'application/pdf',
    title: name ?? `Document ${index}`,
    ...(name !== undefined && /\.\w+$/.test(name) && { filename: name }), // it may be a title
  }))
}

function parseMessage(message: Fields, context: PromptContext): Turn {
  const { warnings } = context
  const role = message.text('role')
  switch (role) {
    case 'system':
      return { role, as: 'system', content: [markedText(message.text('content') ?? '', message, warnings)] }
    case 'user':
      return { role, content: partsOf(message, warnings).flatMap((part) => parseUserPart(part, message, context)) }
    case 'assistant':
      return { role, content: parseAssistant(message, context) }
    case 'tool':
      return { role, results: partsOf(message, warnings).flatMap((part) => parseToolPart(part, message, context)) }
    default:
      return warnings.refuse(message.path('role'), 'must be system, user, assistant or tool.')
  }
}

/** The parts of a message; text alone is read as one part. */
function partsOf(message: Fields, warnings: Warnings): Fields[] {
  const content = message.any('content')
  const path = message.path('content')
  if (typeof content === 'string') return [elementFields({ type: 'text', text: content }, path, warnings)]
  return (message.list('content') ?? []).map((part, index) => elementFields(part, `${path}[${index}]`, warnings))
}

/** A mark on a message stands for its last part. */
const markOf = (part: Fields, message: Fields, warnings: Warnings) =>
  parseMark(part, warnings) ?? (isLast(part, message) ? parseMark(message, warnings) : undefined)

function isLast({ value }: Fields, message: Fields): boolean {
  const content = message.list('content') ?? []
  return content.at(-1) === value
}

function markedText(text: string, fields: Fields, warnings: Warnings): TextPart {
  return defined<TextPart>({ type: 'text', text, cache: parseMark(fields, warnings) })
}

function parseUserPart(part: Fields, message: Fields, context: FileContext): UserPart[] {
  const { warnings } = context
  const type = part.text('type')
  if (type !== 'text' && type !== 'file') return noPart(part, warnings)
  if (type === 'text' && !part.text('text')) return []
  const cache = markOf(part, message, warnings)
  const parsed: UserPart = type === 'file' ? parseFile(part, context) : { type, text: part.text('text') ?? '' }
  if (cache && parsed.type !== 'video') parsed.cache = cache
  part.ignore('providerOptions')
  part.drop()
  warnings.place(parsed, part.at, FILE_NAMES)
  return [parsed]
}

const noPart = ({ path, value }: Fields, warnings: Warnings): never =>
  warnings.refuse(path('type'), `"${textOrEmpty(value.type)}" is not a type of part that can be passed on here.`)

/** Parses an earlier answer that the client returns. */
function parseAssistant(message: Fields, context: PromptContext): AssistantPart[] {
  const { warnings } = context
  const calls: RunCalls = new Map()
  return partsOf(message, warnings).flatMap((part) => {
    const parsed = parseAssistantPart(part, calls, context)
    part.ignore('providerOptions', 'title')
    part.drop()
    if (!parsed) return []
    const cache = parsed.type === 'text' || parsed.type === 'tool-call' ? markOf(part, message, warnings) : undefined
    const whole = cache ? { ...parsed, cache } : parsed
    warnings.place(whole, part.at)
    return [whole]
  })
}

function parseAssistantPart(part: Fields, calls: RunCalls, context: PromptContext): AssistantPart | undefined {
  const { warnings } = context
  const type = part.text('type')
  switch (type) {
    case 'text': {
      const text = part.text('text') ?? ''
      const state = parseState(part)
      part.ignore('citations')
      return text === '' && !state ? undefined : defined<TextPart>({ type, text, phase: parsePhase(part), state })
    }
    case 'reasoning': {
      const text = part.text('text') ?? ''
      const state = parseState(part)
      return text === '' && !state ? undefined : defined<ReasoningPart>({ type, text, state })
    }
    case 'file':
      return parseAnswerFile(part, context)
    case 'tool-call':
      if (part.flag('providerExecuted')) return noteCall(part, calls)
      return parseCall(part, context)
    case 'tool-result':
      return parseServerResult(part, calls, warnings)
    case 'custom':
    case 'reasoning-file':
      part.ignore(...Object.keys(part.value))
      return void warnings.noteDropped(part.at)
    default:
      return noPart(part, warnings)
  }
}

/** A file that a model has made. Only images and sound can go back to a model. */
function parseAnswerFile(part: Fields, context: FileContext): AssistantPart | undefined {
  const { type, source } = parseFile(part, context)
  if (type !== 'image' && type !== 'audio') return void context.warnings.noteDropped(part.at)
  const state = parseState(part)
  return type === 'image' && state ? { type, source, state } : { type, source }
}

function parseCall(part: Fields, { warnings, tools }: PromptContext): ToolCallPart {
  const required = (name: string) => part.text(name) ?? warnings.refuse(part.path(name), 'is required.')
  part.ignore('providerExecuted')
  const [name, input] = [required('toolName'), part.any('input')]
  const isFreeForm =
    typeof input === 'string' && tools.some((tool) => tool.type === 'free-form' && tool.name === name)
      ? true
      : undefined
  return defined<ToolCallPart>({
    type: 'tool-call',
    id: required('toolCallId'),
    name,
    arguments: isFreeForm ? textOrEmpty(input) : argumentsText(input),
    isFreeForm,
    state: parseState(part),
  })
}

/** The names and inputs of tools that ran at the provider, by the id of their call. */
type RunCalls = Map<string, { name: string; input: JsonObject }>

/** The call of a tool that ran at the provider. Keeps its name and input for the result, which follows. */
function noteCall(part: Fields, calls: RunCalls): undefined {
  const input = part.any('input')
  calls.set(part.text('toolCallId') ?? '', {
    name: part.text('toolName') ?? '',
    input: isObject(input) ? input : {},
  })
  part.ignore('dynamic')
}

/** The result of a tool that ran at the provider: a web search, an image, or what another tool has said. */
function parseServerResult(part: Fields, calls: RunCalls, warnings: Warnings): ServerToolPart | ImagePart | undefined {
  const id = part.text('toolCallId') ?? ''
  const result = part.fields('output')?.any('value')
  part.ignore('toolName', 'output')
  const call = calls.get(id)
  if (call === undefined || result === undefined) return void warnings.noteDropped(part.at)
  const image = returnedImage(result)
  if (image) return image
  if (!Array.isArray(result) || !result.every(isPage)) return hostedPart(id, { ...call, result })
  const results = result.map(({ url, title }) => ({ url: textOrEmpty(url), title: textOrEmpty(title) }))
  return { type: 'server-tool', tool: 'web-search', id, query: textOrEmpty(call.input.query), results }
}

const isPage = (found: unknown): found is JsonObject => isObject(found) && typeof found.url === 'string'

/** Parses a part of a message of tools. A response to a vendor's request for approval is dropped. */
function parseToolPart(part: Fields, message: Fields, context: FileContext): ToolResult[] {
  const { warnings } = context
  const type = part.text('type')
  if (type === 'tool-approval-response') {
    warnings.noteDropped(part.at)
    return []
  }
  if (type !== 'tool-result') return noPart(part, warnings)
  const required = (name: string) => part.text(name) ?? warnings.refuse(part.path(name), 'is required.')
  const output = part.fields('output') ?? warnings.refuse(part.path('output'), 'is required.')
  const result = defined<ToolResult>({
    callId: required('toolCallId'),
    name: required('toolName'),
    ...parseOutput(output, context),
    cache: markOf(part, message, warnings) ?? parseMark(output, warnings),
  })
  part.ignore('providerOptions')
  part.drop()
  warnings.place(result, part.at)
  return [result]
}

type Output = Pick<ToolResult, 'content'> & { isError: true | undefined }

function parseOutput(output: Fields, context: FileContext): Output {
  const { warnings } = context
  const type = output.text('type')
  const said = (text: string, isError?: true): Output => ({
    content: text === '' ? [] : [{ type: 'text', text }],
    isError,
  })
  switch (type) {
    case 'text':
    case 'error-text':
      return said(output.text('value') ?? '', type === 'error-text' || undefined)
    case 'json':
    case 'error-json':
      return said(JSON.stringify(output.any('value') ?? null), type === 'error-json' || undefined)
    case 'execution-denied':
      return said(output.text('reason') ?? 'The user did not allow this tool call.')
    case 'content': {
      const path = output.path('value')
      const parts = (output.list('value') ?? []).map((entry, index) =>
        elementFields(entry, `${path}[${index}]`, warnings),
      )
      return { content: parts.flatMap((part) => parseResultPart(part, context)), isError: undefined }
    }
    default:
      return warnings.refuse(output.path('type'), `"${type}" is not a type of output that can be passed on.`)
  }
}

function parseResultPart(part: Fields, context: FileContext): ToolResultContent[] {
  const { warnings } = context
  const type = part.text('type') ?? ''
  switch (type) {
    case 'text':
      return part.text('text') ? [markedText(part.text('text') ?? '', part, warnings)] : []
    case 'file':
      return [parseFile(part, context)]
    case 'custom':
      warnings.noteDropped(part.at)
      return []
    default:
      return /^(?:file|image)-(?:data|url|id|file-id)$|^media$/.test(type)
        ? [parseResultFile(part, type, context)]
        : noPart(part, warnings)
  }
}
