import { errorObjectIn, readMessage } from '../errors/read.ts'
import type { ErrorFacts, FormatErrors } from '../format.ts'

/** A comment: AI SDK 6 knows no part `ping`. */
export const KEEP_ALIVE = ': keep-alive\n\n'

/** Errors of the AI SDK's protocol. Its clients recognise an error by its `type` (@ai-sdk/gateway, create-gateway-error.ts). */
export const aiSdkErrors: FormatErrors = {
  body: errorBody,
  event: (error) => `data: ${JSON.stringify({ type: 'error', ...errorBody(error) })}\n\n`,
  isReadable: (body) => TYPES.has(String(errorObjectIn(body)?.type)),
  isErrorEvent: () => false, // nothing is passed through
  read: readMessage,
  bodyOf: (error) => ({ error }),
}

/** The body of an error. `model`: the name in the request's header, which clients show when there is no such model. */
export function errorBody({ status, code, message, param, model }: ErrorFacts): { error: object } {
  const type = errorTypeOf(status, code)
  const at = type === 'model_not_found' && model !== undefined ? { modelId: model } : (param ?? null)
  return { error: { message, type, param: at, code: status === 500 ? null : code.toLowerCase() } }
}

/** The `type` of an error with this status; the `code` says whether a model or a path is unknown. */
export function errorTypeOf(status: number, code: string): string {
  if (status >= 500) return 'internal_server_error'
  if (status === 401) return 'authentication_error'
  if (status === 402 || status === 429) return 'rate_limit_exceeded' // a budget or quota is a limit, too
  if (status === 403) return 'forbidden'
  return status === 404 && code !== 'NOT_FOUND' ? 'model_not_found' : 'invalid_request_error'
}

const TYPES: ReadonlySet<string> = new Set([
  ...['authentication_error', 'forbidden', 'model_not_found', 'rate_limit_exceeded'],
  ...['invalid_request_error', 'internal_server_error'],
])
