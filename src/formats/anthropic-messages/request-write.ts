import { defined } from '../canonical/defined.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { TargetContext, WrittenRequest } from '../translator.ts'
import { LOOSE_THOUGHTS, withLooseThoughts } from './loose-thoughts.ts'
import { limitOf, writeOptions } from './options-write.ts'
import { writeToolChoice, writeTools } from './tools-write.ts'
import { writeTurns } from './turns-write.ts'
import type { WireMessageParam, WireRequest } from './wire-request.ts'

/** A request for a message as a provider wants it. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const body = withLooseThoughts(wireRequest(request, target), target)
  return { path: '/messages', headers: betasOf(body), body }
}

export function wireRequest(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { stream, turns, tools, toolChoice, options } = request
  const { system, messages } = writeTurns(turns, target)
  return defined<WireRequest>({
    model: target.model,
    max_tokens: limitOf(options, target),
    system: system.length > 0 ? system : undefined,
    messages,
    tools: writeTools(tools, target),
    tool_choice: tools.length > 0 ? writeToolChoice(toolChoice, options.parallelToolCalls, target) : undefined,
    ...writeOptions(request, messages, target),
    stream: stream || undefined,
  })
}

/** What Anthropic has in beta under the older version of the API, which is the one that all its followers know. */
function betasOf({ messages, speed, thinking }: WireRequest): Record<string, string> {
  const betas = [
    ...(messages.some(namesFile) ? ['files-api-2025-04-14'] : []),
    ...(thinking?.type === 'adaptive' && thinking.block_binding ? [LOOSE_THOUGHTS] : []),
    ...(speed === 'fast' ? ['fast-mode-2026-02-01'] : []),
  ]
  return betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}
}

const namesFile = ({ content }: WireMessageParam): boolean =>
  content.some((block) => {
    if (block.type === 'tool_result') return block.content?.some(isFile) ?? false
    return isFile(block)
  })

const isFile = (block: object): boolean =>
  'source' in block && typeof block.source === 'object' && block.source !== null && 'file_id' in block.source
