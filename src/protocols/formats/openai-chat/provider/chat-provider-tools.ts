import { assertNever } from '../../../../lib/assert-never.ts'
import type { FreeFormTool, FunctionTool, Tool, ToolChoice, WebSearchTool } from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { completeInputSchema } from '../../openai-fields.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireTool, WireToolChoice } from '../chat-wire.ts'
import { writeBreakpoint } from './chat-provider-conversation.ts'

/** Writes `tools`, and `web_search_options` for a web search, which isn't a tool in this format. */
export function writeTools(tools: readonly Tool[], target: TargetContext) {
  const wireTools = tools.flatMap((tool): WireTool[] => {
    if (tool.type === 'function') return [writeFunction(tool, target)]
    if (tool.type === 'free-form') return [writeFreeForm(tool)]
    return []
  })
  const search = tools.find((tool) => tool.type === 'web-search')
  return {
    tools: wireTools.length > 0 ? wireTools : undefined,
    web_search_options: search && writeSearch(search, target),
  }
}

function writeFreeForm({ name, description, grammar }: FreeFormTool): WireTool {
  const format = grammar && { type: 'grammar' as const, grammar }
  return { type: 'custom', custom: omitUndefined({ name, description, format }) }
}

function writeFunction(tool: FunctionTool, target: TargetContext): WireTool {
  const { name, description, schema, strict, outputSchema, cache } = tool
  if (outputSchema) target.warnings.recordDrop(target.warnings.getPath(tool, 'tools', 'outputSchema'))
  return {
    type: 'function',
    function: omitUndefined({ name, description, parameters: completeInputSchema(schema), strict }),
    ...writeBreakpoint(cache, target),
  }
}

function writeSearch(tool: WebSearchTool, { warnings }: TargetContext) {
  const { contextSize, location, allowedDomains, blockedDomains, maxUses } = tool
  const domains = allowedDomains ? 'allowedDomains' : 'blockedDomains'
  if (allowedDomains ?? blockedDomains)
    warnings.reject(warnings.getPath(tool, 'tools', domains), 'the target cannot limit a search to certain domains.')
  if (maxUses !== undefined) warnings.recordDrop(warnings.getPath(tool, 'tools', 'maxUses'))
  return omitUndefined({
    search_context_size: contextSize,
    user_location: location && { type: 'approximate' as const, approximate: location },
  })
}

/** Writes `tool_choice`, unless web search is the only tool. In this format, web search isn't a tool that a request can choose. */
export function writeToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  { warnings }: TargetContext,
): WireToolChoice | undefined {
  if (!choice) return undefined
  if (tools.every(({ type }) => type === 'web-search')) {
    if (choice.type !== 'auto') warnings.recordDrop('toolChoice')
    return undefined
  }
  const writeNamedTool = (name: string) =>
    tools.some((tool) => tool.type === 'free-form' && tool.name === name)
      ? ({ type: 'custom', custom: { name } } as const)
      : ({ type: 'function', function: { name } } as const)
  switch (choice.type) {
    case 'tool':
      return writeNamedTool(choice.name)
    case 'allowed':
      return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.names.map(writeNamedTool) } }
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    default:
      return assertNever(choice)
  }
}
