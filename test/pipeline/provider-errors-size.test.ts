import { assert, suite } from '../support/suite.ts'
import { anthropic, google, openai, type Rejection, recordFailure } from './support/rejections.ts'

const test = suite('provider errors about a request that is too long')

const overflow: Rejection[] = [
  [
    'OpenAI',
    400,
    openai("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.", {
      code: 'context_length_exceeded',
    }),
  ],
  [
    "OpenAI's Responses API",
    400,
    openai('Your input exceeds the context window of this model. Please adjust your input and try again.'),
  ],
  ['Anthropic', 400, anthropic('invalid_request_error', 'prompt is too long: 3333404 tokens > 200000 maximum')],
  [
    'Anthropic about the prompt plus the response',
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
    'a newer LM Studio',
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
    'an older llama.cpp',
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
    'Nova on Bedrock',
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
    'OpenRouter about a provider behind it',
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
    'vLLM about the prompt plus the response',
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

for (const [source, status, body] of overflow)
  test(`a ${status} from ${source} means that the request is too long`, async () =>
    assert.is((await recordFailure(status, body)).class, 'context-overflow'))
