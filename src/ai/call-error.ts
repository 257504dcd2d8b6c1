import { isObject, tryParseJson } from '../lib/json.ts'

/** An error with the fields of the AI SDK's `APICallError`. The AI SDK recognizes its errors by symbols, not by class. */
export interface CallError extends Error {
  readonly url: string
  readonly requestBodyValues: unknown
  readonly statusCode: number
  readonly responseHeaders: Record<string, string>
  readonly responseBody: string
  /**
   * Whether the AI SDK may retry. `true` only if the gateway sends a retry time or sheds load. After other errors, it has already tried all targets.
   */
  readonly isRetryable: boolean
  readonly data: unknown
}

/** Creates the error for a gateway's error response. */
export async function createCallError(response: Response, url: string, body: unknown): Promise<CallError> {
  const { status: statusCode, headers } = response
  const responseBody = await response.text().catch(() => '')
  const data = tryParseJson(responseBody)
  const message = isObject(data) && isObject(data.error) ? data.error.message : undefined
  const error = new Error(typeof message === 'string' ? message : `The gateway returned ${statusCode}.`)
  const isRetryable =
    (statusCode === 429 || statusCode === 503) &&
    headers.has('retry-after') &&
    headers.get('x-should-retry') !== 'false'
  return Object.assign(error, {
    name: 'AI_APICallError',
    ...{ url, requestBodyValues: body, statusCode, responseBody, isRetryable, data },
    responseHeaders: Object.fromEntries(headers),
    ...Object.fromEntries(ERROR_SYMBOLS.map((symbol) => [symbol, true])),
  })
}

const ERROR_SYMBOLS = [Symbol.for('vercel.ai.error'), Symbol.for('vercel.ai.error.AI_APICallError')]
