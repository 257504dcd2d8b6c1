import { elementFields, type Fields } from '../../canonical/fields.ts'
import {
  type FreeFormTool,
  type FunctionTool,
  type OfferedTool,
  type Tool,
  type ToolChoice,
  toolsIn,
  type WebSearchTool,
  withoutVendorTools,
} from '../../canonical/tools.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { memberInUse } from '../fields.ts'
import { parseMark } from './content.ts'
import { ignoreUnusedMember } from './conversation.ts'

/** Parses `tools`, the legacy `functions`, and `web_search_options`. */
export function parseTools(body: Fields, choice: ToolChoice | undefined, warnings: Warnings): Tool[] {
  const tools = toolsIn(body, 'tools', warnings).map((fields) => {
    const tool = parseTool(fields, warnings)
    warnings.place(tool, fields.at, TOOL_NAMES)
    return tool
  })
  const functions = toolsIn(body, 'functions', warnings).map((fields) => {
    const tool = parseFunction(fields, warnings)
    warnings.place(tool, fields.at, { schema: 'parameters' })
    return tool
  })
  const search = body.fields('web_search_options')
  const offered = [...tools, ...functions, ...(search ? [parseSearch(search, warnings)] : [])]
  return withoutVendorTools(offered, choice, warnings)
}

const TOOL_NAMES = {
  schema: 'function.parameters',
  strict: 'function.strict',
  grammar: 'custom.format',
  kind: 'type',
}

function parseTool(tool: Fields, warnings: Warnings): OfferedTool {
  const type = tool.text('type') ?? 'function'
  if (type !== 'function' && type !== 'custom')
    return { type: 'vendor', refusal: `a tool of type "${type}" runs at one vendor only and cannot be passed on.` }
  const callee = tool.fields(type) ?? warnings.refuse(tool.path(type), 'is required.')
  ignoreUnusedMember(tool, type)
  if (type === 'custom') {
    const parsed = parseCustom(callee, warnings)
    tool.drop()
    return parsed
  }
  const cache = parseMark(tool, warnings)
  const parsed = parseFunction(callee, warnings)
  tool.drop()
  return cache ? { ...parsed, cache } : parsed
}

function parseFunction(callee: Fields, warnings: Warnings): FunctionTool {
  const tool = defined<FunctionTool>({
    type: 'function',
    name: callee.text('name') ?? warnings.refuse(callee.path('name'), 'is required.'),
    description: callee.text('description'),
    schema: callee.object('parameters'),
    strict: callee.flag('strict'),
  })
  callee.drop()
  return tool
}

function parseCustom(custom: Fields, warnings: Warnings): FreeFormTool {
  const tool = defined<FreeFormTool>({
    type: 'free-form',
    name: custom.text('name') ?? warnings.refuse(custom.path('name'), 'is required.'),
    description: custom.text('description'),
    grammar: parseGrammar(custom.fields('format'), warnings),
  })
  custom.drop()
  return tool
}

function parseGrammar(format: Fields | undefined, warnings: Warnings): FreeFormTool['grammar'] {
  if (format?.text('type') !== 'grammar') return undefined
  const grammar = format.fields('grammar')
  const definition = grammar?.text('definition')
  return definition === undefined
    ? warnings.refuse(format.path('grammar'), 'must have a definition.')
    : { syntax: grammar?.word('syntax', ['lark', 'regex']) ?? 'lark', definition }
}

function parseSearch(search: Fields, warnings: Warnings): WebSearchTool {
  const place = search.fields('user_location')?.fields('approximate')
  const location = place && {
    city: place.text('city'),
    region: place.text('region'),
    country: place.text('country'),
    timezone: place.text('timezone'),
  }
  const tool = defined<WebSearchTool>({
    type: 'web-search',
    contextSize: search.wordOrDrop('search_context_size', ['low', 'medium', 'high']),
    location: location && defined<NonNullable<WebSearchTool['location']>>(location),
  })
  search.drop()
  warnings.place(tool, search.at, { contextSize: 'search_context_size', location: 'user_location' })
  return tool
}

/** Parses `tool_choice`, or the legacy `function_call`. */
export function parseToolChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const choice = body.any('tool_choice')
  const legacy = body.any('function_call')
  const name = choice === undefined ? 'function_call' : 'tool_choice'
  const value = choice ?? legacy
  if (value === undefined) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (value === 'any') return { type: 'required' } // Mistral
  if (typeof value === 'string') return warnings.refuse(name, 'must be none, auto, required or an object.')
  const fields = body.fields(name)
  const allowed = fields?.fields('allowed_tools')
  if (allowed) return parseAllowed(allowed, warnings)
  const callee = fields && calleeIn(fields)
  const tool = callee?.text('name')
  return tool === undefined ? warnings.refuse(name, 'must name a tool.') : { type: 'tool', name: tool }
}

function parseAllowed(allowed: Fields, warnings: Warnings): ToolChoice {
  const names = (allowed.list('tools') ?? []).map((entry, index) => {
    const tool = elementFields(entry, `${allowed.path('tools')}[${index}]`, warnings)
    const callee = calleeIn(tool)
    return callee.text('name') ?? warnings.refuse(callee.path('name'), 'is required.')
  })
  return { type: 'allowed', mode: allowed.word('mode', ['auto', 'required']) ?? 'auto', names }
}

/** The member that names a tool; some clients put the name into the object itself. */
const calleeIn = (choice: Fields): Fields => choice.fields(memberInUse(choice.value)) ?? choice
