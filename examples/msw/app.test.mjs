import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStorage } from 'signalbox/storage/memory'
import { openApp } from './app.mjs'
import { anthropic, fetchFrom, openai, overloaded } from './providers.mjs'

process.env.OPENAI_API_KEY = 'sk-test-openai'
process.env.ANTHROPIC_API_KEY = 'sk-test-anthropic'

/** Opens an app for one test, with these handlers as its providers. */
async function open(t, ...handlers) {
  const app = await openApp({ storage: memoryStorage(), fetch: fetchFrom(...handlers) })
  t.after(() => app.close())
  return app
}

async function collect(pieces) {
  const all = []
  for await (const piece of pieces) all.push(piece)
  return all
}

test('the summary is streamed in chunks as the model writes it', async (t) => {
  const seen = []
  const app = await open(t, openai(['Signals ', 'are ', 'set.'], seen))
  assert.deepEqual(await collect(app.summarize('…')), ['Signals ', 'are ', 'set.'])
  assert.deepEqual(seen, [{ model: 'gpt-5-mini', authorization: 'Bearer sk-test-openai' }])
})

test('Anthropic writes the summary if OpenAI is overloaded', async (t) => {
  const app = await open(t, overloaded('https://api.openai.com'), anthropic(['Set ', 'signals.']))
  assert.equal((await collect(app.summarize('…'))).join(''), 'Set signals.')
})

test('the app gets an error if every provider fails', async (t) => {
  const app = await open(t, overloaded('https://api.openai.com'), overloaded('https://api.anthropic.com'))
  await assert.rejects(collect(app.summarize('…')), { status: 503 })
})

test('the gateway rejects requests without a key, and all management requests', async (t) => {
  const { gateway } = await open(t)
  assert.equal((await gateway.fetch(new Request('http://gateway/v1/models'))).status, 401)
  assert.equal((await gateway.fetch(new Request('http://gateway/api/keys'))).status, 401)
})
