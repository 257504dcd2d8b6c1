import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('keys affected by stored records that were changed outside the gateway')

/** Opens a key in a group. Tests change the stored records before another gateway reads them. */
async function open() {
  const storage = memoryStorage()
  const errors: string[] = []
  const create = () =>
    createGateway({
      storage,
      secret: 'a secret of at least 32 characters',
      logger: false,
      hooks: { onError: (error) => void errors.push(String(error)) },
      connections: { openai: { apiKey: 'sk-0123456789' } },
      fetch: async () => Response.json(chatResponse()),
    })
  const { api } = create()
  const { id: group } = await api.groups.create({ name: 'Customer of ours', limits: { parallel: 4 } })
  const { key } = await api.keys.create({ name: 'one', group })

  async function change(prefix: string, edit: (text: string) => string | undefined) {
    for (const { key: at, value } of await storage.list(prefix)) {
      const text = edit(value)
      if (text === undefined) await storage.delete(at)
      else await storage.set(at, text)
    }
    const { fetch } = create()
    return async (path: string, body?: object): Promise<{ status: number; text: string }> => {
      const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
      const method = body ? 'POST' : 'GET'
      const response = await fetch(`http://gateway${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    }
  }
  return { change, errors }
}

const messages = [{ role: 'user', content: 'Hi' }]
const calls: ReadonlyArray<readonly [path: string, body?: object]> = [
  ['/v1/models'],
  ['/v1/chat/completions', { model: 'openai/gpt-5', messages }],
  ['/v1/messages', { model: 'openai/gpt-5', messages, max_tokens: 5 }],
  ['/v1beta/models/openai%2Fgpt-5:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
  ['/v1/responses', { model: 'openai/gpt-5', input: 'Hi' }],
]

const changes = {
  'a changed group': ['groups/', (text: string) => text.replace('"parallel":4', '"parallel":400'), /PUT \/api\/groups/],
  'a group without a signature': ['groups/', (text: string) => text.replace(/"mac":"[^"]*"/, '"x":1'), /"isActive"/],
  'a damaged group': ['groups/', () => '{"order":', /set the key's group to another one or null/],
  'a missing group': ['groups/', () => undefined, /set the key's group to another one or null/],
  'a changed key': ['keys/', (text: string) => text.replace(/"mac":"[^"]*"/, '"x":1'), /PUT \/api\/keys/],
} as const

for (const [label, [prefix, edit, advice]] of Object.entries(changes))
  test(`${label}: each client's error says whom to contact, and the operator's error says what to do`, async () => {
    const { change, errors } = await open()
    const call = await change(prefix, edit)
    for (const [path, body] of calls) {
      const { status, text } = await call(path, body)
      assert.is(status, 500, path)
      assert.match(text, 'record of this API key, its group, or its account cannot be used. Ask the operator', path)
      assert.not.match(text, /Customer of ours|secret|\/api\//, path)
    }
    assert.match(errors.at(-1) ?? '', advice)
  })
