import { assertNever } from '../../../../lib/assert-never.ts'
import type { FunctionTool, Tool, ToolChoice, WebSearchTool } from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { toStrictSchema } from '../../strict-schema.ts'
import type { TargetContext } from '../../translator.ts'
import { writeBreakpoint } from '../anthropic-fields.ts'
import type { WireTool, WireToolChoice } from '../anthropic-wire.ts'

export function writeTools(tools: readonly Tool[], target: TargetContext): WireTool[] | undefined {
  if (tools.length === 0) return undefined
  return tools.map((tool) => {
    if (tool.type === 'function') return writeFunction(tool, target)
    if (tool.type === 'web-search') return writeSearch(tool, target)
    const { warnings } = target
    return warnings.reject(warnings.getPath(tool, 'tools'), 'the target does not support tools with free-text input.')
  })
}

function writeFunction(tool: FunctionTool, target: TargetContext): WireTool {
  if (target.traits.ownTools && tool.native?.format === 'anthropic-messages')
    return { ...tool.native.value, ...writeBreakpoint(tool.cache, target) } as WireTool // unchanged from the client's declaration
  const { name, description, schema, strict, outputSchema, examples, cache } = tool
  const path = target.warnings.getPath(tool, 'tools')
  if (outputSchema) target.warnings.recordDrop(target.warnings.getPath(tool, 'tools', 'outputSchema'))
  if (examples && !target.traits.ownTools)
    target.warnings.recordDrop(target.warnings.getPath(tool, 'tools', 'examples'))
  const fullSchema = { ...(schema ?? { properties: {} }), type: 'object' }
  const input = strict ? toStrictSchema(fullSchema, (change) => target.warnings.recordChange(path, change)) : fullSchema
  return {
    name,
    ...omitUndefined({ description }),
    input_schema: { ...input, type: 'object' },
    ...(strict && { strict }),
    ...(examples && target.traits.ownTools && { input_examples: examples }),
    ...writeBreakpoint(cache, target),
  }
}

/** Writes a web search in the version that all models support. */
function writeSearch(tool: WebSearchTool, { warnings }: TargetContext): WireTool {
  const { contextSize, location, allowedDomains, blockedDomains, maxUses } = tool
  if (contextSize && contextSize !== 'medium') warnings.recordDrop(warnings.getPath(tool, 'tools', 'contextSize'))
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...omitUndefined({ max_uses: maxUses, allowed_domains: allowedDomains, blocked_domains: blockedDomains }),
    ...(location && { user_location: { type: 'approximate', ...location } }),
  }
}

/** Writes the tool choice, which also disables parallel calls. */
export function writeToolChoice(
  choice: ToolChoice | undefined,
  allowsParallel: boolean | undefined,
  { warnings }: TargetContext,
): WireToolChoice | undefined {
  const serialFields = allowsParallel === false ? { disable_parallel_tool_use: true as const } : {}
  if (!choice) return allowsParallel === false ? { type: 'auto', ...serialFields } : undefined
  switch (choice.type) {
    case 'auto':
      return { type: 'auto', ...serialFields }
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any', ...serialFields }
    case 'tool':
      return { type: 'tool', name: choice.name, ...serialFields }
    case 'allowed':
      return warnings.reject('toolChoice', 'the target does not support choosing from a subset of the tools.')
    default:
      return assertNever(choice)
  }
}
