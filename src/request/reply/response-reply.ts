import { MIN_QUOTABLE_LENGTH } from '../../lib/credential-shapes.ts'
import type { Reply } from '../../lib/exchange.ts'
import { getSettledValue, once } from '../../lib/promises.ts'
import { createWarningHeader } from '../codec/dropped-fields.ts'
import type { ReceivedResponse } from '../codec/response.ts'
import { createKeyFinder, type KnownKeys, type QuotedKeyFinder } from '../codec/secrets.ts'
import { ATTEMPTS_HEADER, formatAttempts, formatTarget, TARGET_HEADER } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import type { AnsweredAttempt } from '../outcome.ts'
import { getCallableName } from '../routing/route-table.ts'
import { createReplyHeaders, findRequestId, pickRequestId, toContentType } from '../upstream/upstream-headers.ts'

/** Creates the reply for a response. Drops headers that quote a credential. */
export async function createResponseReply(answeredAttempt: AnsweredAttempt, request: ModelRequest): Promise<Reply> {
  const { response, bytes, codec, route, secrets, log: attempt } = answeredAttempt
  const { log, client, call, format } = request
  const { target } = route
  const { isPassThrough } = codec
  const { knownKeys } = request.context
  const quotesKey = knownKeys.getFinder(request.table.connections) ?? (await loadKeyFinder(response, knownKeys))
  const quotesCredential = (value: string) => quotesKey(value) || secrets.some((secret) => value.includes(secret))
  const warnings = codec.warnings()
  const expectedType = response.kind === 'whole' && !call.stream ? 'application/json' : codec.streamType
  const mediaType = codec.replyType?.(response) ?? expectedType
  const headers: Record<string, string> = isPassThrough
    ? createReplyHeaders(response.head, mediaType, quotesCredential)
    : { 'content-type': toContentType(mediaType) }
  const requestId = isPassThrough
    ? pickRequestId(headers, format.requestIdHeader)
    : findRequestId(response.head, format.requestIdHeader)
  if (requestId !== undefined && !quotesCredential(requestId)) headers[format.requestIdHeader] = requestId
  headers[TARGET_HEADER] = formatTarget({ provider: getCallableName(target, request.table), model: target.model })
  if (log.steps.length > 0) headers[ATTEMPTS_HEADER] = formatAttempts(log.steps)
  if (warnings.length > 0) Object.assign(headers, createWarningHeader(warnings))
  const status = !isPassThrough || NO_BODY_STATUSES.has(response.head.status) ? 200 : response.head.status
  client.stopTimeout()
  log.recordReply({ target, warnings: codec.warnings })
  if (response.kind === 'stream') {
    const loading = loadStreamReply()
    const { createStreamReply } = getSettledValue(loading) ?? (await loading)
    return createStreamReply(answeredAttempt, request, { status, headers, response })
  }
  attempt.recordResponseEnd()
  return { status, headers, body: bytes ?? response.bytes }
}

/** Loaded while waiting for the first stream. */
export const loadStreamReply = once(() => import('./stream-reply.ts'))

/** Statuses of responses without a body. */
const NO_BODY_STATUSES = new Set([204, 205])

/** Returns a search for all connections' keys. Waits until they are decrypted only if a header may quote one. */
async function loadKeyFinder(response: ReceivedResponse, knownKeys: KnownKeys): Promise<QuotedKeyFinder> {
  try {
    for (const [, value] of response.head.headers())
      if (value.length >= MIN_QUOTABLE_LENGTH && !MEDIA_TYPE_PATTERN.test(value))
        return createKeyFinder(await knownKeys.list())
    return findNothing
  } catch (error) {
    if (response.kind === 'stream') response.body.cancel(error)
    throw error
  }
}

const MEDIA_TYPE_PATTERN = /^(?:application\/json|text\/event-stream)(?:; ?charset=utf-8)?$/i
const findNothing: QuotedKeyFinder = () => false
