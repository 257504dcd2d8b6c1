import type { OptionName } from '../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import { refuseForeignCompaction } from '../compaction.ts'
import type { CanonicalRequest } from '../request.ts'
import type { Restoration } from '../restore.ts'
import type { FunctionTool, Tool, ToolChoice } from '../tools.ts'
import type { Turn } from '../turns.ts'
import { defined } from '../values.ts'
import { fitCacheMarks } from './cache-marks.ts'
import { fitInputs } from './inputs.ts'
import { prepareOptions } from './options.ts'
import { prepareOutput } from './output.ts'
import { keepOwnState, settleReasoning } from './reasoning.ts'
import { callsIn, createRenamer, fitCalls, type Renamer } from './tool-calls.ts'
import { pairTools, withoutRepeatedIds } from './tool-results.ts'
import { declared, fitServerTools, prepareToolChoice, prepareTools, withoutHosted, withoutSearch } from './tools.ts'
import { fitEnd, fitSystem, withoutEmpty } from './turns.ts'

/** A request adapted to one target, and the changes to undo in its answer. */
export interface PreparedRequest {
  request: CanonicalRequest
  restoration: Restoration
}

type PrepareContext = TargetContext & { carries: ReadonlySet<OptionName> }

/**
 * Adapts a request to the traits of one target, whatever its format. Each loss is a warning; a loss that would change the meaning is refused.
 * The given request stays unchanged, so that the next target starts from it again.
 */
export function prepareRequest(request: CanonicalRequest, target: PrepareContext): PreparedRequest {
  const { traits, origin, warnings } = target
  refuseForeignCompaction(request.turns, target)
  const shaped = prepareOutput(request, target)
  const names = new Set([
    ...namesOf(request.tools),
    ...callsIn(request.turns).names,
    ...namesOf(shaped.tool ? [shaped.tool] : []),
  ])
  const rename = createRenamer(names, traits.toolNames)

  const own = keepOwnState(fitServerTools(shaped.turns, warnings), origin, traits.reasoning.replay)
  const readable = fitInputs(own, target)
  const paired = withoutRepeatedIds(withoutEmpty(pairTools(readable, warnings), target))
  const renameId = createRenamer(callsIn(paired).ids, traits.toolIds)
  const called = fitCalls(paired, { renameTool: rename, renameId, freeFormTools: traits.freeFormTools })

  const chosen = chooseTools(request, shaped.tool, called, { ...target, rename })
  const ordered = fitEnd(fitSystem(called, target), target)
  const { tools, turns } = fitCacheMarks({ tools: chosen.tools, turns: ordered }, target)

  const options = prepareOptions(request.options, target)
  const toolChoice = settleReasoning({ options, tools, toolChoice: chosen.toolChoice }, target)
  if (tools.length === 0) delete options.parallelToolCalls

  return {
    request: defined<CanonicalRequest>({ ...request, turns, tools, output: shaped.output, toolChoice, options }),
    restoration: {
      toolNames: new Map([...names].map((name) => [rename(name), name] as const).filter(([to, from]) => to !== from)),
      freeFormTools: new Set(
        traits.freeFormTools ? [] : namesOf(request.tools.filter(({ type }) => type === 'free-form')),
      ),
      callIds: callsIn(request.turns).ids,
      ...(shaped.tool && { outputTool: shaped.tool.name }),
      ...(shaped.isWrapped && { isWrapped: true }),
    },
  }
}

/** The tools and the tool choice for the target; `turns` are already those for the target. */
function chooseTools(
  asked: CanonicalRequest,
  outputTool: FunctionTool | undefined,
  turns: readonly Turn[],
  target: PrepareContext & { rename: Renamer },
): { tools: Tool[]; toolChoice: ToolChoice | undefined } {
  const offered = withoutSearch(withoutHosted(asked.tools, asked.toolChoice, target), asked.toolChoice, target)
  const tools = prepareTools(outputTool ? [...offered, outputTool] : offered, target)
  const choice = outputTool ? answerBy(outputTool, asked) : asked.toolChoice
  const chosen = prepareToolChoice(choice, tools, { ...target, chosenBy: outputTool ? 'output' : 'toolChoice' })
  if (chosen.tools.length > 0 || !target.traits.declaresTools) return chosen
  return { ...chosen, tools: declared(callsIn(turns).names) }
}

/** Forces the output tool; beside tools of the client, any call is required. */
function answerBy({ name }: FunctionTool, { tools, toolChoice }: CanonicalRequest): ToolChoice {
  if (toolChoice?.type === 'allowed') return { type: 'allowed', mode: 'required', names: [...toolChoice.names, name] }
  return tools.length > 0 && toolChoice?.type !== 'none' ? { type: 'required' } : { type: 'tool', name }
}

const namesOf = (tools: readonly Tool[]): string[] =>
  tools.flatMap((tool) => (tool.type === 'web-search' ? [] : [tool.name]))
