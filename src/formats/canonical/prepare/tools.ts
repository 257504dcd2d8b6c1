import type { JsonObject } from '../../../lib/json.ts'
import type { Traits } from '../../../traits.ts'
import type { FunctionTool, Tool, ToolChoice, WebSearchTool } from '../tools.ts'
import { withoutTools } from '../vendor-tools.ts'
import type { Warnings } from '../warnings.ts'
import { flatSchema } from './flat-schema.ts'
import type { Renamer } from './names.ts'

interface Target {
  traits: Traits
  warnings: Warnings
  rename: Renamer
  /** What has asked for the choice: the client's own, unless another field of its request comes down to one. */
  chosenBy?: 'toolChoice' | 'output'
}

/**
 * The client's tools without a web search where the target has none of its own, or none beside tools. There the tools stay, unless the search
 * is forced.
 */
export function withoutSearch(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  { traits, warnings }: Pick<Target, 'traits' | 'warnings'>,
): Tool[] {
  const isForced = choice?.type === 'tool' && !has(tools, choice.name) // it has no name here
  if (traits.webSearch) {
    const isEither = !traits.searchBesideTools && tools.some(isSearch) && !tools.every(isSearch)
    if (!isEither) return [...tools]
    if (isForced) return withoutBesides(tools, warnings)
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

function withoutBesides(tools: readonly Tool[], warnings: Warnings): Tool[] {
  return tools.filter((tool) => {
    if (!isSearch(tool)) warnings.dropped(warnings.pathOf(tool, 'tools'))
    return isSearch(tool)
  })
}

const has = (tools: readonly Tool[], name: string) =>
  tools.some((tool) => tool.type !== 'web-search' && tool.name === name)

/** The tools that the target is told of, under names that it takes. */
export function prepareTools(tools: readonly Tool[], target: Target): Tool[] {
  return tools.map((tool) => prepareTool(tool, target))
}

function prepareTool(tool: Tool, { traits, warnings, rename }: Target): Tool {
  if (tool.type === 'web-search') return tool
  const name = rename(tool.name)
  if (tool.type === 'free-form') {
    if (traits.freeFormTools) return { ...tool, name }
    if (tool.grammar) warnings.dropped(warnings.pathOf(tool, 'tools', 'grammar'))
    const { description } = tool
    return { type: 'function', name, schema: FREE_FORM, ...(description !== undefined && { description }) }
  }
  const flat = traits.unionTools || !tool.schema ? undefined : flatSchema(tool.schema)
  if (flat?.isLooser) warnings.changed(warnings.pathOf(tool, 'tools', 'schema'), 'replaced')
  const fitting: FunctionTool = flat ? { ...tool, name, schema: flat.schema } : { ...tool, name }
  const { strict, ...rest } = fitting
  if (strict === undefined || (traits.strictTools && !(flat && strict))) return fitting
  if (strict) warnings.dropped(warnings.pathOf(tool, 'tools', 'strict'))
  return rest
}

/** A tool of free text as one with a single input. */
const FREE_FORM: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** The choice in kinds that the target knows. Tools that may not be called are left out where it cannot be told so. */
export function prepareToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  { traits, warnings, rename, chosenBy = 'toolChoice' }: Target,
): { toolChoice: ToolChoice | undefined; tools: Tool[] } {
  const all = [...tools]
  if (!choice) return { toolChoice: undefined, tools: all }
  if (tools.length === 0) {
    if (choice.type !== 'auto' && choice.type !== 'none') warnings.dropped(chosenBy) // there is nothing to choose from
    return { toolChoice: undefined, tools: all }
  }
  const knows = (kind: Traits['toolChoices'][number]) => traits.toolChoices.includes(kind)
  const only = (names: readonly string[]) =>
    all.filter((tool) => tool.type === 'web-search' || names.includes(tool.name))
  switch (choice.type) {
    case 'auto':
      return { toolChoice: choice, tools: all }
    case 'none': {
      const called = all.filter(({ type }) => type !== 'web-search') // which would search all the same
      return knows('none') && called.length > 0
        ? { toolChoice: choice, tools: called }
        : { toolChoice: undefined, tools: [] }
    }
    case 'required':
      if (knows('required')) return { toolChoice: choice, tools: all }
      warnings.changed(chosenBy, 'replaced')
      return { toolChoice: { type: 'auto' }, tools: all }
    case 'tool': {
      const name = rename(choice.name)
      if (!has(tools, name) && tools.some(({ type }) => type === 'web-search')) {
        warnings.changed(chosenBy, 'replaced') // a search, which has no name here
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
  }
}

/** The least that a target needs to hear of tools that only the history knows. */
export const declared = (names: Iterable<string>): FunctionTool[] =>
  [...new Set(names)].map((name) => ({ type: 'function', name, schema: { type: 'object', properties: {} } }))
