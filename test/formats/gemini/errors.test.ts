import type { CanonicalError } from '../../../src/protocols/formats/canonical/canonical-errors.ts'
import { geminiTranslator } from '../../../src/protocols/formats/gemini/gemini-translator.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('Gemini errors')

const parse = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  geminiTranslator.parseError({ status, body, header: (name) => headers[name], nowMs: 0 })

const google = (code: number, status: string, message: string, details?: object[]) => ({
  error: { code, message, status, ...(details && { details }) },
})

const quota = 'You exceeded your current quota, please check your plan and billing details.'
const overflow = 'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).'

const table: [name: string, got: CanonicalError, expected: CanonicalError][] = [
  [
    'a bad request, with the field that caused it',
    parse(
      400,
      google(400, 'INVALID_ARGUMENT', 'bad', [{ fieldViolations: [{ field: 'generation_config.temperature' }] }]),
    ),
    {
      kind: 'bad-request',
      status: 400,
      message: 'bad',
      code: 'INVALID_ARGUMENT',
      param: 'generation_config.temperature',
    },
  ],
  [
    'an invalid key',
    parse(400, google(400, 'INVALID_ARGUMENT', 'no', [{ reason: 'API_KEY_INVALID' }])),
    { kind: 'authentication', status: 400, message: 'no', code: 'INVALID_ARGUMENT' },
  ],
  [
    'a rate limit, which Google calls a quota, with a retry delay',
    parse(429, google(429, 'RESOURCE_EXHAUSTED', quota, [{ retryDelay: '48s' }])),
    { kind: 'rate-limit', status: 429, message: quota, code: 'RESOURCE_EXHAUSTED', retryAfterMs: 48_000 },
  ],
  [
    'a quota that waiting does not restore',
    parse(429, google(429, 'RESOURCE_EXHAUSTED', quota)),
    { kind: 'billing', status: 429, message: quota, code: 'RESOURCE_EXHAUSTED' },
  ],
  [
    'a context overflow',
    parse(400, google(400, 'INVALID_ARGUMENT', overflow)),
    { kind: 'context-overflow', status: 400, message: overflow, code: 'INVALID_ARGUMENT' },
  ],
  [
    'an array around the error',
    parse(503, [google(503, 'UNAVAILABLE', 'busy', [{ retryDelay: '1.5s' }])]),
    { kind: 'overloaded', status: 503, message: 'busy', code: 'UNAVAILABLE', retryAfterMs: 1_500 },
  ],
  [
    'an HTML page',
    parse(502, '<html>x</html>'),
    { kind: 'server', status: 502, message: 'The provider returned status 502.' },
  ],
  ['nothing', parse(404, ''), { kind: 'not-found', status: 404, message: 'The provider returned status 404.' }],
]

for (const [name, actual, expected] of table) test(`parses ${name}`, () => assert.equal(actual, expected))

const kinds: Record<CanonicalError['kind'], [status: number, name: string]> = {
  'bad-request': [400, 'INVALID_ARGUMENT'],
  authentication: [401, 'UNAUTHENTICATED'],
  billing: [429, 'RESOURCE_EXHAUSTED'],
  permission: [403, 'PERMISSION_DENIED'],
  'not-found': [404, 'NOT_FOUND'],
  timeout: [504, 'DEADLINE_EXCEEDED'],
  conflict: [409, 'ABORTED'],
  'too-large': [413, 'INVALID_ARGUMENT'],
  'context-overflow': [400, 'INVALID_ARGUMENT'],
  unprocessable: [400, 'INVALID_ARGUMENT'],
  'rate-limit': [429, 'RESOURCE_EXHAUSTED'],
  cancelled: [499, 'CANCELLED'],
  server: [500, 'INTERNAL'],
  overloaded: [503, 'UNAVAILABLE'],
}

for (const [kind, [status, name]] of Object.entries(kinds) as [CanonicalError['kind'], [number, string]][]) {
  test(`writes a ${kind} error as ${name}`, () => {
    const written = geminiTranslator.writeError({ kind, status: 500, message: 'm' })
    assert.is(written.status, status)
    const { code, status: output } = Object(written.body.error)
    assert.equal([code, output], [status, name])
  })
}

test('an error contains the retry delay in whole seconds and the field that caused it', () => {
  const error = { kind: 'rate-limit', status: 429, message: 'm', retryAfterMs: 34_400, param: 'contents[0]' } as const
  assert.equal(geminiTranslator.writeError(error), {
    status: 429,
    headers: { 'retry-after': '35' },
    body: google(429, 'RESOURCE_EXHAUSTED', 'm', [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '35s' },
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'contents[0]' }] },
    ]),
  })
})

test('a billing error tells clients not to retry, and a 502 keeps its status', () => {
  const written = geminiTranslator.writeError({ kind: 'billing', status: 402, message: 'm' })
  assert.equal(written.headers, { 'x-should-retry': 'false' })
  assert.is(geminiTranslator.writeError({ kind: 'server', status: 502, message: 'm' }).status, 502)
})

test("a context overflow message starts with Google's wording, followed by the provider's message", () => {
  const message = (content: string) =>
    Object(geminiTranslator.writeError({ kind: 'context-overflow', status: 400, message: content }).body.error).message
  assert.is(message(overflow), overflow)
  assert.match(
    message('prompt is too long: 5 tokens'),
    /^The input token count exceeds the maximum .* prompt is too long: 5 tokens$/,
  )
})

test('an error keeps its kind and retry time when it is written and parsed again', () => {
  for (const kind of ['rate-limit', 'overloaded', 'not-found', 'context-overflow', 'permission', 'timeout'] as const) {
    const { status, body, headers } = geminiTranslator.writeError({
      kind,
      status: 500,
      message: 'm',
      retryAfterMs: 2_000,
    })
    const { kind: read, retryAfterMs } = parse(status, body, headers)
    assert.equal([read, retryAfterMs], [kind, 2_000])
  }
})
