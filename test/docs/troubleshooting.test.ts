import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { readPages, SITE } from './pages.ts'

const test = suite('messages on the troubleshooting pages')

const ANTHROPIC_ERROR = { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }

/** Triggers the errors that the pages explain. Resolves to their messages. */
async function causeErrors(): Promise<string[]> {
  const gateway = createGateway({
    ...{ storage: memoryStorage(), logger: false, clock: fakeClock(Date.parse('2026-11-30T21:01:41Z')) },
    fetch: async () => Response.json(ANTHROPIC_ERROR, { status: 401 }),
  })
  const { api } = gateway
  const messages: string[] = []
  const send = async (path: string, init?: RequestInit) => {
    const response = await gateway.fetch(new Request(`http://gateway${path}`, init))
    const { error } = (await response.json()) as { error: string | { message: string } }
    messages.push(typeof error === 'string' ? error : error.message)
  }
  const sendRequest = (model: string, { key, path = '/v1/chat/completions' }: { key?: string; path?: string } = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })

  await sendRequest('openai/gpt-5-mini')
  await api.connections.put({ id: 'openai', provider: 'openai', apiKey: 'sk-openai' })
  await api.connections.put({ id: 'anthropic', provider: 'anthropic', apiKey: 'sk-anthropic' })
  for (const model of ['gpt-5-mini', 'fast', 'anthropic/claude-haiku-4-5']) await sendRequest(model)
  for (const path of ['/v1/v1/chat/completions', '/chat/completions']) await sendRequest('openai/gpt-5-mini', { path })
  await send('/api/keys')
  const web = await api.keys.create({ name: 'web', limits: { usd: { month: 0.0000001 } } })
  const rate = await api.keys.create({ name: 'rate', limits: { requests: { minute: 1 } } })
  await api.settings.update({ requireApiKey: true })
  await sendRequest('openai/gpt-5-mini')
  await sendRequest('openai/gpt-5-mini', { key: 'sk-of-a-provider' })
  await sendRequest('openai/gpt-5-mini', { key: web.key })
  await sendRequest('openai/gpt-99', { key: web.key })
  for (let time = 0; time < 2; time++) await sendRequest('openai/gpt-5-mini', { key: rate.key })
  await gateway.close()
  return messages
}

test('the gateway really sends every message that the pages quote', async () => {
  const quoted = readPages()
    .filter(({ path }) => path.startsWith(`${SITE}troubleshooting/`))
    .flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'text').map(({ code }) => code.trim()))
  assert.ok(quoted.length > 9, `only ${quoted.length} messages were found`)
  const messages = await causeErrors()
  assert.equal(
    quoted.filter((message) => !messages.includes(message)),
    [],
    messages.join('\n'),
  )
})
