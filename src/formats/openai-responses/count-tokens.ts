import type { JsonObject } from '../../lib/json.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { TargetContext, WrittenRequest } from '../translator.ts'
import { writeRequest } from './request-write.ts'

/** What the count takes of a request; the rest is for an answer. */
const COUNTED = ['model', 'instructions', 'input', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text']

/** A request for the count of what a request would have in tokens. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const { body } = writeRequest(request, target)
  const kept = Object.entries(body).filter(([name]) => COUNTED.includes(name))
  return { path: '/responses/input_tokens', headers: {}, body: Object.fromEntries(kept) }
}

/** The count in a provider's answer, if it is one. */
export const parseCount = ({ input_tokens: tokens }: JsonObject): number | undefined =>
  typeof tokens === 'number' ? tokens : undefined

/** A count as a client of this format reads it. */
export const writeCount = (tokens: number): JsonObject => ({ object: 'response.input_tokens', input_tokens: tokens })
