import { formatOf } from '../../src/formats/formats.ts'
import { encodeUtf8 } from '../../src/lib/bytes.ts'
import type { UpstreamAnswer } from '../../src/lib/exchange.ts'
import type { Failure } from '../../src/pipeline/failure.ts'
import { failureOfStatus } from '../../src/pipeline/failure-said.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('what providers say when they refuse')

const openai = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
})
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_1' })
const google = (code: number, status: string, message: string, details: object[] = []) => ({
  error: { code, message, status, details },
})

type Case = [who: string, status: number, body: unknown]

const noModel: Case[] = [
  ['OpenAI', 404, openai('The model `x` does not exist or you do not have access to it.', { code: 'model_not_found' })],
  ['OpenAI, of responses', 400, openai("The requested model 'x' does not exist.", { code: 'model_not_found' })],
  ['OpenAI, of a model that is gone', 404, openai('The model `x` has been deprecated, learn more here: https://a.b/c')],
  ['Anthropic', 404, anthropic('not_found_error', 'model: claude-9')],
  [
    'Google',
    404,
    google(404, 'NOT_FOUND', 'models/x is not found for API version v1beta, or is not supported for generateContent.'),
  ],
  [
    'Google, to clients of OpenAI',
    404,
    [google(404, 'NOT_FOUND', 'models/x is not found for API version v1main, or is not supported.')],
  ],
  [
    'Vertex',
    404,
    google(404, 'NOT_FOUND', 'Publisher Model `projects/p/locations/l/publishers/google/models/x` not found.'),
  ],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message: 'Invalid model: x',
      type: 'invalid_model',
      param: null,
      code: '1500',
      raw_status_code: 400,
    },
  ],
  ['Groq', 404, openai('The model `x` does not exist or you do not have access to it.', { code: 'model_not_found' })],
  [
    'Groq, of a model that is gone',
    400,
    openai('The model `x` has been decommissioned and is no longer supported.', { code: 'model_decommissioned' }),
  ],
  [
    'Together',
    400,
    openai('Unable to access non-serverless model a/x. Please visit https://a.b/c to start one.', {
      code: 'model_not_available',
    }),
  ],
  [
    'Together, of its own endpoint',
    400,
    openai('The dedicated endpoint for a/x is not running.', { code: 'dedicated_endpoint_not_running' }),
  ],
  [
    'Fireworks',
    404,
    {
      error: {
        object: 'error',
        type: 'invalid_request_error',
        code: 'NOT_FOUND',
        message: 'Model not found, inaccessible, and/or not deployed',
      },
    },
  ],
  [
    'Fireworks, flat',
    404,
    { message: 'Model not found, inaccessible, and/or not deployed', param: 'model', code: 'NOT_FOUND', type: 'error' },
  ],
  ['DeepSeek', 400, openai('Model Not Exist', { code: 'invalid_request_error' })],
  [
    'xAI',
    404,
    {
      code: 'Some requested entity was not found',
      error: 'The model x does not exist or your team 1-2 does not have access to it.',
    },
  ],
  ['xAI, in short', 400, { code: 'invalid-argument', error: 'Model not found: x' }],
  ['OpenRouter', 404, { error: { message: 'No endpoints found for a/x.', code: 404 }, user_id: 'u' }],
  ['OpenRouter, of a wrong id', 400, { error: { message: 'a/x is not a valid model ID', code: 400 }, user_id: 'u' }],
  [
    'OpenRouter, of a provider behind it',
    404,
    {
      error: {
        message: 'Provider returned error',
        code: 404,
        metadata: { raw: JSON.stringify(openai('The model `x` does not exist.')), provider_name: 'P' },
      },
    },
  ],
  [
    'Cohere',
    404,
    {
      id: '1',
      message: "model 'x' not found, make sure the correct model ID was used and that you have access to the model.",
    },
  ],
  ['Ollama', 404, { error: 'model "x" not found, try pulling it first' }],
  ['Ollama, to clients of OpenAI', 404, openai('model "x" not found, try pulling it first', { type: 'api_error' })],
  ['LM Studio', 404, openai('Model "x" not found', { param: 'model', code: 'model_not_found' })],
  [
    'LM Studio, of a wrong name',
    400,
    openai('Invalid model identifier "x". Please specify a valid downloaded model (e.g. y).'),
  ],
  ['LM Studio, with none', 404, openai('No models loaded. Please load a model in the developer page.')],
  [
    'vLLM',
    404,
    { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', param: null, code: 404 },
  ],
  [
    'Azure',
    404,
    { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
  ],
  ['Azure, of a model', 400, { error: { code: 'unknown_model', message: 'Unknown model: x' } }],
  ['Bedrock', 400, { message: 'The provided model identifier is invalid.' }],
  ['Bedrock, of a model that is gone', 404, { message: 'This model version has reached the end of its life.' }],
  [
    'Bedrock, of one that needs a profile',
    400,
    { message: 'Invocation of model ID a.x with on-demand throughput isn’t supported.' },
  ],
  [
    'Perplexity',
    400,
    {
      error: {
        message: "Invalid model 'x'. Permitted models can be found in the documentation.",
        type: 'invalid_model',
        code: 400,
      },
    },
  ],
  ['Voyage', 400, { detail: "Model x is not supported. Supported models are ['y', 'z']." }],
  ['Moonshot', 404, openai('Not found the model x or Permission denied', { type: 'resource_not_found_error' })],
  ['Z.ai', 400, { error: { code: '1211', message: 'Unknown Model, please check the model code.' } }],
  [
    'MiniMax',
    400,
    { type: 'error', error: { type: 'bad_request_error', message: "invalid params, unknown model 'x' (2013)" } },
  ],
  ['NVIDIA', 404, { status: 404, title: 'Not Found', detail: "Function 'f-1': Not found for account 'a'" }],
]

const denied: Case[] = [
  ['OpenAI', 403, openai('Project `proj_1` does not have access to model `x`', { code: 'model_not_found' })],
  ['OpenAI, of a model that is none for this', 403, openai('You are not allowed to sample from this model')],
  [
    'Groq',
    403,
    openai('The model `x` is blocked at the project level.', {
      type: 'permissions_error',
      code: 'model_permission_blocked_project',
    }),
  ],
  ['Bedrock', 403, { message: "You don't have access to the model with the specified model ID." }],
  [
    'Bedrock, of a policy',
    403,
    {
      message:
        'User: arn:aws:iam::1:user/u is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1::foundation-model/a.x because no identity-based policy allows it',
    },
  ],
  [
    'LiteLLM',
    401,
    openai("key not allowed to access model. This key can only access models=['y']. Tried to access x", {
      type: 'key_model_access_denied',
    }),
  ],
  ['Alibaba', 403, openai('Model access denied.', { code: 'Model.AccessDenied' })],
]

const overflow: Case[] = [
  [
    'OpenAI',
    400,
    openai("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.", {
      code: 'context_length_exceeded',
    }),
  ],
  [
    'OpenAI, of responses',
    400,
    openai('Your input exceeds the context window of this model. Please adjust your input and try again.'),
  ],
  ['Anthropic', 400, anthropic('invalid_request_error', 'prompt is too long: 3333404 tokens > 200000 maximum')],
  [
    'Anthropic, with the answer',
    400,
    anthropic(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length',
    ),
  ],
  [
    'xAI',
    400,
    {
      code: 'invalid-argument',
      error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    },
  ],
  [
    'Together',
    422,
    openai('Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens'),
  ],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_message',
      code: '3051',
    },
  ],
  ['Groq', 400, openai('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' })],
  [
    'Gemini',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
    ),
  ],
  [
    'Gemini, in an array',
    400,
    [google(400, 'INVALID_ARGUMENT', 'The input token count exceeds the maximum number of tokens allowed 1048576.')],
  ],
  [
    'LM Studio',
    400,
    {
      error:
        'Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    },
  ],
  [
    'LM Studio, later',
    400,
    { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
  ],
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message: 'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
        type: 'exceed_context_size_error',
      },
    },
  ],
  [
    'llama.cpp, before',
    500,
    {
      error: {
        code: 500,
        message: 'the request exceeds the available context size. try increasing the context size',
        type: 'server_error',
      },
    },
  ],
  ['Ollama', 400, openai('prompt too long; exceeded max context length by 1119046 tokens (ref: 1-2)')],
  ['Bedrock', 400, { message: 'Input is too long for requested model.' }],
  [
    'Bedrock, of Nova',
    400,
    {
      message:
        'The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.',
    },
  ],
  [
    'Cohere',
    400,
    { id: '1', error_type: 'TOO_MANY_TOKENS', message: 'too many tokens: size limit exceeded by 25836 tokens.' },
  ],
  ['DeepSeek', 400, openai("This model's maximum context length is 65536 tokens. However, you requested 71532 tokens")],
  [
    'OpenRouter',
    400,
    {
      error: {
        message: "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens",
        code: 400,
      },
    },
  ],
  [
    'OpenRouter, of a provider behind it',
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: JSON.stringify(anthropic('invalid_request_error', 'prompt is too long: 3 tokens > 2 maximum')),
        },
      },
    },
  ],
  [
    'vLLM',
    400,
    {
      object: 'error',
      message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
      type: 'BadRequestError',
      code: 400,
    },
  ],
  [
    'vLLM, with the answer',
    400,
    {
      object: 'error',
      message: "'max_tokens' is too large: 4000. This model's maximum context length is 4096 tokens",
      type: 'BadRequestError',
      code: 400,
    },
  ],
  [
    'SGLang',
    400,
    {
      object: 'error',
      message: "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
      code: 400,
    },
  ],
  ['Fireworks', 400, openai('The prompt is too long: 140000, model maximum context length: 131071')],
  [
    'Perplexity',
    400,
    { error: { message: 'The total length of all messages is too long.', type: 'too_many_prompt_tokens', code: 400 } },
  ],
  ['Moonshot', 400, openai('Invalid request: Your request exceeded model token limit: 8192')],
  [
    'MiniMax',
    400,
    {
      type: 'error',
      error: { type: 'bad_request_error', message: 'invalid params, context window exceeds limit (2013)' },
    },
  ],
  ['Z.ai', 400, { error: { code: '1261', message: 'Prompt exceeds max length' } }],
  ['Alibaba', 400, openai('Range of input length should be [1, 30720]', { code: 'invalid_parameter_error' })],
]

const ofAccount: Case[] = [
  ['OpenAI', 401, openai('Incorrect API key provided: sk-abc****wxyz.', { code: 'invalid_api_key' })],
  [
    'OpenAI, of a country',
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
  ['Google, of a country', 400, google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.')],
  [
    'xAI',
    400,
    {
      code: 'invalid-argument',
      error: 'Incorrect API key provided. You can obtain an API key from https://console.x.ai.',
    },
  ],
  [
    'xAI, without credit',
    403,
    { code: 'permission-denied', error: 'Your newly created team has no credits yet. You can purchase credits.' },
  ],
  [
    'Anthropic, without credit',
    400,
    anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
  ],
  [
    'Anthropic',
    403,
    anthropic('permission_error', 'Your API key does not have permission to use the specified resource'),
  ],
  ['DeepSeek', 402, openai('Insufficient Balance')],
  ['Bedrock', 403, { message: 'The security token included in the request is invalid.' }],
  ['a page', 403, '<html>Forbidden</html>'],
]

const ofClient: Case[] = [
  ['Anthropic, of a file', 404, anthropic('not_found_error', 'File not found: file_011CNha8iCJcU1wXNR6q4V8w')],
  ['Anthropic, of a path', 404, anthropic('not_found_error', 'Not Found')],
  ['a path of counts that is not there', 404, { detail: 'Not Found' }],
  ['a path, as a page', 404, '404 page not found'],
  [
    'Google, of a file',
    403,
    google(403, 'PERMISSION_DENIED', 'You do not have permission to access the File abc or it may not exist.'),
  ],
  ['Google, of a cache', 403, google(403, 'PERMISSION_DENIED', 'CachedContent not found (or permission denied)')],
  ['Google, of something else', 404, google(404, 'NOT_FOUND', 'Requested entity was not found.')],
  [
    'xAI, of what is asked',
    403,
    {
      code: 'permission-denied',
      error: 'Content violates usage guidelines. Team: t, API key ID: k, Model: x, Failed check: SAFETY_CHECK_TYPE_BIO',
    },
  ],
  [
    'OpenRouter, of what is asked',
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
    'OpenRouter, of what no provider can do',
    404,
    { error: { message: 'No endpoints found that support tool use.', code: 404 } },
  ],
  [
    'OpenAI, of an earlier response',
    404,
    openai("Previous response with id 'resp_1' not found.", {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    }),
  ],
  [
    'OpenAI, of a model for other requests',
    404,
    openai('This is not a chat model and thus not supported in the v1/chat/completions endpoint.', { param: 'model' }),
  ],
  [
    'OpenAI, of the length of an answer',
    400,
    openai('max_tokens is too large: 100000. This model supports at most 16384 completion tokens.', {
      param: 'max_tokens',
    }),
  ],
  [
    'Anthropic, of the length of an answer',
    400,
    anthropic('invalid_request_error', 'max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens'),
  ],
  [
    'Groq, of a tool',
    400,
    openai("Tool call validation failed: attempted to call tool 'x' which was not in request.tools", {
      code: 'tool_use_failed',
    }),
  ],
]

const echoes: Case[] = [
  [
    'a validator, in its details',
    422,
    { detail: [{ loc: ['body'], msg: 'Field required', input: 'prompt is too long; API key not valid' }] },
  ],
  [
    'a validator, in its message',
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
    'a value in quotes',
    400,
    openai("Invalid value: 'maximum context length'. Supported values are: 'a' and 'b'.", { code: 'invalid_value' }),
  ],
  ['a value in quotes that is cut', 400, openai(`Invalid value: "${'x'.repeat(600)} prompt is too long"`)],
  [
    'a field beside the error',
    400,
    {
      error: { message: 'Bad request', request: { prompt: 'API_KEY_INVALID: API key not valid' } },
      prompt: 'prompt is too long',
    },
  ],
  [
    'what a tool was to be called',
    400,
    openai('Could not parse arguments', { failed_generation: 'model_not_found, context_length_exceeded' }),
  ],
  ['far behind in a message', 400, openai(`Bad input: ${'x'.repeat(600)} prompt is too long`)],
  [
    'not where such a message begins',
    400,
    openai('Bad input: API key not valid, Your credit balance is too low, Incorrect API key provided'),
  ],
]

for (const [cases, expected] of [
  [noModel, 'model-not-found'],
  [denied, 'model-not-found'],
  [overflow, 'context-overflow'],
  [ofAccount, 'credentials'],
  [ofClient, 'client'],
  [echoes, 'client'],
] as const) {
  for (const [who, status, body] of cases)
    test(`${status} of ${who}: ${expected}`, () => assert.is(told(status, body).class, expected))
}

const oneModel: Case[] = [
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
    'Google, in words',
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
for (const [who, status, body] of oneModel)
  test(`a limit of one model: ${who}`, () => assert.is(told(status, body).level, 'model'))

for (const [who, status, body] of [
  [
    'OpenAI',
    429,
    openai('You exceeded your current quota, please check your plan and billing details.', {
      code: 'insufficient_quota',
    }),
  ],
  ['Anthropic', 429, anthropic('rate_limit_error', 'Number of requests has exceeded your per-minute rate limit')],
  ['Mistral', 429, { message: 'Requests rate limit exceeded' }],
  ['nobody', 429, ''],
] satisfies Case[])
  test(`a limit of the account: ${who}`, () => assert.is(told(status, body).level, undefined))

function told(status: number, body: unknown): Failure {
  const format = formatOf('openai-chat')
  assert.ok(format)
  const answer: UpstreamAnswer = {
    status,
    header: () => undefined,
    headers: () => [],
    body: { next: async () => undefined, cancel() {} },
  }
  return failureOfStatus(answer, encodeUtf8(typeof body === 'string' ? body : JSON.stringify(body)), { format, now: 0 })
}
