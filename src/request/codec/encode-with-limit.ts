import { getOutputLimit } from '../../protocols/formats/output-limits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Codec, CodecRequest } from './codec.ts'
import { encodeRequest } from './encode.ts'

/**
 * Like `encodeRequest`, with a maximum number of output tokens, unless the request sets a lower one. A warning names the limit, such as
 * `clamped:max_tokens=2048`. Strict mode doesn't reject this change, so strict requests are limited as well.
 */
export async function encodeWithLimit(request: CodecRequest, target: RouteTarget, outputLimit: number): Promise<Codec> {
  const limitField = getOutputLimit(request.call.endpoint)
  const currentLimit = target.params?.maxTokens ?? limitField?.get(request.call.body) ?? Number.POSITIVE_INFINITY
  if (!limitField || currentLimit <= outputLimit) return encodeRequest(request, target)
  const codec = await encodeRequest({ ...request, outputLimit }, target)
  const { warnings } = codec
  return { ...codec, warnings: () => [...warnings(), `clamped:${limitField.name}=${outputLimit}`] }
}
