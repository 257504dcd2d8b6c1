import type { JsonObject } from '../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { converseTranslator } from '../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import {
  getErrorMeaning,
  type ProviderErrorKind,
  readErrorResponse,
} from '../../../src/protocols/formats/errors/error-kinds.ts'
import { loadErrorReaders } from '../../../src/protocols/formats/errors/load-error-readers.ts'
import { parseEmbeddedError } from '../../../src/protocols/formats/errors/parse-error.ts'
import { geminiTranslator } from '../../../src/protocols/formats/gemini/gemini-translator.ts'
import { createChatStreamState } from '../../../src/protocols/formats/openai-chat/chat-stream-state.ts'
import { chatTranslator } from '../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { responsesTranslator } from '../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { anthropic, google, openai, recordFailure } from '../../pipeline/support/rejections.ts'
import { assert, suite } from '../../support/suite.ts'
import { recordedExchanges } from '../support/recordings.ts'

const test = suite('kinds of provider errors')

test.before(() => loadErrorReaders())

/** Asserts that routing and every translation classify the error as this kind. */
async function assertKind(status: number, body: unknown, kind: ProviderErrorKind, note = ''): Promise<void> {
  const response = { status, body, header: () => undefined, nowMs: 0 }
  const meaning = getErrorMeaning(kind)
  assert.is(readErrorResponse(response).kind, kind, note)
  assert.is((await recordFailure(status, body)).class, meaning.class, `routing: ${note}`)
  for (const translator of [
    chatTranslator,
    responsesTranslator,
    anthropicTranslator,
    geminiTranslator,
    converseTranslator,
  ])
    assert.is(translator.parseError(response).kind, meaning.error, `translation: ${note}`)
}

/** Error responses from OpenAI, Anthropic, and Google, by their meaning for the gateway. */
const table: Record<string, [status: number, body: unknown, kind: ProviderErrorKind][]> = {
  'bad request': [
    [400, openai('bad'), 'bad-request'],
    [400, anthropic('invalid_request_error', 'bad'), 'bad-request'],
    [400, google(400, 'INVALID_ARGUMENT', 'bad'), 'bad-request'],
    [400, google(400, 'FAILED_PRECONDITION', 'bad'), 'bad-request'],
  ],
  authentication: [
    [401, openai('no', { code: 'invalid_api_key' }), 'authentication'],
    [401, anthropic('authentication_error', 'no'), 'authentication'],
    [400, anthropic('authentication_error', 'no'), 'authentication'],
    [401, google(401, 'UNAUTHENTICATED', 'no'), 'authentication'],
    [400, google(400, 'INVALID_ARGUMENT', 'no', [{ reason: 'API_KEY_INVALID' }]), 'authentication'],
  ],
  billing: [
    [429, openai('no', { type: 'insufficient_quota', code: 'insufficient_quota' }), 'billing'],
    [403, openai('no', { code: 'insufficient_quota' }), 'billing'],
    [402, anthropic('billing_error', 'no'), 'billing'],
    [400, anthropic('billing_error', 'no'), 'billing'],
    [400, anthropic('invalid_request_error', 'Your credit balance is too low to access the API.'), 'billing'],
    [402, { message: 'Insufficient Balance' }, 'billing'],
    [403, { error: 'Your team t has either used all available credits or reached its limit.' }, 'billing'],
    [403, openai('You have reached your spending limit.'), 'billing'],
  ],
  'a usage or spending limit without a retry delay': [
    [429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.'), 'quota'],
    [429, anthropic('rate_limit_error', 'You have reached your spend limit.'), 'quota'],
    [429, spendLimit('rate_limit_error'), 'quota'],
    [400, spendLimit('invalid_request_error'), 'quota'],
  ],
  forbidden: [
    [403, openai('Forbidden'), 'forbidden'],
    [403, anthropic('permission_error', 'no'), 'permission'],
    [403, google(403, 'PERMISSION_DENIED', 'no'), 'permission'],
    [403, openai('The response was filtered', { code: 'content_filter' }), 'content-refused'],
    [403, openai('Your prompt about a credit balance violates our policies.'), 'content-refused'],
  ],
  'not found': [
    [404, openai('The model `x` does not exist', { code: 'model_not_found' }), 'unknown-model'],
    [400, openai('no', { code: 'model_not_found' }), 'invalid-model'],
    [404, anthropic('not_found_error', 'model: x'), 'unknown-model'],
    [404, anthropic('not_found_error', 'file: x'), 'not-found'],
    [404, google(404, 'NOT_FOUND', 'models/x is not found for API version v1'), 'unknown-model'],
    [404, { detail: 'Not Found' }, 'wrong-address'],
  ],
  timeout: [
    [408, openai('slow'), 'timeout'],
    [504, openai('slow'), 'gateway-timeout'],
    [504, anthropic('timeout_error', 'slow'), 'gateway-timeout'],
    [504, google(504, 'DEADLINE_EXCEEDED', 'slow'), 'gateway-timeout'],
  ],
  conflict: [
    [409, openai('no'), 'conflict'],
    [409, anthropic('conflict_error', 'no'), 'conflict'],
    [409, google(409, 'ABORTED', 'no'), 'conflict'],
  ],
  'too large': [
    [413, openai('big'), 'too-large'],
    [413, anthropic('request_too_large', 'big'), 'too-large'],
    [413, openai('Request too large', { code: 'rate_limit_exceeded' }), 'rate-limit'],
  ],
  unprocessable: [[422, { detail: [{ loc: ['body', 'x'], msg: 'Field required' }] }, 'unprocessable']],
  'context overflow': [
    [400, openai('no', { code: 'context_length_exceeded' }), 'context-overflow'],
    [400, anthropic('invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum'), 'context-overflow'],
    [413, openai('Input is too long for requested model.'), 'context-overflow'],
    [500, openai('the request exceeds the available context size'), 'context-overflow'],
    [400, { id: 'x', message: 'no', error_type: 'TOO_MANY_TOKENS' }, 'context-overflow'],
    [400, { message: 'The model returned the following errors: Input Tokens Exceeded' }, 'context-overflow'],
    [400, openai("Invalid value: 'maximum context length'."), 'bad-request'],
  ],
  'rate limit': [
    [429, openai('slow', { code: 'rate_limit_exceeded' }), 'rate-limit'],
    [429, anthropic('rate_limit_error', 'slow'), 'rate-limit'],
    [429, google(429, 'RESOURCE_EXHAUSTED', 'quota exceeded', [{ retryDelay: '34s' }]), 'rate-limit'],
    [429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [{ retryDelay: '34s' }]), 'rate-limit'],
    [429, { detail: 'slow' }, 'rate-limit'],
    [402, { error: { code: 402, metadata: { limit_source: 'openrouter_in_flight_budget' } } }, 'rate-limit'],
  ],
  'over budget': [[402, { error: { code: 402, metadata: { reason: 'weight_exceeds_budget' } } }, 'over-budget']],
  'closed by the client': [
    [499, google(499, 'CANCELLED', 'no'), 'cancelled'],
    [499, openai('no'), 'cancelled'],
  ],
  server: [
    [500, openai('no'), 'server'],
    [500, anthropic('api_error', 'no'), 'server'],
    [500, google(500, 'INTERNAL', 'no'), 'server'],
    [502, '<html>502</html>', 'server'],
    [498, openai('no capacity'), 'server'],
    [424, { message: 'no', error_type: 'generation' }, 'server'],
  ],
  overloaded: [
    [503, openai('no'), 'overloaded'],
    [529, anthropic('overloaded_error', 'no'), 'overloaded'],
    [500, anthropic('overloaded_error', 'no'), 'overloaded'],
    [503, google(503, 'UNAVAILABLE', 'no'), 'overloaded'],
  ],
  'a proxy': [
    [407, '', 'proxy'],
    [302, '', 'wrong-address'],
    [405, '', 'wrong-address'],
    [400, '<html>', 'wrong-address'],
  ],
}

function spendLimit(type: string) {
  const { error, ...envelope } = anthropic(type, 'Limit')
  return { ...envelope, error: { ...error, details: { error_code: 'spend_limit_reached' } } }
}

for (const [row, cases] of Object.entries(table))
  test(`routing and translation classify errors the same way: ${row}`, async () => {
    for (const [status, body, kind] of cases) await assertKind(status, body, kind, `${status} ${JSON.stringify(body)}`)
  })

test('a server error with a client error type stays a server error', async () => {
  for (const type of ['not_found_error', 'request_too_large', 'conflict_error'])
    await assertKind(500, anthropic(type, 'no'), 'server')
})

test('an error in a stream has the same status in routing and in translation', () => {
  const statuses: [status: number, error: JsonObject][] = [
    [400, { message: 'prompt is too long: 9 tokens > 8 maximum' }],
    [400, { message: 'no', code: 'context_length_exceeded' }],
    [400, { message: 'no', code: 'content_filter' }],
    [400, { message: 'no', code: 'invalid_base64_image' }],
    [429, { message: 'You exceeded your current quota.' }],
    [429, { message: 'no', code: 'insufficient_quota' }],
    [529, { message: 'no', type: 'overloaded_error' }],
    [502, { message: 'no' }],
  ]
  for (const [status, error] of statuses) {
    const watch = createChatStreamState()
    watch.observe({ event: undefined, data: JSON.stringify({ error }) })
    assert.is(watch.error?.status, status, JSON.stringify(error))
    assert.is(parseEmbeddedError(error).status, status, JSON.stringify(error))
  }
})

const folders = ['anthropic', 'bedrock-converse', 'cohere-chat', 'embeddings', 'gemini']
const openaiFolders = ['openai-chat', 'openai-compatible', 'openai-completions', 'openai-responses']

/** The kinds of recorded errors, by the name of the recording, or otherwise by status. */
const kindByName: readonly [name: RegExp, kind: ProviderErrorKind][] = [
  [/handles_context_length_exceeded_errors/, 'context-overflow'],
  [/raises_appropriate_auth_error|invalid_api_key/, 'authentication'],
  [
    /bedrock_error|handle-api-error|api-errors-gracefully|VoyageAI\.test_embed_error|responses_create_api_error/,
    'invalid-model',
  ],
]
const kindByStatus: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'bad-request',
  401: 'authentication',
  403: 'permission',
  404: 'unknown-model',
  429: 'rate-limit',
}

test('routing and translation agree on every recorded error', async () => {
  const kinds = new Map<ProviderErrorKind, number>()
  for (const { name, status, response } of recordedExchanges([...folders, ...openaiFolders])) {
    if (status < 300 || response === undefined) continue
    const named = kindByName.find(([pattern]) => pattern.test(name))?.[1]
    const kind = (status === 400 ? named : undefined) ?? kindByStatus[status]
    if (kind === undefined) throw new Error(`The kind of ${name} (status ${status}) is not known here.`)
    await assertKind(status, response, kind, name)
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  for (const kind of ['context-overflow', 'invalid-model', ...Object.values(kindByStatus)] as const)
    assert.ok((kinds.get(kind) ?? 0) > 0, kind)
})
