import * as v from 'valibot'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { FeatureOperations } from '../../src/admin/operation-table.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'
import { TOKEN } from './open-management.ts'

const test = suite('management operations defined by features')

const notes = new Map<string, string>()

const operations = {
  notes: {
    get: {
      method: 'GET',
      path: '/api/notes/:id',
      failure: 'fetch note',
      output: v.object({ text: v.string() }),
      summary: 'Get a note',
      run: async (id: string) => ({ text: notes.get(id) ?? '' }),
    },
    put: {
      method: 'PUT',
      path: '/api/notes/:id',
      failure: 'put note',
      input: v.strictObject({ text: v.string('must be a string') }),
      output: v.object({ text: v.string() }),
      summary: 'Write a note',
      run: async (id: string, { text }: { text: string }) => {
        notes.set(id, text)
        return { text }
      },
    },
  },
} satisfies FeatureOperations

function open(added: FeatureOperations = operations) {
  const options = { storage: memoryStorage(), logger: false, management: { token: TOKEN } } as const
  const gateway = createGateway({ ...options, extend: [{ name: 'notes', operations: added }] })
  const send = (method: string, path: string, body?: object) =>
    gateway.fetch(
      new Request(`http://gateway.test${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const api = gateway.api as typeof gateway.api & {
    notes: {
      get(id: string): Promise<{ text: string }>
      put(id: string, input: { text: string }): Promise<{ text: string }>
    }
  }
  return { api, send }
}

test("serves a feature's operation over HTTP and in process", async () => {
  const { api, send } = open()
  assert.equal(await api.notes.put('a', { text: 'hello' }), { text: 'hello' })
  assert.equal(await (await send('GET', '/api/notes/a')).json(), { text: 'hello' })
  assert.is((await send('PATCH', '/api/notes/a', { text: 'bye' })).status, 200)
  assert.equal(await api.notes.get('a'), { text: 'bye' })
  assert.is((await api.keys.list()).keys.length, 0)
})

test("validates the input of a feature's operation", async () => {
  const { api, send } = open()
  const response = await send('PUT', '/api/notes/a', { text: 1 })
  assert.equal([response.status, await response.json()], [400, { error: '"text" must be a string' }])
  const wrong = { txt: 'x' } as unknown as { text: string }
  assert.match(await messageFrom(api.notes.put('a', wrong)), /Unknown field "txt"\. Did you mean "text"\?/)
})

test("includes a feature's operation in the OpenAPI document", async () => {
  const { paths, tags } = await open().api.openapi()
  const { get, put } = paths['/api/notes/{id}'] ?? {}
  assert.equal([get?.operationId, put?.operationId], ['notesGet', 'notesPut'])
  assert.ok(tags.some(({ name }) => name === 'notes'))
})

test("a feature's operation can't have the same route as a built-in operation", async () => {
  const { api } = open({ notes: { get: { ...operations.notes.get, path: '/api/keys/:name' } } })
  assert.match(await messageFrom(api.info()), 'The operation notes.get has the route GET /api/keys/:name, which')
})

const messageFrom = (call: Promise<unknown>) =>
  call.then(
    () => 'resolved',
    (error: Error) => error.message,
  )
