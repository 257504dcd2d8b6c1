import * as v from 'valibot'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Feature } from '../../src/feature.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('types of feature operations')

const note = v.object({ text: v.string() })
const words = { summary: 'Get a note', failure: 'fetch notes', output: note }

const notes = {
  name: 'notes',
  operations: {
    notes: {
      get: { ...words, method: 'GET', path: '/api/notes/:id', run: async (id: string) => ({ text: `note ${id}` }) },
      put: {
        ...words,
        ...{ method: 'PUT', path: '/api/notes/:id', input: v.object({ text: v.string() }) },
        run: async (_id: string, { text }: { text: string }) => ({ text }),
      },
    },
  },
} satisfies Feature

const options = { storage: memoryStorage(), logger: false } as const

test("feature operations are typed alongside the gateway's built-in operations", async () => {
  const gateway = createGateway({ ...options, extend: [{ name: 'silent' }, notes] })
  const { text }: { text: string } = await gateway.api.notes.get('a')
  const put: { text: string } = await gateway.fetch.api.notes.put('a', { text })
  assert.equal([text, put.text, (await gateway.api.keys.list()).keys], ['note a', 'note a', []])
})

test('the operations of an inline feature are typed', async () => {
  const { api } = createGateway({
    ...options,
    extend: [
      notes,
      {
        name: 'memos',
        operations: {
          memos: { count: { ...words, method: 'GET', path: '/api/memos', run: async () => ({ text: 'none' }) } },
        },
      },
    ],
  })
  assert.is((await api.memos.count()).text, 'none')
  assert.is((await api.notes.get('b')).text, 'note b')
})

test('wrong operation names and arguments are compile errors', () => {
  const misuse = () => {
    const { api } = createGateway({ ...options, extend: [notes] })
    // @ts-expect-error: there is no such operation
    void api.notes.list()
    // @ts-expect-error: there is no such resource
    void api.memos
    // @ts-expect-error: the identifier is a string
    void api.notes.get(1)
    const untyped: Feature = notes
    // @ts-expect-error: the annotation hides the operations
    void createGateway({ ...options, extend: [untyped] }).api.notes
    // @ts-expect-error: without features, only the gateway's own
    void createGateway(options).api.notes
  }
  assert.type(misuse, 'function')
})
