import type { OptionName } from '../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import { refuseForeign } from '../compaction.ts'
import { defined } from '../defined.ts'
import type { CanonicalRequest } from '../request.ts'
import type { Restoration } from '../restoration.ts'
import type { FunctionTool, Tool, ToolChoice } from '../tools.ts'
import type { Turn } from '../turns.ts'
import { fitCacheMarks } from './cache-marks.ts'
import { callsIn, fitCalls } from './calls.ts'
import { withoutEmpty } from './empty.ts'
import { fitEnd } from './end.ts'
import { fitInputs } from './inputs.ts'
import { createRenamer, type Renamer } from './names.ts'
import { prepareOptions } from './options.ts'
import { prepareOutput } from './output.ts'
import { keepOwnState } from './own-state.ts'
import { pairTools } from './pairs.ts'
import { withoutRepeatedIds } from './repeated-ids.ts'
import { fitServerTools } from './server-tools.ts'
import { fitSystem } from './system.ts'
import { settleThinking } from './thinking.ts'
import { declared, prepareToolChoice, prepareTools, withoutSearch } from './tools.ts'

/** A request fit for one target, and what has to be undone in its answer. */
export interface PreparedRequest {
  request: CanonicalRequest
  restoration: Restoration
}

export type PrepareContext = TargetContext & { carries: ReadonlySet<OptionName> }

/**
 * Fits a request to what one target takes: everything that follows from its traits and from no format. Each loss is a warning; what would
 * change the meaning is refused. The given request stays as it is, so that the next target starts from it again.
 */
export function prepareRequest(asked: CanonicalRequest, target: PrepareContext): PreparedRequest {
  const { traits, origin, warnings } = target
  refuseForeign(asked.turns, target)
  const shaped = prepareOutput(asked, target)
  const names = new Set([
    ...namesOf(asked.tools),
    ...callsIn(asked.turns).names,
    ...namesOf(shaped.tool ? [shaped.tool] : []),
  ])
  const rename = createRenamer(names, traits.toolNames)
  const own = keepOwnState(fitServerTools(shaped.turns, warnings), origin, traits.reasoning.replay)
  const paired = withoutRepeatedIds(withoutEmpty(pairTools(fitInputs(own, target), warnings), target))
  const renameId = createRenamer(callsIn(paired).ids, traits.toolIds)
  const called = fitCalls(paired, { renameTool: rename, renameId, freeFormTools: traits.freeFormTools })
  const tools = chooseTools(asked, shaped.tool, called, { ...target, rename })
  const marked = fitCacheMarks({ tools: tools.tools, turns: fitEnd(fitSystem(called, target), target) }, target)
  const options = prepareOptions(asked.options, target)
  const toolChoice = settleThinking({ options, tools: marked.tools, toolChoice: tools.toolChoice }, target)
  if (marked.tools.length === 0) delete options.parallelToolCalls
  return {
    request: defined<CanonicalRequest>({ ...asked, ...marked, output: shaped.output, toolChoice, options }),
    restoration: {
      toolNames: new Map(
        [...names].map((name): [string, string] => [rename(name), name]).filter(([to, from]) => to !== from),
      ),
      freeFormTools: new Set(
        traits.freeFormTools ? [] : namesOf(asked.tools.filter(({ type }) => type === 'free-form')),
      ),
      callIds: callsIn(asked.turns).ids,
      ...(shaped.tool && { outputTool: shaped.tool.name }),
      ...(shaped.isWrapped && { isWrapped: true }),
    },
  }
}

function chooseTools(
  asked: CanonicalRequest,
  outputTool: FunctionTool | undefined,
  turns: readonly Turn[],
  target: PrepareContext & { rename: Renamer },
): { tools: Tool[]; toolChoice: ToolChoice | undefined } {
  const offered = withoutSearch(asked.tools, asked.toolChoice, target)
  const tools = prepareTools(outputTool ? [...offered, outputTool] : offered, target)
  const choice = outputTool ? answerBy(outputTool, asked) : asked.toolChoice
  const chosen = prepareToolChoice(choice, tools, { ...target, chosenBy: outputTool ? 'output' : 'toolChoice' })
  if (chosen.tools.length > 0 || !target.traits.declaresTools) return chosen
  return { ...chosen, tools: declared(callsIn(turns).names) } // under their new names already
}

/** The tool of the answer has to be called, unless there are others that may be called before. */
function answerBy({ name }: FunctionTool, { tools, toolChoice }: CanonicalRequest): ToolChoice {
  if (toolChoice?.type === 'allowed') return { type: 'allowed', mode: 'required', names: [...toolChoice.names, name] }
  return tools.length > 0 && toolChoice?.type !== 'none' ? { type: 'required' } : { type: 'tool', name }
}

const namesOf = (tools: readonly Tool[]): string[] =>
  tools.flatMap((tool) => (tool.type === 'web-search' ? [] : [tool.name]))
