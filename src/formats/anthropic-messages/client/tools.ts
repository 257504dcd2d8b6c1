import { assertNever } from '../../../lib/assert-never.ts'
import { clientTool } from '../../anthropic-tools.ts'
import type { Fields } from '../../canonical/fields.ts'
import {
  type FunctionTool,
  type OfferedTool,
  type Tool,
  type ToolChoice,
  toolsIn,
  type VendorTool,
  type WebSearchTool,
  withoutVendorTools,
} from '../../canonical/tools.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { parseMark } from '../fields.ts'

/** Parses `tools`: functions, tools that Anthropic defines and clients run, and the web search. */
export function parseTools(body: Fields, choice: ToolChoice | undefined, warnings: Warnings): Tool[] {
  const offered = toolsIn(body, 'tools', warnings).flatMap((fields) => {
    const tool = parseTool(fields, warnings)
    if (!tool) return []
    if (tool.type !== 'vendor') fields.drop()
    warnings.place(tool, fields.at, TOOL_NAMES)
    return [tool]
  })
  return withoutVendorTools(offered, choice, warnings)
}

const TOOL_NAMES = {
  schema: 'input_schema',
  maxUses: 'max_uses',
  allowedDomains: 'allowed_domains',
  blockedDomains: 'blocked_domains',
  location: 'user_location',
  kind: 'type',
}

function parseTool(tool: Fields, warnings: Warnings): OfferedTool | undefined {
  const type = tool.text('type') ?? 'custom'
  if (type === 'custom') return parseFunction(tool, warnings)
  if (type.startsWith('web_search_')) return parseSearch(tool)
  const own = clientTool(tool.value)
  if (own) {
    const cache = parseMark(tool, warnings)
    tool.ignore(...Object.keys(tool.value))
    return cache ? { ...own, cache } : own
  }
  if (!type.startsWith('tool_search_tool_'))
    return defined<VendorTool>({
      type: 'vendor',
      name: tool.text('name'),
      refusal: `a tool of type "${type}" is Anthropic's own and cannot be passed on.`,
    })
  warnings.noteDropped(tool.at) // the tools that a search would find are declared from the beginning
  return undefined
}

function parseFunction(tool: Fields, warnings: Warnings): FunctionTool {
  for (const name of ['defer_loading', 'input_examples']) if (tool.any(name)) warnings.noteDropped(tool.path(name))
  tool.ignore('eager_input_streaming')
  if (tool.texts('allowed_callers')?.every((caller) => caller !== 'direct'))
    warnings.noteDropped(tool.path('allowed_callers'))
  return defined<FunctionTool>({
    type: 'function',
    name: tool.text('name') ?? warnings.refuse(tool.path('name'), 'is required.'),
    description: tool.text('description'),
    schema: tool.object('input_schema'),
    strict: tool.flag('strict'),
    cache: parseMark(tool, warnings),
  })
}

function parseSearch(tool: Fields): WebSearchTool {
  const place = tool.fields('user_location')
  const location = place && {
    city: place.text('city'),
    region: place.text('region'),
    country: place.text('country'),
    timezone: place.text('timezone'),
  }
  tool.ignore('name', 'allowed_callers', 'response_inclusion', 'defer_loading', 'strict')
  return defined<WebSearchTool>({
    type: 'web-search',
    maxUses: tool.number('max_uses'),
    allowedDomains: tool.texts('allowed_domains'),
    blockedDomains: tool.texts('blocked_domains'),
    location: location && defined<NonNullable<WebSearchTool['location']>>(location),
  })
}

/** Parses `tool_choice`, which also allows or forbids parallel calls. */
export function parseToolChoice(
  body: Fields,
  warnings: Warnings,
): { toolChoice: ToolChoice | undefined; parallelToolCalls: boolean | undefined } {
  const choice = body.fields('tool_choice')
  const isSerial = choice?.flag('disable_parallel_tool_use')
  return {
    toolChoice: choice && parseChoice(choice, warnings),
    parallelToolCalls: isSerial === undefined ? undefined : !isSerial,
  }
}

function parseChoice(choice: Fields, warnings: Warnings): ToolChoice {
  const type = choice.word('type', ['auto', 'any', 'tool', 'none'])
  switch (type) {
    case undefined:
      return warnings.refuse(choice.path('type'), 'is required.')
    case 'any':
      return { type: 'required' }
    case 'tool':
      return { type, name: choice.text('name') ?? warnings.refuse(choice.path('name'), 'is required.') }
    case 'auto':
    case 'none':
      return { type }
    default:
      return assertNever(type)
  }
}
