import { isGatewayError } from '../../src/errors.ts'
import { readIdentifyResult } from '../../src/request/identify-result.ts'
import type { Identity } from '../../src/request/identity.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('parsing identify results')

const full: Identity = {
  account: 'user_42',
  name: 'Alice',
  plan: 'pro',
  models: ['fast', 'openai/*'],
  kinds: ['llm', 'embedding'],
  limits: { usd: { month: 5 }, requests: { minute: 60, day: undefined }, parallel: 2 },
  metadata: { team: 'red' },
  tags: ['beta'],
} as unknown as Identity

test('an identity can have all fields, some fields, or undefined fields', () => {
  assert.equal(readIdentifyResult(full), { identity: full })
  assert.equal(readIdentifyResult({ account: 'a' }), { identity: { account: 'a' } })
  assert.equal(readIdentifyResult({ account: 'a', plan: undefined }), { identity: { account: 'a' } })
})

test('undefined is neither an identity nor a rejection', () => assert.is(readIdentifyResult(undefined), undefined))

test('null and "refuse" reject the request, and clients retry only if "refuse" sets a retry time', () => {
  const read = (response: unknown) => {
    const found = readIdentifyResult(response)
    assert.ok(found && 'rejection' in found)
    const { code, status, message, headers } = found.rejection
    return { code, status, message, headers }
  }
  assert.equal(read(null).code, 'IDENTITY_REQUIRED')
  assert.equal(read({ refuse: 'Pay first.', status: 402 }), {
    code: 'BUDGET_EXCEEDED',
    status: 402,
    message: 'Pay first.',
    headers: { 'x-should-retry': 'false' },
  })
  assert.equal(read({ refuse: 'Slow down.', status: 429, retryAfterS: 1.5 }).headers, { 'retry-after': '2' })
  assert.is(read({ refuse: 'No.' }).status, 401)
  assert.is(read({ refuse: 'No.', status: 403 }).code, 'FORBIDDEN')
})

const nested = { account: 'a', limits: { usd: { month: 1 } } }
const INVALID: ReadonlyArray<[answer: unknown, member: string]> = [
  [{}, 'account'],
  [[{ account: 'a' }], 'array'],
  ['alice', 'string'],
  [true, 'boolean'],
  [false, 'boolean'],
  [0, 'number'],
  [{ account: 7 }, 'account'],
  [{ account: { id: 'a' } }, 'account'],
  [{ account: 'a', limit: { usd: { month: 1 } } }, 'limit'],
  [{ account: 'a', require: { zdr: 1 } }, 'require'],
  [{ account: 'a', require: { 'z dr': true } }, 'require'],
  [{ account: 'a', require: { zdr: 'a, b' } }, 'require'],
  [JSON.parse('{ "account": "a", "__proto__": { "plan": "pro" } }'), '__proto__'],
  [{ account: 'a', constructor: 'b' }, 'constructor'],
  [{ account: 'a', plan: null }, 'plan'],
  [{ account: 'a', plan: '' }, 'plan'],
  [{ account: 'a', name: 'x'.repeat(201) }, 'name'],
  [{ account: 'a', models: [] }, 'models'],
  [{ account: 'a', models: 'fast' }, 'models'],
  [{ account: 'a', models: ['fast', 1] }, 'models'],
  [{ account: 'a', kinds: ['chat'] }, 'kinds'],
  [{ ...nested, limits: {} }, 'limits'],
  [{ ...nested, limits: { usd: {} } }, 'limits'],
  [{ ...nested, limits: { usd: { year: 1 } } }, 'limits'],
  [{ ...nested, limits: { usd: { month: Number.NaN } } }, 'limits'],
  [{ ...nested, limits: { usd: { month: -1 } } }, 'limits'],
  [{ ...nested, limits: { usd: { month: '5' } } }, 'limits'],
  [{ ...nested, limits: { requests: { minute: 1.5 } } }, 'limits'],
  [{ ...nested, limits: { dollars: { month: 5 } } }, 'limits'],
  [{ account: 'a', metadata: { team: 1 } }, 'metadata'],
  [
    { account: 'a', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`n${index}`, ''])) },
    'metadata',
  ],
  [{ account: 'a', tags: Array.from({ length: 11 }, () => 'x') }, 'tags'],
  [{ account: 'a', refuse: 'No.' }, 'account'],
  [{ refuse: '' }, 'refuse'],
  [{ refuse: 'No.', status: 200 }, 'status'],
  [{ refuse: 'No.', status: '403' }, 'status'],
  [{ refuse: 'No.', status: 429, retryAfterS: -1 }, 'retryAfterS'],
]

for (const [response, member] of INVALID)
  test(`readIdentifyResult rejects ${JSON.stringify(response)?.slice(0, 60)} with an error that names the invalid field without its value`, () => {
    assert.throws(
      () => readIdentifyResult(response),
      (error: unknown) => {
        assert.ok(isGatewayError(error, 'IDENTITY_INVALID'))
        assert.is(error.status, 500)
        assert.ok(error.message.includes(member), error.message)
        assert.not.ok(/zdr|pro"|beta/.test(error.message), error.message)
        return true
      },
    )
  })

test('class instances and identities with hidden fields are rejected, because fields would be lost', () => {
  class User {
    account = 'a'
    get limits() {
      return { requests: { total: 1 } }
    }
  }
  const limits = { value: { requests: { total: 1 } } }
  for (const [response, problem] of [
    [new User(), /class/],
    [Object.assign(Object.create({ limits: limits.value }), { account: 'a' }), /class/],
    [{ account: 'a', limits: Object.assign(Object.create({ usd: { month: 1 } }), limits.value) }, /"limits"/],
    [Object.defineProperty({ account: 'a' }, 'limit', limits), /"limit"/],
    [{ account: 'a', [Symbol('limits')]: limits.value }, /Symbol\(limits\)/],
  ] as const)
    assert.throws(() => readIdentifyResult(response), problem)
  const hidden = Object.defineProperty({ account: 'a' }, 'limits', limits)
  assert.equal(readIdentifyResult(hidden), { identity: { account: 'a', limits: limits.value } })
  const bare = Object.assign(Object.create(null), { account: 'a' })
  assert.equal(readIdentifyResult(bare), { identity: { account: 'a' } })
})

test('every list item is checked, even if the list is sparse or overrides its methods', () => {
  const tags = Object.assign([{}], { every: () => true })
  for (const response of [{ tags }, { tags: new Array(2) }, { models: new Array(2) }])
    assert.throws(() => readIdentifyResult({ account: 'a', ...response }), /"(?:tags|models)" is not valid/)
})

test('account ids must have 1 to 200 visible characters in NFC', () => {
  for (const account of ['x'.repeat(200), 'a b', 'é', '__proto__', '../x', '%2e'])
    assert.ok(readIdentifyResult({ account }))
  const bad = [
    'x'.repeat(201),
    '',
    ' a',
    'a ',
    '\u0000',
    'a\u200b',
    '\u202ea',
    '\ud800',
    'e\u0301',
    `a_${'a'.repeat(26)}`,
  ]
  for (const account of bad)
    assert.throws(
      () => readIdentifyResult({ account }),
      (error: unknown) => isGatewayError(error, 'IDENTITY_INVALID'),
    )
})
