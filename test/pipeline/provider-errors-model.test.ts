import { assert, suite } from '../support/suite.ts'
import { anthropic, google, openai, type Rejection, recordFailure } from './support/rejections.ts'

const test = suite('provider errors about an unknown model or URL')

const noModel: Rejection[] = [
  ['OpenAI', 404, openai('The model `x` does not exist or you do not have access to it.', { code: 'model_not_found' })],
  ["OpenAI's Responses API", 400, openai("The requested model 'x' does not exist.", { code: 'model_not_found' })],
  ['OpenAI about a retired model', 404, openai('The model `x` has been deprecated, learn more here: https://a.b/c')],
  ['a server that names the field', 404, openai('Not Found', { param: 'model' })],
  ['Anthropic', 404, anthropic('not_found_error', 'model: claude-9')],
  [
    'Google',
    404,
    google(404, 'NOT_FOUND', 'models/x is not found for API version v1beta, or is not supported for generateContent.'),
  ],
  [
    "Google's OpenAI endpoint",
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
    'Groq about a retired model',
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
    'Together about its own endpoint',
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
    'Fireworks without an envelope',
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
  ['xAI in its short form', 400, { code: 'invalid-argument', error: 'Model not found: x' }],
  ['OpenRouter', 404, { error: { message: 'No endpoints found for a/x.', code: 404 }, user_id: 'u' }],
  [
    'OpenRouter about an invalid ID',
    400,
    { error: { message: 'a/x is not a valid model ID', code: 400 }, user_id: 'u' },
  ],
  [
    'OpenRouter about a provider behind it',
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
  ["Ollama's OpenAI endpoint", 404, openai('model "x" not found, try pulling it first', { type: 'api_error' })],
  ['LM Studio', 404, openai('Model "x" not found', { param: 'model', code: 'model_not_found' })],
  [
    'LM Studio about a wrong name',
    400,
    openai('Invalid model identifier "x". Please specify a valid downloaded model (e.g. y).'),
  ],
  ['LM Studio without a loaded model', 404, openai('No models loaded. Please load a model in the developer page.')],
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
  ['Azure about a model', 400, { error: { code: 'unknown_model', message: 'Unknown model: x' } }],
  ['Bedrock', 400, { message: 'The provided model identifier is invalid.' }],
  ['Bedrock about a retired model', 404, { message: 'This model version has reached the end of its life.' }],
  [
    'Bedrock about a model that needs a profile',
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
  ['Hugging Face', 400, { error: 'Model a/x is not supported by provider hf-inference.' }],
  ['Moonshot', 404, openai('Not found the model x or Permission denied', { type: 'resource_not_found_error' })],
  ['Z.ai', 400, { error: { code: '1211', message: 'Unknown Model, please check the model code.' } }],
  [
    'MiniMax',
    400,
    { type: 'error', error: { type: 'bad_request_error', message: "invalid params, unknown model 'x' (2013)" } },
  ],
  ['NVIDIA', 404, { status: 404, title: 'Not Found', detail: "Function 'f-1': Not found for account 'a'" }],
]

const denied: Rejection[] = [
  ['OpenAI', 403, openai('Project `proj_1` does not have access to model `x`', { code: 'model_not_found' })],
  ['OpenAI about a model that is not for this use', 403, openai('You are not allowed to sample from this model')],
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
    'Bedrock about a policy',
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

for (const [source, status, body] of [...noModel, ...denied])
  test(`a ${status} from ${source} means that the model doesn't exist or isn't accessible`, async () =>
    assert.is((await recordFailure(status, body)).class, 'model-not-found'))

const urlErrors: Rejection[] = [
  ['Anthropic', 404, anthropic('not_found_error', 'Not Found')],
  ['Azure', 404, { error: { code: '404', message: 'Resource not found' } }],
  ['OpenAI', 404, openai('Invalid URL (POST /v1/v1/chat/completions)')],
  ['Kong', 404, { message: 'no Route matched with those values' }],
  ['a server in Python', 404, { detail: 'Not Found' }],
  ['a server in Go', 404, '404 page not found\n'],
  ['a proxy that returns an HTML page', 404, '<html><head><title>404 Not Found</title></head></html>'],
  ['a proxy that returns an empty body', 404, ''],
]

for (const [source, status, body] of urlErrors)
  test(`a ${status} from ${source} means that the URL doesn't exist`, async () => {
    const failure = await recordFailure(status, body)
    assert.is(failure.class, 'content')
    assert.match(failure.message, /status 404: the URL does not exist\. Check the base URL/)
  })

test('a 404 about a field other than the model is a client error, whatever its wording', async () => {
  for (const message of ['Not Found', '', 'No such file'])
    assert.is((await recordFailure(404, openai(message, { param: 'file_id' }))).class, 'client')
})
