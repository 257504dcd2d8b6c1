import type { CanonicalRequest } from '../formats/canonical/request.ts'
import type { Warnings } from '../formats/canonical/warnings.ts'
import type { ParseContext, WriteContext } from '../formats/translator.ts'
import type { SpokenRequest } from './model-request.ts'
import { newId } from './new-id.ts'

/** What the client's format needs, besides the body, to parse a request; `isArray`: see `ParseContext.route`. */
export function parseContextOf(
  { call, exchange, context, owner }: SpokenRequest,
  { warnings, stream, isArray = false }: { warnings: Warnings; stream: boolean; isArray?: boolean },
): ParseContext {
  const version = exchange.header('anthropic-version')
  return {
    warnings,
    route: { model: call.model, stream, isArray },
    ...(version && { version }),
    itemOf: (id) => context.items.find(owner, id),
  }
}

/** What the client's format needs, besides the answer, to write it; stamped with the present time. */
export const writeContextOf = (
  { context, owner }: SpokenRequest,
  answer: { request: CanonicalRequest } & Pick<WriteContext, 'model' | 'losses'>,
): WriteContext => ({
  ...answer,
  newId,
  now: Math.floor(context.clock.now() / 1_000),
  keepItem: (id, json) => context.items.keep(owner, id, json),
})
