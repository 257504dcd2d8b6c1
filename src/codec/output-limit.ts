import { sharedFormatOf } from '../formats/formats.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AskedRequest, Codec } from './codec.ts'

/** The codec of a request that is passed through, with its `outputLimit` in the body. */
export async function limitingOutput(
  { call, context, format, outputLimit }: AskedRequest,
  target: RouteTarget,
  codec: Codec,
): Promise<Codec> {
  const { outputLimit: place } = call.endpoint
  const { body } = codec.request
  const shared = sharedFormatOf(format.name)
  if (!place || !shared || outputLimit === undefined || typeof body !== 'string') return codec
  const { traits } = await shared.loadTranslator()
  const { outputLimitField } = traitsFor(traits, target, context.catalog)
  return {
    ...codec,
    request: { ...codec.request, body: place.set({ text: body, body: call.body }, outputLimit, outputLimitField) },
  }
}
