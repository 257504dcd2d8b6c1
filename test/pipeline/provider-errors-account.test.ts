import { assert, suite } from '../support/suite.ts'
import { anthropic, google, openai, type Rejection, recordFailure } from './support/rejections.ts'

const test = suite('provider errors about an account without credit or permission')

const noCredit: Rejection[] = [
  [
    'Anthropic about a spending limit',
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

for (const [source, status, body] of noCredit)
  test(`a ${status} from ${source} means that the account is out of credit`, async () => {
    const failure = await recordFailure(status, body)
    assert.is(failure.class, 'credentials')
    assert.match(failure.message, /out of credit\. Top it up/)
  })

const barred: Rejection[] = [
  ['Anthropic', 400, anthropic('invalid_request_error', 'This organization has been disabled.')],
  ['Groq', 400, openai('Organization has been restricted.', { code: 'organization_restricted' })],
  ['Fireworks', 412, openai('Account a is suspended, possibly due to reaching the monthly spending limit.')],
]

for (const [source, status, body] of barred)
  test(`a ${status} from ${source} means that the account is blocked`, async () => {
    const failure = await recordFailure(status, body)
    assert.is(failure.class, 'credentials')
    assert.match(failure.message, /Check both at the provider/)
  })

test('a 400 from Google about an expired key suggests a new key', async () => {
  const body = google(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.')
  assert.match((await recordFailure(400, body)).message, /Give the connection a new one/)
})

const clientErrors: Rejection[] = [
  ['a quoted request', 400, openai('Invalid value: This organization has been disabled.')],
  ['a quoted request that mentions a limit', 400, openai('metadata: You have reached your specified API usage limits')],
  ['a failed precondition', 412, openai('The file was changed.')],
  ['a message that starts with an account name', 400, openai('Account a is suspended')],
]

for (const [label, status, body] of clientErrors)
  test(`a ${status} with ${label} doesn't affect the account`, async () =>
    assert.is((await recordFailure(status, body)).class, 'client'))

const afford = (left: number) =>
  `This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford ${left}. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account`
const openRouter = (message: string) => ({ error: { message, code: 402, metadata: { provider_name: null } } })
const newApi = (message: string, code: string) => openai(message, { type: 'new_api_error', param: '', code })

const tooExpensive: Rejection[] = [
  ['OpenRouter', 402, openRouter(afford(3395))],
  ['OpenRouter about a key limit', 402, openRouter(afford(1).replace('credits and upgrade', 'keys and create'))],
  ['OpenRouter about the prompt', 402, openRouter('Prompt tokens limit exceeded: 64128 > 6964. To increase, visit')],
  [
    'OpenRouter in its older wording',
    402,
    openRouter('max_tokens limit exceeded: 100000 > 9577. To increase, visit https://o'),
  ],
  [
    'OpenRouter, recognized by its reason',
    402,
    { error: { code: 402, message: 'No', metadata: { reason: 'weight_exceeds_budget' } } },
  ],
  [
    'New API',
    403,
    newApi(
      '预扣费额度失败, 用户剩余额度: ¥0.056700, 需要预扣费额度: ¥0.069900 (request id: 1)',
      'insufficient_user_quota',
    ),
  ],
  [
    'New API about a token',
    403,
    newApi(
      'token quota is not enough, token remain quota: ＄0.822658, need quota: ＄1.000000',
      'pre_consume_token_quota_failed',
    ),
  ],
  [
    'New API in its older wording',
    403,
    newApi('chat pre-consumed quota failed, user quota: ＄0.016532, need quota: ＄0.620012', 'insufficient_user_quota'),
  ],
  ['One API', 403, openai('user [12345] quota [50000000] preConsumedQuota [150000000] is not enough')],
  [
    'HiWay',
    402,
    openai('Insufficient credits for this request (estimated max $0.0040, balance $0.0010). Top up at /billing', {
      type: 'billing_error',
    }),
  ],
  [
    'Graff',
    402,
    openai('Estimated request cost ~237430 micro-USD exceeds available balance. Lower max_tokens or top up.'),
  ],
  ['any vendor that suggests a lower max_tokens', 402, openai('Not enough funds, reduce max_tokens.')],
]

for (const [source, status, body] of tooExpensive)
  test(`a ${status} from ${source} means that this request is too expensive`, async () => {
    const failure = await recordFailure(status, body)
    assert.is(failure.class, 'over-budget')
    assert.ok(failure.isQuoted)
    assert.is(failure.status, status)
  })

const nothingLeft: Rejection[] = [
  ['OpenRouter', 402, openRouter('Insufficient credits. Add more using https://openrouter.ai/settings/credits')],
  ['OpenRouter with no tokens affordable', 402, openRouter(afford(0))],
  ['OpenRouter with a negative balance', 402, openRouter(afford(-12))],
  ['OpenRouter about any prompt', 402, openRouter('Prompt tokens limit exceeded: 64128 > 0. To increase, visit')],
  [
    'New API',
    403,
    newApi('预扣费额度失败, 用户剩余额度: ＄0.000000, 需要预扣费额度: ＄0.620012', 'insufficient_user_quota'),
  ],
  ['One API', 403, openai('user [3446] quota [-20847155]preConsumedQuota [743]is not enough')],
  ['One API without amounts', 403, openai('user quota is not enough', { code: 'insufficient_user_quota' })],
  ['HiWay', 402, openai('Insufficient credits (balance: $0.0000). Buy credits at /billing/checkout')],
  [
    'HiWay about this request',
    402,
    openai('Insufficient credits for this request (estimated max $1, balance $0.0000)'),
  ],
  ['DeepSeek', 402, openai('Insufficient Balance')],
  ['any vendor', 402, openai('The balance $0 is empty: reduce max_tokens to 0.')],
]

for (const [source, status, body] of nothingLeft)
  test(`a ${status} from ${source} means that the account has no credit left`, async () =>
    assert.is((await recordFailure(status, body)).class, 'credentials'))

test('a 400 that quotes words about credit from the request is a client error', async () =>
  assert.is((await recordFailure(400, openai(`Invalid value: ${afford(5)}`))).class, 'client'))
