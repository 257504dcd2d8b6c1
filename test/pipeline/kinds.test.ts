import { openDoor } from '../management/door.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a model of a kind that is not served')

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
    ],
  },
  groq: { baseUrl: 'http://groq.test/v1', models: [{ id: 'whisper', type: 'stt' as const }] },
}
const REFUSAL = { error: { message: 'This is not a chat model', type: 'invalid_request_error' } }

async function open(status: number, path = '/v1/chat/completions') {
  const { gateway } = openDoor({ catalog, fetch: async () => Response.json(REFUSAL, { status }) })
  await gateway.api.connections.create({ provider: 'openai' })
  const ask = async (model: string) => {
    const body = JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
    const headers = { 'content-type': 'application/json' }
    const response = await gateway.fetch(new Request(`http://g${path}`, { method: 'POST', headers, body }))
    const { error } = (await response.json()) as { error: { message: string } }
    return `${response.status} ${error.message}`
  }
  return { api: gateway.api, ask }
}

for (const [model, purpose] of [
  ['text-embedding-3-small', 'embeddings'],
  ['gpt-image-2', 'images'],
  ['tts-1', 'speech'],
  ['whisper-1', 'transcription'],
] as const)
  test(`is named with its kind behind the words of the provider that refuses it in chat: ${model}`, async () => {
    for (const status of [400, 403, 404])
      for (const path of ['/v1/chat/completions', '/v1/messages']) {
        const { ask } = await open(status, path)
        assert.is(
          await ask(`oa/${model}`),
          `${status} This is not a chat model. "openai/${model}" is a model for ${purpose}, and this gateway serves language models.`,
        )
        assert.is(await ask('oa/gpt-5'), `${status} This is not a chat model`)
      }
  })

test('is named with its kind when it is a custom model, or a combo leads to it', async () => {
  const { api, ask } = await open(404)
  await api.customModels.create({ providerAlias: 'openai', id: 'own', type: 'embedding' })
  await api.combos.create({ name: 'pictures', models: ['openai/gpt-image-2'], kind: 'image' })
  assert.match(
    await ask('openai/own'),
    /"openai\/own" is a model for embeddings, and this gateway serves language models\.$/,
  )
  assert.match(await ask('pictures'), /"openai\/gpt-image-2" is a model for images,/)
})

test('is not spoken of when the provider has failed for another reason', async () => {
  for (const status of [401, 429, 500]) {
    const { ask } = await open(status)
    assert.not.match(await ask('openai/gpt-image-2'), /model for images/)
  }
})

test('is named with its kind when its provider is not connected, or not named', async () => {
  const { ask } = await open(200)
  assert.match(
    await ask('groq/whisper'),
    /^404 .*no active connection .* "groq\/whisper" is a model for transcription, and/,
  )
  assert.match(await ask('tts-1'), /^404 The model "tts-1" does not exist\. .* "tts-1" is a model for speech, and/)
  assert.not.match(await ask('gpt-5'), /is a model for/)
})
