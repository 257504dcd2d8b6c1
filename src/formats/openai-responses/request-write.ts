import { withoutUndefined } from '../canonical/defined.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { SystemTurn, Turn } from '../canonical/turns.ts'
import type { TargetContext, WrittenRequest } from '../translator.ts'
import { writeItems } from './items-write.ts'
import { writeOptions, writeText } from './options-write.ts'
import { writeToolChoice, writeTools } from './tools-write.ts'

/** A response as a provider is asked for it: nothing is stored there, so that thoughts come encrypted and return with the next request. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const { stream, tools, toolChoice, output, options } = request
  const { instructions, turns } = liftInstructions(request)
  const body = {
    model: target.model,
    instructions,
    input: writeItems(turns, target),
    tools: writeTools(tools, target),
    tool_choice: writeToolChoice(toolChoice, tools, target),
    text: writeText(output, options.verbosity),
    ...writeOptions(options, target),
    include: writeInclude(request, target),
    store: false,
    stream: stream || undefined,
  }
  return { path: '/responses', headers: {}, body: withoutUndefined(body) }
}

/** Models that do not think refuse to be asked for encrypted thoughts. */
function writeInclude({ options }: CanonicalRequest, { traits }: TargetContext): string[] | undefined {
  const include: string[] = []
  if (traits.reasoning.by !== 'none') include.push('reasoning.encrypted_content')
  if (options.logprobs !== undefined) include.push('message.output_text.logprobs')
  return include.length > 0 ? include : undefined
}

/**
 * Instructions out of a field of their own return to one, unless they hold marks of caching, for which it has no room, or may hold the word
 * JSON, which has to stand in the input.
 */
function liftInstructions({ turns, output }: CanonicalRequest): {
  instructions: string | undefined
  turns: readonly Turn[]
} {
  const end = turns.findIndex((turn) => turn.role !== 'system' || turn.as !== 'instructions')
  const lead = turns.slice(0, end === -1 ? turns.length : end).filter(isSystem)
  const texts = lead.flatMap(({ content }) => content)
  if (texts.length === 0 || output?.type === 'json' || texts.some(({ cache }) => cache))
    return { instructions: undefined, turns }
  return { instructions: texts.map(({ text }) => text).join('\n\n'), turns: turns.slice(lead.length) }
}

const isSystem = (turn: Turn): turn is SystemTurn => turn.role === 'system'
