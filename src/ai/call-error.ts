import { isObject, tryParseJson } from '../lib/json.ts'

/** An error in the form of the AI SDK's `APICallError`. The AI SDK recognises its errors by marks, not by their class. */
export interface CallError extends Error {
  readonly url: string
  readonly requestBodyValues: unknown
  readonly statusCode: number
  readonly responseHeaders: Record<string, string>
  readonly responseBody: string
  /** May the AI SDK repeat the call? Only when the gateway names a time, or sheds load, as it has tried all targets. */
  readonly isRetryable: boolean
  readonly data: unknown
}

/** The error for a response of the gateway with a status of failure. */
export async function callError(response: Response, url: string, body: unknown): Promise<CallError> {
  const { status: statusCode, headers } = response
  const responseBody = await response.text().catch(() => '')
  const data = tryParseJson(responseBody)
  const told = isObject(data) && isObject(data.error) ? data.error.message : undefined
  const error = new Error(typeof told === 'string' ? told : `The gateway answered ${statusCode}.`)
  const isRetryable =
    (statusCode === 429 || statusCode === 503) &&
    headers.has('retry-after') &&
    headers.get('x-should-retry') !== 'false'
  return Object.assign(error, {
    name: 'AI_APICallError',
    ...{ url, requestBodyValues: body, statusCode, responseBody, isRetryable, data },
    responseHeaders: Object.fromEntries(headers),
    ...Object.fromEntries(MARKS.map((mark) => [mark, true])),
  })
}

const MARKS = [Symbol.for('vercel.ai.error'), Symbol.for('vercel.ai.error.AI_APICallError')]
