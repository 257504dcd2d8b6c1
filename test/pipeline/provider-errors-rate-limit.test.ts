import { assert, suite } from '../support/suite.ts'
import { anthropic, google, openai, type Rejection, recordFailure } from './support/rejections.ts'

const test = suite('provider errors about a rate limit')

const oneModel: Rejection[] = [
  [
    'OpenAI',
    429,
    openai('Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Used 30000.', {
      code: 'rate_limit_exceeded',
    }),
  ],
  [
    'Groq',
    429,
    openai('Rate limit reached for model `x` in organization `o` service tier `on_demand` on tokens per day'),
  ],
  [
    'Anthropic',
    429,
    anthropic('rate_limit_error', 'This request would exceed the rate limit (org: o, model: claude-x)'),
  ],
  [
    'Google',
    429,
    google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      { violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] },
    ]),
  ],
  [
    'Google, only in the message',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota.\n* Quota exceeded, limit: 10, model: gemini-x\n',
    ),
  ],
  [
    'Azure',
    429,
    {
      error: { code: 'RateLimitReached', message: 'Your requests to x for x in westeurope have exceeded rate limit.' },
    },
  ],
  [
    'OpenRouter',
    429,
    {
      error: {
        code: 429,
        message: 'Provider returned error',
        metadata: { raw: 'a/x:free is temporarily rate-limited upstream.' },
      },
    },
  ],
  ['xAI', 429, { code: 'resource-exhausted', error: 'Too many requests for team t and model x.' }],
  ['Together', 429, openai('You have reached the rate limit specific to this model a/x.')],
  [
    'GitHub',
    429,
    { error: { code: 'RateLimitReached', message: 'Rate limit of 50 per 86400s exceeded for UserByModelByDay.' } },
  ],
]
for (const [source, status, body] of oneModel)
  test(`a rate limit from ${source} applies to one model`, async () =>
    assert.is((await recordFailure(status, body)).level, 'model'))

for (const [source, status, body] of [
  ['OpenAI', 429, openai('Request too large for default in organization org-1', { code: 'rate_limit_exceeded' })],
  ['Anthropic', 429, anthropic('rate_limit_error', 'Number of requests has exceeded your per-minute rate limit')],
  ['Mistral', 429, { message: 'Requests rate limit exceeded' }],
  ['a provider with an empty body', 429, ''],
] satisfies Rejection[])
  test(`a rate limit from ${source} applies to the account`, async () =>
    assert.is((await recordFailure(status, body)).level, undefined))

test("a 413 with a rate limit code counts as the model's rate limit", async () => {
  const text =
    'Request too large for model `x` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 7000'
  const failure = await recordFailure(413, openai(text, { type: 'tokens', code: 'rate_limit_exceeded' })) // Groq
  assert.equal([failure.class, failure.level], ['rate-limit', 'model'])
  assert.is((await recordFailure(413, openai('Request too large'))).class, 'client')
})
