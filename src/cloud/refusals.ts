import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import { jsonReply } from '../http/reply.ts'
import type { Reply } from '../lib/exchange.ts'
import type { CloudCode } from '../sync/protocol.ts'

/** The errors of the protocol: their status, and their default text. */
const table: Readonly<Record<CloudCode, readonly [status: number, text: string]>> = {
  SESSION_INVALID: [
    401,
    'This request is not signed for a session of this proxy. Open a session, and sign each request once.',
  ],
  NOT_ENROLLED: [
    401,
    'This gateway has not enrolled at this cloud proxy. Send the enrolment credential that its operator has set: { "action": "enable", "enrolment": "…" }.',
  ],
  MIRROR_GONE: [409, 'This cloud proxy has no such mirror of this gateway. Enable cloud mode again.'],
  HISTORY_DIVERGED: [409, 'Gateway and proxy do not remember the same last exchange. Send all states with "full".'],
  INVALID_MESSAGE: [400, 'This is no message of the protocol.'],
  NOT_FOUND: [404, 'Not found'],
}

/** Makes an error of the protocol. */
export const refusal = (code: CloudCode, message = table[code][1]): GatewayError =>
  gatewayError('INVALID_REQUEST', { status: table[code][0], message, data: { cloudCode: code } })

/** The reply to an error: `{ error, code }`, not encrypted. An internal error is passed to `onError`, and the gateway gets no details. */
export function refusalReply(thrown: unknown, onError: (error: unknown) => void): Reply {
  const error = toGatewayError(thrown)
  if (error.status === 500) onError(error.code === 'INTERNAL' && error.cause !== undefined ? error.cause : error)
  const { message } = error.status === 500 && error.code !== 'BODY_ALREADY_READ' ? gatewayError(error.code) : error
  return jsonReply(error.status, { error: message, code: codeOf(error) }, error.headers)
}

function codeOf(error: GatewayError): string {
  const { cloudCode } = error.data
  if (typeof cloudCode === 'string') return cloudCode
  return error.code === 'INVALID_JSON' || error.code === 'INVALID_REQUEST' ? 'INVALID_MESSAGE' : error.code
}
