import { assertNever } from '../../../../lib/assert-never.ts'
import type { JsonObject } from '../../../../lib/json.ts'
import type { FreeFormTool, FunctionTool, Tool, ToolChoice, WebSearchTool } from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { completeInputSchema } from '../../openai-fields.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireNamedTool, WireTool, WireToolChoice } from '../responses-wire.ts'

/** Writes `tools`. */
export function writeTools(tools: readonly Tool[], target: TargetContext): (WireTool | JsonObject)[] | undefined {
  return tools.length === 0 ? undefined : tools.map((tool) => getOriginalTool(tool, target) ?? writeTool(tool, target))
}

/** Returns the client's declaration of an OpenAI-defined tool, for targets that support the tool. */
const getOriginalTool = (tool: Tool, { traits }: TargetContext): JsonObject | undefined =>
  tool.type === 'function' && traits.ownTools && tool.native?.format === 'openai-responses'
    ? tool.native.value
    : undefined

function writeTool(tool: Tool, target: TargetContext): WireTool {
  switch (tool.type) {
    case 'function':
      return writeFunction(tool)
    case 'free-form':
      return writeFreeForm(tool)
    case 'web-search':
      return writeSearch(tool, target)
    default:
      return assertNever(tool)
  }
}

/** Writes a function. Always sets `strict`, because only this format defaults to `true`, which changes the schema. */
function writeFunction({ name, description, schema, strict, outputSchema }: FunctionTool) {
  return omitUndefined<WireTool & { type: 'function' }>({
    type: 'function',
    name,
    description,
    parameters: completeInputSchema(schema),
    strict: strict ?? false,
    output_schema: outputSchema,
  })
}

function writeFreeForm({ name, description, grammar }: FreeFormTool) {
  const format = grammar && { type: 'grammar' as const, ...grammar }
  return omitUndefined<WireTool & { type: 'custom' }>({ type: 'custom', name, description, format })
}

type WireSearch = WireTool & { type: 'web_search' }

function writeSearch(tool: WebSearchTool, { traits, warnings }: TargetContext) {
  const { contextSize, location, allowedDomains, blockedDomains, maxUses } = tool
  if (blockedDomains && !traits.ownTools)
    warnings.reject(
      warnings.getPath(tool, 'tools', 'blockedDomains'),
      'the target cannot exclude domains from a search.',
    )
  if (maxUses !== undefined) warnings.recordDrop(warnings.getPath(tool, 'tools', 'maxUses'))
  return omitUndefined<WireSearch>({
    type: 'web_search',
    search_context_size: contextSize,
    user_location: location && { type: 'approximate', ...location },
    filters:
      allowedDomains || blockedDomains
        ? omitUndefined<NonNullable<WireSearch['filters']>>({
            allowed_domains: allowedDomains,
            blocked_domains: blockedDomains,
          })
        : undefined,
  })
}

/** OpenAI-run tools. A tool choice identifies them only by type. */
const HOSTED_TOOLS = ['code_interpreter', 'file_search', 'image_generation'] as const

/** Writes `tool_choice`. */
export function writeToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  target: TargetContext,
): WireToolChoice | undefined {
  if (!choice) return undefined
  const writeNamedTool = (name: string): WireNamedTool => {
    const originalTool = tools.find(
      (tool) => tool.type === 'function' && tool.name === name && getOriginalTool(tool, target),
    )
    if (originalTool && (name === 'shell' || name === 'apply_patch')) return { type: name }
    const hostedType = originalTool && HOSTED_TOOLS.find((type) => type === name)
    if (hostedType) return { type: hostedType }
    const isFreeForm = tools.some((tool) => tool.type === 'free-form' && tool.name === name)
    return { type: isFreeForm ? 'custom' : 'function', name }
  }
  switch (choice.type) {
    case 'tool':
      return writeNamedTool(choice.name)
    case 'allowed':
      return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map(writeNamedTool) }
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    default:
      return assertNever(choice)
  }
}
