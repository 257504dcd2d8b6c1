import { gatewayError, toGatewayError } from '../errors.ts'
import type { Reply } from '../lib/exchange.ts'
import { jsonReply } from './reply.ts'

/**
 * The reply to an error under `/api`: `{ error: string }`. An internal error goes whole to `onError`, and to the client as "Internal server
 * error".
 */
export function managementErrorReply(thrown: unknown, onError: (error: unknown) => void): Reply {
  const error = toGatewayError(thrown)
  const isInternal = error.code === 'INTERNAL'
  const isForClient = isInternal || error.code === 'BODY_ALREADY_READ' // the message, if there is one, was written for the client
  if (error.status === 500) onError(isInternal && error.cause !== undefined ? error.cause : error)
  const message = error.status === 500 && !isForClient ? gatewayError(error.code).message : error.message
  return jsonReply(error.status, { error: message }, error.headers)
}
