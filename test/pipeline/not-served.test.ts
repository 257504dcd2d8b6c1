import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'

const gateway = createGateway({ storage: memoryStorage(), logger: false })

async function post(path: string) {
  const response = await gateway.fetch(new Request(`http://gateway${path}`, { method: 'POST', body: '{}' }))
  return { status: response.status, body: JSON.stringify(await response.json()) }
}

const test = suite('what is not served')

for (const path of ['/v1/models/x:generateContent', '/v1beta/models/a/b:streamGenerateContent']) {
  test(`${path} is a 404 in Google's format that says what is`, async () => {
    const { status, body } = await post(path)
    assert.is(status, 404)
    assert.match(body, /"status":"NOT_FOUND"/)
    assert.match(body, /Not served yet; use POST \/v1\/chat\/completions/)
  })
}

test('a model whose name holds a colon is still no place to post to', async () => {
  assert.is((await post('/v1/models/llama3:8b-instruct')).status, 405)
})

test('an Anthropic client with /v1 in its base URL is told so in its own format', async () => {
  const { status, body } = await post('/v1/v1/messages')
  assert.is(status, 404)
  assert.match(body, /^\{"type":"error".*Leave \/v1 out of the base URL/)
})

test('the Responses API points to what is served', async () => {
  const { status, body } = await post('/v1/responses')
  assert.is(status, 404)
  assert.match(body, /Not served yet; use POST \/v1\/chat\/completions/)
})
