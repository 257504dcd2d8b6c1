import { assertNever } from '../../../lib/assert-never.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { FreeFormTool, FunctionTool, Tool, ToolChoice, WebSearchTool } from '../../canonical/tools.ts'
import { defined } from '../../canonical/values.ts'
import { inputSchema } from '../../openai-fields.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireNamedTool, WireTool, WireToolChoice } from '../wire.ts'

/** Writes `tools`. */
export function writeTools(tools: readonly Tool[], target: TargetContext): (WireTool | JsonObject)[] | undefined {
  return tools.length === 0 ? undefined : tools.map((tool) => ownForm(tool, target) ?? writeTool(tool, target))
}

/** The original declaration of a tool that OpenAI defines and the client runs, for targets that know the tool. */
const ownForm = (tool: Tool, { traits }: TargetContext): JsonObject | undefined =>
  tool.type === 'function' && traits.ownTools && tool.own?.format === 'openai-responses' ? tool.own.value : undefined

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

/** Writes a function. `strict` is set since it is true by default in this format only, and changes the schema. */
function writeFunction({ name, description, schema, strict, outputSchema }: FunctionTool) {
  return defined<WireTool & { type: 'function' }>({
    type: 'function',
    name,
    description,
    parameters: inputSchema(schema),
    strict: strict ?? false,
    output_schema: outputSchema,
  })
}

function writeFreeForm({ name, description, grammar }: FreeFormTool) {
  const format = grammar && { type: 'grammar' as const, ...grammar }
  return defined<WireTool & { type: 'custom' }>({ type: 'custom', name, description, format })
}

type WireSearch = WireTool & { type: 'web_search' }

function writeSearch(tool: WebSearchTool, { traits, warnings }: TargetContext) {
  const { contextSize, location, allowedDomains, blockedDomains, maxUses } = tool
  if (blockedDomains && !traits.ownTools)
    warnings.refuse(
      warnings.pathOf(tool, 'tools', 'blockedDomains'),
      'the target cannot keep a search away from certain domains.',
    )
  if (maxUses !== undefined) warnings.noteDropped(warnings.pathOf(tool, 'tools', 'maxUses'))
  return defined<WireSearch>({
    type: 'web_search',
    search_context_size: contextSize,
    user_location: location && { type: 'approximate', ...location },
    filters:
      allowedDomains || blockedDomains
        ? defined<NonNullable<WireSearch['filters']>>({
            allowed_domains: allowedDomains,
            blocked_domains: blockedDomains,
          })
        : undefined,
  })
}

/** The tools that OpenAI runs, and that a choice names by their type alone. */
const HOSTED = ['code_interpreter', 'file_search', 'image_generation'] as const

/** Writes `tool_choice`. */
export function writeToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  target: TargetContext,
): WireToolChoice | undefined {
  if (!choice) return undefined
  const named = (name: string): WireNamedTool => {
    const own = tools.find((tool) => tool.type === 'function' && tool.name === name && ownForm(tool, target))
    if (own && (name === 'shell' || name === 'apply_patch')) return { type: name }
    const hosted = own && HOSTED.find((type) => type === name)
    if (hosted) return { type: hosted }
    const isFreeForm = tools.some((tool) => tool.type === 'free-form' && tool.name === name)
    return { type: isFreeForm ? 'custom' : 'function', name }
  }
  switch (choice.type) {
    case 'tool':
      return named(choice.name)
    case 'allowed':
      return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map(named) }
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    default:
      return assertNever(choice)
  }
}
