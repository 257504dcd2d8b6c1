import { assert, suite } from '../support/suite.ts'
import { anthropic, google, openai, type Refusal, told } from './support/refusals.ts'

const test = suite('errors of providers about an account without credit or permission')

const noCredit: Refusal[] = [
  [
    'Anthropic, at a limit of costs',
    400,
    anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-02-01 at 00:00 UTC.',
    ),
  ],
  [
    'xAI',
    429,
    {
      code: 'Some resource has been exhausted',
      error: 'Your team t has either used all available credits or reached its monthly spending limit.',
    },
  ],
  ['Moonshot', 429, openai('Your account org-1 is suspended', { type: 'exceeded_current_quota_error' })],
  ['Zhipu', 429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }],
  ['LiteLLM', 400, openai('Budget has been exceeded! Current cost: 2, Max budget: 1', { type: 'budget_exceeded' })],
]

for (const [who, status, body] of noCredit)
  test(`${status} of ${who}: it is out of credit`, () => {
    const failure = told(status, body)
    assert.is(failure.class, 'credentials')
    assert.match(failure.message, /out of credit: top it up/)
  })

const barred: Refusal[] = [
  ['Anthropic', 400, anthropic('invalid_request_error', 'This organization has been disabled.')],
  ['Groq', 400, openai('Organization has been restricted.', { code: 'organization_restricted' })],
  ['Fireworks', 412, openai('Account a is suspended, possibly due to reaching the monthly spending limit.')],
]

for (const [who, status, body] of barred)
  test(`${status} of ${who}: it is barred`, () => {
    const failure = told(status, body)
    assert.is(failure.class, 'credentials')
    assert.match(failure.message, /check both at the provider/)
  })

test('400 of Google: its key has expired', () => {
  const body = google(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.')
  assert.match(told(400, body).message, /give the connection another one/)
})

const ofClient: Refusal[] = [
  ['what a request says', 400, openai('Invalid value: This organization has been disabled.')],
  ['what a request says of a limit', 400, openai('metadata: You have reached your specified API usage limits')],
  ['a precondition', 412, openai('The file was changed.')],
  ['the name of an account', 400, openai('Account a is suspended')],
]

for (const [what, status, body] of ofClient)
  test(`${status} for ${what}: the error does not concern the account`, () =>
    assert.is(told(status, body).class, 'client'))
