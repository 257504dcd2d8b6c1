import { gatewayError, isGatewayError, toGatewayError } from '../../errors.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { type ByteStream, isByteStream, type Reply } from '../../lib/exchange.ts'
import { toHeaderSafe } from '../../lib/http-headers.ts'
import { tryParseJson } from '../../lib/json.ts'
import { newId } from '../../lib/new-id.ts'
import type { ErrorDetails } from '../../protocols/formats/format.ts'
import { getTargetName } from '../../protocols/providers/target.ts'
import { createWarningHeader } from '../codec/dropped-fields.ts'
import { shouldSendArray } from '../codec/model-call.ts'
import { KEEP_ALIVE_MS, STREAM_HEADERS } from '../codec/stream-headers.ts'
import { ATTEMPTS_HEADER, createAttemptHeaders } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import { toContentType } from '../upstream/upstream-headers.ts'

/**
 * Creates the reply for a stream that starts before there is a response. A later failure becomes an error event. It isn't known yet which target will
 * respond, so the headers contain the previous attempts, the target being tried, and what was dropped for it.
 */
export function createEarlyReply(
  replyPromise: Promise<Reply>,
  request: ModelRequest,
  { route, warnings }: NonNullable<ModelRequest['log']['inFlight']>,
): Reply {
  const { format, call, client, context, log } = request
  const isArray = shouldSendArray(request)
  const keepAlive = encodeUtf8(isArray ? '\n' : format.keepAlive)
  const previousAttempts = createAttemptHeaders(log.steps)[ATTEMPTS_HEADER]
  const pendingAttempt = `pending=${toHeaderSafe(getTargetName(route.target))}`
  const followedStream = replyPromise.then((reply) => {
    if (!isByteStream(reply.body)) {
      log.reportEnd(body, log.createEnding(reply.status))
      return reply
    }
    const followedBody = log.follow(reply.body, reply.status)
    log.continueWith(body, followedBody)
    return { ...reply, body: followedBody }
  })
  followedStream.catch((error) => log.reportEnd(body, log.createErrorEnding(error))) // immediately, even while the client reads nothing
  let hasStarted = false
  let response: ByteStream | undefined

  async function createErrorEvent(facts: ErrorDetails): Promise<ByteStream> {
    const errors = await format.loadErrors()
    if (isArray) return createSingleChunkStream(JSON.stringify([errors.createBody(facts)]))
    const now = Math.floor(context.clock.now() / 1_000)
    return createSingleChunkStream(
      errors.createEvent(facts, { response: { id: `resp_${newId()}`, created_at: now, model: call.model } }),
    )
  }

  /** Waits for the response. A failure is either a reply with an error body, or thrown. */
  async function openResponse(): Promise<ByteStream> {
    try {
      const { status, body = '' } = await followedStream
      if (isByteStream(body)) return body
      if (status === 200) return createSingleChunkStream(body)
      const { read } = await format.loadErrors()
      const { message = 'The request to the provider failed.', code = 'UPSTREAM_FAILED' } = read(parseBody(body))
      return await createErrorEvent({ status, code, message })
    } catch (error) {
      if (!isGatewayError(error)) context.onError(error)
      return await createErrorEvent(toGatewayError(error))
    }
  }

  const body: ByteStream = {
    async next() {
      const isSilent = !response && (!hasStarted || !(await settlesWithin(replyPromise, KEEP_ALIVE_MS, context.clock)))
      hasStarted = true
      if (isSilent) return keepAlive
      response ??= await openResponse()
      return response.next()
    },
    cancel(reason) {
      if (response) response.cancel(reason)
      else client.cancel(gatewayError('CLIENT_CLOSED_REQUEST'))
    },
  }
  log.expectReport(body)
  return {
    status: 200,
    headers: {
      'content-type': toContentType(isArray ? 'application/json' : 'text/event-stream'),
      ...STREAM_HEADERS,
      [ATTEMPTS_HEADER]: previousAttempts ? `${previousAttempts}, ${pendingAttempt}` : pendingAttempt,
      ...createWarningHeader(warnings()),
    },
    body,
  }
}

const parseBody = (body: string | Uint8Array) => tryParseJson(typeof body === 'string' ? body : decodeUtf8Lenient(body))

function createSingleChunkStream(body: string | Uint8Array): ByteStream {
  let bytes: Uint8Array | undefined = typeof body === 'string' ? encodeUtf8(body) : body
  return {
    async next() {
      const chunk = bytes
      bytes = undefined
      return chunk
    },
    cancel() {
      bytes = undefined
    },
  }
}
