import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('model kinds')

const catalog = {
  openai: {
    alias: 'oa',
    baseUrl: 'http://openai.test/v1',
    models: [
      { id: 'gpt-5' },
      { id: 'text-embedding-3-small', type: 'embedding' as const },
      { id: 'gpt-image-2', type: 'image' as const },
      { id: 'tts-1', type: 'tts' as const },
      { id: 'whisper-1', type: 'stt' as const },
      { id: 'seer', type: 'imageToText' as const },
    ],
  },
  groq: { baseUrl: 'http://groq.test/v1', models: [{ id: 'whisper', type: 'stt' as const }] },
  google: {
    baseUrl: 'http://google.test/v1beta',
    format: 'gemini' as const,
    models: [
      { id: 'gemini-image', type: 'image' as const },
      { id: 'gemini-embedding-001', type: 'embedding' as const },
    ],
  },
}
const REFUSAL = { error: { message: 'This is not a chat model', type: 'invalid_request_error' } }

async function open(status: number, path = '/v1/chat/completions') {
  const requests: string[] = []
  const { gateway } = openManagement({
    catalog,
    async fetch(url: string | URL | Request) {
      requests.push(String(url))
      return Response.json(REFUSAL, { status })
    },
  })
  for (const provider of ['openai', 'google']) await gateway.api.connections.create({ provider })
  const send = async (model: string, at = path) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = JSON.stringify({ model, max_tokens: 9, messages, input: 'Hi' })
    const headers = { 'content-type': 'application/json' }
    const response = await gateway.fetch(new Request(`http://g${at}`, { method: 'POST', headers, body }))
    const { error } = (await response.json()) as { error: { message: string } }
    return `${response.status} ${error.message}`
  }
  return { api: gateway.api, send, requests }
}

test("if a provider rejects a model in chat, the error adds the model's kind", async () => {
  for (const status of [400, 403, 404])
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const { send } = await open(status, path)
      assert.is(
        await send('google/gemini-image'),
        `${status} This is not a chat model. "google/gemini-image" is a model for images. Use POST /v1/images/generations.`,
      )
      assert.is(await send('oa/gpt-5'), `${status} This is not a chat model`)
    }
})

for (const [model, purpose, endpoint] of [
  ['gpt-image-2', 'images', '/v1/images/generations'],
  ['tts-1', 'speech', '/v1/audio/speech'],
  ['whisper-1', 'transcription', '/v1/audio/transcriptions'],
] as const)
  test(`a model for ${purpose} is rejected in chat without calling a provider`, async () => {
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const { send, requests } = await open(200, path)
      assert.is(
        await send(`oa/${model}`),
        `400 POST ${path} does not serve "openai/${model}", a model for ${purpose}. Use POST ${endpoint}.`,
      )
      assert.equal(requests, [])
    }
  })

test("the error for a model at another kind's endpoint names the right endpoint", async () => {
  const { send, requests, api } = await open(200)
  await api.customModels.create({ providerAlias: 'openai', id: 'own', type: 'embedding' })
  for (const model of ['text-embedding-3-small', 'own'])
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses'])
      assert.is(
        await send(`openai/${model}`, path),
        `400 POST ${path} does not serve "openai/${model}", a model for embeddings. Use POST /v1/embeddings.`,
      )
  assert.is(
    await send('oa/gpt-5', '/v1/embeddings'),
    '400 POST /v1/embeddings does not serve "openai/gpt-5", a model for chat. Use POST /v1/chat/completions.',
  )
  assert.equal(requests, [])
})

test('the error for a combo of another kind names the right endpoint', async () => {
  const { send, requests, api } = await open(200)
  await api.combos.create({ name: 'vectors', models: ['openai/text-embedding-3-small'], kind: 'embedding' })
  await api.combos.create({ name: 'talk', models: ['openai/gpt-5'] })
  assert.is(
    await send('vectors'),
    '400 POST /v1/chat/completions does not serve the combo "vectors" of kind "embedding". Use POST /v1/embeddings.',
  )
  assert.match(
    await send('talk', '/v1/embeddings'),
    /^400 POST \S+ does not serve the combo "talk" of kind "llm"\. Use POST/,
  )
  assert.equal(requests, [])
})

test('speech models and image combos are rejected at the endpoints of other kinds', async () => {
  const { send, requests, api } = await open(200)
  await api.combos.create({ name: 'pictures', models: ['openai/gpt-image-2'], kind: 'image' })
  for (const path of ['/v1/embeddings', '/v1/rerank', '/v1/moderations', '/v1/search', '/v1/web/fetch']) {
    assert.is(
      await send('openai/tts-1', path),
      `400 POST ${path} does not serve "openai/tts-1", a model for speech. Use POST /v1/audio/speech.`,
    )
    assert.match(
      await send('pictures', path),
      /^400 POST \S+ does not serve the combo "pictures" of kind "image"\. Use POST/,
    )
  }
  assert.equal(requests, [])
})

test('a combo entry of another kind is skipped', async () => {
  const { send, requests, api } = await open(200)
  await api.combos.create({ name: 'mixed', models: ['openai/text-embedding-3-small', 'openai/gpt-5'] })
  await send('mixed')
  assert.equal([...new Set(requests)], ['http://openai.test/v1/chat/completions'])
})

test('models that read images, and Google models that generate them, can be called in chat', async () => {
  const { send, requests, api } = await open(400)
  await api.combos.create({ name: 'seeing', models: ['openai/seer'], kind: 'imageToText' })
  assert.match(await send('openai/seer'), /^400 This is not a chat model/)
  assert.match(await send('seeing'), /^400 This is not a chat model/)
  assert.match(await send('google/gemini-image'), /^400 This is not a chat model/)
  assert.is(requests.length, 3)
  assert.match(await send('google/gemini-embedding-001'), /Use POST \/v1\/embeddings\./)
})

test("a rejected chat request mentions the model's kind even through a combo", async () => {
  const { api, send } = await open(404)
  await api.combos.create({ name: 'pictures', models: ['google/gemini-image'] })
  assert.match(await send('pictures'), /"google\/gemini-image" is a model for images\./)
})

test("a failed chat request doesn't mention the model's kind if the provider failed for another reason", async () => {
  for (const status of [401, 429, 500]) {
    const { send } = await open(status)
    assert.not.match(await send('google/gemini-image'), /model for images/)
  }
})

test("the error for an unconnected provider or a missing prefix mentions the model's kind", async () => {
  const { send } = await open(200)
  assert.match(
    await send('groq/whisper'),
    /^404 .*no active connection .* "groq\/whisper" is a model for transcription\. Use POST/,
  )
  assert.match(
    await send('tts-1'),
    /^404 The model "tts-1" does not exist\. .* "tts-1" is a model for speech\. Use POST/,
  )
  assert.not.match(await send('gpt-5'), /is a model for/)
  assert.match(await send('tts-1', '/v1/embeddings'), /"tts-1" is a model for speech\. Use POST/)
  assert.match(
    await send('text-embedding-3-small', '/v1/embeddings'),
    /lists the available models\.$/,
    'the request was already at the right endpoint',
  )
})
