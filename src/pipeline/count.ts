import { gatewayError } from '../errors.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import { targetName } from '../providers/target.ts'
import type { RouteTarget } from '../routing/group.ts'
import { translatedHeaders } from '../upstream/headers.ts'
import type { SpokenRequest } from './model-request.ts'
import type { Transform } from './transform.ts'
import { translateRequest, untranslatable } from './translate-request.ts'
import { translatedFailure } from './translated-failure.ts'

/**
 * The transform that asks a target of another format for the number of tokens of a request. Rejects with `FORMAT_MISMATCH` when that format
 * has no such request, and with `INVALID_REQUEST` when it cannot carry this one.
 */
export async function translatedCount(request: SpokenRequest, routeTarget: RouteTarget): Promise<Transform> {
  const { exchange, context } = request
  const carried = await translateRequest(request, routeTarget, (client, ...given) =>
    (client.counter?.parseRequest ?? client.parseRequest)(...given),
  )
  const { client, upstream, format, target } = carried
  const { counter } = upstream
  const asking = client.counter
  if (!counter || !asking) throw untranslatable(request, routeTarget)
  const { path, headers, body } = counter.writeRequest(carried.request, target)

  return {
    format,
    ask: {
      path,
      query: '',
      headers: { ...translatedHeaders(exchange, format.defaultHeaders), ...headers },
      body: JSON.stringify(body),
    },
    isVerbatim: false,
    warnings: target.warnings.list,
    whole({ json }) {
      const tokens = counter.parseCount(json)
      if (tokens === undefined) throw noCount(routeTarget)
      return encodeUtf8(JSON.stringify(asking.writeCount(tokens)))
    },
    failed: (attempt) => translatedFailure(attempt, { client, upstream, now: context.clock.now() }),
    streamType: 'application/json',
    stream: () => {
      throw noCount(routeTarget)
    },
  }
}

const noCount = (target: RouteTarget) =>
  gatewayError('UPSTREAM_INVALID', { message: `${targetName(target)} answered without a count of tokens.` })
