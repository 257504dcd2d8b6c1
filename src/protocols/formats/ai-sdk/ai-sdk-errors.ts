import { getErrorObject, readMessage } from '../errors/read-error.ts'
import type { ErrorDetails, FormatErrors } from '../format.ts'

/** Reads and writes AI SDK protocol errors. AI SDK clients recognize an error by its `type` (@ai-sdk/gateway, create-gateway-error.ts). */
export const aiSdkErrors: FormatErrors = {
  createBody: writeErrorBody,
  createEvent: (error) => `data: ${JSON.stringify({ type: 'error', ...writeErrorBody(error) })}\n\n`,
  isReadable: (body) => KNOWN_TYPES.has(String(getErrorObject(body)?.type)),
  isErrorEvent: () => false, // errors are never passed through
  isOverflowError: () => true, // errors are never passed through
  read: readMessage,
  writeBody: (error) => ({ error }),
}

/** Writes an error body. For an unknown model, clients show `model`, the name from the request header. */
export function writeErrorBody({ status, code, message, param, model }: ErrorDetails): { error: object } {
  const type = getErrorType(status, code)
  const details = type === 'model_not_found' && model !== undefined ? { modelId: model } : (param ?? null)
  return { error: { message, type, param: details, code: status === 500 ? null : code.toLowerCase() } }
}

/** Returns the error `type` for a status. A 404's `code` distinguishes unknown paths from unknown models. */
export function getErrorType(status: number, code: string): string {
  if (status >= 500) return 'internal_server_error'
  if (status === 401) return 'authentication_error'
  if (status === 402 || status === 429) return 'rate_limit_exceeded' // includes budgets and quotas
  if (status === 403) return 'forbidden'
  return status === 404 && code !== 'NOT_FOUND' ? 'model_not_found' : 'invalid_request_error'
}

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...['authentication_error', 'forbidden', 'model_not_found', 'rate_limit_exceeded'],
  ...['invalid_request_error', 'internal_server_error'],
])
