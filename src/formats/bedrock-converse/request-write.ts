import type { JsonObject } from '../../lib/json.ts'
import { pathSegment } from '../../lib/path-segment.ts'
import { defined } from '../canonical/defined.ts'
import type { CanonicalRequest, OutputFormat, RequestOptions } from '../canonical/request.ts'
import { strictSchema } from '../strict-schema.ts'
import type { TargetContext, WrittenRequest } from '../translator.ts'
import { reasoningFields, topKFields } from './model-fields.ts'
import { writeToolConfig } from './tools-write.ts'
import { writeTurns } from './turns-write.ts'
import type { WireMessage, WireRequest } from './wire.ts'

/** A request to Converse; the model stands in its path, colons and slashes encoded. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const operation = request.stream ? 'converse-stream' : 'converse'
  const path = `/model/${pathSegment(target.model)}/${operation}`
  return { path, headers: {}, body: converseRequest(request, target) }
}

/** The body of a request. */
export function converseRequest(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { stopFields } = target.traits
  const { system, messages } = writeTurns(request.turns, target)
  const { options, own } = settle(request.options, messages, target)
  const stop = options.stop?.filter((text) => text.trim() !== '')
  if (stop && stop.length < (options.stop?.length ?? 0)) target.warnings.dropped('stop')
  const isStopped = stop !== undefined && stop.length > 0
  return defined<WireRequest>({
    system: system.length > 0 ? system : undefined,
    messages,
    inferenceConfig: orNone(
      defined<NonNullable<WireRequest['inferenceConfig']>>({
        maxTokens: options.maxOutputTokens,
        temperature: options.temperature,
        topP: options.topP,
        stopSequences: isStopped ? stop : undefined,
      }),
    ),
    toolConfig: writeToolConfig(request, target),
    outputConfig: writeOutput(request.output, target),
    serviceTier: writeTier(options.serviceTier, target),
    additionalModelRequestFields: orNone(own),
    additionalModelResponseFieldPaths: isStopped && stopFields.length > 0 ? [...stopFields] : undefined,
  })
}

const orNone = <T extends object>(object: T): T | undefined => (Object.keys(object).length > 0 ? object : undefined)

/** The options as the model takes them together: one that thinks chooses its tokens by itself and needs room behind its thoughts. */
function settle(asked: RequestOptions, messages: readonly WireMessage[], target: TargetContext) {
  const { traits, warnings } = target
  const { by } = traits.reasoning
  const options = { ...asked }
  if (by === 'budget' && options.reasoning && options.reasoning.effort !== 'none' && lacksThoughts(messages)) {
    warnings.dropped('reasoning') // it wants the thoughts of a tool loop back, and they are lost
    delete options.reasoning
  }
  const own = options.reasoning ? reasoningFields(options.reasoning, traits.reasoning) : {}
  const thinks = Object.keys(own).length > 0 && options.reasoning?.effort !== 'none'
  const isClaude = by === 'budget' || by === 'adaptive'
  if (thinks && isClaude) drop(options, ['temperature', 'topP', 'topK'], target)
  if (thinks && by === 'level' && options.reasoning?.effort === 'high')
    drop(options, ['temperature', 'topP', 'maxOutputTokens'], target) // Nova refuses them beside it
  if (isClaude && options.temperature !== undefined && options.topP !== undefined) drop(options, ['topP'], target)
  const budget = options.reasoning?.budget
  if (thinks && by === 'budget' && typeof budget === 'number') options.maxOutputTokens ??= budget + ROOM
  const topK: JsonObject = options.topK === undefined ? {} : topKFields(options.topK, traits)
  return { options, own: { ...own, ...topK } }
}

/** Tokens for the answer where the client names no limit. */
const ROOM = 8_192

function drop(
  options: RequestOptions,
  names: readonly ('temperature' | 'topP' | 'topK' | 'maxOutputTokens')[],
  { warnings }: TargetContext,
) {
  for (const name of names) {
    if (options[name] === undefined) continue
    if (options[name] !== 1 || name !== 'temperature') warnings.dropped(name)
    delete options[name]
  }
}

/** Does the model's turn that the request goes on with begin without its thoughts? */
function lacksThoughts(messages: readonly WireMessage[]): boolean {
  let first: WireMessage | undefined // of the turn: everything behind the last message that is more than results
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message
    else if (!message.content.some((block) => 'toolResult' in block)) break
  }
  const block = first?.content[0]
  return block !== undefined && !('reasoningContent' in block)
}

function writeOutput(output: OutputFormat | undefined, { warnings }: TargetContext): WireRequest['outputConfig'] {
  if (output?.type !== 'json-schema') return undefined
  const { name, description } = output
  const schema = strictSchema(output.schema, (change) => warnings.changed('output', change))
  const jsonSchema = { schema: JSON.stringify(schema), ...defined({ name, description }) }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

function writeTier(tier: RequestOptions['serviceTier'], { warnings }: TargetContext): WireRequest['serviceTier'] {
  if (tier === 'default' || tier === 'flex' || tier === 'priority') return { type: tier }
  if (tier === 'scale' || tier === 'fast') warnings.dropped('serviceTier')
  return undefined
}
