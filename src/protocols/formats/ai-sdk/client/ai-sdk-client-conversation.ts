import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import { type Fields, readElementFields, requireFields, requireString } from '../../canonical/canonical-fields.ts'
import type {
  AssistantPart,
  ImagePart,
  ReasoningPart,
  ServerToolPart,
  TextPart,
  ToolCallPart,
  ToolResultContent,
  UserPart,
} from '../../canonical/canonical-parts.ts'
import { createHostedToolPart, type Tool } from '../../canonical/canonical-tools.ts'
import type { ToolResult, Turn } from '../../canonical/canonical-turns.ts'
import { omitUndefined, readStringOrEmpty } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import type { WireDocument } from '../ai-sdk-wire.ts'
import { FILE_FIELD_NAMES, type FileContext, parseFile, parseResultFile } from './ai-sdk-client-files.ts'
import { parseImageResult } from './ai-sdk-client-hosted-tools.ts'
import { parseBreakpoint, parsePhase, parseState } from './ai-sdk-client-metadata.ts'

interface PromptContext extends FileContext {
  /** The request's tools, which show whether a call's input is free text. */
  tools: readonly Tool[]
}

/** Parses `prompt`. Each message becomes a turn, except that consecutive tool messages become one. */
export function parsePrompt(body: Fields, context: PromptContext): Turn[] {
  const { warnings } = context
  const messages = body.list('prompt') ?? warnings.reject('prompt', 'is required: a list of messages.')
  const turns: Turn[] = []
  messages.forEach((entry, index) => {
    const message = readElementFields(entry, `prompt[${index}]`, warnings)
    const turn = parseMessage(message, context)
    message.ignore('providerOptions')
    message.dropUnread()
    warnings.setPath(turn, message.path)
    const lastTurn = turns.at(-1)
    if (turn.role === 'tool' && lastTurn?.role === 'tool') lastTurn.results.push(...turn.results)
    else if (turn.role !== 'tool' || turn.results.length > 0) turns.push(turn)
  })
  return turns
}

/** Lists a request's documents, in order, if any of them may be cited. Otherwise, returns an empty list. */
export function listCitableDocuments(turns: readonly Turn[]): WireDocument[] {
  const content = turns.flatMap((turn): readonly (UserPart | AssistantPart)[] =>
    turn.role === 'tool' ? turn.results.flatMap((result) => result.content) : turn.content,
  )
  const files = content.filter((part) => part.type === 'file')
  if (!files.some(({ citable }) => citable)) return []
  return files.map(({ source, name }, index) => ({
    mediaType: ('mediaType' in source && source.mediaType) || 'application/pdf',
    title: name ?? `Document ${index}`,
    ...(name !== undefined && /\.\w+$/.test(name) && { filename: name }), // a name without an extension may be a title
  }))
}

function parseMessage(message: Fields, context: PromptContext): Turn {
  const { warnings } = context
  const role = message.string('role')
  switch (role) {
    case 'system':
      return { role, sentAs: 'system', content: [createText(message.string('content') ?? '', message, warnings)] }
    case 'user':
      return { role, content: readParts(message, warnings).flatMap((part) => parseUserPart(part, message, context)) }
    case 'assistant':
      return { role, content: parseAssistant(message, context) }
    case 'tool':
      return { role, results: readParts(message, warnings).flatMap((part) => parseToolPart(part, message, context)) }
    default:
      return warnings.reject(message.getPath('role'), 'must be system, user, assistant, or tool.')
  }
}

function readParts(message: Fields, warnings: Warnings): Fields[] {
  const content = message.any('content')
  const path = message.getPath('content')
  if (typeof content === 'string') return [readElementFields({ type: 'text', text: content }, path, warnings)]
  return (message.list('content') ?? []).map((part, index) => readElementFields(part, `${path}[${index}]`, warnings))
}

/** Reads a part's cache breakpoint. A breakpoint on a message applies to its last part. */
const readBreakpoint = (part: Fields, message: Fields, warnings: Warnings) =>
  parseBreakpoint(part, warnings) ??
  (message.list('content')?.at(-1) === part.value ? parseBreakpoint(message, warnings) : undefined)

function createText(text: string, fields: Fields, warnings: Warnings): TextPart {
  return omitUndefined<TextPart>({ type: 'text', text, cache: parseBreakpoint(fields, warnings) })
}

function parseUserPart(part: Fields, message: Fields, context: FileContext): UserPart[] {
  const { warnings } = context
  const type = part.string('type')
  if (type !== 'text' && type !== 'file') return rejectPart(part, warnings)
  if (type === 'text' && !part.string('text')) return []
  const cache = readBreakpoint(part, message, warnings)
  const parsedPart: UserPart = type === 'file' ? parseFile(part, context) : { type, text: part.string('text') ?? '' }
  if (cache && parsedPart.type !== 'video') parsedPart.cache = cache
  part.ignore('providerOptions')
  part.dropUnread()
  warnings.setPath(parsedPart, part.path, FILE_FIELD_NAMES)
  return [parsedPart]
}

const rejectPart = ({ getPath, value }: Fields, warnings: Warnings): never =>
  warnings.reject(getPath('type'), `parts of type "${readStringOrEmpty(value.type)}" are not supported here.`)

function parseAssistant(message: Fields, context: PromptContext): AssistantPart[] {
  const { warnings } = context
  const hostedCalls: HostedCalls = new Map()
  return readParts(message, warnings).flatMap((part) => {
    const parsedPart = parseAssistantPart(part, hostedCalls, context)
    part.ignore('providerOptions', 'title')
    part.dropUnread()
    if (!parsedPart) return []
    const cache =
      parsedPart.type === 'text' || parsedPart.type === 'tool-call'
        ? readBreakpoint(part, message, warnings)
        : undefined
    const cachedPart = cache ? { ...parsedPart, cache } : parsedPart
    warnings.setPath(cachedPart, part.path)
    return [cachedPart]
  })
}

function parseAssistantPart(part: Fields, hostedCalls: HostedCalls, context: PromptContext): AssistantPart | undefined {
  const { warnings } = context
  const type = part.string('type')
  switch (type) {
    case 'text': {
      const text = part.string('text') ?? ''
      const state = parseState(part)
      part.ignore('citations')
      return text === '' && !state ? undefined : omitUndefined<TextPart>({ type, text, phase: parsePhase(part), state })
    }
    case 'reasoning': {
      const text = part.string('text') ?? ''
      const state = parseState(part)
      return text === '' && !state ? undefined : omitUndefined<ReasoningPart>({ type, text, state })
    }
    case 'file':
      return parseResponseFile(part, context)
    case 'tool-call':
      if (part.boolean('providerExecuted')) return recordHostedCall(part, hostedCalls)
      return parseCall(part, context)
    case 'tool-result':
      return parseServerResult(part, hostedCalls, warnings)
    case 'custom':
    case 'reasoning-file':
      part.ignore(...Object.keys(part.value))
      return void warnings.recordDrop(part.path)
    default:
      return rejectPart(part, warnings)
  }
}

/** Parses a model-generated file. Only images and audio can be sent back to a model. */
function parseResponseFile(part: Fields, context: FileContext): AssistantPart | undefined {
  const { type, source } = parseFile(part, context)
  if (type !== 'image' && type !== 'audio') return void context.warnings.recordDrop(part.path)
  const state = parseState(part)
  return type === 'image' && state ? { type, source, state } : { type, source }
}

function parseCall(part: Fields, { warnings, tools }: PromptContext): ToolCallPart {
  part.ignore('providerExecuted')
  const [name, input] = [requireString(part, 'toolName', warnings), part.any('input')]
  const isFreeForm =
    typeof input === 'string' && tools.some((tool) => tool.type === 'free-form' && tool.name === name)
      ? true
      : undefined
  return omitUndefined<ToolCallPart>({
    type: 'tool-call',
    id: requireString(part, 'toolCallId', warnings),
    name,
    arguments: isFreeForm ? readStringOrEmpty(input) : stringifyArguments(input),
    isFreeForm,
    state: parseState(part),
  })
}

/** The names and inputs of provider-run tools, by call ID. */
type HostedCalls = Map<string, { name: string; input: JsonObject }>

/** Stores the name and input of a provider-run tool for the result that follows. */
function recordHostedCall(part: Fields, hostedCalls: HostedCalls): undefined {
  const input = part.any('input')
  hostedCalls.set(part.string('toolCallId') ?? '', {
    name: part.string('toolName') ?? '',
    input: isObject(input) ? input : {},
  })
  part.ignore('dynamic')
}

/** Parses the result of a provider-run tool: a web search, an image, or another tool's output. */
function parseServerResult(
  part: Fields,
  hostedCalls: HostedCalls,
  warnings: Warnings,
): ServerToolPart | ImagePart | undefined {
  const id = part.string('toolCallId') ?? ''
  const result = part.fields('output')?.any('value')
  part.ignore('toolName', 'output')
  const call = hostedCalls.get(id)
  if (call === undefined || result === undefined) return void warnings.recordDrop(part.path)
  const image = parseImageResult(result)
  if (image) return image
  if (!Array.isArray(result) || !result.every(isPage)) return createHostedToolPart(id, { ...call, result })
  const results = result.map(({ url, title }) => ({ url: readStringOrEmpty(url), title: readStringOrEmpty(title) }))
  return { type: 'server-tool', tool: 'web-search', id, query: readStringOrEmpty(call.input.query), results }
}

const isPage = (value: unknown): value is JsonObject => isObject(value) && typeof value.url === 'string'

/** Parses a part of a tool message. Drops responses to a vendor's approval requests. */
function parseToolPart(part: Fields, message: Fields, context: FileContext): ToolResult[] {
  const { warnings } = context
  const type = part.string('type')
  if (type === 'tool-approval-response') {
    warnings.recordDrop(part.path)
    return []
  }
  if (type !== 'tool-result') return rejectPart(part, warnings)
  const output = requireFields(part, 'output', warnings)
  const result = omitUndefined<ToolResult>({
    callId: requireString(part, 'toolCallId', warnings),
    name: requireString(part, 'toolName', warnings),
    ...parseOutput(output, context),
    cache: readBreakpoint(part, message, warnings) ?? parseBreakpoint(output, warnings),
  })
  part.ignore('providerOptions')
  part.dropUnread()
  warnings.setPath(result, part.path)
  return [result]
}

type Output = Pick<ToolResult, 'content'> & { isError: true | undefined }

function parseOutput(output: Fields, context: FileContext): Output {
  const { warnings } = context
  const type = output.string('type')
  const createOutput = (text: string, isError?: true): Output => ({
    content: text === '' ? [] : [{ type: 'text', text }],
    isError,
  })
  switch (type) {
    case 'text':
    case 'error-text':
      return createOutput(output.string('value') ?? '', type === 'error-text' || undefined)
    case 'json':
    case 'error-json':
      return createOutput(JSON.stringify(output.any('value') ?? null), type === 'error-json' || undefined)
    case 'execution-denied':
      return createOutput(output.string('reason') ?? 'The user did not allow this tool call.')
    case 'content': {
      const path = output.getPath('value')
      const parts = (output.list('value') ?? []).map((entry, index) =>
        readElementFields(entry, `${path}[${index}]`, warnings),
      )
      return { content: parts.flatMap((part) => parseResultPart(part, context)), isError: undefined }
    }
    default:
      return warnings.reject(output.getPath('type'), `outputs of type "${type}" are not supported.`)
  }
}

function parseResultPart(part: Fields, context: FileContext): ToolResultContent[] {
  const { warnings } = context
  const type = part.string('type') ?? ''
  switch (type) {
    case 'text':
      return part.string('text') ? [createText(part.string('text') ?? '', part, warnings)] : []
    case 'file':
      return [parseFile(part, context)]
    case 'custom':
      warnings.recordDrop(part.path)
      return []
    default:
      return /^(?:file|image)-(?:data|url|id|file-id)$|^media$/.test(type)
        ? [parseResultFile(part, type, context)]
        : rejectPart(part, warnings)
  }
}
