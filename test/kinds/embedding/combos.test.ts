import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { embedding } from './sample.ts'

const test = suite('embedding combos')

async function open(options: Parameters<typeof openWorld>[0] = {}) {
  const upstream = fakeUpstream(() => json(embedding.response))
  const world = await openWorld({ fetch: upstream, catalog: {}, connections: [], ...options })
  for (const provider of ['a', 'b'])
    await world.api.connections.create({ provider, baseUrl: `http://${provider}.test/v1` }).catch(() => {})
  const make = (name: string, models: string[], extra: object = {}) =>
    world.api.combos.create({ name, kind: 'embedding', models, ...extra })
  const send = async (model: string) => {
    const response = await world.post('/v1/embeddings', { model, input: 'Hi' })
    return `${response.status} ${response.status === 200 ? '' : ((await response.json()) as Failed).error.message}`
  }
  return { ...world, upstream, make, send }
}

/** Checks that the change is rejected with this message. */
async function assertRejected(change: Promise<unknown>, words: RegExp): Promise<void> {
  const error: unknown = await change.then(
    () => 'it is taken',
    (error) => error,
  )
  assert.match(String(error), words)
}

interface Failed {
  error: { message: string }
}

const MIXED = /"models" must all be the same embedding model/

test('accepts the same embedding model from several providers, with any prefix in its ID', async () => {
  const { make, send } = await open()
  await make('small', ['a/text-embedding-3-small', 'b/openai/text-embedding-3-small', 'azure/Text-Embedding-3-Small'])
  await make('titan', ['bedrock/amazon.titan-embed-text-v2:0', 'bedrock/us.amazon.titan-embed-text-v2:0'])
  await make('local', ['ollama/nomic-embed-text', 'ollama/nomic-embed-text:latest'])
  assert.is(await send('small'), '200 ')
})

test('rejects a new embedding combo of two different models unless it declares sameVectors', async () => {
  const { make, send, api } = await open()
  await assertRejected(make('two', ['a/small', 'a/large']), /vectors of "a\/small" and "a\/large" cannot be compared/)
  await assertRejected(make('two', ['a/small', 'a/large'], { sameVectors: false }), MIXED)
  await make('two', ['a/small', 'a/large'], { sameVectors: true })
  assert.is(await send('two'), '200 ')
  await api.combos.create({ name: 'chat', models: ['a/small', 'a/large'] }) // chat combos can mix models
})

test('rejects different embedding models reached through combos and aliases unless they share vectors', async () => {
  const { make, api } = await open()
  await api.aliases.set({ alias: 'big', model: 'b/large' })
  await make('inner', ['a/small', 'b/small'])
  await assertRejected(make('outer', ['inner', 'big']), /vectors of "a\/small" and "b\/large" cannot be compared/)
  await make('outer', ['inner', 'a/small'])
  await make('alike', ['a/small', 'b/tiny'], { sameVectors: true })
  await make('around', ['alike', 'inner'])
})

test('rejects different embedding models when a combo, an inner combo, or its kind is updated', async () => {
  const { make, api } = await open()
  const inner = await api.combos.create({ name: 'inner', models: ['a/small'] })
  const outer = await make('outer', ['inner', 'b/small'])
  const { id } = await api.combos.create({ name: 'plain', models: ['a/small', 'a/large'] })
  await assertRejected(api.combos.update(id, { kind: 'embedding' }), MIXED)
  await assertRejected(api.combos.update(outer.id, { models: ['a/small', 'a/large'] }), MIXED)
  await assertRejected(
    api.combos.update(inner.id, { models: ['a/large'] }),
    /in the combo "outer", which includes this one/,
  )
  await api.combos.update(outer.id, { sameVectors: true })
  await api.combos.update(inner.id, { models: ['a/large'] })
  await assertRejected(api.combos.update(outer.id, { sameVectors: null }), MIXED)
})

test('a combo that mixes models since a release or alias change is rejected on use', async () => {
  const storage = memoryStorage()
  const first = await open({ storage })
  await first.make('two', ['a/small', 'a/large'], { sameVectors: true })
  for (const { key, value } of await storage.list(''))
    if (value.includes('"sameVectors":true')) await storage.set(key, value.replace(/,?"sameVectors":true/, ''))
  const { send, upstream, api, make } = await open({ storage })
  assert.match(
    await send('two'),
    /^400 The combo "two" mixes embedding models: the vectors of "a\/small" and "a\/large" cannot be compared/,
  )
  await api.aliases.set({ alias: 'vectors', model: 'b/small' })
  await make('aliased', ['a/small', 'vectors'])
  assert.is(await send('aliased'), '200 ')
  await api.aliases.set({ alias: 'vectors', model: 'b/large' })
  assert.match(await send('aliased'), /^400 The combo "aliased" mixes embedding models/)
  assert.is(upstream.calls.length, 1)
})
