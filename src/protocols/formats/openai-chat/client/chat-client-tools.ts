import { type Fields, readElementFields, requireFields, requireString } from '../../canonical/canonical-fields.ts'
import {
  dropVendorTools,
  type FreeFormTool,
  type FunctionTool,
  type OfferedTool,
  readLocation,
  readTools,
  type Tool,
  type ToolChoice,
  type WebSearchTool,
} from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { getToolType } from '../chat-fields.ts'
import { parseBreakpoint } from './chat-client-content.ts'
import { ignoreUnusedField } from './chat-client-conversation.ts'

/** Parses `tools`, the legacy `functions`, and `web_search_options`. */
export function parseTools(body: Fields, choice: ToolChoice | undefined, warnings: Warnings): Tool[] {
  const tools = readTools(body, 'tools', warnings).map((fields) => {
    const tool = parseTool(fields, warnings)
    warnings.setPath(tool, fields.path, TOOL_FIELD_NAMES)
    return tool
  })
  const functions = readTools(body, 'functions', warnings).map((fields) => {
    const tool = parseFunction(fields, warnings)
    warnings.setPath(tool, fields.path, { schema: 'parameters' })
    return tool
  })
  const search = body.fields('web_search_options')
  const allTools = [...tools, ...functions, ...(search ? [parseSearch(search, warnings)] : [])]
  return dropVendorTools(allTools, choice, warnings)
}

const TOOL_FIELD_NAMES = {
  schema: 'function.parameters',
  strict: 'function.strict',
  grammar: 'custom.format',
  kind: 'type',
}

function parseTool(tool: Fields, warnings: Warnings): OfferedTool {
  const type = tool.string('type') ?? 'function'
  if (type !== 'function' && type !== 'custom')
    return { type: 'vendor', rejectionReason: `tools of type "${type}" only work with one vendor.` }
  const definition = requireFields(tool, type, warnings)
  ignoreUnusedField(tool, type)
  if (type === 'custom') {
    const customTool = parseCustom(definition, warnings)
    tool.dropUnread()
    return customTool
  }
  const cache = parseBreakpoint(tool, warnings)
  const functionTool = parseFunction(definition, warnings)
  tool.dropUnread()
  return cache ? { ...functionTool, cache } : functionTool
}

function parseFunction(definition: Fields, warnings: Warnings): FunctionTool {
  const tool = omitUndefined<FunctionTool>({
    type: 'function',
    name: requireString(definition, 'name', warnings),
    description: definition.string('description'),
    schema: definition.object('parameters'),
    strict: definition.boolean('strict'),
  })
  definition.dropUnread()
  return tool
}

function parseCustom(custom: Fields, warnings: Warnings): FreeFormTool {
  const tool = omitUndefined<FreeFormTool>({
    type: 'free-form',
    name: requireString(custom, 'name', warnings),
    description: custom.string('description'),
    grammar: parseGrammar(custom.fields('format'), warnings),
  })
  custom.dropUnread()
  return tool
}

function parseGrammar(format: Fields | undefined, warnings: Warnings): FreeFormTool['grammar'] {
  if (format?.string('type') !== 'grammar') return undefined
  const grammar = format.fields('grammar')
  const definition = grammar?.string('definition')
  return definition === undefined
    ? warnings.reject(format.getPath('grammar'), 'must have a definition.')
    : { syntax: grammar?.oneOf('syntax', ['lark', 'regex']) ?? 'lark', definition }
}

function parseSearch(search: Fields, warnings: Warnings): WebSearchTool {
  const tool = omitUndefined<WebSearchTool>({
    type: 'web-search',
    contextSize: search.oneOfOrDrop('search_context_size', ['low', 'medium', 'high']),
    location: readLocation(search.fields('user_location')?.fields('approximate')),
  })
  search.dropUnread()
  warnings.setPath(tool, search.path, { contextSize: 'search_context_size', location: 'user_location' })
  return tool
}

/** Parses `tool_choice`, or the legacy `function_call`. */
export function parseToolChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const choice = body.any('tool_choice')
  const legacyChoice = body.any('function_call')
  const name = choice === undefined ? 'function_call' : 'tool_choice'
  const value = choice ?? legacyChoice
  if (value === undefined) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (value === 'any') return { type: 'required' } // Mistral's word for `required`
  if (typeof value === 'string') return warnings.reject(name, 'must be none, auto, required, or an object.')
  const fields = body.fields(name)
  const allowedTools = fields?.fields('allowed_tools')
  if (allowedTools) return parseAllowedTools(allowedTools, warnings)
  const definition = fields && getToolDefinition(fields)
  const toolName = definition?.string('name')
  return toolName === undefined ? warnings.reject(name, 'must name a tool.') : { type: 'tool', name: toolName }
}

function parseAllowedTools(allowedTools: Fields, warnings: Warnings): ToolChoice {
  const names = (allowedTools.list('tools') ?? []).map((entry, index) => {
    const tool = readElementFields(entry, `${allowedTools.getPath('tools')}[${index}]`, warnings)
    const definition = getToolDefinition(tool)
    return requireString(definition, 'name', warnings)
  })
  return { type: 'allowed', mode: allowedTools.oneOf('mode', ['auto', 'required']) ?? 'auto', names }
}

/** Returns the object that contains a tool's name. Some clients put the name in the choice itself. */
const getToolDefinition = (choice: Fields): Fields => choice.fields(getToolType(choice.value)) ?? choice
