import { parseProviderError } from '../../src/protocols/formats/errors/parse-error.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('vendor errors')

const parse = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  parseProviderError({ status, body, header: (name) => headers[name], nowMs: 0 })

const overflow = "This model's maximum context length is 8192 tokens. However, you requested 9000."
const quota = { error: { message: 'You exceeded your current quota', type: 'insufficient_quota' } }

const table: [name: string, got: object, expected: object][] = [
  [
    "OpenAI's envelope",
    parse(400, { error: { message: 'bad', type: 'invalid_request_error', param: 'n', code: null } }),
    { kind: 'bad-request', status: 400, message: 'bad', code: 'invalid_request_error', param: 'n' },
  ],
  [
    'a context overflow without a code',
    parse(400, { message: overflow }),
    { kind: 'context-overflow', status: 400, message: overflow },
  ],
  [
    'insufficient credit with a 429',
    parse(429, quota),
    { ...{ kind: 'billing', status: 429 }, message: quota.error.message, code: 'insufficient_quota' },
  ],
  [
    "Google's delay, in an array",
    parse(429, [
      { error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34.4s' }] } },
    ]),
    { ...{ kind: 'rate-limit', status: 429, message: 'm' }, code: 'RESOURCE_EXHAUSTED', retryAfterMs: 34_400 },
  ],
  [
    'plain text',
    parse(503, 'no healthy upstream'),
    { kind: 'overloaded', status: 503, message: 'no healthy upstream' },
  ],
  [
    "FastAPI's list",
    parse(422, { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', input: 'Hi' }, { msg: 'odd' }, 7] }),
    { kind: 'unprocessable', status: 422, message: 'body.messages.0: Field required; odd' },
  ],
  [
    "FastAPI's list in Mistral's message",
    parse(422, {
      object: 'error',
      message: { detail: [{ loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }] },
    }),
    { kind: 'unprocessable', status: 422, message: 'body.x: Extra inputs are not permitted' },
  ],
  [
    'an HTML page',
    parse(502, '<html>x</html>'),
    { kind: 'server', status: 502, message: 'The provider returned status 502.' },
  ],
  [
    'a header',
    parse(529, undefined, { 'retry-after': '7' }),
    { ...{ kind: 'overloaded', status: 529, retryAfterMs: 7_000 }, message: 'The provider returned status 529.' },
  ],
]

for (const [name, actual, expected] of table)
  test(`parses a vendor's error: ${name}`, () => assert.equal(actual, expected))
