import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import { formatOf } from '../formats/formats.ts'
import { openaiChat } from '../formats/openai-chat/format.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { callerFormat, isModelList } from './caller-format.ts'
import { jsonReply } from './reply.ts'

/**
 * Any error under `/v1` in the format that its caller reads. SDKs try again by themselves on 408, 409, 429 and 5xx unless they are told that it
 * is no use; it is only where the gateway shuts down, for another instance may answer.
 */
export async function modelsErrorReply(
  thrown: unknown,
  request: { path: string; exchange: Exchange },
  onError: (error: unknown) => void,
): Promise<Reply> {
  const { path, exchange } = request
  const error = toGatewayError(thrown)
  const { status, code, message, data } = asTold(error, onError)
  const param = typeof data.param === 'string' ? data.param : undefined
  const telling = await (formatOf(callerFormat(path, exchange)) ?? openaiChat).loadErrors()
  const cors = isModelList(path) ? { 'access-control-allow-origin': '*' } : {}
  return jsonReply(status, telling.body({ status, code, message, param }), {
    ...cors,
    ...(code !== 'CLOSED' && NO_RETRY),
    ...error.headers,
  })
}

/** That trying the same again is no use. */
const NO_RETRY = { 'x-should-retry': 'false' }

/** What is the gateway's own trouble goes whole to `onError` and bare to the client; a provider's 500 is not. */
function asTold(error: GatewayError, onError: (error: unknown) => void): GatewayError {
  const bare = error.status === 500 ? gatewayError(error.code) : error
  if (bare.status !== 500) return error
  onError(error.code === 'INTERNAL' && error.cause !== undefined ? error.cause : error)
  return bare
}
