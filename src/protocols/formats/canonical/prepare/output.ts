import type { JsonObject } from '../../../../lib/json.ts'
import type { Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { CanonicalRequest, OutputFormat } from '../canonical-request.ts'
import { isEnforceable } from '../canonical-schema.ts'
import type { FunctionTool, ToolChoice } from '../canonical-tools.ts'
import type { SystemTurn, Turn } from '../canonical-turns.ts'
import { WRAPPER_FIELD } from '../restore.ts'

interface PreparedOutput {
  output: OutputFormat | undefined
  turns: Turn[]
  /** The tool whose arguments are the output, for a target that doesn't accept an output schema. */
  tool: FunctionTool | undefined
  /** Set if the output is wrapped in an object, because its own schema doesn't describe one. */
  isWrapped: boolean
}

/** Requests the output format in a way that the target supports: directly, with a tool that the model must call, or with an instruction. */
export function prepareOutput(
  { output: requested, turns, toolChoice, tools }: Pick<CanonicalRequest, 'output' | 'turns' | 'toolChoice' | 'tools'>,
  { traits, warnings }: TargetContext,
): PreparedOutput {
  const object = requested && !traits.plainOutput ? wrapOutput(requested) : undefined
  const output = object ?? requested
  const same: PreparedOutput = { output, turns, tool: undefined, isWrapped: object !== undefined }
  if (!output) return same
  if (traits.outputFormats.includes(output.type)) {
    if (output.type === 'json-schema') return { ...same, output: resolveStrict(output, traits) }
    if (!traits.jsonNeedsWord || mentionsJson(turns)) return same
    warnings.recordChange('turns', 'added')
    return { ...same, turns: addInstruction(turns) }
  }
  if (output.type === 'json-schema' && tools.length > 0 && requiresCall(toolChoice))
    return { ...same, output: undefined }
  warnings.recordChange('output', 'replaced')
  if (output.type === 'json') return { ...same, output: undefined, turns: addInstruction(turns) }
  const { name = OUTPUT_TOOL_NAME, description = 'Give the answer by calling this.', schema } = output
  const tool: FunctionTool = { type: 'function', name, description, schema }
  warnings.setPath(tool, 'output', { schema: '/output' })
  return { ...same, output: undefined, tool }
}

/** Requests strict mode if the client prefers it and the target accepts the schema in that mode. */
function resolveStrict(output: OutputFormat & { type: 'json-schema' }, { strictOutput }: Traits): OutputFormat {
  const { prefersStrict, ...rest } = output
  return prefersStrict && strictOutput && output.schema.type === 'object' && isEnforceable(output.schema)
    ? { ...rest, strict: true }
    : rest
}

/** Returns whether the model must call a tool. If so, there is no text to format. */
const requiresCall = (choice: ToolChoice | undefined): boolean =>
  choice?.type === 'required' || choice?.type === 'tool' || (choice?.type === 'allowed' && choice.mode === 'required')

const mentionsJson = (turns: readonly Turn[]) =>
  turns.some(
    (turn) => turn.role !== 'tool' && turn.content.some((part) => part.type === 'text' && /json/i.test(part.text)),
  )

const OUTPUT_TOOL_NAME = 'answer'

function addInstruction(turns: readonly Turn[]): Turn[] {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const index = first === -1 ? turns.length : first
  return [...turns.slice(0, index), JSON_INSTRUCTION, ...turns.slice(index)]
}

const JSON_INSTRUCTION: SystemTurn = {
  role: 'system',
  as: 'instructions',
  content: [{ type: 'text', text: 'Answer with one JSON object and nothing else: no words around it, no code fence.' }],
}

/** Wraps a schema whose type isn't `object`, because most targets accept no other type. Returns `undefined` if that isn't necessary. */
function wrapOutput(output: OutputFormat): OutputFormat | undefined {
  if (output.type !== 'json-schema') return undefined
  const { type } = output.schema
  if (typeof type !== 'string' || type === 'object') return undefined
  return { ...output, schema: wrapSchema(output.schema) }
}

/** Keeps definitions at the root, where references look for them. */
function wrapSchema({ $schema, $defs, definitions, ...schema }: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: { [WRAPPER_FIELD]: schema },
    required: [WRAPPER_FIELD],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  }
}
