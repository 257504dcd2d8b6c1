import type { JsonObject } from '../../../../lib/json.ts'
import type { Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { CanonicalRequest, OutputFormat } from '../canonical-request.ts'
import { isEnforceableSchema } from '../canonical-schema.ts'
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
  {
    output: requestedOutput,
    turns,
    toolChoice,
    tools,
  }: Pick<CanonicalRequest, 'output' | 'turns' | 'toolChoice' | 'tools'>,
  { traits, warnings }: TargetContext,
): PreparedOutput {
  const wrappedOutput = requestedOutput && !traits.plainOutput ? wrapOutputFormat(requestedOutput) : undefined
  const output = wrappedOutput ?? requestedOutput
  const unchanged: PreparedOutput = { output, turns, tool: undefined, isWrapped: wrappedOutput !== undefined }
  if (!output) return unchanged
  if (traits.outputFormats.includes(output.type)) {
    if (output.type === 'json-schema') return { ...unchanged, output: resolveStrictMode(output, traits) }
    if (!traits.jsonNeedsWord || mentionsJson(turns)) return unchanged
    warnings.recordChange('turns', 'added')
    return { ...unchanged, turns: addInstruction(turns) }
  }
  if (output.type === 'json-schema' && tools.length > 0 && requiresToolCall(toolChoice))
    return { ...unchanged, output: undefined }
  warnings.recordChange('output', 'replaced')
  if (output.type === 'json') return { ...unchanged, output: undefined, turns: addInstruction(turns) }
  const { name = OUTPUT_TOOL_NAME, description = 'Give the answer by calling this.', schema } = output
  const tool: FunctionTool = { type: 'function', name, description, schema }
  warnings.setPath(tool, 'output', { schema: '/output' })
  return { ...unchanged, output: undefined, tool }
}

/** Requests strict mode if the client prefers it and the target accepts the schema in that mode. */
function resolveStrictMode(output: OutputFormat & { type: 'json-schema' }, { strictOutput }: Traits): OutputFormat {
  const { prefersStrict, ...rest } = output
  return prefersStrict && strictOutput && output.schema.type === 'object' && isEnforceableSchema(output.schema)
    ? { ...rest, strict: true }
    : rest
}

/** Returns whether the model must call a tool. If so, there is no text to format. */
const requiresToolCall = (choice: ToolChoice | undefined): boolean =>
  choice?.type === 'required' || choice?.type === 'tool' || (choice?.type === 'allowed' && choice.mode === 'required')

const mentionsJson = (turns: readonly Turn[]) =>
  turns.some(
    (turn) => turn.role !== 'tool' && turn.content.some((part) => part.type === 'text' && /json/i.test(part.text)),
  )

const OUTPUT_TOOL_NAME = 'answer'

function addInstruction(turns: readonly Turn[]): Turn[] {
  const firstTurnIndex = turns.findIndex(({ role }) => role !== 'system')
  const index = firstTurnIndex === -1 ? turns.length : firstTurnIndex
  return [...turns.slice(0, index), JSON_INSTRUCTION, ...turns.slice(index)]
}

const JSON_INSTRUCTION: SystemTurn = {
  role: 'system',
  sentAs: 'instructions',
  content: [{ type: 'text', text: 'Answer with one JSON object and nothing else: no words around it, no code fence.' }],
}

/** Wraps a schema whose type isn't `object`, because most targets accept no other type. Returns `undefined` if that isn't necessary. */
function wrapOutputFormat(output: OutputFormat): OutputFormat | undefined {
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
