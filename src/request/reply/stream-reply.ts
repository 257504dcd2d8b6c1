import { isGatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import { loadClientContentFields } from '../../protocols/formats/format.ts'
import { toStreamFailure } from '../codec/call-failure.ts'
import { relayStream } from '../codec/relay.ts'
import type { StreamedResponse } from '../codec/response.ts'
import { STREAM_HEADERS } from '../codec/stream-headers.ts'
import type { ModelRequest } from '../model-request.ts'
import type { AnsweredAttempt } from '../outcome.ts'

interface StreamedReply extends Pick<Reply, 'status' | 'headers'> {
  response: StreamedResponse
}

/** Lazy-loaded, because few requests have limits. */
const loadAllowance = once(() => import('./allowance.ts'))

/** Creates the reply for a streamed response. */
export async function createStreamReply(
  { codec, route, secrets, allowance, log: attempt }: AnsweredAttempt,
  { log, client, context, call, format }: ModelRequest,
  { status, headers, response }: StreamedReply,
): Promise<Reply> {
  const limitStream = allowance && (await loadAllowance()).limitToAllowance
  const contentFields =
    limitStream && !codec.replyType ? await loadClientContentFields(format, call.endpoint.operation) : undefined
  const createFilter = codec.isPassThrough ? await format.loadEventFilter?.() : undefined
  const estimates = context.estimates.loaded ?? (await context.estimates.load())
  const { clock } = context
  let hasEnded = false // everything that `onEnd` refers to lives as long as the stream, so it must not refer to the codec, which references the body
  const relayedStream = codec.relay(response.body, response.start, {
    secrets,
    knownKeys: context.knownKeys.list,
    maxStreamBytes: context.limits.maxStreamBytes,
    estimates,
    passThrough: relayStream,
    filterEvents: createFilter?.(),
    header: (name) => response.head.header(name),
    onEnd(end) {
      hasEnded = true
      attempt.recordStreamEnd(end, end.error && toStreamFailure(end.error, clock.now()))
      log.recordStreamEnd(body, end, status)
    },
  })
  attempt.recordCall(estimates.createInputEstimate(call, route.target))
  const body =
    allowance && limitStream && contentFields
      ? limitStream(relayedStream, allowance, contentFields.streamed)
      : relayedStream
  log.expectReport(body)
  client.scope.add((reason) => {
    if (hasEnded) return
    // A client that has disconnected doesn't read an error. Neither does a client that got another reply from a step.
    if (reason === undefined || isGatewayError(reason, 'CLIENT_CLOSED_REQUEST')) body.cancel(reason)
    else body.fail(reason)
  })
  return { status, headers: Object.assign({}, STREAM_HEADERS, headers), body } // two spreads would create a new hidden class each time
}
