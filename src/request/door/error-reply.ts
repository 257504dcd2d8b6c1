import { gatewayError, toGatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import { createJsonReply } from './reply.ts'

/** Creates the reply to an error under `/api`: `{ error: string }`. Passes an internal error to `onError`, and replaces it with "Internal server error". */
export function createManagementErrorReply(cause: unknown, onError: (error: unknown) => void): Reply {
  const error = toGatewayError(cause)
  const isInternal = error.code === 'INTERNAL'
  const isForClient = isInternal || error.code === 'BODY_ALREADY_READ' // any message was written for the client
  if (error.status === 500 || error.code === 'STORAGE_UNAVAILABLE')
    onError(isInternal && error.cause !== undefined ? error.cause : error)
  const message = error.status === 500 && !isForClient ? gatewayError(error.code).message : error.message
  return createJsonReply(error.status, { error: message }, error.headers)
}
