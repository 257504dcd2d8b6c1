import { transformSync } from 'esbuild'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { readPages } from '../docs/pages.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the examples of src/config/README.md')

interface Call {
  url: string
  key: string | null
  model: string
}

/** Runs a block of the page, with the values that it needs from your app, and with providers that respond with `respond`. */
function run(nth: number, app: Record<string, unknown>, respond: (call: Call) => Response) {
  const page = readPages().find(({ path }) => path === 'src/config/README.md')
  const block = page?.blocks.filter(({ language }) => language === 'ts')[nth]
  assert.ok(block)
  const { code } = transformSync(block.code.replace(/^(?:import|export) .*$/gm, ''), { loader: 'ts' })
  const calls: Call[] = []
  const scope = {
    ...app,
    process: { env: { OPENAI_API_KEY: 'key-for-openai', ANTHROPIC_API_KEY: 'key-for-anthropic' } },
    fileStorage: () => memoryStorage(),
    createGateway: (options: GatewayOptions) =>
      createGateway({
        ...options,
        ...(options.storage && { storage: memoryStorage() }),
        fetch: async (url: unknown, init?: RequestInit) => {
          const headers = new Headers(init?.headers)
          const key = headers.get('x-api-key') ?? headers.get('authorization')
          const call = { url: String(url), key, model: JSON.parse(String(init?.body)).model }
          calls.push(call)
          return respond(call)
        },
        logger: false,
      }),
  }
  const gateway: Gateway = new Function(...Object.keys(scope), `${code}; return gateway`)(...Object.values(scope))
  const ask = (model: string, headers: Record<string, string> = {}) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  return { ask, calls }
}

const chat = (text?: string) => Response.json(chatAnswer(text))

const message = () =>
  Response.json({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hello from Anthropic' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 2 },
  })

const isOpenai = ({ url }: Call) => url.startsWith('https://api.openai.com')
const unavailable = () => Response.json({ error: { message: 'overloaded' } }, { status: 503 })

test('the example with two providers behind one name works without a store', async () => {
  const { ask, calls } = run(0, {}, (call) => (isOpenai(call) ? unavailable() : message()))
  const response = await ask('smart')
  assert.is(response.status, 200)
  assert.match(await response.text(), /Hello from Anthropic/)
  assert.equal(
    calls.map(({ key }) => key),
    ['Bearer key-for-openai', 'key-for-anthropic'],
  )
})

test("the example with a limit for each user identifies users by the app's session", async () => {
  const { ask } = run(1, { findUserId: async (cookie: string | null) => cookie?.replace('s=', '') }, () => chat())
  assert.is((await ask('chat')).status, 401)
  assert.is((await ask('chat', { cookie: 's=alice' })).status, 200)
})

test("the example with credentials from a vault reads each tenant's credential once", async () => {
  const paths: string[] = []
  const vault = {
    async read(path: string) {
      paths.push(path)
      return { value: `secret:${path}`, expiresAt: Date.now() + 600_000 }
    },
  }
  const { ask, calls } = run(2, { vault }, (call) => (isOpenai(call) ? unavailable() : message()))
  for (const tenant of ['acme', 'acme', 'initech']) assert.is((await ask('smart', { 'x-tenant': tenant })).status, 200)
  assert.equal(paths.sort(), ['providers/anthropic/default', 'providers/openai/acme', 'providers/openai/initech'])
  assert.ok(calls.every(({ key }) => key?.includes('secret:providers/')))
})

test('the example with a route function chooses by user, size, and price', async () => {
  const { ask, calls } = run(3, {}, (call) => (isOpenai(call) ? chat() : message()))
  const choose = async (headers: Record<string, string>, model = 'auto') => {
    assert.is((await ask(model, headers)).status, 200)
    return calls.at(-1)
  }
  assert.equal((await choose({}))?.model, 'gpt-5.4-mini')
  const cheapest = await choose({ 'x-user': 'alice' })
  assert.ok(cheapest && ['gpt-5.5', 'claude-sonnet-5-5'].includes(cheapest.model))
  assert.is((await choose({ 'x-user': 'alice' }, 'smart'))?.model, 'gpt-5.5')
})

test('the example with conditions checks a header and the response', async () => {
  const { ask, calls } = run(4, {}, (call) => (isOpenai(call) ? chat('I am not sure.') : message()))
  for (const tier of ['gold', 'silver']) assert.is((await ask('smart', { 'x-tier': tier })).status, 200)
  assert.is((await ask('checked', {})).status, 200)
  assert.equal(
    calls.map(({ model }) => model),
    ['claude-sonnet-5-5', 'gpt-5.4-mini', 'gpt-5.4-mini', 'claude-sonnet-5-5'],
  )
})
