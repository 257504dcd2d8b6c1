import { anthropicTranslator } from '../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { CanonicalError, ErrorKind } from '../../../src/protocols/formats/canonical/canonical-errors.ts'
import { assert, suite } from '../../support/suite.ts'

const read = suite("parsing Anthropic's errors")

const parse = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  anthropicTranslator.parseError({ status, body, header: (name) => headers[name], nowMs: 0 })

const envelope = (type: string, message: string, details?: object) => ({
  type: 'error',
  error: { type, message, ...(details && { details }) },
  request_id: 'req_1',
})

const table: Record<string, [status: number, body: unknown, expected: Partial<CanonicalError>, headers?: object]> = {
  'a bad request': [
    400,
    envelope('invalid_request_error', 'bad'),
    { kind: 'bad-request', code: 'invalid_request_error' },
  ],
  'an unknown key': [401, envelope('authentication_error', 'invalid x-api-key'), { kind: 'authentication' }],
  'insufficient credit': [402, envelope('billing_error', 'pay'), { kind: 'billing' }],
  'insufficient credit, reported as a bad request': [
    400,
    envelope('invalid_request_error', 'Your credit balance is too low'),
    { kind: 'billing' },
  ],
  'a spending limit reported as a rate limit': [
    429,
    envelope('rate_limit_error', 'You have reached your spend limit', { error_code: 'spend_limit_reached' }),
    { kind: 'billing', code: 'spend_limit_reached' },
  ],
  'an unknown model': [404, envelope('not_found_error', 'model: x'), { kind: 'not-found' }],
  'an oversized body': [413, envelope('request_too_large', 'big'), { kind: 'too-large' }],
  'a prompt that is too long': [
    400,
    envelope('invalid_request_error', 'prompt is too long: 3333404 tokens > 200000 maximum'),
    { kind: 'context-overflow' },
  ],
  'a rate limit with a retry delay': [
    429,
    envelope('rate_limit_error', 'slow'),
    { kind: 'rate-limit', retryAfterMs: 7_000 },
    { 'retry-after': '7' },
  ],
  overload: [529, envelope('overloaded_error', 'Overloaded'), { kind: 'overloaded' }],
  'overload with another status': [500, envelope('overloaded_error', 'Overloaded'), { kind: 'overloaded' }],
  'an internal error': [500, envelope('api_error', 'Internal server error'), { kind: 'server' }],
  'an HTML page instead of an error body': [
    502,
    '<html>',
    { kind: 'server', message: 'The provider returned status 502.' },
  ],
}

for (const [name, [status, body, expected, headers]] of Object.entries(table)) {
  read(`parses ${name}`, () => {
    const recorded = parse(status, body, { ...headers })
    const picked = Object.fromEntries(Object.entries(recorded).filter(([field]) => field in expected))
    assert.equal(picked, expected)
    assert.is(recorded.status, status)
  })
}

const write = suite("writing errors for Anthropic's clients")

const written = (kind: ErrorKind, fields: Partial<CanonicalError> = {}) =>
  anthropicTranslator.writeError({ kind, status: 400, message: 'm', ...fields })

const kinds: Record<ErrorKind, [status: number, type: string]> = {
  'bad-request': [400, 'invalid_request_error'],
  authentication: [401, 'authentication_error'],
  billing: [402, 'billing_error'],
  permission: [403, 'permission_error'],
  'not-found': [404, 'not_found_error'],
  timeout: [504, 'timeout_error'],
  conflict: [409, 'conflict_error'],
  'too-large': [413, 'request_too_large'],
  'context-overflow': [400, 'invalid_request_error'],
  unprocessable: [422, 'invalid_request_error'],
  'rate-limit': [429, 'rate_limit_error'],
  cancelled: [499, 'api_error'],
  server: [500, 'api_error'],
  overloaded: [529, 'overloaded_error'],
}

for (const [kind, [status, type]] of Object.entries(kinds) as [ErrorKind, [number, string]][]) {
  write(`writes a ${kind} error with Anthropic's status and type`, () => {
    const recorded = written(kind)
    assert.is(recorded.status, status)
    assert.is(Object(recorded.body.error).type, type)
    assert.is(recorded.body.type, 'error')
  })
}

write('a server or timeout error keeps its more specific status', () => {
  assert.is(written('server', { status: 502 }).status, 502)
  assert.is(written('timeout', { status: 408 }).status, 408)
  assert.is(written('overloaded', { status: 503 }).status, 529)
})

write('a context overflow message uses wording that clients recognize', () => {
  const message = (content: string) => Object(written('context-overflow', { message: content }).body.error).message
  assert.is(
    message('The input token count exceeds the maximum'),
    'prompt is too long: The input token count exceeds the maximum',
  )
  assert.is(message('prompt is too long: 2 > 1'), 'prompt is too long: 2 > 1')
  const sum = 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000'
  assert.is(message(sum), sum)
})

write('a rate limit sends its delay in seconds, and a billing error tells clients not to retry', () => {
  assert.equal(written('rate-limit', { retryAfterMs: 34_400 }).headers, { 'retry-after': '35' })
  assert.equal(written('billing').headers, { 'x-should-retry': 'false' })
})
