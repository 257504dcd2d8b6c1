import type { CanonicalError } from '../../../src/protocols/formats/canonical/canonical-errors.ts'
import { chatTranslator } from '../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('errors for Chat Completions clients')

const table: [error: Partial<CanonicalError>, status: number, type: string, code: string | null][] = [
  [{ kind: 'bad-request', status: 400 }, 400, 'invalid_request_error', null],
  [{ kind: 'bad-request', status: 400, code: 'INVALID_JSON' }, 400, 'invalid_request_error', 'invalid_json'],
  [{ kind: 'authentication', status: 401 }, 401, 'authentication_error', 'invalid_api_key'],
  [{ kind: 'billing', status: 402 }, 429, 'insufficient_quota', 'insufficient_quota'],
  [{ kind: 'not-found', status: 404, code: 'model_not_found' }, 404, 'invalid_request_error', 'model_not_found'],
  [{ kind: 'context-overflow', status: 400 }, 400, 'invalid_request_error', 'context_length_exceeded'],
  [{ kind: 'rate-limit', status: 429 }, 429, 'rate_limit_error', 'rate_limit_exceeded'],
  [{ kind: 'overloaded', status: 529 }, 503, 'server_error', null],
  [{ kind: 'server', status: 502, code: 'UPSTREAM_FAILED' }, 502, 'server_error', 'upstream_failed'],
  [{ kind: 'timeout', status: 504 }, 504, 'server_error', null],
]

for (const [error, status, type, code] of table) {
  test(`writes an error's status, type, and code: ${error.kind} ${error.status} ${error.code ?? ''}`, () => {
    const written = chatTranslator.writeError({ kind: 'server', status: 500, message: 'm', param: 'n', ...error })
    assert.equal(written.status, status)
    assert.equal(written.body, { error: { message: 'm', type, param: 'n', code } })
  })
}

test('a rate limit sends a `retry-after` header, and a billing error tells clients not to retry', () => {
  const writeError = (error: Partial<CanonicalError>) =>
    chatTranslator.writeError({ kind: 'rate-limit', status: 429, message: 'm', ...error }).headers
  assert.equal(writeError({ retryAfterMs: 34_400 }), { 'retry-after': '35' })
  assert.equal(writeError({ kind: 'billing' }), { 'x-should-retry': 'false' })
})
