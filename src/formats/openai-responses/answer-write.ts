import type { JsonObject } from '../../lib/json.ts'
import type { Answer } from '../canonical/answer.ts'
import { detachStates } from '../canonical/detach.ts'
import type { WriteContext } from '../translator.ts'
import { writeOutput } from './output-write.ts'
import { outcomeOf, responseHead } from './response.ts'

/** A whole answer as a client of this format reads it. */
export function writeAnswer({ choices, usage, serviceTier }: Answer, context: WriteContext): JsonObject {
  const [{ content, finish } = { content: [], finish: { reason: 'stop' as const } }] = choices
  const outcome = outcomeOf(finish, usage, context)
  const status = outcome.status === 'completed' ? 'completed' : 'incomplete'
  const head = responseHead(context)
  const output = writeOutput(detachStates(content), status, context)
  if (context.request.client?.isKept) for (const item of output) context.keepItem?.(item.id, JSON.stringify(item))
  const answer = { ...head, ...outcome, output }
  return serviceTier === undefined ? answer : { ...answer, service_tier: serviceTier }
}
