import { signV4 } from '../../support/sigv4.ts'
import { assert, suite } from '../../support/suite.ts'
import { fakeUpstream, json, type Respond } from '../support/upstream.ts'
import { openWorld } from '../support/world.ts'

const test = suite('counting tokens on AWS Bedrock')

const catalog = { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } } as const
const KEY = 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl'
const ACCESS = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const HOST = 'https://bedrock-runtime.eu-west-1.amazonaws.com'
const PATH = '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens'

async function open(respond: Respond = () => json({ inputTokens: 7 }), apiKey = KEY) {
  const upstream = fakeUpstream(respond)
  const connections = [{ provider: 'bedrock', apiKey, providerSpecificData: { region: 'eu-west-1' } }]
  return { upstream, world: await openWorld({ fetch: upstream, catalog, connections }) }
}

const messages = [{ role: 'user', content: 'Hi' }]
const schema = { type: 'object', properties: {} }

/** Each client's path and body, and its response for a count of 7. */
const clients: Record<string, (model: string) => [path: string, body: object, reads: object]> = {
  messages: (model) => [
    '/v1/messages/count_tokens',
    { model, system: 'Be brief.', messages, tools: [{ name: 'look', input_schema: schema }] },
    { input_tokens: 7 },
  ],
  responses: (model) => [
    '/v1/responses/input_tokens',
    { model, instructions: 'Be brief.', input: 'Hi', tools: [{ type: 'function', name: 'look', parameters: schema }] },
    { object: 'response.input_tokens', input_tokens: 7 },
  ],
  gemini: (model) => [
    `/v1beta/models/${model}:countTokens`,
    {
      generateContentRequest: {
        model: `models/${model}`,
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: schema }] }],
      },
    },
    { totalTokens: 7 },
  ],
}

for (const [client, send] of Object.entries(clients)) {
  test(`the client gets the token count from Bedrock (${client})`, async () => {
    const { upstream, world } = await open()
    const [path, body, reads] = send(`bedrock/${MODEL}`)
    const response = await world.post(path, body)
    assert.equal([response.status, response.headers.get('x-signalbox-warning')], [200, null])
    assert.equal(await response.json(), reads)
    const [call, ...extra] = upstream.calls
    assert.equal([call?.url.href, extra.length], [HOST + PATH, 0])
    assert.is(call?.headers.get('authorization'), `Bearer ${KEY}`)
    assert.equal(JSON.parse(call?.body ?? ''), {
      input: {
        converse: {
          system: [{ text: 'Be brief.' }],
          messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
          toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: schema } } }] },
        },
      },
    })
  })

  /** Bedrock's errors for models that can't count tokens, for unknown IDs, and for callers without permission. */
  const rejections: [status: number, type: string, message: string][] = [
    [400, 'ValidationException', "The provided model doesn't support counting tokens."],
    [400, 'ValidationException', 'The provided model identifier is invalid.'],
    [400, 'ValidationException', 'Invocation of model ID anthropic.x with on-demand throughput isn’t supported.'],
    [
      403,
      'AccessDeniedException',
      'User: arn:aws:iam::1:user/u is not authorized to perform: bedrock:CountTokens on resource: arn:aws:bedrock:eu-west-1::foundation-model/anthropic.x because no identity-based policy allows the bedrock:CountTokens action',
    ],
    [404, 'UnknownOperationException', ''],
  ]

  test(`the client gets an estimate if Bedrock can't count tokens, and the model stays available (${client})`, async () => {
    for (const [status, type, message] of rejections) {
      const { world } = await open(() => json({ message }, status, { 'x-amzn-errortype': `${type}:http://internal` }))
      const [path, body, reads] = send(`bedrock/${MODEL}`)
      const response = await world.post(path, body)
      assert.equal(
        [response.status, response.headers.get('x-signalbox-warning')],
        [200, 'estimated:input_tokens'],
        message,
      )
      assert.equal(Object.keys(await response.json()), Object.keys(reads))
      assert.match(response.headers.get('x-signalbox-attempts') ?? '', new RegExp(`=${status}:client$`))
      assert.equal((await world.api.health.list()).health, [])
    }
  })
}

const count = async (body: object, reply?: Respond) => {
  const { upstream, world } = await open(reply)
  const response = await world.post('/v1/messages/count_tokens', { model: `bedrock/${MODEL}`, messages, ...body })
  return { response, call: upstream.calls[0], requested: JSON.parse(upstream.calls[0]?.body ?? '{}').input?.converse }
}

test("an invalid request returns Bedrock's error instead of an estimated token count", async () => {
  const rejectWith = () => json({ message: 'user messages must have non-empty content' }, 400)
  const { response } = await count({}, rejectWith)
  assert.is(response.status, 400)
  assert.match((await response.json()).error.message, /non-empty content/)
})

test('a Bedrock response without a token count causes a 502', async () => {
  const { response } = await count({}, () => json({ hello: 1 }))
  assert.is(response.status, 502)
})

test('token counting uses the model behind an inference profile', async () => {
  const account = 'arn:aws:bedrock:us-east-1:123456789012'
  for (const [model, requested] of [
    ['anthropic.claude-haiku-4-5-20251001-v1:0', 'anthropic.claude-haiku-4-5-20251001-v1:0'],
    ['global.anthropic.claude-opus-4-6-v1', 'anthropic.claude-opus-4-6-v1'],
    ['us-gov.anthropic.claude-opus-4-6-v1', 'anthropic.claude-opus-4-6-v1'],
    ['apac.amazon.nova-pro-v1:0', 'amazon.nova-pro-v1:0'],
    ['ai21.jamba-1-5-large-v1:0', 'ai21.jamba-1-5-large-v1:0'],
    ['zai.glm-4.7', 'zai.glm-4.7'],
    [`${account}:inference-profile/eu.anthropic.claude-opus-4-6-v1`, 'anthropic.claude-opus-4-6-v1'],
    [`${account}:application-inference-profile/a1b2c3`, `${account}:application-inference-profile/a1b2c3`],
  ] as const) {
    const { call } = await count({ model: `bedrock/${model}` })
    assert.is(call?.url.pathname, `/model/${encodeURIComponent(requested)}/count-tokens`)
  }
})

test('counting tokens uses the smallest reasoning budget and omits fields that only affect the response', async () => {
  const thinking = { type: 'enabled', budget_tokens: 20_000 }
  const { requested, response } = await count({ thinking, temperature: 1, max_tokens: 30_000 })
  assert.equal(Object.keys(requested).sort(), ['additionalModelRequestFields', 'messages'])
  assert.equal(requested.additionalModelRequestFields, { thinking: { type: 'enabled', budget_tokens: 1_024 } })
  assert.is(response.headers.get('x-signalbox-warning'), null)
})

test('counting tokens drops the response format and warns the client', async () => {
  const format = { type: 'json_schema', schema: { ...schema, additionalProperties: false } }
  const { requested, response } = await count({ output_config: { format } })
  assert.equal(Object.keys(requested), ['messages'])
  assert.match(response.headers.get('x-signalbox-warning') ?? '', /^dropped:output/)
})

test('the token count request to AWS Bedrock is signed with access keys', async () => {
  const { upstream, world } = await open(undefined, ACCESS)
  await world.post('/v1/messages/count_tokens', { model: `bedrock/${MODEL}`, messages })
  const [call] = upstream.calls
  const [accessKeyId = '', secretAccessKey = ''] = ACCESS.split(':')
  const expected = signV4(
    {
      ...{ method: 'POST', host: new URL(HOST).host, pathname: PATH, search: '' },
      ...{ headers: { 'content-type': 'application/json' }, body: call?.body ?? '' },
    },
    { accessKeyId, secretAccessKey, region: 'eu-west-1', service: 'bedrock', now: world.clock.now() },
  )
  for (const [name, value] of Object.entries(expected)) assert.is(call?.headers.get(name), value)
})
