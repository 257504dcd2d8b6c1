import type { OptionName } from '../../../../traits.ts'
import { ignoresBilling } from '../../claude-code.ts'
import type { TargetContext } from '../../translator.ts'
import { rejectForeignCompaction } from '../canonical-compaction.ts'
import type { CacheBreakpoint } from '../canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../canonical-request.ts'
import type { FunctionTool, Tool, ToolChoice } from '../canonical-tools.ts'
import type { Turn } from '../canonical-turns.ts'
import { omitUndefined } from '../canonical-values.ts'
import type { Restoration } from '../restore.ts'
import { fitCacheBreakpoints, moveBlankBreakpoints } from './fit-breakpoints.ts'
import { fitInputs } from './inputs.ts'
import { prepareOutput } from './output.ts'
import { prepareOptions } from './prepare-options.ts'
import {
  declareTools,
  dropHostedTools,
  dropSearch,
  fitServerTools,
  prepareToolChoice,
  prepareTools,
} from './prepare-tools.ts'
import { dropBilling, dropEmpty, fitEnd, fitSystem } from './prepare-turns.ts'
import { keepVendorState, resolveReasoning } from './reasoning.ts'
import { collectCalls, createRenamer, fitCalls, type Renamer } from './tool-calls.ts'
import { makeIdsUnique, pairTools } from './tool-results.ts'

/** A request that is adapted to one target, and the changes to undo in its response. */
export interface PreparedRequest {
  request: CanonicalRequest
  restoration: Restoration
}

type PrepareContext = TargetContext & { supportedOptions: ReadonlySet<OptionName> }

/**
 * Adapts a request to one target's traits, in any format. Each dropped or changed field causes a warning, unless the meaning would change: then the
 * request is rejected. Doesn't mutate the given request, so it can also be adapted to the next target.
 */
export function prepareRequest(request: CanonicalRequest, target: PrepareContext): PreparedRequest {
  const { traits, origin, warnings } = target
  rejectForeignCompaction(request.turns, target)
  const prepared = prepareOutput(request, target)
  const calls = collectCalls(request.turns)
  const names = new Set([
    ...listNames(request.tools),
    ...calls.names,
    ...listNames(prepared.tool ? [prepared.tool] : []),
  ])
  const rename = createRenamer(names, traits.toolNames)

  const turnsWithoutBilling = ignoresBilling(origin.format, target.model) ? prepared.turns : dropBilling(prepared.turns)
  const readableTurns = keepVendorState(fitServerTools(turnsWithoutBilling, warnings), origin, traits.reasoning.replay)
  const readable = fitInputs(readableTurns, target)
  const pairedTurns = moveBlankBreakpoints(pairTools(readable, warnings), target)
  const uniqueTurns = makeIdsUnique(dropEmpty(pairedTurns, target))
  const renameId = createRenamer(collectCalls(uniqueTurns).ids, traits.toolIds)
  const conversation = fitCalls(uniqueTurns, { renameTool: rename, renameId, freeFormTools: traits.freeFormTools })

  const chosenTools = chooseTools(request, prepared.tool, conversation, { ...target, rename })
  const {
    tools,
    turns: fittedTurns,
    auto,
  } = fitCacheBreakpoints(
    { tools: chosenTools.tools, turns: fitSystem(conversation, target), auto: request.options.cacheOptions?.auto },
    { ...target, acceptsAuto: target.supportedOptions.has('cacheOptions') && !traits.lacks.includes('cacheOptions') },
  )
  const turns = fitEnd(fittedTurns, target)
  const options = prepareOptions(updateAutoBreakpoint(request.options, auto), target)
  const toolChoice = resolveReasoning({ options, tools, toolChoice: chosenTools.toolChoice }, target)
  if (tools.length === 0) delete options.parallelToolCalls

  return {
    request: omitUndefined<CanonicalRequest>({
      ...request,
      turns,
      tools,
      output: prepared.output,
      toolChoice,
      options,
    }),
    restoration: {
      toolNames: new Map([...names].map((name) => [rename(name), name] as const).filter(([to, from]) => to !== from)),
      freeFormTools: new Set(
        traits.freeFormTools ? [] : listNames(request.tools.filter(({ type }) => type === 'free-form')),
      ),
      callIds: calls.ids,
      ...(prepared.tool && { outputTool: prepared.tool.name }),
      ...(prepared.isWrapped && { isWrapped: true }),
    },
  }
}

/** Updates the breakpoint on the entire request, which may have moved to the last item. */
function updateAutoBreakpoint(options: RequestOptions, auto: CacheBreakpoint | undefined): RequestOptions {
  if (options.cacheOptions?.auto === auto) return options
  const { cacheOptions: { auto: _, ...others } = {}, ...rest } = options
  const cacheOptions = auto ? { ...others, auto } : others
  return Object.keys(cacheOptions).length > 0 ? { ...rest, cacheOptions } : rest
}

/** Chooses the tools and the tool choice for the target. `turns` have already been adapted to it. */
function chooseTools(
  request: CanonicalRequest,
  outputTool: FunctionTool | undefined,
  turns: readonly Turn[],
  target: PrepareContext & { rename: Renamer },
): { tools: Tool[]; toolChoice: ToolChoice | undefined } {
  const offered = dropSearch(dropHostedTools(request.tools, request.toolChoice, target), request.toolChoice, target)
  const tools = prepareTools(outputTool ? [...offered, outputTool] : offered, target)
  const choice = outputTool ? requireOutputTool(outputTool, request) : request.toolChoice
  const chosen = prepareToolChoice(choice, tools, { ...target, chosenBy: outputTool ? 'output' : 'toolChoice' })
  if (chosen.tools.length > 0 || !target.traits.declaresTools) return chosen
  return { ...chosen, tools: declareTools(collectCalls(turns).names) }
}

/** Forces the output tool. If the client has its own tools, requires a call to any tool. */
function requireOutputTool({ name }: FunctionTool, { tools, toolChoice }: CanonicalRequest): ToolChoice {
  if (toolChoice?.type === 'allowed') return { type: 'allowed', mode: 'required', names: [...toolChoice.names, name] }
  return tools.length > 0 && toolChoice?.type !== 'none' ? { type: 'required' } : { type: 'tool', name }
}

const listNames = (tools: readonly Tool[]): string[] =>
  tools.flatMap((tool) => (tool.type === 'web-search' ? [] : [tool.name]))
