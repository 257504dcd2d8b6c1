import { isObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { TargetContext, WrittenRequest } from '../translator.ts'
import { wireRequest } from './request-write.ts'
import type { WireCountRequest } from './wire-request.ts'

/** A request for the count of what a request would have in tokens: the same body without what only an answer needs. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const whole = wireRequest(request, target)
  const { model, system, messages, tools, tool_choice, thinking, output_config, cache_control } = whole
  const body = defined<WireCountRequest>({
    model,
    system,
    messages,
    tools,
    tool_choice,
    thinking,
    output_config,
    cache_control,
  })
  return { path: '/messages/count_tokens', headers: {}, body }
}

/** The count in a provider's answer, if it is one. */
export function parseCount(body: unknown): number | undefined {
  const tokens = isObject(body) ? body.input_tokens : undefined
  return typeof tokens === 'number' ? tokens : undefined
}

/** A count as a client of this format reads it. */
export const writeCount = (inputTokens: number): { input_tokens: number } => ({ input_tokens: inputTokens })
