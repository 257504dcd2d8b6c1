import { gatewayError, toGatewayError } from '../errors.ts'
import { errorBody } from '../formats/formats.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { callerFormat } from './paths.ts'
import { jsonReply } from './reply.ts'

/** Any error under `/v1` in the format that its caller reads. What is the gateway's own trouble goes whole to `onError` and bare to the client. */
export function modelsErrorReply(
  thrown: unknown,
  request: { path: string; exchange: Exchange },
  onError: (error: unknown) => void,
): Reply {
  const { path, exchange } = request
  const error = toGatewayError(thrown)
  if (error.status === 500) onError(error.code === 'INTERNAL' && error.cause !== undefined ? error.cause : error)
  const { status, code, message } = error.status === 500 ? gatewayError(error.code) : error
  const cors = path === '/v1/models' ? { 'access-control-allow-origin': '*' } : {}
  return jsonReply(status, errorBody(callerFormat(path, exchange), { status, code, message }), {
    ...cors,
    ...error.headers,
  })
}
