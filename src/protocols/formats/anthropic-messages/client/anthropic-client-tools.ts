import { assertNever } from '../../../../lib/assert-never.ts'
import { toClientTool } from '../../anthropic-tools.ts'
import { type Fields, requireString } from '../../canonical/canonical-fields.ts'
import {
  dropVendorTools,
  type FunctionTool,
  type OfferedTool,
  readLocation,
  readTools,
  type Tool,
  type ToolChoice,
  type VendorTool,
  type WebSearchTool,
} from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { parseBreakpoint } from '../anthropic-fields.ts'

/** Parses `tools`: functions, tools that Anthropic defines and clients run, and web search. */
export function parseTools(body: Fields, choice: ToolChoice | undefined, warnings: Warnings): Tool[] {
  const allTools = readTools(body, 'tools', warnings).flatMap((fields) => {
    const tool = parseTool(fields, warnings)
    if (!tool) return []
    if (tool.type !== 'vendor') fields.dropUnread()
    warnings.setPath(tool, fields.path, TOOL_FIELD_NAMES)
    return [tool]
  })
  return dropVendorTools(allTools, choice, warnings)
}

const TOOL_FIELD_NAMES = {
  schema: 'input_schema',
  maxUses: 'max_uses',
  allowedDomains: 'allowed_domains',
  blockedDomains: 'blocked_domains',
  location: 'user_location',
  kind: 'type',
}

function parseTool(tool: Fields, warnings: Warnings): OfferedTool | undefined {
  const type = tool.string('type') ?? 'custom'
  if (type === 'custom') return parseFunction(tool, warnings)
  if (type.startsWith('web_search_')) return parseSearch(tool)
  const clientTool = toClientTool(tool.value)
  if (clientTool) {
    const cache = parseBreakpoint(tool, warnings)
    tool.ignore(...Object.keys(tool.value))
    return cache ? { ...clientTool, cache } : clientTool
  }
  if (!type.startsWith('tool_search_tool_'))
    return omitUndefined<VendorTool>({
      type: 'vendor',
      name: tool.string('name'),
      rejectionReason: `tools of type "${type}" only work with Anthropic.`,
    })
  warnings.recordDrop(tool.path) // the request already declares the tools that a search would find
  return undefined
}

function parseFunction(tool: Fields, warnings: Warnings): FunctionTool {
  for (const name of ['defer_loading', 'input_examples']) if (tool.any(name)) warnings.recordDrop(tool.getPath(name))
  tool.ignore('eager_input_streaming')
  if (tool.strings('allowed_callers')?.every((caller) => caller !== 'direct'))
    warnings.recordDrop(tool.getPath('allowed_callers'))
  return omitUndefined<FunctionTool>({
    type: 'function',
    name: requireString(tool, 'name', warnings),
    description: tool.string('description'),
    schema: tool.object('input_schema'),
    strict: tool.boolean('strict'),
    cache: parseBreakpoint(tool, warnings),
  })
}

function parseSearch(tool: Fields): WebSearchTool {
  tool.ignore('name', 'allowed_callers', 'response_inclusion', 'defer_loading', 'strict')
  return omitUndefined<WebSearchTool>({
    type: 'web-search',
    maxUses: tool.number('max_uses'),
    allowedDomains: tool.strings('allowed_domains'),
    blockedDomains: tool.strings('blocked_domains'),
    location: readLocation(tool.fields('user_location')),
  })
}

/** Parses `tool_choice`, which also enables or disables parallel calls. */
export function parseToolChoice(
  body: Fields,
  warnings: Warnings,
): { toolChoice: ToolChoice | undefined; parallelToolCalls: boolean | undefined } {
  const choice = body.fields('tool_choice')
  const isParallelDisabled = choice?.boolean('disable_parallel_tool_use')
  return {
    toolChoice: choice && parseChoice(choice, warnings),
    parallelToolCalls: isParallelDisabled === undefined ? undefined : !isParallelDisabled,
  }
}

function parseChoice(choice: Fields, warnings: Warnings): ToolChoice {
  const type = choice.oneOf('type', ['auto', 'any', 'tool', 'none'])
  switch (type) {
    case undefined:
      return warnings.reject(choice.getPath('type'), 'is required.')
    case 'any':
      return { type: 'required' }
    case 'tool':
      return { type, name: requireString(choice, 'name', warnings) }
    case 'auto':
    case 'none':
      return { type }
    default:
      return assertNever(type)
  }
}
