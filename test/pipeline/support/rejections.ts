import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import type { UpstreamResponse } from '../../../src/lib/exchange.ts'
import { operations } from '../../../src/protocols/formats/model-operations.ts'
import { chatErrors } from '../../../src/protocols/formats/openai-chat/chat-errors.ts'
import { readStatusFailure } from '../../../src/request/attempt/read-failure.ts'
import type { Failure } from '../../../src/request/codec/call-failure.ts'

/** The provider that rejects a request, with its status and body. */
export type Rejection = [who: string, status: number, body: unknown]

/** Creates an error in OpenAI's format. */
export const openai = (message: string, extra: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...extra },
})

/** Creates an error in Anthropic's format. */
export const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_1',
})

/** Creates an error in Google's format. */
export const google = (code: number, status: string, message: string, details: object[] = []) => ({
  error: { code, message, status, details },
})

/** Resolves to the pipeline's classification of this Chat Completions response. */
export function recordFailure(status: number, body: unknown): Promise<Failure> {
  const response: UpstreamResponse = {
    status,
    header: () => undefined,
    headers: () => [],
    body: { next: async () => undefined, cancel() {} },
  }
  return readStatusFailure(response, encodeUtf8(typeof body === 'string' ? body : JSON.stringify(body)), {
    reader: chatErrors,
    operation: operations.generate,
    now: 0,
  })
}
