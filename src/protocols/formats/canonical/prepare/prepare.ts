import type { OptionName } from '../../../../traits.ts'
import { ignoresBillingLine } from '../../claude-code.ts'
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
  dropUnsupportedSearch,
  fitServerTools,
  prepareToolChoice,
  prepareTools,
} from './prepare-tools.ts'
import { dropBillingLine, dropEmptyTurns, fitLastTurn, fitSystemTurns } from './prepare-turns.ts'
import { filterVendorState, resolveReasoning } from './reasoning.ts'
import { collectCalls, createRenamer, fitCalls, type Renamer } from './tool-calls.ts'
import { makeIdsUnique, pairToolResults } from './tool-results.ts'

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
  const preparedOutput = prepareOutput(request, target)
  const earlierCalls = collectCalls(request.turns)
  const names = new Set([
    ...listToolNames(request.tools),
    ...earlierCalls.names,
    ...listToolNames(preparedOutput.tool ? [preparedOutput.tool] : []),
  ])
  const renameTool = createRenamer(names, traits.toolNames)

  const turnsWithoutBilling = ignoresBillingLine(origin.format, target.model)
    ? preparedOutput.turns
    : dropBillingLine(preparedOutput.turns)
  const readableTurns = filterVendorState(
    fitServerTools(turnsWithoutBilling, warnings),
    origin,
    traits.reasoning.replay,
  )
  const turnsWithInputs = fitInputs(readableTurns, target)
  const pairedTurns = moveBlankBreakpoints(pairToolResults(turnsWithInputs, warnings), target)
  const uniqueTurns = makeIdsUnique(dropEmptyTurns(pairedTurns, target))
  const renameId = createRenamer(collectCalls(uniqueTurns).ids, traits.toolIds)
  const conversation = fitCalls(uniqueTurns, { renameTool, renameId, supportsFreeForm: traits.freeFormTools })

  const chosenTools = chooseTools(request, preparedOutput.tool, conversation, { ...target, renameTool })
  const {
    tools,
    turns: fittedTurns,
    autoBreakpoint,
  } = fitCacheBreakpoints(
    {
      tools: chosenTools.tools,
      turns: fitSystemTurns(conversation, target),
      autoBreakpoint: request.options.cacheOptions?.auto,
    },
    { ...target, acceptsAuto: target.supportedOptions.has('cacheOptions') && !traits.lacks.includes('cacheOptions') },
  )
  const turns = fitLastTurn(fittedTurns, target)
  const options = prepareOptions(updateAutoBreakpoint(request.options, autoBreakpoint), target)
  const toolChoice = resolveReasoning({ options, tools, toolChoice: chosenTools.toolChoice }, target)
  if (tools.length === 0) delete options.parallelToolCalls

  return {
    request: omitUndefined<CanonicalRequest>({
      ...request,
      turns,
      tools,
      output: preparedOutput.output,
      toolChoice,
      options,
    }),
    restoration: {
      toolNames: new Map(
        [...names].map((name) => [renameTool(name), name] as const).filter(([newName, from]) => newName !== from),
      ),
      freeFormTools: new Set(
        traits.freeFormTools ? [] : listToolNames(request.tools.filter(({ type }) => type === 'free-form')),
      ),
      callIds: earlierCalls.ids,
      ...(preparedOutput.tool && { outputTool: preparedOutput.tool.name }),
      ...(preparedOutput.isWrapped && { isWrapped: true }),
    },
  }
}

/** Updates the breakpoint on the entire request, which may have moved to the last item. */
function updateAutoBreakpoint(options: RequestOptions, autoBreakpoint: CacheBreakpoint | undefined): RequestOptions {
  if (options.cacheOptions?.auto === autoBreakpoint) return options
  const { cacheOptions: { auto: _, ...others } = {}, ...rest } = options
  const cacheOptions = autoBreakpoint ? { ...others, auto: autoBreakpoint } : others
  return Object.keys(cacheOptions).length > 0 ? { ...rest, cacheOptions } : rest
}

/** Chooses the tools and the tool choice for the target. `turns` have already been adapted to it. */
function chooseTools(
  request: CanonicalRequest,
  outputTool: FunctionTool | undefined,
  turns: readonly Turn[],
  target: PrepareContext & { renameTool: Renamer },
): { tools: Tool[]; toolChoice: ToolChoice | undefined } {
  const offeredTools = dropUnsupportedSearch(
    dropHostedTools(request.tools, request.toolChoice, target),
    request.toolChoice,
    target,
  )
  const tools = prepareTools(outputTool ? [...offeredTools, outputTool] : offeredTools, target)
  const choice = outputTool ? requireOutputTool(outputTool, request) : request.toolChoice
  const chosenTools = prepareToolChoice(choice, tools, { ...target, choiceField: outputTool ? 'output' : 'toolChoice' })
  if (chosenTools.tools.length > 0 || !target.traits.declaresTools) return chosenTools
  return { ...chosenTools, tools: declareTools(collectCalls(turns).names) }
}

/** Forces the output tool. If the client has its own tools, requires a call to any tool. */
function requireOutputTool({ name }: FunctionTool, { tools, toolChoice }: CanonicalRequest): ToolChoice {
  if (toolChoice?.type === 'allowed') return { type: 'allowed', mode: 'required', names: [...toolChoice.names, name] }
  return tools.length > 0 && toolChoice?.type !== 'none' ? { type: 'required' } : { type: 'tool', name }
}

const listToolNames = (tools: readonly Tool[]): string[] =>
  tools.flatMap((tool) => (tool.type === 'web-search' ? [] : [tool.name]))
