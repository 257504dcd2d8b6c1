import { isObject } from '../../../lib/json.ts'
import { elementFields, type Fields } from '../../canonical/fields.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import {
  type FreeFormTool,
  type FunctionTool,
  type OfferedTool,
  type ToolChoice,
  toolsIn,
  type WebSearchTool,
} from '../../canonical/tools.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { clientTool, isClientTool } from '../client-tools.ts'

/*
 * Clients can group their functions in namespaces; calls then have both names. Other formats have plain names only, so that a function becomes
 * `<namespace>__<name>`, and its calls get their two names back.
 */

/** The two names of a function, by its plain name. */
export type Namespaces = Record<string, { namespace: string; name: string }>

/** The plain name of a function in a namespace. */
export const plainName = (namespace: string, name: string): string =>
  namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`

/** The name, and perhaps the namespace, under which the client has declared a tool. */
export function clientName({ client }: CanonicalRequest, name: string): { name: string; namespace?: string } {
  const namespaces = client?.namespaces
  const known = isObject(namespaces) && Object.hasOwn(namespaces, name) ? namespaces[name] : undefined
  if (!isObject(known) || typeof known.name !== 'string' || typeof known.namespace !== 'string') return { name }
  return { name: known.name, namespace: known.namespace }
}

/** The format's names of the canonical fields of a tool. */
const TOOL_NAMES = {
  schema: 'parameters',
  outputSchema: 'output_schema',
  grammar: 'format',
  contextSize: 'search_context_size',
  location: 'user_location',
  allowedDomains: 'filters.allowed_domains',
  blockedDomains: 'filters.blocked_domains',
  kind: 'type',
}

/** Parses `tools` of the request or of an item. Those in namespaces are added to `namespaces`. */
export function parseTools(owner: Fields, namespaces: Namespaces, warnings: Warnings): OfferedTool[] {
  return toolsIn(owner, 'tools', warnings).flatMap((fields) => {
    if (fields.text('type') === 'namespace') return parseNamespace(fields, namespaces, warnings)
    const tool = parseTool(fields, warnings)
    if (!tool) return []
    warnings.place(tool, fields.at, TOOL_NAMES)
    return [tool]
  })
}

function parseNamespace(group: Fields, namespaces: Namespaces, warnings: Warnings): OfferedTool[] {
  const namespace = group.text('name') ?? warnings.refuse(group.path('name'), 'is required.')
  const tools = parseTools(group, namespaces, warnings)
  group.ignore('type')
  group.drop()
  for (const tool of tools) {
    if (tool.type === 'web-search' || tool.type === 'vendor') continue
    const { name } = tool
    tool.name = plainName(namespace, name)
    namespaces[tool.name] = { namespace, name }
  }
  return tools
}

function parseTool(tool: Fields, warnings: Warnings): OfferedTool | undefined {
  const type = tool.text('type') ?? 'function'
  if (type === 'function') return parseFunction(tool, warnings)
  if (type === 'custom') return parseCustom(tool, warnings)
  if (type.startsWith('web_search')) return parseSearch(tool)
  // The request declares all tools, so that the provider need not search for any.
  if (type === 'tool_search' && tool.any('execution') !== 'client') return void warnings.noteDropped(tool.at)
  const own = clientTool(tool)
  if (own) return own
  return {
    type: 'vendor',
    name: type,
    refusal: `a tool of type "${type}" runs at one vendor only and cannot be passed on.`,
  }
}

function parseFunction(fields: Fields, warnings: Warnings): FunctionTool {
  const tool = defined<FunctionTool>({
    type: 'function',
    name: fields.text('name') ?? warnings.refuse(fields.path('name'), 'is required.'),
    description: fields.text('description'),
    schema: fields.object('parameters'),
    outputSchema: fields.object('output_schema'),
    strict: fields.flag('strict'),
  })
  dropUnknownFields(fields)
  return tool
}

function parseCustom(fields: Fields, warnings: Warnings): FreeFormTool {
  const tool = defined<FreeFormTool>({
    type: 'free-form',
    name: fields.text('name') ?? warnings.refuse(fields.path('name'), 'is required.'),
    description: fields.text('description'),
    grammar: parseGrammar(fields.fields('format'), warnings),
  })
  dropUnknownFields(fields)
  return tool
}

function parseGrammar(format: Fields | undefined, warnings: Warnings): FreeFormTool['grammar'] {
  if (format?.text('type') !== 'grammar') return undefined
  const definition = format.text('definition') ?? warnings.refuse(format.path('definition'), 'is required.')
  return { syntax: format.word('syntax', ['lark', 'regex']) ?? 'lark', definition }
}

/** Reports the fields that are not passed on, except a `defer_loading` that is off. */
function dropUnknownFields(fields: Fields) {
  if (fields.value.defer_loading === false) fields.ignore('defer_loading')
  fields.drop()
}

function parseSearch(fields: Fields): WebSearchTool {
  const place = fields.fields('user_location')
  const location = place && {
    city: place.text('city'),
    region: place.text('region'),
    country: place.text('country'),
    timezone: place.text('timezone'),
  }
  const filters = fields.fields('filters')
  const tool = defined<WebSearchTool>({
    type: 'web-search',
    contextSize: fields.wordOrDrop('search_context_size', ['low', 'medium', 'high']),
    location: location && defined<NonNullable<WebSearchTool['location']>>(location),
    allowedDomains: filters?.texts('allowed_domains'),
    blockedDomains: filters?.texts('blocked_domains'),
  })
  filters?.drop()
  fields.drop()
  return tool
}

/** Parses `tool_choice`. */
export function parseToolChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const value = body.any('tool_choice')
  if (value === undefined) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (typeof value === 'string') return warnings.refuse('tool_choice', 'must be none, auto, required or an object.')
  const choice = body.fields('tool_choice')
  const type = choice?.text('type')
  if (choice && type === 'allowed_tools') return parseAllowed(choice, warnings)
  return choice && { type: 'tool', name: nameOf(choice, warnings) }
}

/** Parses the functions among the allowed tools. The vendor's own tools are dropped, or refused if there are no others. */
function parseAllowed(choice: Fields, warnings: Warnings): ToolChoice {
  const tools = (choice.list('tools') ?? []).map((entry, index) =>
    elementFields(entry, `${choice.path('tools')}[${index}]`, warnings),
  )
  const own = tools.filter((tool) => !isChosenByName(tool))
  if (own.length < tools.length) for (const tool of own) warnings.noteDropped(tool.at)
  const names = (own.length < tools.length ? tools.filter(isChosenByName) : tools).map((tool) => nameOf(tool, warnings))
  return { type: 'allowed', mode: choice.word('mode', ['auto', 'required']) ?? 'auto', names }
}

/** Is the tool chosen by its name? */
const isChosenByName = (tool: Fields): boolean => {
  const type = tool.text('type')
  return type === 'function' || type === 'custom' || isClientTool(type)
}

function nameOf(tool: Fields, warnings: Warnings): string {
  if (!isChosenByName(tool))
    warnings.refuse(tool.path('type'), `a tool of type "${tool.text('type')}" cannot be chosen at other vendors.`)
  const type = tool.text('type')
  if (isClientTool(type)) return type
  return tool.text('name') ?? warnings.refuse(tool.path('name'), 'is required.')
}
