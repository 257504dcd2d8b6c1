import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AskedRequest, Codec } from './codec.ts'

/** The codec of a request that is passed through, with its limit of the answer, unless the request asks for less. */
export async function limitingOutput(
  { call, context, format, outputLimit }: AskedRequest,
  target: RouteTarget,
  codec: Codec,
): Promise<Codec> {
  const { outputLimit: place } = call.endpoint
  const { body } = codec.request
  const own = place?.of(call.body)
  if (!place || outputLimit === undefined || (own !== undefined && own <= outputLimit) || typeof body !== 'string')
    return codec
  const { traits } = await format.loadTranslator()
  const { outputLimitField } = traitsFor(traits, target, context.catalog)
  const warnings = [`clamped:${place.name}`]
  return {
    ...codec,
    request: { ...codec.request, body: place.set({ text: body, body: call.body }, outputLimit, outputLimitField) },
    warnings: () => warnings,
  }
}
