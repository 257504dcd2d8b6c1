import { readWaitMs } from '../../../src/protocols/formats/errors/retry-after.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('the retry delay that a provider requests')

const NOW = Date.UTC(2026, 0, 1)
const inAMinute = new Date(NOW + 60_000)

function getWait(headers: Record<string, string>, body?: unknown, isRateLimit = true): number | undefined {
  return readWaitMs({ header: (name) => headers[name], body, nowMs: NOW, isRateLimit })
}

const epoch = (text: string) => String(Date.parse(text))
const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }
const google = { error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [retryInfo] } }
const openRouter = (headers: object) => ({ error: { message: 'm', code: 429, metadata: { headers } } })

const HOUR = 60 * 60 * 1_000
const delayed = (retryDelay: object) => ({ error: { details: [{ retryDelay }] } })

const table: [what: string, wait: number | undefined, headers: Record<string, string>, body?: unknown][] = [
  ['nothing', undefined, {}],
  ['seconds', 7_000, { 'retry-after': '7' }],
  ['milliseconds', 1_500, { 'retry-after-ms': '1500' }],
  ['milliseconds before seconds', 1_500, { 'retry-after-ms': '1500', 'retry-after': '30' }],
  ['invalid milliseconds, but valid seconds', 30_000, { 'retry-after-ms': '0', 'retry-after': '30' }],
  ['an invalid value', 0, { 'retry-after': '0' }],
  ['an invalid value in milliseconds', 0, { 'retry-after-ms': '0' }],
  ['an invalid value, but a reset', 50_000, { 'retry-after': '0', 'x-ratelimit-reset': '50' }],
  ['a negative value', undefined, { 'retry-after': '-5' }],
  ['a date', 60_000, { 'retry-after': inAMinute.toUTCString() }],
  ['an RFC 850 date', 60_000, { 'retry-after': 'Thursday, 01-Jan-26 00:01:00 GMT' }],
  ['an RFC 850 date in the last century', 0, { 'retry-after': 'Sunday, 06-Nov-94 08:49:37 GMT' }],
  ['an asctime date', 60_000, { 'retry-after': 'Thu Jan  1 00:01:00 2026' }],
  ['a duration', 30_000, { 'retry-after': '30s' }],
  ['a duration of several parts', 90_500, { 'retry-after': '1m30.5s' }],
  ['an RFC 3339 date', 60_000, { 'retry-after': '2026-01-01T00:01:00Z' }],
  ['a timestamp', 60_000, { 'retry-after': String(NOW / 1_000 + 60) }],
  ['more than an hour', HOUR, { 'retry-after': '99999999' }],
  ['more than the largest safe number', HOUR, { 'retry-after': '9'.repeat(400) }],
  ['seconds until a reset', 30_000, { 'x-ratelimit-reset-after': '30' }],
  ["Google's delay as an object", 30_500, {}, delayed({ seconds: 30, nanos: 5e8 })],
  ["Google's delay as an object of strings", 30_000, {}, delayed({ seconds: '30' })],
  ["Google's delay as an invalid object", undefined, {}, delayed({ seconds: 'soon' })],
  ["Google's delay as a negative object", undefined, {}, delayed({ seconds: -1 })],
  ['a body field', 30_000, {}, { retry_after: 30 }],
  ['an error field', 30_000, {}, { error: { message: 'm', retry_after: '30' } }],
  ['an error field with a duration', 30_000, {}, { error: { message: 'm', retryAfter: '30s' } }],
  ['an error field in milliseconds', 30_000, {}, { error: { message: 'm', retry_after_ms: 30_000 } }],
  ['a metadata field', 30_000, {}, { error: { metadata: { retry_after_seconds: 30 } } }],
  ['an invalid field', undefined, {}, { retry_after: 'soon', error: { retry_after: { x: 1 } } }],
  ['a header, which takes precedence over a field', 7_000, { 'retry-after': '7' }, { retry_after: 30 }],
  ['a past date', 0, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  ['seconds joined by a proxy', 5_000, { 'retry-after': '5, 5' }],
  ['milliseconds joined by a proxy', 1_500, { 'retry-after-ms': '1500,1500' }],
  ['the longest of several values joined by a proxy', 30_000, { 'retry-after': 'soon, 5, 30s,0' }],
  ['dates joined by a proxy', 60_000, { 'retry-after': `${new Date(NOW).toUTCString()}, ${inAMinute.toUTCString()}` }],
  ['invalid values joined by a proxy', undefined, { 'retry-after': ',,soon, ' }],
  ['an invalid date', undefined, { 'retry-after': 'soon' }],
  ["Google's delay", 34_400, {}, google],
  ["Google's delay in an array", 34_400, {}, [google]],
  ['a reset as a duration', 90_000, { 'x-ratelimit-reset-requests': '1m30s' }],
  ['a reset in epoch seconds', 60_000, { 'x-ratelimit-reset': String(NOW / 1_000 + 60) }],
  ['a reset in epoch milliseconds', 60_000, { 'x-ratelimit-reset': epoch('2026-01-01T00:01:00Z') }],
  [
    'the reset of the exhausted limit, when each limit has its own reset (Cerebras)',
    20_500,
    {
      'x-ratelimit-remaining-requests-day': '99',
      'x-ratelimit-reset-requests-day': '33011.38',
      'x-ratelimit-remaining-tokens-minute': '0',
      'x-ratelimit-reset-tokens-minute': '20.5',
    },
  ],
  ["Anthropic's reset", 60_000, { 'anthropic-ratelimit-tokens-reset': '2026-01-01T00:01:00Z' }],
  ["Anthropic's subscription reset", 60_000, { 'anthropic-ratelimit-unified-reset': String(NOW / 1_000 + 60) }],
  ['the older draft standard', 50_000, { 'ratelimit-limit': '9', 'ratelimit-remaining': '0', 'ratelimit-reset': '50' }],
  ['the draft standard in one header', 50_000, { ratelimit: 'limit=100, remaining=0, reset=50' }],
  ['the newer draft standard', 50_000, { ratelimit: '"default";r=0;t=50' }],
  ['the exhausted limit in the newer draft standard', 5_000, { ratelimit: '"burst";r=0;t=5, "daily";r=10;t=3600' }],
  [
    'the latest reset of several exhausted limits',
    360_000,
    {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1s',
    },
  ],
  [
    'the earlier reset of two limits that may be exhausted',
    20_000,
    { 'x-ratelimit-reset-requests': '20s', 'x-ratelimit-reset-tokens': '50s' },
  ],
  [
    'no delay for a limit that is not exhausted',
    50_000,
    {
      'x-ratelimit-remaining-requests': '5',
      'x-ratelimit-reset-requests': '20s',
      'x-ratelimit-reset-tokens': '50s',
    },
  ],
  ["headers in OpenRouter's error", 60_000, {}, openRouter({ 'X-RateLimit-Reset': epoch('2026-01-01T00:01:00Z') })],
  ["a retry delay in OpenRouter's error", 9_000, {}, openRouter({ 'Retry-After': '9' })],
  ["headers in OpenRouter's error that are not strings", 60_000, {}, openRouter({ 'X-RateLimit-Reset': NOW + 60_000 })],
]

for (const [label, wait, headers, body] of table)
  test(`parses the requested retry delay: ${label}`, () => assert.is(getWait(headers, body), wait))

test('reset headers, which are always present, count only for a rate limit', () => {
  assert.is(getWait({ 'x-ratelimit-reset-requests': '6m0s' }, undefined, false), undefined)
  assert.is(getWait({}, openRouter({ 'X-RateLimit-Reset': '50' }), false), undefined)
})

test('parses the retry delay from a rate limit message if nothing else specifies it', () => {
  const text = 'Please try again in 20s.'
  const words = { header: () => undefined, body: {}, nowMs: NOW, text }
  assert.is(readWaitMs({ ...words, isRateLimit: true }), 20_000)
  assert.is(readWaitMs({ ...words, isRateLimit: false }), undefined)
  assert.is(readWaitMs({ ...words, body: { retry_after: 3 }, isRateLimit: true }), 3_000)
})
