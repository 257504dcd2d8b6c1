import { type GatewayError, gatewayError, toGatewayError } from '../../../errors.ts'
import type { Reply } from '../../../lib/exchange.ts'
import { createJsonReply } from '../../../request/door/reply.ts'
import type { CloudCode } from '../protocol.ts'

const ERRORS_BY_CODE: Readonly<Record<CloudCode, readonly [status: number, text: string]>> = {
  SESSION_INVALID: [
    401,
    'This request is not signed for a session of this proxy. Open a session and sign each request once.',
  ],
  NOT_ENROLLED: [
    401,
    'This gateway is not enrolled with this cloud proxy. Send the enrollment token that the operator of the proxy set: { "action": "enable", "enrollmentToken": "…" }.',
  ],
  MIRROR_GONE: [409, 'This cloud proxy has no replica of this gateway. Enable cloud sync again.'],
  HISTORY_DIVERGED: [409, 'The gateway and the proxy disagree about their last sync. Send all states with "full".'],
  INVALID_MESSAGE: [400, 'This is not a valid protocol message.'],
  NOT_FOUND: [404, 'Not found'],
}

/** Creates a protocol error. */
export const createProxyError = (code: CloudCode, message = ERRORS_BY_CODE[code][1]): GatewayError =>
  gatewayError('INVALID_REQUEST', { status: ERRORS_BY_CODE[code][0], message, data: { cloudCode: code } })

/** Creates the unencrypted reply for an error: `{ error, code }`. Passes internal errors to `onError` and hides their details from the gateway. */
export function toErrorReply(cause: unknown, onError: (error: unknown) => void): Reply {
  const error = toGatewayError(cause)
  if (error.status === 500) onError(error.code === 'INTERNAL' && error.cause !== undefined ? error.cause : error)
  const { message } = error.status === 500 && error.code !== 'BODY_ALREADY_READ' ? gatewayError(error.code) : error
  return createJsonReply(error.status, { error: message, code: getCode(error) }, error.headers)
}

function getCode(error: GatewayError): string {
  const { cloudCode } = error.data
  if (typeof cloudCode === 'string') return cloudCode
  return error.code === 'INVALID_JSON' || error.code === 'INVALID_REQUEST' ? 'INVALID_MESSAGE' : error.code
}
