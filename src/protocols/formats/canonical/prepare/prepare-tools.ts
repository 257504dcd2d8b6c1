import { assertNever } from '../../../../lib/assert-never.ts'
import type { JsonObject } from '../../../../lib/json.ts'
import type { Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { AssistantPart, ServerToolPart, TextPart } from '../canonical-parts.ts'
import { flattenSchema } from '../canonical-schema.ts'
import {
  dropTools,
  type FunctionTool,
  isHostedTool,
  type Tool,
  type ToolChoice,
  type WebSearchTool,
} from '../canonical-tools.ts'
import { separateParagraphs, type Turn } from '../canonical-turns.ts'
import type { Warnings } from '../canonical-warnings.ts'
import type { Renamer } from './tool-calls.ts'

interface ToolContext extends Pick<TargetContext, 'traits' | 'warnings'> {
  renameTool: Renamer
  /** The field that the tool choice comes from. An output format may be requested with a tool. */
  choiceField?: 'toolChoice' | 'output'
}

/**
 * Drops the web search if the target doesn't support it, or doesn't support it together with other tools. In the latter case, a forced search drops
 * the other tools instead.
 */
export function dropUnsupportedSearch(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  { traits, warnings }: Pick<TargetContext, 'traits' | 'warnings'>,
): Tool[] {
  const isForced = choice?.type === 'tool' && !includesTool(tools, choice.name) // a web search has no name
  if (traits.webSearch) {
    const hasConflict = !traits.searchWithTools && tools.some(isSearchTool) && !tools.every(isSearchTool)
    if (!hasConflict) return [...tools]
    if (isForced) return dropOtherTools(tools, warnings)
  }
  return dropTools(tools, {
    choice,
    warnings,
    isUnsupported: isSearchTool,
    isForced: () => isForced,
    reject: (tool) => warnings.reject(warnings.getPath(tool, 'tools'), 'the target has no built-in search.'),
  })
}

const isSearchTool = (tool: Tool): tool is WebSearchTool => tool.type === 'web-search'

function dropOtherTools(tools: readonly Tool[], warnings: Warnings): Tool[] {
  return tools.filter((tool) => {
    if (!isSearchTool(tool)) warnings.recordDrop(warnings.getPath(tool, 'tools'))
    return isSearchTool(tool)
  })
}

const includesTool = (tools: readonly Tool[], name: string) =>
  tools.some((tool) => tool.type !== 'web-search' && tool.name === name)

/** Drops vendor-run tools if the target doesn't support them. */
export function dropHostedTools(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  { traits, warnings }: Pick<TargetContext, 'traits' | 'warnings'>,
): Tool[] {
  if (traits.ownTools) return [...tools]
  return dropTools(tools, {
    choice,
    warnings,
    isUnsupported: isHostedTool,
    isForced: ({ name }) => choice?.type === 'tool' && choice.name === name,
    reject: (tool) => warnings.reject(warnings.getPath(tool, 'tools'), 'the target does not run it.'),
  })
}

/** Converts the tools to types and names that the target accepts. */
export const prepareTools = (tools: readonly Tool[], target: ToolContext): Tool[] =>
  tools.map((tool) => prepareTool(tool, target))

function prepareTool(tool: Tool, { traits, warnings, renameTool }: ToolContext): Tool {
  if (tool.type === 'web-search') return tool
  const name = renameTool(tool.name)
  if (tool.type === 'free-form') {
    if (traits.freeFormTools) return { ...tool, name }
    if (tool.grammar) warnings.recordDrop(warnings.getPath(tool, 'tools', 'grammar'))
    const { description } = tool
    return { type: 'function', name, schema: FREE_FORM_SCHEMA, ...(description !== undefined && { description }) }
  }
  const flatSchema = traits.unionTools || !tool.schema ? undefined : flattenSchema(tool.schema)
  if (flatSchema?.isBroader) warnings.recordChange(warnings.getPath(tool, 'tools', 'schema'), 'replaced')
  const fittedTool: FunctionTool = flatSchema ? { ...tool, name, schema: flatSchema.schema } : { ...tool, name }
  const { strict, ...rest } = fittedTool
  if (strict === undefined || (traits.strictTools && !(flatSchema && strict))) return fittedTool
  if (strict) warnings.recordDrop(warnings.getPath(tool, 'tools', 'strict'))
  return rest
}

/** The schema of a function that replaces a free-form tool. */
const FREE_FORM_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/**
 * Converts the tool choice to one that the target supports. If no supported choice can express the restriction, drops the tools that must not be
 * called.
 */
export function prepareToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  { traits, warnings, renameTool, choiceField = 'toolChoice' }: ToolContext,
): { toolChoice: ToolChoice | undefined; tools: Tool[] } {
  const allTools = [...tools]
  if (!choice) return { toolChoice: undefined, tools: allTools }
  if (tools.length === 0) {
    if (choice.type !== 'auto' && choice.type !== 'none') warnings.recordDrop(choiceField) // there are no tools to choose from
    return { toolChoice: undefined, tools: allTools }
  }
  const supportsChoice = (kind: Traits['toolChoices'][number]) => traits.toolChoices.includes(kind)
  const pickTools = (names: readonly string[]) =>
    allTools.filter((tool) => tool.type === 'web-search' || names.includes(tool.name))
  switch (choice.type) {
    case 'auto':
      return { toolChoice: choice, tools: allTools }
    case 'none': {
      const clientTools = allTools.filter((tool) => tool.type !== 'web-search' && !isHostedTool(tool)) // a vendor's tools would run despite the choice
      return supportsChoice('none') && clientTools.length > 0
        ? { toolChoice: choice, tools: clientTools }
        : { toolChoice: undefined, tools: [] }
    }
    case 'required':
      if (supportsChoice('required')) return { toolChoice: choice, tools: allTools }
      warnings.recordChange(choiceField, 'replaced')
      return { toolChoice: { type: 'auto' }, tools: allTools }
    case 'tool': {
      const name = renameTool(choice.name)
      if (!includesTool(tools, name) && tools.some(({ type }) => type === 'web-search')) {
        if (supportsChoice('search')) return { toolChoice: { type: 'tool', name: SEARCH_TOOL_NAME }, tools: allTools }
        warnings.recordChange(choiceField, 'replaced') // the choice was a web search, which has no name in the canonical format
        return { toolChoice: { type: 'auto' }, tools: allTools }
      }
      if (supportsChoice('tool')) return { toolChoice: { type: 'tool', name }, tools: allTools }
      return prepareToolChoice({ type: 'required' }, pickTools([name]), { traits, warnings, renameTool, choiceField })
    }
    case 'allowed': {
      const names = choice.names.map(renameTool)
      if (supportsChoice('allowed')) return { toolChoice: { ...choice, names }, tools: allTools }
      return prepareToolChoice({ type: choice.mode }, pickTools(names), { traits, warnings, renameTool, choiceField })
    }
    default:
      return assertNever(choice)
  }
}

/** Anthropic's name for its web search, the only web search that can be chosen. */
const SEARCH_TOOL_NAME = 'web_search'

/** Declares tools that only the history mentions, as briefly as possible, for targets that require declarations. */
export const declareTools = (names: Iterable<string>): FunctionTool[] =>
  [...new Set(names)].map((name) => ({ type: 'function', name, schema: { type: 'object', properties: {} } }))

/** Converts web searches in earlier responses to text, because other providers can't read the original blocks. */
export function fitServerTools(turns: readonly Turn[], warnings: Warnings): Turn[] {
  return turns.map((turn): Turn => {
    if (turn.role !== 'assistant' || !turn.content.some(isServerTool)) return turn
    const insertedParts = new Set<AssistantPart>()
    const content = turn.content.map((part) => {
      if (!isServerTool(part)) return part
      warnings.recordChange(warnings.getPath(part, 'turns'), 'replaced')
      const text = toTextPart(part)
      insertedParts.add(text)
      return text
    })
    return { ...turn, content: separateParagraphs(content, insertedParts) }
  })
}

const isServerTool = (part: AssistantPart): part is ServerToolPart => part.type === 'server-tool'

/** Replaces files and encrypted data, which cost tokens and are useless to a model as text. */
const replaceBytes = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && /^(?:data:[^,\s]*,)?[\w+/=-]{200,}$/.test(value) ? '[left out]' : value

function toTextPart({ query, error, results, hosted }: ServerToolPart): TextPart {
  if (hosted) {
    const lines = [`[Ran ${hosted.name}: ${JSON.stringify(hosted.input)}]`, JSON.stringify(hosted.result, replaceBytes)]
    return { type: 'text', text: lines.join('\n') }
  }
  const resultLines = results.map(({ title, url, text }) =>
    [`- ${title} (${url})`, ...(text ? [`  ${text}`] : [])].join('\n'),
  )
  return {
    type: 'text',
    text: [`[Searched the web for: ${query}]`, ...(error ? [`Error: ${error}`] : []), ...resultLines].join('\n'),
  }
}
