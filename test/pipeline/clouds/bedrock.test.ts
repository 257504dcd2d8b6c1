import { concatBytes } from '../../../src/lib/bytes.ts'
import type { ProviderSpecificData } from '../../../src/types.ts'
import { converseFrames, converseResponse, eventFrame, exceptionFrame } from '../../formats/support/event-stream.ts'
import { signV4 } from '../../support/sigv4.ts'
import { assert, suite } from '../../support/suite.ts'
import { fakeUpstream, getBody, json, type Respond } from '../support/upstream.ts'
import { openWorld, type WorldOptions } from '../support/world.ts'

const test = suite('AWS Bedrock')

const catalog = {
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  one: { baseUrl: 'http://one.test/v1' },
} as const

const BEARER = 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl'
const ACCESS = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const TOKEN = 'IQoJb3JpZ2luX2VjEXAMPLEtoken=='

const frames = (chunks: Iterable<Uint8Array>, end?: 'error') =>
  new Response(getBody(chunks, end), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })

const respondBoth: Respond = ({ url }) =>
  url.pathname.endsWith('/converse-stream') ? frames(converseFrames()) : json(converseResponse())

interface Options extends WorldOptions {
  respond?: Respond
  apiKey?: string
  settings?: ProviderSpecificData
}

async function open({
  respond = respondBoth,
  apiKey = BEARER,
  settings = { region: 'eu-west-1' },
  ...options
}: Options = {}) {
  const upstream = fakeUpstream(respond)
  const connections = [{ provider: 'bedrock', apiKey, providerSpecificData: settings }, 'one']
  return { upstream, world: await openWorld({ fetch: upstream, catalog, connections, ...options }) }
}

const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const hello = { model: `bedrock/${MODEL}`, messages: [{ role: 'user', content: 'Hi' }] }

test("AWS Bedrock is called in the connection's region, with the connection's key", async () => {
  const { upstream, world } = await open()
  const response = await world.chat(hello)
  assert.is(response.status, 200)
  assert.is((await response.json()).choices[0].message.content, 'Hello')
  const [call] = upstream.calls
  assert.is(
    call?.url.href,
    'https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
  )
  assert.is(call?.headers.get('authorization'), `Bearer ${BEARER}`)
  assert.equal(JSON.parse(call?.body ?? ''), { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] })
  assert.is(world.recorded.usages[0]?.inputTokens, 7)
})

/** Model names, and how they appear in the path. */
const signedNames: Record<string, string> = {
  [MODEL]: 'us.anthropic.claude-sonnet-4-5-20250929-v1%3A0',
  'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2':
    'arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2',
  "mine (1)!*'~@v=2": "mine%20(1)!*'~%40v%3D2",
}

for (const [model, segment] of Object.entries(signedNames))
  for (const token of [undefined, TOKEN])
    test(`a call to ${model} is signed with access keys${token ? ' and a session token' : ''}`, async () => {
      const { upstream, world } = await open({ apiKey: token ? `${ACCESS}:${token}` : ACCESS })
      await world.chat({ ...hello, model: `bedrock/${model}` })
      const [call] = upstream.calls
      assert.ok(call)
      const [accessKeyId = '', secretAccessKey = ''] = ACCESS.split(':')
      const expected = signV4(
        {
          method: 'POST',
          host: 'bedrock-runtime.eu-west-1.amazonaws.com',
          pathname: `/model/${segment}/converse`,
          search: '',
          headers: { 'content-type': 'application/json' },
          body: call.body,
        },
        {
          accessKeyId,
          secretAccessKey,
          ...(token && { sessionToken: token }),
          region: 'eu-west-1',
          service: 'bedrock',
          now: world.clock.now(),
        },
      )
      for (const [name, value] of Object.entries(expected)) assert.is(call.headers.get(name), value)
      assert.is(call.headers.has('x-amz-security-token'), token !== undefined)
    })

test('a Converse stream is translated for Chat and Messages clients', async () => {
  const { upstream, world } = await open()
  const chat = await (await world.chat({ ...hello, stream: true, stream_options: { include_usage: true } })).text()
  assert.match(chat, /"content":"Hello "/)
  assert.match(chat, /"prompt_tokens":10/)
  assert.match(chat, /data: \[DONE\]\n\n$/)
  const messages = await (await world.messages({ ...hello, stream: true })).text()
  assert.match(messages, /event: message_stop\ndata: [^\n]*\n\n$/)
  assert.is(world.recorded.usages[0]?.outputTokens, 3)
  assert.is(upstream.open, 0)
})

test('a Converse stream that is cut off ends with an error', async () => {
  const bytes = concatBytes(converseFrames())
  const ended = bytes.length - (converseFrames().at(-1)?.length ?? 0)
  const { world } = await open({ respond: (_, index) => frames([bytes.subarray(0, index * 7)]) })
  for (let index = 1; index * 7 < ended; index++) {
    const response = await world.chat({ ...hello, stream: true })
    await world.api.health.reset()
    if (response.status === 502) continue // no text had been sent yet
    assert.match(await response.text(), /"error":\{[^\n]*before the response was complete/, String(index * 7))
  }
})

test('a Converse stream with a corrupt frame ends with an error', async () => {
  const chunks = converseFrames()
  chunks[2] = Uint8Array.from(chunks[2] ?? [], (byte, index) => (index === 40 ? byte ^ 1 : byte))
  const { world } = await open({ respond: () => frames(chunks) })
  assert.match(await (await world.chat({ ...hello, stream: true })).text(), /corrupt event stream/)
})

test('a Bedrock exception before the first content causes a fallback to the next target', async () => {
  const respond: Respond = ({ provider }) => {
    if (provider === 'one') return json({ choices: [{ index: 0, message: { content: 'one' }, finish_reason: 'stop' }] })
    return frames([
      eventFrame('messageStart', { role: 'assistant' }),
      exceptionFrame('throttlingException', 'slow down'),
    ])
  }
  const { world } = await open({ respond, combos: { chain: [`bedrock/${MODEL}`, 'one/m'] } })
  const response = await world.chat({ ...hello, model: 'chain', stream: true })
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /=429:rate-limit;via=chain:fallback, one\/m=200$/)
})

/** Errors with a status that would suggest a client error. */
const bedrockErrors: [status: number, type: string, failure: string][] = [
  [400, 'ServiceQuotaExceededException', 'rate-limit'],
  [424, 'ModelErrorException:http://internal.amazon.com/coral/com.amazon.bedrock/', 'server'],
]

for (const [status, type, failure] of bedrockErrors) {
  test(`the Bedrock exception ${type} causes a fallback to the next target`, async () => {
    const respond: Respond = ({ provider }) =>
      provider === 'one'
        ? json({ choices: [{ index: 0, message: { content: 'one' }, finish_reason: 'stop' }] })
        : json({ message: 'no' }, status, { 'x-amzn-errortype': type })
    const { world } = await open({ respond, combos: { chain: [`bedrock/${MODEL}`, 'one/m'] } })
    const response = await world.chat({ ...hello, model: 'chain' })
    assert.is(response.status, 200)
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', new RegExp(`=${status}:${failure};`))
  })
}

test('a Bedrock exception after the first content is reported to the client', async () => {
  const chunks = [...converseFrames().slice(0, 2), exceptionFrame('modelStreamErrorException', 'the model failed')]
  const { world } = await open({ respond: () => frames(chunks) })
  assert.match(await (await world.messages({ ...hello, stream: true })).text(), /event: error\n.*the model failed/)
})

test("a Bedrock error is reported in the client's format", async () => {
  const body = { message: 'Input is too long for requested model.' }
  const { world } = await open({ respond: () => json(body, 400, { 'x-amzn-errortype': 'ValidationException' }) })
  const response = await world.chat(hello)
  assert.is(response.status, 400)
  assert.is((await response.json()).error.code, 'context_length_exceeded')
  const { error } = await (await world.messages(hello)).json()
  assert.match(error.message, /^prompt is too long: /)
})

test("calls to a custom Bedrock URL are signed for the connection's region", async () => {
  const settings = { region: 'eu-west-1', baseUrl: 'https://vpce-1.bedrock.test/' }
  const { upstream, world } = await open({ apiKey: ACCESS, settings })
  await world.chat(hello)
  assert.match(upstream.calls[0]?.url.href ?? '', /^https:\/\/vpce-1\.bedrock\.test\/model\//)
  assert.match(upstream.calls[0]?.headers.get('authorization') ?? '', /\/eu-west-1\/bedrock\/aws4_request/)
})

test("a session token that AWS echoes in an error isn't exposed", async () => {
  const respondQuoting: Respond = ({ headers }) => json({ message: `bad ${headers.get('x-amz-security-token')}` }, 400)
  const { world } = await open({ respond: respondQuoting, apiKey: `${ACCESS}:${TOKEN}` })
  const text = await (await world.chat(hello)).text()
  assert.ok(!text.includes(TOKEN), text)
  assert.ok(!JSON.stringify(world.recorded).includes(TOKEN))
})
