import { isObject } from '../../../../lib/json.ts'
import { type Fields, readElementFields, requireString } from '../../canonical/canonical-fields.ts'
import type { CanonicalRequest } from '../../canonical/canonical-request.ts'
import {
  type FreeFormTool,
  type FunctionTool,
  type OfferedTool,
  readLocation,
  readTools,
  type ToolChoice,
  type WebSearchTool,
} from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { isClientTool, parseClientTool } from '../responses-client-run-tools.ts'

/*
 * Clients can group functions in namespaces. Their calls then contain both names. Other formats only support plain names, so a function becomes
 * `<namespace>__<name>`, and its calls get both names back.
 */

/** Each function's namespace and name, by its plain name. */
export type Namespaces = Record<string, { namespace: string; name: string }>

/** Returns the plain name for a function in a namespace. */
export const joinToolNames = (namespace: string, name: string): string =>
  namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`

/** Returns a tool's name and namespace, if any, as the client declared them. */
export function getClientName({ client }: CanonicalRequest, name: string): { name: string; namespace?: string } {
  const namespaces = client?.namespaces
  const clientName = isObject(namespaces) && Object.hasOwn(namespaces, name) ? namespaces[name] : undefined
  if (!isObject(clientName) || typeof clientName.name !== 'string' || typeof clientName.namespace !== 'string')
    return { name }
  return { name: clientName.name, namespace: clientName.namespace }
}

const TOOL_FIELD_NAMES = {
  schema: 'parameters',
  outputSchema: 'output_schema',
  grammar: 'format',
  contextSize: 'search_context_size',
  location: 'user_location',
  allowedDomains: 'filters.allowed_domains',
  blockedDomains: 'filters.blocked_domains',
  kind: 'type',
}

/** Parses the `tools` of the request or of an item. Adds the tools that are in namespaces to `namespaces`. */
export function parseTools(parent: Fields, namespaces: Namespaces, warnings: Warnings): OfferedTool[] {
  return readTools(parent, 'tools', warnings).flatMap((fields) => {
    if (fields.string('type') === 'namespace') return parseNamespace(fields, namespaces, warnings)
    const tool = parseTool(fields, warnings)
    if (!tool) return []
    warnings.setPath(tool, fields.path, TOOL_FIELD_NAMES)
    return [tool]
  })
}

function parseNamespace(namespaceFields: Fields, namespaces: Namespaces, warnings: Warnings): OfferedTool[] {
  const namespace = requireString(namespaceFields, 'name', warnings)
  const tools = parseTools(namespaceFields, namespaces, warnings)
  namespaceFields.ignore('type')
  namespaceFields.dropUnread()
  for (const tool of tools) {
    if (tool.type === 'web-search' || tool.type === 'vendor') continue
    const { name } = tool
    tool.name = joinToolNames(namespace, name)
    namespaces[tool.name] = { namespace, name }
  }
  return tools
}

function parseTool(tool: Fields, warnings: Warnings): OfferedTool | undefined {
  const type = tool.string('type') ?? 'function'
  if (type === 'function') return parseFunction(tool, warnings)
  if (type === 'custom') return parseCustom(tool, warnings)
  if (type.startsWith('web_search')) return parseSearch(tool)
  // The request declares all tools, so the provider doesn't have to search for any.
  if (type === 'tool_search' && tool.any('execution') !== 'client') return void warnings.recordDrop(tool.path)
  const clientTool = parseClientTool(tool)
  if (clientTool) return clientTool
  return {
    type: 'vendor',
    name: type,
    rejectionReason: `tools of type "${type}" only work with one vendor.`,
  }
}

function parseFunction(fields: Fields, warnings: Warnings): FunctionTool {
  const tool = omitUndefined<FunctionTool>({
    type: 'function',
    name: requireString(fields, 'name', warnings),
    description: fields.string('description'),
    schema: fields.object('parameters'),
    outputSchema: fields.object('output_schema'),
    strict: fields.boolean('strict'),
  })
  dropUnknownFields(fields)
  return tool
}

function parseCustom(fields: Fields, warnings: Warnings): FreeFormTool {
  const tool = omitUndefined<FreeFormTool>({
    type: 'free-form',
    name: requireString(fields, 'name', warnings),
    description: fields.string('description'),
    grammar: parseGrammar(fields.fields('format'), warnings),
  })
  dropUnknownFields(fields)
  return tool
}

function parseGrammar(format: Fields | undefined, warnings: Warnings): FreeFormTool['grammar'] {
  if (format?.string('type') !== 'grammar') return undefined
  const definition = requireString(format, 'definition', warnings)
  return { syntax: format.oneOf('syntax', ['lark', 'regex']) ?? 'lark', definition }
}

/** Warns about unsupported fields, except for a `defer_loading` that is off. */
function dropUnknownFields(fields: Fields) {
  if (fields.value.defer_loading === false) fields.ignore('defer_loading')
  fields.dropUnread()
}

function parseSearch(fields: Fields): WebSearchTool {
  const filters = fields.fields('filters')
  const tool = omitUndefined<WebSearchTool>({
    type: 'web-search',
    contextSize: fields.oneOfOrDrop('search_context_size', ['low', 'medium', 'high']),
    location: readLocation(fields.fields('user_location')),
    allowedDomains: filters?.strings('allowed_domains'),
    blockedDomains: filters?.strings('blocked_domains'),
  })
  filters?.dropUnread()
  fields.dropUnread()
  return tool
}

/** Parses `tool_choice`. */
export function parseToolChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const value = body.any('tool_choice')
  if (value === undefined) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (typeof value === 'string') return warnings.reject('tool_choice', 'must be none, auto, required, or an object.')
  const choice = body.fields('tool_choice')
  const type = choice?.string('type')
  if (choice && type === 'allowed_tools') return parseAllowedTools(choice, warnings)
  return choice && { type: 'tool', name: readToolName(choice, warnings) }
}

/** Parses the functions among the allowed tools. Drops the vendor's own tools, or rejects them if there are no functions. */
function parseAllowedTools(choice: Fields, warnings: Warnings): ToolChoice {
  const tools = (choice.list('tools') ?? []).map((entry, index) =>
    readElementFields(entry, `${choice.getPath('tools')}[${index}]`, warnings),
  )
  const functions = tools.filter(isChosenByName)
  if (functions.length > 0) for (const tool of tools) if (!isChosenByName(tool)) warnings.recordDrop(tool.path)
  const names = (functions.length > 0 ? functions : tools).map((tool) => readToolName(tool, warnings))
  return { type: 'allowed', mode: choice.oneOf('mode', ['auto', 'required']) ?? 'auto', names }
}

const isChosenByName = (tool: Fields): boolean => {
  const type = tool.string('type')
  return type === 'function' || type === 'custom' || isClientTool(type)
}

function readToolName(tool: Fields, warnings: Warnings): string {
  if (!isChosenByName(tool))
    warnings.reject(
      tool.getPath('type'),
      `tools of type "${tool.string('type')}" cannot be selected with other vendors.`,
    )
  const type = tool.string('type')
  if (isClientTool(type)) return type
  return requireString(tool, 'name', warnings)
}
