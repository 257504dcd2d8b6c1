import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'

const gateway = createGateway({ storage: memoryStorage(), logger: false })

async function post(path: string) {
  const response = await gateway.fetch(new Request(`http://gateway${path}`, { method: 'POST', body: '{}' }))
  return { status: response.status, body: JSON.stringify(await response.json()) }
}

const test = suite('unsupported endpoints')

test("an unsupported model method returns a 404 in Google's format", async () => {
  const { status, body } = await post('/v1beta/models/x:embedContent')
  assert.is(status, 404)
  assert.match(body, /"status":"NOT_FOUND"/)
})

test("Google's methods are recognized even if the model name looks like another format's path", async () => {
  const { status, body } = await post('/v1/messages/x:generateContent')
  assert.is(status, 404)
  assert.match(body, /"status":"NOT_FOUND"/)
})

test('a POST to a model with a colon in its name is rejected', async () => {
  const { status, body } = await post('/v1/models/llama3:8b-instruct')
  assert.is(status, 405)
  assert.match(body, /POST is not allowed here\. Allowed: GET, HEAD\./)
})

for (const path of ['/v1/images/variations', '/v1/images/variations/'])
  test(`${path}, which OpenAI has retired, returns a 404 that suggests edits`, async () => {
    const { status, body } = await post(path)
    assert.is(status, 404)
    assert.match(body, /POST \/v1\/images\/edits/)
  })

test("an Anthropic client with /v1 in its base URL gets an error about the URL in Anthropic's format", async () => {
  const { status, body } = await post('/v1/v1/messages')
  assert.is(status, 404)
  assert.match(body, /^\{"type":"error".*Remove \/v1 from this client's base URL/)
})
