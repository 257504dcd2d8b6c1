import type { Traits } from '../../../traits.ts'
import type { CanonicalRequest, OutputFormat } from '../request.ts'
import type { FunctionTool, ToolChoice } from '../tools.ts'
import type { SystemTurn, Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'
import { objectOutput } from './object-output.ts'

interface Shaped {
  output: OutputFormat | undefined
  turns: Turn[]
  /** The tool that stands for the answer where the target knows no schema. */
  tool: FunctionTool | undefined
  /** Does the answer stand within an object, since it is to be none itself? */
  isWrapped: boolean
}

/** The form of the answer as the target can be asked for it: by itself, by a tool that it has to call, or in words. */
export function prepareOutput(
  { output: asked, turns, toolChoice, tools }: Pick<CanonicalRequest, 'output' | 'turns' | 'toolChoice' | 'tools'>,
  { traits, warnings }: { traits: Traits; warnings: Warnings },
): Shaped {
  const object = asked && !traits.plainOutput ? objectOutput(asked) : undefined
  const output = object ?? asked
  const same: Shaped = { output, turns, tool: undefined, isWrapped: object !== undefined }
  if (!output) return same
  if (traits.outputFormats.includes(output.type)) {
    if (output.type !== 'json' || !traits.jsonNeedsWord || mentionsJson(turns)) return same
    warnings.changed('turns', 'added')
    return { ...same, turns: withInstruction(turns) }
  }
  if (output.type === 'json-schema' && tools.length > 0 && mustCall(toolChoice)) return { ...same, output: undefined }
  warnings.changed('output', 'replaced')
  if (output.type === 'json') return { ...same, output: undefined, turns: withInstruction(turns) }
  const { name = OUTPUT_TOOL, description = 'Give the answer by calling this.', schema } = output
  const tool: FunctionTool = { type: 'function', name, description, schema }
  warnings.place(tool, 'output', { schema: '/output' })
  return { ...same, output: undefined, tool }
}

/** Then there will be calls and no answer, whose form could be asked for. */
const mustCall = (choice: ToolChoice | undefined): boolean =>
  choice?.type === 'required' || choice?.type === 'tool' || (choice?.type === 'allowed' && choice.mode === 'required')

const mentionsJson = (turns: readonly Turn[]) =>
  turns.some(
    (turn) => turn.role !== 'tool' && turn.content.some((part) => part.type === 'text' && /json/i.test(part.text)),
  )

const OUTPUT_TOOL = 'answer'

/** Behind all other instructions. */
function withInstruction(turns: readonly Turn[]): Turn[] {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const at = first === -1 ? turns.length : first
  return [...turns.slice(0, at), JSON_ONLY, ...turns.slice(at)]
}

const JSON_ONLY: SystemTurn = {
  role: 'system',
  as: 'instructions',
  content: [{ type: 'text', text: 'Answer with one JSON object and nothing else: no words around it, no code fence.' }],
}
