import { assertNever } from '../../../lib/assert-never.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Traits } from '../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { AssistantPart, ServerToolPart, TextPart } from '../parts.ts'
import { flatSchema } from '../schema.ts'
import { type FunctionTool, isHosted, type Tool, type ToolChoice, type WebSearchTool, withoutTools } from '../tools.ts'
import { separateParagraphs, type Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'
import type { Renamer } from './tool-calls.ts'

interface ToolContext extends Pick<TargetContext, 'traits' | 'warnings'> {
  rename: Renamer
  /** The field that the choice comes from: an output format may be asked for by a tool. */
  chosenBy?: 'toolChoice' | 'output'
}

/**
 * Leaves out the web search where the target has none, or none beside other tools. In that case a forced search stays, and the other tools
 * are left out.
 */
export function withoutSearch(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  { traits, warnings }: Pick<TargetContext, 'traits' | 'warnings'>,
): Tool[] {
  const isForced = choice?.type === 'tool' && !includesTool(tools, choice.name) // a web search has no name
  if (traits.webSearch) {
    const excludesTools = !traits.searchBesideTools && tools.some(isSearch) && !tools.every(isSearch)
    if (!excludesTools) return [...tools]
    if (isForced) return onlySearch(tools, warnings)
  }
  return withoutTools(tools, {
    choice,
    warnings,
    isLacking: isSearch,
    isForced: () => isForced,
    refuse: (tool) => warnings.refuse(warnings.pathOf(tool, 'tools'), 'the target has no search of its own.'),
  })
}

const isSearch = (tool: Tool): tool is WebSearchTool => tool.type === 'web-search'

function onlySearch(tools: readonly Tool[], warnings: Warnings): Tool[] {
  return tools.filter((tool) => {
    if (!isSearch(tool)) warnings.noteDropped(warnings.pathOf(tool, 'tools'))
    return isSearch(tool)
  })
}

const includesTool = (tools: readonly Tool[], name: string) =>
  tools.some((tool) => tool.type !== 'web-search' && tool.name === name)

/** Leaves out the tools that run at a vendor where the target does not know them. */
export function withoutHosted(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  { traits, warnings }: Pick<TargetContext, 'traits' | 'warnings'>,
): Tool[] {
  if (traits.ownTools) return [...tools]
  return withoutTools(tools, {
    choice,
    warnings,
    isLacking: isHosted,
    isForced: ({ name }) => choice?.type === 'tool' && choice.name === name,
    refuse: (tool) => warnings.refuse(warnings.pathOf(tool, 'tools'), 'the target does not run it.'),
  })
}

/** The tools in kinds that the target has, under names that it accepts. */
export function prepareTools(tools: readonly Tool[], target: ToolContext): Tool[] {
  return tools.map((tool) => prepareTool(tool, target))
}

function prepareTool(tool: Tool, { traits, warnings, rename }: ToolContext): Tool {
  if (tool.type === 'web-search') return tool
  const name = rename(tool.name)
  if (tool.type === 'free-form') {
    if (traits.freeFormTools) return { ...tool, name }
    if (tool.grammar) warnings.noteDropped(warnings.pathOf(tool, 'tools', 'grammar'))
    const { description } = tool
    return { type: 'function', name, schema: FREE_FORM, ...(description !== undefined && { description }) }
  }
  const flat = traits.unionTools || !tool.schema ? undefined : flatSchema(tool.schema)
  if (flat?.isLooser) warnings.noteChanged(warnings.pathOf(tool, 'tools', 'schema'), 'replaced')
  const fitting: FunctionTool = flat ? { ...tool, name, schema: flat.schema } : { ...tool, name }
  const { strict, ...rest } = fitting
  if (strict === undefined || (traits.strictTools && !(flat && strict))) return fitting
  if (strict) warnings.noteDropped(warnings.pathOf(tool, 'tools', 'strict'))
  return rest
}

/** The schema of a function that stands in for a free-form tool. */
const FREE_FORM: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** The tool choice in a kind that the target has. Tools that must not be called are left out where no choice says so. */
export function prepareToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  { traits, warnings, rename, chosenBy = 'toolChoice' }: ToolContext,
): { toolChoice: ToolChoice | undefined; tools: Tool[] } {
  const all = [...tools]
  if (!choice) return { toolChoice: undefined, tools: all }
  if (tools.length === 0) {
    if (choice.type !== 'auto' && choice.type !== 'none') warnings.noteDropped(chosenBy) // there are no tools to choose from
    return { toolChoice: undefined, tools: all }
  }
  const knows = (kind: Traits['toolChoices'][number]) => traits.toolChoices.includes(kind)
  const only = (names: readonly string[]) =>
    all.filter((tool) => tool.type === 'web-search' || names.includes(tool.name))
  switch (choice.type) {
    case 'auto':
      return { toolChoice: choice, tools: all }
    case 'none': {
      const called = all.filter((tool) => tool.type !== 'web-search' && !isHosted(tool)) // the vendor's own would run in spite of the choice
      return knows('none') && called.length > 0
        ? { toolChoice: choice, tools: called }
        : { toolChoice: undefined, tools: [] }
    }
    case 'required':
      if (knows('required')) return { toolChoice: choice, tools: all }
      warnings.noteChanged(chosenBy, 'replaced')
      return { toolChoice: { type: 'auto' }, tools: all }
    case 'tool': {
      const name = rename(choice.name)
      if (!includesTool(tools, name) && tools.some(({ type }) => type === 'web-search')) {
        if (knows('search')) return { toolChoice: { type: 'tool', name: SEARCH }, tools: all }
        warnings.noteChanged(chosenBy, 'replaced') // the choice was a web search, which has no name in the canonical form
        return { toolChoice: { type: 'auto' }, tools: all }
      }
      if (knows('tool')) return { toolChoice: { type: 'tool', name }, tools: all }
      return prepareToolChoice({ type: 'required' }, only([name]), { traits, warnings, rename, chosenBy })
    }
    case 'allowed': {
      const names = choice.names.map(rename)
      if (knows('allowed')) return { toolChoice: { ...choice, names }, tools: all }
      return prepareToolChoice({ type: choice.mode }, only(names), { traits, warnings, rename, chosenBy })
    }
    default:
      return assertNever(choice)
  }
}

/** What Anthropic calls its web search, the only one that can be chosen. */
const SEARCH = 'web_search'

/** The shortest declarations of tools that only the history mentions, for targets that require some. */
export const declared = (names: Iterable<string>): FunctionTool[] =>
  [...new Set(names)].map((name) => ({ type: 'function', name, schema: { type: 'object', properties: {} } }))

/** Turns web searches of earlier answers into text, since another provider cannot read their records. */
export function fitServerTools(turns: readonly Turn[], warnings: Warnings): Turn[] {
  return turns.map((turn): Turn => {
    if (turn.role !== 'assistant' || !turn.content.some(isServerTool)) return turn
    const inserted = new Set<AssistantPart>()
    const content = turn.content.map((part) => {
      if (!isServerTool(part)) return part
      warnings.noteChanged(warnings.pathOf(part, 'turns'), 'replaced')
      const text = asText(part)
      inserted.add(text)
      return text
    })
    return { ...turn, content: separateParagraphs(content, inserted) }
  })
}

const isServerTool = (part: AssistantPart): part is ServerToolPart => part.type === 'server-tool'

/** Leaves out files and encrypted data, which cost tokens and tell a model nothing as text. */
const withoutBytes = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && /^(?:data:[^,\s]*,)?[\w+/=-]{200,}$/.test(value) ? '[left out]' : value

function asText({ query, error, results, hosted }: ServerToolPart): TextPart {
  if (hosted) {
    const said = [`[Ran ${hosted.name}: ${JSON.stringify(hosted.input)}]`, JSON.stringify(hosted.result, withoutBytes)]
    return { type: 'text', text: said.join('\n') }
  }
  const found = results.map(({ title, url, text }) =>
    [`- ${title} (${url})`, ...(text ? [`  ${text}`] : [])].join('\n'),
  )
  return {
    type: 'text',
    text: [`[Searched the web for: ${query}]`, ...(error ? [`Error: ${error}`] : []), ...found].join('\n'),
  }
}
