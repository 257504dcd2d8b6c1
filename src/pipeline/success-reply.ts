import { isGatewayError } from '../errors.ts'
import type { Reply } from '../lib/exchange.ts'
import { replyHeaders } from '../upstream/headers.ts'
import { headerSafe, journeyHeaders } from './journey.ts'
import type { ModelRequest } from './model-request.ts'
import type { StreamEnd } from './relay.ts'
import type { Success } from './try.ts'

/** The answer on its way to the client, and its end in the report. */
export function successReply(
  { answer, bytes, passage, route: { target }, ended, secrets }: Success,
  { report, client, call }: ModelRequest,
): Reply {
  const mediaType = answer.kind === 'whole' && !call.stream ? 'application/json' : passage.streamType
  const said = passage.isVerbatim ? replyHeaders(answer.head, mediaType) : { 'content-type': mediaType }
  const headers = Object.assign(said, journeyHeaders(report.steps), warningHeader(passage.warnings()))
  const status = !passage.isVerbatim || SAYS_NOTHING.has(answer.head.status) ? 200 : answer.head.status
  if (answer.kind === 'whole') {
    ended()
    client.stopWatching()
    report.ended(status, target, answer.usage)
    return { status, headers, body: bytes ?? answer.bytes }
  }
  const onEnd = ({ usage, error, cancelled }: StreamEnd) => {
    ended()
    client.stopWatching()
    report.ended(cancelled ? 499 : (error?.status ?? status), target, usage)
  }
  const body = passage.stream(answer.body, answer.committed, { onEnd, secrets })
  client.follows({ cancel: (reason) => (isGatewayError(reason, 'CLOSED') ? body.fail(reason) : body.cancel(reason)) })
  return { status, headers: { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no', ...headers }, body }
}

/** `x-signalbox-warning: dropped:seed, clamped:temperature`. */
const warningHeader = (warnings: readonly string[]): Record<string, string> =>
  warnings.length === 0 ? {} : { 'x-signalbox-warning': warnings.slice(0, MAX_WARNINGS).map(headerSafe).join(', ') }

const MAX_WARNINGS = 30

/** Statuses that no answer with a body can have. */
const SAYS_NOTHING = new Set([204, 205])
