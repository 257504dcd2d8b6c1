import { assert, suite } from '../support/suite.ts'
import { anthropic, google, openai, type Rejection, recordFailure } from './support/rejections.ts'

const test = suite('provider errors by status and wording')

const accountErrors: Rejection[] = [
  ['OpenAI', 401, openai('Incorrect API key provided: sk-abc****wxyz.', { code: 'invalid_api_key' })],
  [
    'OpenAI about a country',
    403,
    openai('Country, region, or territory not supported', { code: 'unsupported_country_region_territory' }),
  ],
  [
    'Google',
    400,
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
  ],
  ['Google, in an array', 400, [google(400, 'INVALID_ARGUMENT', 'API key expired.', [{ reason: 'API_KEY_INVALID' }])]],
  [
    'Google about a country',
    400,
    google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
  ],
  [
    'xAI',
    400,
    {
      code: 'invalid-argument',
      error: 'Incorrect API key provided. You can obtain an API key from https://console.x.ai.',
    },
  ],
  [
    'xAI about missing credit',
    403,
    { code: 'permission-denied', error: 'Your newly created team has no credits yet. You can purchase credits.' },
  ],
  [
    'Anthropic about missing credit',
    400,
    anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
  ],
  [
    'Anthropic',
    403,
    anthropic('permission_error', 'Your API key does not have permission to use the specified resource'),
  ],
  ['DeepSeek', 402, openai('Insufficient Balance')],
  [
    'OpenAI about missing credit',
    429,
    openai('You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
  ],
  [
    'OpenAI about its own spending limit',
    400,
    openai('Billing hard limit has been reached', { code: 'billing_hard_limit_reached' }),
  ],
  ['OpenAI about inactive billing', 429, openai('Your account is not active', { code: 'billing_not_active' })],
  ['Anthropic about billing', 400, anthropic('billing_error', 'Check your billing settings')],
  ['Alibaba', 400, openai('Access denied, make sure your account is in good standing.', { code: 'Arrearage' })],
  ['Bedrock', 403, { message: 'The security token included in the request is invalid.' }],
  ['Google about a project', 403, google(403, 'PERMISSION_DENIED', 'Your project has been denied access.')],
  ['Google Cloud about a network', 403, google(403, '', "Request is prohibited by organization's policy.")],
  [
    'a provider about an account that broke its rules',
    403,
    openai('Your account was flagged for violating our usage policy'),
  ],
  ['a provider about a plan', 403, openai('This endpoint is not part of your subscription')],
  ['a provider about an IP address', 403, openai('Calls from this IP are not allowed')],
  ['AWS', 403, { __type: 'UnrecognizedClientException', message: 'No', code: 'UnrecognizedClientException' }],
  ['a provider, recognized by its code', 403, openai('No', { code: 'account_deactivated' })],
  [
    'OpenRouter about a key limit',
    402,
    { error: { code: 402, message: 'No', metadata: { limit_source: 'openrouter_key_limit' } } },
  ],
]

const clientErrors: Rejection[] = [
  ['Anthropic about a file', 404, anthropic('not_found_error', 'File not found: file_011CNha8iCJcU1wXNR6q4V8w')],
  [
    'Google about a file',
    403,
    google(403, 'PERMISSION_DENIED', 'You do not have permission to access the File abc or it may not exist.'),
  ],
  ['Google about a cache', 403, google(403, 'PERMISSION_DENIED', 'CachedContent not found (or permission denied)')],
  ['Google about an unrelated problem', 404, google(404, 'NOT_FOUND', 'Requested entity was not found.')],
  [
    'xAI about the content of the prompt',
    403,
    {
      code: 'permission-denied',
      error: 'Content violates usage guidelines. Team: t, API key ID: k, Model: x, Failed check: SAFETY_CHECK_TYPE_BIO',
    },
  ],
  [
    'OpenRouter about the content of the prompt',
    403,
    {
      error: {
        code: 403,
        message: 'Your chosen model requires moderation and your input was flagged for "violence".',
        metadata: { flagged_input: 'x' },
      },
    },
  ],
  [
    'OpenRouter, recognized by its reasons',
    403,
    { error: { code: 403, message: 'No', metadata: { reasons: ['violence'] } } },
  ],
  [
    'OpenRouter, recognized by the flagged input',
    403,
    { error: { code: 403, message: 'No', metadata: { flagged_input: 'x' } } },
  ],
  ['OpenAI about its policy', 403, openai('Your request was rejected.', { code: 'content_policy_violation' })],
  ['a content filter', 403, openai('The response was filtered', { code: 'content_filter' })],
  ['moderation', 403, openai('Rejected by the safety system', { type: 'flagged_input' })],
  [
    'Azure',
    403,
    {
      error: {
        code: null,
        message: 'x',
        innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
      },
    },
  ],
  [
    'OpenRouter about an unsupported feature',
    404,
    { error: { message: 'No endpoints found that support tool use.', code: 404 } },
  ],
  [
    'OpenAI about an earlier response',
    404,
    openai("Previous response with id 'resp_1' not found.", {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    }),
  ],
  [
    'OpenAI about a model for other requests',
    404,
    openai('This is not a chat model and thus not supported in the v1/chat/completions endpoint.', { param: 'model' }),
  ],
  [
    'OpenAI about the response length',
    400,
    openai('max_tokens is too large: 100000. This model supports at most 16384 completion tokens.', {
      param: 'max_tokens',
    }),
  ],
  [
    'Anthropic about the response length',
    400,
    anthropic('invalid_request_error', 'max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens'),
  ],
  [
    'Groq about a tool',
    400,
    openai("Tool call validation failed: attempted to call tool 'x' which was not in request.tools", {
      code: 'tool_use_failed',
    }),
  ],
]

const echoes: Rejection[] = [
  [
    'a validator that quotes the input in its details',
    422,
    { detail: [{ loc: ['body'], msg: 'Field required', input: 'prompt is too long; API key not valid' }] },
  ],
  [
    'a validator that quotes the input in its message',
    400,
    {
      object: 'error',
      message:
        "[{'type': 'missing', 'loc': ('body', 'x'), 'input': {'content': 'The model `m` does not exist: prompt is too long'}}]",
      type: 'BadRequestError',
      code: 400,
    },
  ],
  [
    'a server that quotes a value',
    400,
    openai("Invalid value: 'maximum context length'. Supported values are: 'a' and 'b'.", { code: 'invalid_value' }),
  ],
  ['a server that quotes a truncated value', 400, openai(`Invalid value: "${'x'.repeat(600)} prompt is too long"`)],
  [
    'a server with such words in a field next to the error',
    400,
    {
      error: { message: 'Bad request', request: { prompt: 'API_KEY_INVALID: API key not valid' } },
      prompt: 'prompt is too long',
    },
  ],
  [
    'a server that quotes a failed tool call',
    400,
    openai('Could not parse arguments', { failed_generation: 'model_not_found, context_length_exceeded' }),
  ],
  ['a server with such words late in a long message', 400, openai(`Bad input: ${'x'.repeat(600)} prompt is too long`)],
  [
    'a server with such words after the start of a message',
    400,
    openai('Bad input: API key not valid, Your credit balance is too low, Incorrect API key provided'),
  ],
]

for (const [source, status, body] of accountErrors)
  test(`a ${status} from ${source} is about the account`, async () =>
    assert.is((await recordFailure(status, body)).class, 'credentials'))

for (const [source, status, body] of [...clientErrors, ...echoes])
  test(`a ${status} from ${source} is a client error`, async () =>
    assert.is((await recordFailure(status, body)).class, 'client'))

const unexplained: Rejection[] = [
  ['an HTML page', 403, '<html>Forbidden</html>'],
  ['an empty body', 403, ''],
  ['a single word', 403, openai('Forbidden')],
  [
    'a moderation error without findings',
    403,
    { error: { code: 403, message: 'No', metadata: { reasons: [], flagged_input: null, provider_name: 'x' } } },
  ],
]

for (const [label, status, body] of unexplained)
  test(`a ${status} with ${label} isn't attributed to the account or the client`, async () =>
    assert.is((await recordFailure(status, body)).class, 'forbidden'))

for (const text of [
  'Your input was flagged as violating our usage policy',
  'Your prompt violates our content guidelines.',
  'This request was blocked because it contains harmful content.',
  'Sensitive content was found in your messages',
  'Rejected by the safety system',
])
  test(`a 403 with only the message "${text}" is a client error`, async () =>
    assert.is((await recordFailure(403, openai(text))).class, 'client'))

test('a 402 from OpenRouter can mean a rate limit or a single request that is too expensive', async () => {
  const metadata = { limit_source: 'openrouter_in_flight_budget', reason: 'in_flight_budget_exhausted' }
  assert.is((await recordFailure(402, { error: { code: 402, message: 'Retry later', metadata } })).class, 'rate-limit')
  const tooExpensive = { limit_source: 'openrouter_credits', reason: 'weight_exceeds_budget' }
  assert.is(
    (await recordFailure(402, { error: { code: 402, message: 'Too dear', metadata: tooExpensive } })).class,
    'over-budget',
  )
})

test('an account without credit is recognized, whatever the status', async () => {
  for (const [status, body] of [
    [429, openai('x', { code: 'insufficient_quota' })],
    [400, anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.')],
    [402, ''],
  ] as const)
    assert.match((await recordFailure(status, body)).message, /out of credit\. Top it up/)
  const other = google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.')
  assert.match((await recordFailure(400, other)).message, /not allowed to call from this location/)
})

test("an account isn't out of credit if its router lacks credit with an upstream provider", async () => {
  const raw = JSON.stringify(openai('You exceeded your current quota', { code: 'insufficient_quota' }))
  const body = { error: { code: 429, message: 'Provider returned error', metadata: { raw, provider_name: 'OpenAI' } } }
  assert.is((await recordFailure(429, body)).class, 'rate-limit')
})

test("Google's quota error counts as a rate limit, not as missing credit", async () => {
  const body = google(
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details.',
  )
  assert.is((await recordFailure(429, body)).class, 'rate-limit')
})

for (const status of [500, 502, 503, 504, 529])
  test(`a ${status} is a server error`, async () => assert.is((await recordFailure(status, '')).class, 'server'))

test('a 408 counts as a timeout', async () => assert.is((await recordFailure(408, '')).class, 'timeout'))
