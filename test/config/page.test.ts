import { transformSync } from 'esbuild'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { readPages } from '../docs/pages.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'

const GUIDES = 'docs/src/content/docs/guides/'

const test = suite('examples in the guides to configuration in code')

interface Call {
  url: string
  key: string | null
  model: string
}

/** Runs the first block of a guide that contains `text`, with the values that it expects from the app. The providers respond with `respond`. */
function run([guide, text]: [string, string], app: Record<string, unknown>, respond: (call: Call) => Response) {
  const page = readPages().find(({ path }) => path === `${GUIDES}${guide}.md`)
  const block = page?.blocks.find(({ language, code }) => language === 'ts' && code.includes(text))
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
  const basePath = /basePath: '([^']+)'/.exec(block.code)?.[1] ?? ''
  const send = (model: string, headers: Record<string, string> = {}) =>
    gateway.fetch(`http://gateway${basePath}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  return { send, calls, gateway }
}

const chat = (text?: string) => Response.json(chatResponse(text))

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

test('the first code configuration example falls back to its second provider, and requires a key', async () => {
  const { send, calls, gateway } = run(['configure-in-code', 'createGateway({'], {}, (call) =>
    isOpenai(call) ? unavailable() : message(),
  )
  assert.is((await send('smart')).status, 401)
  const { key } = await gateway.api.keys.create({ name: 'app' })
  const response = await send('smart', { authorization: `Bearer ${key}` })
  assert.is(response.status, 200)
  assert.match(await response.text(), /Hello from Anthropic/)
  assert.equal(
    calls.map(({ key }) => key),
    ['Bearer key-for-openai', 'key-for-anthropic'],
  )
})

test("the plan example identifies users by the app's session, and limits each of them", async () => {
  const app = { findUserId: async (cookie: string | null) => cookie?.replace('s=', '') }
  const { send } = run(['users-of-your-app', 'plans: {'], app, () => chat())
  assert.is((await send('fast')).status, 401)
  for (let count = 0; count < 20; count++) assert.is((await send('fast', { cookie: 's=alice' })).status, 200)
  assert.is((await send('fast', { cookie: 's=alice' })).status, 429)
  assert.is((await send('fast', { cookie: 's=bob' })).status, 200)
  assert.is((await send('openai/gpt-5', { cookie: 's=bob' })).status, 403)
})

test("the vault example reads each tenant's credential once", async () => {
  const paths: string[] = []
  const vault = {
    async read(path: string) {
      paths.push(path)
      return { value: `secret:${path}`, expiresAt: Date.now() + 600_000 }
    },
  }
  const { send, calls } = run(['configure-in-code', 'CredentialSource'], { vault }, (call) =>
    isOpenai(call) ? unavailable() : message(),
  )
  for (const tenant of ['acme', 'acme', 'initech']) assert.is((await send('smart', { 'x-tenant': tenant })).status, 200)
  assert.equal(paths.sort(), ['providers/anthropic/default', 'providers/openai/acme', 'providers/openai/initech'])
  assert.ok(calls.every(({ key }) => key?.includes('secret:providers/')))
})

test('the route function example chooses a model by user, size, and price', async () => {
  const { send, calls } = run(['configure-in-code', 'route('], {}, (call) => (isOpenai(call) ? chat() : message()))
  const choose = async (headers: Record<string, string>, model = 'auto') => {
    assert.is((await send(model, headers)).status, 200)
    return calls.at(-1)
  }
  assert.is((await choose({}))?.model, 'gpt-5-mini')
  const cheapest = await choose({ 'x-user': 'alice' })
  assert.ok(cheapest && ['gpt-5', 'claude-sonnet-4-5'].includes(cheapest.model))
  assert.is((await choose({ 'x-user': 'alice' }, 'smart'))?.model, 'gpt-5')
})

test('the conditions example checks a header and the response', async () => {
  const { send, calls } = run(['configure-in-code', 'when: ({ header })'], {}, (call) =>
    isOpenai(call) ? chat('I am not sure.') : message(),
  )
  for (const tier of ['gold', 'silver']) assert.is((await send('smart', { 'x-tier': tier })).status, 200)
  assert.is((await send('checked', {})).status, 200)
  assert.equal(
    calls.map(({ model }) => model),
    ['claude-sonnet-4-5', 'gpt-5-mini', 'gpt-5-mini', 'claude-sonnet-4-5'],
  )
})
