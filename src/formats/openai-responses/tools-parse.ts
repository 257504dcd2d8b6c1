import { defined } from '../canonical/defined.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { FreeFormTool, FunctionTool, ToolChoice, WebSearchTool } from '../canonical/tools.ts'
import { type OfferedTool, toolsIn } from '../canonical/vendor-tools.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { clientTool, isClientTool } from './client-tools.ts'
import { type Namespaces, plainName } from './namespaces.ts'

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

/** The tools in a list of the request. Grouped ones are entered in `namespaces`. */
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
  // All tools are declared at once, so that the provider has nothing to search for.
  if (type === 'tool_search' && tool.any('execution') !== 'client') return void warnings.dropped(tool.at)
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
  dropRest(fields)
  return tool
}

function parseCustom(fields: Fields, warnings: Warnings): FreeFormTool {
  const tool = defined<FreeFormTool>({
    type: 'free-form',
    name: fields.text('name') ?? warnings.refuse(fields.path('name'), 'is required.'),
    description: fields.text('description'),
    grammar: parseGrammar(fields.fields('format'), warnings),
  })
  dropRest(fields)
  return tool
}

function parseGrammar(format: Fields | undefined, warnings: Warnings): FreeFormTool['grammar'] {
  if (format?.text('type') !== 'grammar') return undefined
  const definition = format.text('definition') ?? warnings.refuse(format.path('definition'), 'is required.')
  return { syntax: format.word('syntax', ['lark', 'regex']) ?? 'lark', definition }
}

/** Says what is lost, unless it says only that something is not the case. */
function dropRest(fields: Fields) {
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
    contextSize: fields.wish('search_context_size', ['low', 'medium', 'high']),
    location: location && defined<NonNullable<WebSearchTool['location']>>(location),
    allowedDomains: filters?.texts('allowed_domains'),
    blockedDomains: filters?.texts('blocked_domains'),
  })
  filters?.drop()
  fields.drop()
  return tool
}

export function parseToolChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const said = body.any('tool_choice')
  if (said === undefined) return undefined
  if (said === 'auto' || said === 'none' || said === 'required') return { type: said }
  if (typeof said === 'string') return warnings.refuse('tool_choice', 'must be none, auto, required or an object.')
  const choice = body.fields('tool_choice')
  const type = choice?.text('type')
  if (choice && type === 'allowed_tools') return parseAllowed(choice, warnings)
  return choice && { type: 'tool', name: nameOf(choice, warnings) }
}

/** The functions among the allowed tools. Tools of the vendor's own are dropped, unless there are no others. */
function parseAllowed(choice: Fields, warnings: Warnings): ToolChoice {
  const tools = (choice.list('tools') ?? []).map((entry, index) =>
    elementFields(entry, `${choice.path('tools')}[${index}]`, warnings),
  )
  const own = tools.filter((tool) => !isNamed(tool))
  if (own.length < tools.length) for (const tool of own) warnings.dropped(tool.at)
  const names = (own.length < tools.length ? tools.filter(isNamed) : tools).map((tool) => nameOf(tool, warnings))
  return { type: 'allowed', mode: choice.word('mode', ['auto', 'required']) ?? 'auto', names }
}

/** Is it chosen by a name? */
const isNamed = (tool: Fields): boolean => {
  const type = tool.text('type')
  return type === 'function' || type === 'custom' || isClientTool(type)
}

function nameOf(tool: Fields, warnings: Warnings): string {
  if (!isNamed(tool))
    warnings.refuse(tool.path('type'), `a tool of type "${tool.text('type')}" cannot be chosen at other vendors.`)
  const type = tool.text('type')
  if (isClientTool(type)) return type
  return tool.text('name') ?? warnings.refuse(tool.path('name'), 'is required.')
}
