import { isObject, type JsonObject } from '../../../lib/json.ts'
import { betaOf, clientTool } from '../../anthropic-tools.ts'
import type { Fields } from '../../canonical/fields.ts'
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
import type { FileContext } from './files.ts'
import { hostedTool, snakeCased } from './hosted-tools.ts'
import { parseMark } from './metadata.ts'
import { openaiTool } from './openai-tools.ts'

/** The tools of a request. */
interface OfferedTools {
  tools: Tool[]
  toolChoice: ToolChoice | undefined
  /** The client's name of the web search. */
  search: string | undefined
  /** The client's names of the tools that run at the target, by the vendor's. */
  hosted: Readonly<Record<string, string>>
}

/** Parses `tools` and `toolChoice`. */
export function parseTools(body: Fields, context: FileContext): OfferedTools {
  const { warnings } = context
  const toolChoice = parseChoice(body, warnings)
  let search: string | undefined
  const hosted: Record<string, string> = {}
  const offered = toolsIn(body, 'tools', warnings).map((fields): OfferedTool => {
    const tool = parseTool(fields, context)
    if (tool.type === 'web-search') search = fields.text('name')
    if (tool.type === 'function') fields.drop()
    if (tool.type === 'function' && tool.isHosted) hosted[tool.name] = fields.text('name') ?? ''
    warnings.place(tool, fields.at, { schema: 'inputSchema', examples: 'inputExamples', kind: 'id' })
    return tool
  })
  const called = toolChoice?.type === 'tool' && Object.entries(hosted).find(([, name]) => name === toolChoice.name)
  const choice = called ? { type: 'tool' as const, name: called[0] } : toolChoice
  return { tools: withoutVendorTools(offered, choice, warnings), toolChoice: choice, search, hosted }
}

function parseTool(tool: Fields, context: FileContext): OfferedTool {
  const { warnings, targetFormat } = context
  const type = tool.text('type') ?? 'function'
  const name = tool.text('name') ?? warnings.refuse(tool.path('name'), 'is required.')
  if (type === 'function') return parseFunction(tool, name, context)
  const id = tool.text('id') ?? ''
  if (SEARCHES.test(id)) return parseSearch(tool)
  if (id === 'openai.custom') return parseCustom(tool, name)
  const args = tool.object('args') ?? {}
  const own = anthropicTool(id, name, args) ?? openaiTool(id, name, args) ?? hostedTool(id, args, targetFormat)
  if (id.startsWith('anthropic.computer_') && targetFormat === 'anthropic-messages') return screenTool(id, name, args)
  if (own) return own
  return { type: 'vendor', name, refusal: `the tool "${id}" runs at its vendor and cannot be passed on.` }
}

/** The web searches of AI SDK's providers: `openai.web_search`, `anthropic.web_search_20250305`, `google.google_search`, `xai.web_search`. */
const SEARCHES = /^[a-z.-]+\.(?:web_search(?:_preview|_\d+)?|google_search)$/i

function parseFunction(tool: Fields, name: string, { warnings, targetFormat }: FileContext): FunctionTool {
  const examples = tool
    .list('inputExamples')
    ?.flatMap((example) => (isObject(example) && isObject(example.input) ? [example.input] : []))
  const showsExamples = targetFormat === 'anthropic-messages' && examples && examples.length > 0
  if (examples?.length && !showsExamples) warnings.noteDropped(tool.path('inputExamples'))
  tool.ignore('providerOptions', 'title')
  return defined<FunctionTool>({
    type: 'function',
    name,
    description: tool.text('description'),
    schema: tool.object('inputSchema'),
    strict: tool.flag('strict'),
    examples: showsExamples ? examples : undefined,
    cache: parseMark(tool, warnings),
  })
}

/** A tool of OpenAI that takes text. */
function parseCustom(tool: Fields, name: string): FreeFormTool {
  const args = tool.fields('args')
  const format = args?.fields('format')
  const syntax = format?.wordOrDrop('syntax', ['regex', 'lark'])
  return defined<FreeFormTool>({
    type: 'free-form',
    name,
    description: args?.text('description'),
    grammar: syntax && { syntax, definition: format?.text('definition') ?? '' },
  })
}

/** A tool that Anthropic defines and the client runs. Under another name than Anthropic's it is a function like any other. */
function anthropicTool(id: string, name: string, args: JsonObject): FunctionTool | undefined {
  const [vendor, type = ''] = id.split('.', 2)
  const tool = vendor === 'anthropic' ? clientTool({ type, name, ...snakeCased(args) }) : undefined
  if (!tool || ownNames.some(([start, own]) => type.startsWith(start) && own === name)) return tool
  const { own: _, ...plain } = tool
  return plain
}

/** Anthropic's tool for the screen, which only Anthropic's models know how to use. */
function screenTool(id: string, name: string, args: JsonObject): OfferedTool {
  const type = id.slice('anthropic.'.length)
  const own = { format: 'anthropic-messages' as const, value: { type, name, ...snakeCased(args) } }
  return name === 'computer' && betaOf(type) !== undefined
    ? { type: 'function', name, description: 'Shows and controls the screen of the user.', own }
    : {
        type: 'vendor',
        name,
        refusal: `the tool "${id}" must be named "computer", and have a version that Signalbox knows.`,
      }
}

/** The names that Anthropic demands, by the beginning of the type. */
const ownNames = [
  ['bash_', 'bash'],
  ['memory_', 'memory'],
  ['text_editor_2024', 'str_replace_editor'],
  ['text_editor_202501', 'str_replace_editor'],
  ['text_editor_202504', 'str_replace_based_edit_tool'],
  ['text_editor_202507', 'str_replace_based_edit_tool'],
] as const

/** The settings of a search. AI SDK's providers have some of them under different names. */
function parseSearch(search: Fields): WebSearchTool {
  const args = search.fields('args')
  const filters = args?.fields('filters')
  const place = args?.fields('userLocation')
  const location = place && {
    city: place.text('city'),
    region: place.text('region'),
    country: place.text('country'),
    timezone: place.text('timezone'),
  }
  place?.ignore('type')
  const tool = defined<WebSearchTool>({
    type: 'web-search',
    maxUses: args?.number('maxUses'),
    contextSize: args?.wordOrDrop('searchContextSize', ['low', 'medium', 'high']),
    allowedDomains: args?.texts('allowedDomains') ?? filters?.texts('allowedDomains'),
    blockedDomains: args?.texts('blockedDomains') ?? filters?.texts('blockedDomains'),
    location: location && defined<NonNullable<WebSearchTool['location']>>(location),
  })
  for (const fields of [place, filters, args]) fields?.drop()
  return tool
}

function parseChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const given = body.any('toolChoice')
  if (given === undefined) return undefined
  if (!isObject(given)) return warnings.refuse('toolChoice', 'must be an object.')
  const choice = body.fields('toolChoice')
  const type = choice?.word('type', ['auto', 'none', 'required', 'tool'])
  if (type === undefined) return warnings.refuse('toolChoice.type', 'is required.')
  if (type !== 'tool') return { type }
  return { type, name: choice?.text('toolName') ?? warnings.refuse('toolChoice.toolName', 'is required.') }
}
