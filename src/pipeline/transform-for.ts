import type { Awaitable } from '../lib/awaitable.ts'
import { withoutMember } from '../lib/json-member.ts'
import { once } from '../lib/once.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { WireFormat } from '../types.ts'
import { requestHeaders } from '../upstream/headers.ts'
import { bodyFor } from './call.ts'
import { asJsonArray } from './json-array.ts'
import type { SpokenRequest } from './model-request.ts'
import { relayStream } from './relay.ts'
import { type Transform, wantsArray } from './transform.ts'

/** The transform for a target. Throws `INVALID_REQUEST` when the target's format cannot carry the request. */
export function transformFor(request: SpokenRequest, routeTarget: RouteTarget): Awaitable<Transform> {
  const target = speaking(request.format.name, routeTarget)
  const isSame = target.format === request.format.name && !SEALED.test(request.call.text)
  if (!isSame || refersToOurs(request)) return transformTo(request, target)
  if (request.call.endpoint.operation === 'compact' && request.context.compactions.isLacking(target))
    return transformTo(request, target)
  return asksToCompact(request) ? unlessOurs(request, target) : asItIs(request, target)
}

/** Most requests do not, which their text shows at once. */
const asksToCompact = ({ call, format }: SpokenRequest): boolean =>
  format.compactionIn !== undefined &&
  call.endpoint.operation === 'generate' &&
  call.text.includes('"compaction') &&
  format.compactionIn(call.body) !== undefined

const unlessOurs = async (request: SpokenRequest, target: RouteTarget): Promise<Transform> => {
  const { isOursToCompact } = await loadCompaction()
  return (await isOursToCompact(request, target)) ? transformTo(request, target) : asItIs(request, target)
}

/** Does it refer to an item that this gateway wrote, so that the provider does not know it? */
const refersToOurs = ({ call, format, context, owner }: SpokenRequest): boolean =>
  format.referencesIn?.(call).some((id) => context.items.has(owner, id)) ?? false

const transformTo = (request: SpokenRequest, target: RouteTarget): Promise<Transform> =>
  request.call.endpoint.operation === 'count-tokens'
    ? loadCount().then(({ translatedCount }) => translatedCount(request, target))
    : loadTranslation().then(({ translated }) => translated(request, target))

/* Once: in Node, `import()` of what is loaded already costs more than the rest of some requests. */
const loadTranslation = once(() => import('./translation.ts'))
const loadCompaction = once(() => import('./compaction.ts'))
const loadCount = once(() => import('./count.ts'))
const loadUsageQuestion = once(() => import('./usage-question.ts'))

/** The target in the client's own format, if it speaks that too. */
const speaking = (format: WireFormat, target: RouteTarget): RouteTarget =>
  target.format !== format && target.alsoSpeaks?.includes(format) ? { ...target, format } : target

/**
 * The mark of sealed state that the gateway put into an earlier answer, plain and in base64 (formats/canonical/state.ts). Only translation
 * opens it.
 */
const SEALED = /signalbox-1:|c2lnbmFsYm94LTE6/

/** Unchanged, but for the model's name. */
function asItIs(request: SpokenRequest, target: RouteTarget): Awaitable<Transform> {
  const { call, format, context } = request
  const transform = verbatim(request, target)
  if (context.asksForUsage && call.stream && format.loadUsageQuestion) return withUsage(request, { target, transform })
  if (!format.countBody || call.endpoint.operation !== 'count-tokens') return transform
  return withBody(transform, format.countBody(call.text, target.model))
}

const withUsage = (request: SpokenRequest, asked: { target: RouteTarget; transform: Transform }) =>
  loadUsageQuestion().then(({ askingForUsage }) => askingForUsage(request, asked))

const withBody = (transform: Transform, counting: Promise<string>) =>
  counting.then((body): Transform => ({ ...transform, ask: { ...transform.ask, body } }))

function verbatim(request: SpokenRequest, target: RouteTarget): Transform {
  const { exchange, call, format } = request
  const isArray = wantsArray(request)
  return {
    format,
    ask: {
      path: call.endpoint.upstreamPath(target.model),
      query: upstreamQuery(exchange.query),
      headers: requestHeaders(exchange, format.defaultHeaders),
      body: withoutStreamMember(bodyFor(target.model, call), request),
    },
    isVerbatim: true,
    warnings: noWarnings,
    whole: bytesOf,
    failed: unchanged,
    streamType: isArray ? 'application/json' : 'text/event-stream',
    stream(body, committed, terms) {
      const relayed = relayStream(body, committed, { format, ...terms })
      return isArray ? asJsonArray(relayed) : relayed
    },
  }
}

/** Clients leave `stream_options` in requests for whole answers, which OpenAI refuses. */
function withoutStreamMember(body: string, { call, format: { streamMember } }: SpokenRequest): string {
  if (call.stream || streamMember === undefined || (call.body[streamMember] ?? null) === null) return body
  return withoutMember(body, streamMember)
}

const none: readonly string[] = []
const noWarnings: Transform['warnings'] = () => none
const bytesOf: Transform['whole'] = ({ bytes }) => bytes
const unchanged: Transform['failed'] = (attempt) => attempt

/** The parameters of the client's query that mean something to providers. */
const upstreamQuery = (query: string) => (query !== '' && /[?&]beta=true(&|$)/.test(query) ? '?beta=true' : '')
