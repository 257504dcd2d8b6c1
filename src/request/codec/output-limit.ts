import { getSharedFormat } from '../../protocols/formats/formats.ts'
import { getOutputLimit } from '../../protocols/formats/output-limits.ts'
import { getTraits } from '../../protocols/providers/provider-traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Codec, CodecRequest } from './codec.ts'

/** Writes the request's `outputLimit` to the body of a passed-through request. */
export async function limitOutput(
  { call, context, format, outputLimit }: CodecRequest,
  target: RouteTarget,
  codec: Codec,
): Promise<Codec> {
  const limitField = getOutputLimit(call.endpoint)
  const { body } = codec.request
  const sharedFormat = getSharedFormat(format.name)
  if (!limitField || !sharedFormat || outputLimit === undefined || typeof body !== 'string') return codec
  const { traits } = await sharedFormat.loadTranslator()
  const { outputLimitField } = getTraits(traits, target, context.catalog)
  return {
    ...codec,
    request: { ...codec.request, body: limitField.set({ text: body, body: call.body }, outputLimit, outputLimitField) },
  }
}
