import { isGatewayError } from '../errors.ts'
import { sumOf } from '../formats/canonical/usage.ts'
import type { EmbeddedError } from '../formats/format.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import type { Reply } from '../lib/exchange.ts'
import type { Trial } from '../routing/trial.ts'
import { contentType, replyHeaders } from '../upstream/headers.ts'
import { requestIdAmong, requestIdIn } from '../upstream/request-id.ts'
import type { StreamedAnswer } from './attempt.ts'
import { ATTEMPTS_HEADER, attemptsSaid, headerSafe, TARGET_HEADER, targetSaid } from './attempt-record.ts'
import type { PipelineContext } from './context.ts'
import { createKeyFinder, type KeyFinder } from './known-keys.ts'
import type { ModelRequest } from './model-request.ts'
import type { StreamEnd } from './relay.ts'
import { SHORTEST_SECRET } from './secrets.ts'
import { STREAM_HEADERS } from './stream-headers.ts'
import type { Success } from './try.ts'

/** The reply of a successful attempt, which reports its end. Headers that quote a credential are left out. */
export function successReply(success: Success, request: ModelRequest, quotesKey: KeyFinder): Reply {
  const { answer, bytes, transform, route, running, secrets } = success
  const isQuote = (value: string) => quotesKey(value) || secrets.some((secret) => value.includes(secret))
  const { report, client, call, format } = request
  const { target } = route
  const { isVerbatim } = transform
  const warnings = transform.warnings()
  const mediaType = answer.kind === 'whole' && !call.stream ? 'application/json' : transform.streamType
  const headers: Record<string, string> = isVerbatim
    ? replyHeaders(answer.head, mediaType, isQuote)
    : { 'content-type': contentType(mediaType) }
  const requestId = isVerbatim
    ? requestIdAmong(headers, format.requestIdHeader)
    : requestIdIn(answer.head, format.requestIdHeader)
  if (requestId !== undefined && !isQuote(requestId)) headers[format.requestIdHeader] = requestId
  headers[TARGET_HEADER] = targetSaid(target)
  if (report.steps.length > 0) headers[ATTEMPTS_HEADER] = attemptsSaid(report.steps)
  if (warnings.length > 0) Object.assign(headers, warningHeader(warnings))
  const status = !isVerbatim || SAYS_NOTHING.has(answer.head.status) ? 200 : answer.head.status
  if (answer.kind === 'stream') return streamReply(success, request, { status, headers, answer })
  running.ended()
  client.stopWatching()
  report.ended(status, {
    target,
    usage: sumOf(transform.spent, answer.usage),
    warnings,
  })
  return { status, headers, body: bytes ?? answer.bytes }
}

/** What finds the keys of all connections in the headers of an answer. Only an answer whose headers may quote one waits for their decryption. */
export function keyFinderFor({ answer }: Success, { knownKeys }: PipelineContext): Awaitable<KeyFinder> {
  const known = knownKeys.finder()
  if (known) return known
  for (const [, value] of answer.head.headers())
    if (value.length >= SHORTEST_SECRET && !MEDIA_TYPE.test(value)) return knownKeys.list().then(createKeyFinder)
  return findsNone
}

const MEDIA_TYPE = /^(?:application\/json|text\/event-stream)(?:; ?charset=utf-8)?$/i
const findsNone: KeyFinder = () => false

/** The reply of an answer that is streamed. */
function streamReply(
  { transform, route: { target }, trial, running, secrets }: Success,
  { report, client, context }: ModelRequest,
  { status, headers, answer }: Pick<Reply, 'status' | 'headers'> & { answer: StreamedAnswer },
): Reply {
  // Only this of `transform`: what `onEnd` refers to lives as long as the stream, and `transform.ask` holds the body of the request.
  const { warnings, spent } = transform
  const { list: knownKeys } = context.knownKeys
  const { maxStreamBytes } = context.limits
  const onEnd = ({ usage, error, cancelled, fault }: StreamEnd) => {
    running.ended()
    if (fault !== undefined) context.observer.onError(fault)
    else if (error) tellCut(trial, error)
    else if (!cancelled) trial.answered()
    client.stopWatching()
    report.ended(cancelled ? 499 : (error?.status ?? status), {
      target,
      usage: sumOf(spent, usage),
      warnings: warnings(),
    })
  }
  const body = transform.stream(answer.body, answer.committed, { onEnd, secrets, knownKeys, maxStreamBytes })
  // A client that has left reads no error.
  client.follows({
    cancel: (reason) => (isGatewayError(reason, 'CLIENT_CLOSED_REQUEST') ? body.cancel(reason) : body.fail(reason)),
  })
  return { status, headers: Object.assign({}, STREAM_HEADERS, headers), body } // two spreads would make a new hidden class each time
}

/**
 * Reports a stream that broke off: not the client's fault unless its error says so. The provider's message is not kept, as it may quote
 * anything.
 */
function tellCut(trial: Trial, { status, class: own }: EmbeddedError) {
  const message = `The stream broke off after it had begun (status ${status}).`
  if (status >= 500) trial.cut({ class: own ?? (status === 504 ? 'timeout' : 'network'), message })
}

/** `x-signalbox-warning: dropped:seed, clamped:temperature`; a long list is cut and ends with the number of the others, `more:12`. */
export function warningHeader(warnings: readonly string[]): Record<string, string> {
  const told = warnings.slice(0, MAX_WARNINGS).map(headerSafe)
  if (warnings.length > MAX_WARNINGS) told.push(`more:${warnings.length - MAX_WARNINGS}`)
  return told.length === 0 ? {} : { 'x-signalbox-warning': told.join(', ') }
}

const MAX_WARNINGS = 30

/** Statuses of answers without a body. */
const SAYS_NOTHING = new Set([204, 205])
