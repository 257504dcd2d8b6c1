import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { getBetaFeature, toClientTool } from '../../anthropic-tools.ts'
import { type Fields, requireString } from '../../canonical/canonical-fields.ts'
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
import type { FileContext } from './ai-sdk-client-files.ts'
import { parseHostedTool, snakeCaseKeys } from './ai-sdk-client-hosted-tools.ts'
import { parseBreakpoint } from './ai-sdk-client-metadata.ts'
import { parseOpenAITool } from './ai-sdk-client-openai-tools.ts'

interface OfferedTools {
  tools: Tool[]
  toolChoice: ToolChoice | undefined
  search: string | undefined
  /** Maps the vendor's names for tools that it runs to the client's names. */
  hostedToolNames: Readonly<Record<string, string>>
}

/** Parses `tools` and `toolChoice`. */
export function parseTools(body: Fields, context: FileContext): OfferedTools {
  const { warnings } = context
  const toolChoice = parseChoice(body, warnings)
  let searchToolName: string | undefined
  const hostedToolNames: Record<string, string> = {}
  const allTools = readTools(body, 'tools', warnings).map((fields): OfferedTool => {
    const tool = parseTool(fields, context)
    if (tool.type === 'web-search') searchToolName = fields.string('name')
    if (tool.type === 'function') fields.dropUnread()
    if (tool.type === 'function' && tool.isHosted) hostedToolNames[tool.name] = fields.string('name') ?? ''
    warnings.setPath(tool, fields.path, { schema: 'inputSchema', examples: 'inputExamples', kind: 'id' })
    return tool
  })
  const hostedChoice =
    toolChoice?.type === 'tool' && Object.entries(hostedToolNames).find(([, name]) => name === toolChoice.name)
  const choice = hostedChoice ? { type: 'tool' as const, name: hostedChoice[0] } : toolChoice
  return {
    tools: dropVendorTools(allTools, choice, warnings),
    toolChoice: choice,
    search: searchToolName,
    hostedToolNames,
  }
}

function parseTool(tool: Fields, context: FileContext): OfferedTool {
  const { warnings, targetFormat } = context
  const type = tool.string('type') ?? 'function'
  const name = requireString(tool, 'name', warnings)
  if (type === 'function') return parseFunction(tool, name, context)
  const id = tool.string('id') ?? ''
  if (SEARCH_TOOL_PATTERN.test(id)) return parseSearch(tool)
  if (id === 'openai.custom') return parseCustom(tool, name)
  const args = tool.object('args') ?? {}
  const parsedTool =
    parseAnthropicTool(id, name, args) ?? parseOpenAITool(id, name, args) ?? parseHostedTool(id, args, targetFormat)
  if (id.startsWith('anthropic.computer_') && targetFormat === 'anthropic-messages')
    return parseComputerTool(id, name, args)
  if (parsedTool) return parsedTool
  return { type: 'vendor', name, rejectionReason: `the tool "${id}" only works with its own vendor.` }
}

/** The AI SDK providers' web searches: `openai.web_search`, `anthropic.web_search_20250305`, `google.google_search`, `xai.web_search`. */
const SEARCH_TOOL_PATTERN = /^[a-z.-]+\.(?:web_search(?:_preview|_\d+)?|google_search)$/i

function parseFunction(tool: Fields, name: string, { warnings, targetFormat }: FileContext): FunctionTool {
  const examples = tool
    .list('inputExamples')
    ?.flatMap((example) => (isObject(example) && isObject(example.input) ? [example.input] : []))
  const keepsExamples = targetFormat === 'anthropic-messages' && examples && examples.length > 0
  if (examples?.length && !keepsExamples) warnings.recordDrop(tool.getPath('inputExamples'))
  tool.ignore('providerOptions', 'title')
  return omitUndefined<FunctionTool>({
    type: 'function',
    name,
    description: tool.string('description'),
    schema: tool.object('inputSchema'),
    strict: tool.boolean('strict'),
    examples: keepsExamples ? examples : undefined,
    cache: parseBreakpoint(tool, warnings),
  })
}

/** Parses OpenAI's custom tool, which takes free-text input. */
function parseCustom(tool: Fields, name: string): FreeFormTool {
  const args = tool.fields('args')
  const format = args?.fields('format')
  const syntax = format?.oneOfOrDrop('syntax', ['regex', 'lark'])
  return omitUndefined<FreeFormTool>({
    type: 'free-form',
    name,
    description: args?.string('description'),
    grammar: syntax && { syntax, definition: format?.string('definition') ?? '' },
  })
}

/** Parses a tool that Anthropic defines and the client runs. If it doesn't have Anthropic's name, it becomes a plain function. */
function parseAnthropicTool(id: string, name: string, args: JsonObject): FunctionTool | undefined {
  const [vendor, type = ''] = id.split('.', 2)
  const tool = vendor === 'anthropic' ? toClientTool({ type, name, ...snakeCaseKeys(args) }) : undefined
  if (!tool || vendorNames.some(([start, toolName]) => type.startsWith(start) && toolName === name)) return tool
  const { native: _, ...fields } = tool
  return fields
}

/** Parses Anthropic's tool for computer use, which only Anthropic's models can use. */
function parseComputerTool(id: string, name: string, args: JsonObject): OfferedTool {
  const type = id.slice('anthropic.'.length)
  const nativeValue = { format: 'anthropic-messages' as const, value: { type, name, ...snakeCaseKeys(args) } }
  return name === 'computer' && getBetaFeature(type) !== undefined
    ? { type: 'function', name, description: 'Shows and controls the screen of the user.', native: nativeValue }
    : {
        type: 'vendor',
        name,
        rejectionReason: `the tool "${id}" must be named "computer" and have a version that Signalbox supports.`,
      }
}

/** The names that Anthropic requires, by type prefix. */
const vendorNames = [
  ['bash_', 'bash'],
  ['memory_', 'memory'],
  ['text_editor_2024', 'str_replace_editor'],
  ['text_editor_202501', 'str_replace_editor'],
  ['text_editor_202504', 'str_replace_based_edit_tool'],
  ['text_editor_202507', 'str_replace_based_edit_tool'],
] as const

/** Parses a web search's settings. The AI SDK's providers have different names for some of them. */
function parseSearch(search: Fields): WebSearchTool {
  const args = search.fields('args')
  const filters = args?.fields('filters')
  const location = args?.fields('userLocation')
  location?.ignore('type')
  const tool = omitUndefined<WebSearchTool>({
    type: 'web-search',
    maxUses: args?.number('maxUses'),
    contextSize: args?.oneOfOrDrop('searchContextSize', ['low', 'medium', 'high']),
    allowedDomains: args?.strings('allowedDomains') ?? filters?.strings('allowedDomains'),
    blockedDomains: args?.strings('blockedDomains') ?? filters?.strings('blockedDomains'),
    location: readLocation(location),
  })
  for (const fields of [location, filters, args]) fields?.dropUnread()
  return tool
}

function parseChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const value = body.any('toolChoice')
  if (value === undefined) return undefined
  if (!isObject(value)) return warnings.reject('toolChoice', 'must be an object.')
  const choice = body.fields('toolChoice')
  const type = choice?.oneOf('type', ['auto', 'none', 'required', 'tool'])
  if (type === undefined) return warnings.reject('toolChoice.type', 'is required.')
  if (type !== 'tool') return { type }
  return { type, name: choice?.string('toolName') ?? warnings.reject('toolChoice.toolName', 'is required.') }
}
