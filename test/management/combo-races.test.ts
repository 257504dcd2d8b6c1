import fc from 'fast-check'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import type { Combo, Storage } from '../../src/types.ts'
import { times } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('combos in several processes')

const start = ['a', 'b'] // each contains the model `old`
const name = fc.constantFrom('a', 'b', 'c')
const operation = fc.oneof(
  fc.record({ do: fc.constant('create' as const), name }),
  fc.record({ do: fc.constant('rename' as const), combo: fc.nat(1), name }),
  fc.record({ do: fc.constant('change' as const), combo: fc.nat(1), model: fc.constantFrom('x', 'y') }),
  fc.record({ do: fc.constant('delete' as const), combo: fc.nat(1) }),
)
const operations = fc.array(operation, { minLength: 1, maxLength: 3 })
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

/** An acknowledged operation, and its combo. */
interface Recorded {
  operation: Operation
  id: string
}

test('concurrent changes in three processes never lose, duplicate, or revert a combo', async () => {
  const race = fc.asyncProperty(fc.scheduler(), operations, operations, operations, async (scheduler, ...processes) => {
    const storage = memoryStorage()
    const { combos } = openManagement({ storage }).gateway.api
    const ids: string[] = []
    for (const name of start) ids.push((await combos.create({ name, models: ['old'] })).id)
    const done = Promise.all(processes.map((todo) => perform(todo, ids, inSteps(storage, scheduler))))
    await scheduler.waitFor(done)
    const all = (await combos.list()).combos
    check(all, ids, (await done).flat())
    await combos.create({ name: 'last', models: ['x'] })
    assert.is((await storage.list('combos/')).length, all.length + 1, 'the next change cleans up leftovers')
  })
  await fc.assert(race, { numRuns: times(300) })
})

/** Creates a store that schedules each step, so another process may go first. */
function inSteps(storage: Storage, scheduler: fc.Scheduler): Storage {
  const step = <A extends unknown[], T>(run: (...args: A) => Promise<T>) => {
    const scheduled = scheduler.scheduleFunction(async (...args: A) => ({ done: await run(...args) }))
    return async (...args: A) => (await scheduled(...args)).done
  }
  const { get, set, delete: remove, list } = storage
  return { atomic: true, get: step(get), set: step(set), delete: step(remove), list: step(list) }
}

async function perform(todo: Operation[], ids: string[], storage: Storage): Promise<Recorded[]> {
  const { combos } = openManagement({ storage }).gateway.api
  const recorded: Recorded[] = []
  for (const operation of todo) {
    const id = operation.do === 'create' ? undefined : (ids[operation.combo] ?? '')
    try {
      if (id === undefined) {
        if (operation.do === 'create')
          recorded.push({ operation, id: (await combos.create({ name: operation.name, models: ['new'] })).id })
        continue
      }
      if (operation.do === 'rename') await combos.update(id, { name: operation.name })
      if (operation.do === 'change') await combos.update(id, { models: [operation.model] })
      if (operation.do === 'delete') await combos.delete(id)
      recorded.push({ operation, id })
    } catch (error) {
      if (!isGatewayError(error, 'NAME_TAKEN') && !isGatewayError(error, 'NOT_FOUND')) throw error
    }
  }
  return recorded
}

function check(combos: Combo[], ids: string[], recorded: Recorded[]) {
  const state = JSON.stringify({ combos, recorded }, null, 1)
  const filterByKind = (kind: Operation['do']) =>
    recorded.filter(({ operation }) => operation.do === kind).map(({ id }) => id)
  const deleted = filterByKind('delete')
  const expected = [...ids, ...filterByKind('create')].filter((id) => !deleted.includes(id))
  assert.equal(combos.map(({ id }) => id).sort(), expected.sort(), `every combo once: ${state}`)
  assert.is(new Set(combos.map((combo) => combo.name)).size, combos.length, `every name once: ${state}`)
  for (const combo of combos) {
    const index = ids.indexOf(combo.id)
    const own = recorded.filter(({ id }) => id === combo.id).map(({ operation }) => operation)
    const names = own.flatMap((operation) => ('name' in operation ? [operation.name] : []))
    const models = own.flatMap((operation) => (operation.do === 'change' ? [operation.model] : []))
    assert.ok((names.length > 0 ? names : [start[index]]).includes(combo.name), `no rename is undone: ${state}`)
    const first = index < 0 ? 'new' : 'old'
    assert.ok(
      (models.length > 0 ? models : [first]).some((model) => model === combo.models[0]),
      `no change is undone: ${state}`,
    )
  }
}

/** Creates a store that fails after `left` more writes, as if its process had been killed. */
function createDyingStorage(storage: Storage, left: number): Storage {
  const write =
    <A extends unknown[], T>(run: (...args: A) => Promise<T>) =>
    (...args: A) =>
      left-- > 0 ? run(...args) : Promise.reject(new Error('killed'))
  return { ...storage, set: write(storage.set), delete: write(storage.delete) }
}

for (let writes = 0; writes <= 4; writes++) {
  test(`a rename killed after write ${writes} takes effect completely or not at all`, async () => {
    const storage = memoryStorage()
    const { expect } = openManagement({ storage })
    const { id } = await expect(201, 'POST', '/api/combos', { name: 'old', models: ['x'] })
    const response = await openManagement({ storage: createDyingStorage(storage, writes) }).call(
      'PUT',
      `/api/combos/${id}`,
      {
        name: 'new',
      },
    )
    assert.is(response.status, writes < 4 ? 500 : 200)
    const { combos } = await expect(200, 'GET', '/api/combos')
    const counts = writes < 2 ? 'old' : 'new'
    assert.equal(
      combos.map(({ name }) => name),
      [counts],
    )
    assert.is((await expect(200, 'GET', `/api/combos/${id}`)).name, counts)
    const listed: unknown = (await openManagement({ storage, catalog: {} }).send('GET', '/v1/models')).body
    assert.ok(JSON.stringify(listed).includes(`"${counts}"`))
    assert.not.ok(JSON.stringify(listed).includes(counts === 'old' ? '"new"' : '"old"'))
    await expect(201, 'POST', '/api/combos', { name: counts === 'old' ? 'new' : 'old', models: ['y'] }) // the other name is free
    assert.is((await storage.list('combos/')).length, 2)
  })
}

/** Creates a store that runs `step` once, before the nth read of a key. */
function before(storage: Storage, read: { key: string; count: number }, step: () => Promise<unknown>): Storage {
  let left = read.count
  return {
    ...storage,
    async get(key) {
      if (key === read.key && --left === 0) await step()
      return storage.get(key)
    },
  }
}

test("a rename doesn't remove a combo that has taken the old name in the meantime", async () => {
  const storage = memoryStorage()
  const other = openManagement({ storage })
  const { id } = await other.expect(201, 'POST', '/api/combos', { name: 'old', models: ['x'] })
  const taking = () => other.expect(201, 'POST', '/api/combos', { name: 'old', models: ['y'] })
  const slow = openManagement({ storage: before(storage, { key: 'combos/old', count: 2 }, taking) })
  await slow.expect(200, 'PUT', `/api/combos/${id}`, { name: 'new' })
  const { combos } = await other.expect(200, 'GET', '/api/combos')
  assert.equal(combos.map(({ name, models }) => [name, models[0]]).sort(), [
    ['new', 'x'],
    ['old', 'y'],
  ])
})

test('a committed rename stays, even if another process tries to undo it', async () => {
  const storage = memoryStorage()
  const { expect } = openManagement({ storage })
  const { id } = await expect(201, 'POST', '/api/combos', { name: 'old', models: ['x'] })
  let renamed: Promise<unknown> = Promise.resolve()
  const deciding = before(createDyingStorage(storage, 2), { key: 'combos/old', count: 1 }, async () => {
    // It has written the new record. Another process sees the record and is about to revert it when the old one is marked.
    const slow = openManagement({ storage: before(storage, { key: 'combos/old', count: 1 }, () => marked) })
    renamed = slow.expect(201, 'POST', '/api/combos', { name: 'third', models: ['z'] })
    await runTurns()
  })
  const marked = openManagement({ storage: deciding }).call('PUT', `/api/combos/${id}`, { name: 'new' })
  assert.is((await marked).status, 500) // killed after it had decided
  await renamed
  const { combos } = await expect(200, 'GET', '/api/combos')
  assert.equal(combos.map(({ name }) => name).sort(), ['new', 'third'])
})

/** Waits for all work that doesn't depend on the test's next step. */
async function runTurns() {
  for (let left = 50; left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
}

async function afterCrash() {
  const storage = memoryStorage()
  const before = openManagement({ storage })
  const combo = await before.expect(201, 'POST', '/api/combos', { name: 'old', models: ['x'] })
  const { id: otherId } = await before.expect(201, 'POST', '/api/combos', { name: 'other', models: ['y'] })
  const other = await before.expect(200, 'GET', `/api/combos/${otherId}`)
  const killed = openManagement({ storage: createDyingStorage(storage, 2) })
  await killed.expectError(500, 'Failed to update combo', ['PUT', `/api/combos/${combo.id}`, { name: 'new' }])
  assert.is((await storage.list('combos/')).length, 3)
  return { ...openManagement({ storage }), id: combo.id, other, storage }
}

test('an interrupted rename takes effect', async () => {
  const { expect, id } = await afterCrash()
  const { combos } = await expect(200, 'GET', '/api/combos')
  assert.equal(
    combos.map((combo) => combo.name),
    ['new', 'other'],
  )
  assert.is((await expect(200, 'GET', `/api/combos/${id}`)).name, 'new')
})

test('the next change to any combo cleans up an interrupted rename and frees the old name', async () => {
  const { expect, id, other, storage } = await afterCrash()
  await expect(200, 'PUT', `/api/combos/${other.id}`, { name: 'old' })
  assert.is((await storage.list('combos/')).length, 2)
  assert.is((await expect(200, 'GET', `/api/combos/${id}`)).name, 'new')
})

test('a new combo can take the old name after an interrupted rename', async () => {
  const { expect, storage } = await afterCrash()
  await expect(201, 'POST', '/api/combos', { name: 'old', models: ['z'] })
  assert.is((await storage.list('combos/')).length, 3)
})

test("a combo deleted after an interrupted rename doesn't reappear", async () => {
  const { expect, id, other, storage } = await afterCrash()
  await expect(200, 'DELETE', `/api/combos/${id}`)
  assert.equal((await expect(200, 'GET', '/api/combos')).combos, [other])
  assert.is((await storage.list('combos/')).length, 1)
})

test('an interrupted rename can be reverted', async () => {
  const { expect, id, storage } = await afterCrash()
  assert.is((await expect(200, 'PUT', `/api/combos/${id}`, { name: 'old' })).name, 'old')
  assert.is((await storage.list('combos/')).length, 2)
})

test('rejects a name that another process has just given to a combo', async () => {
  const { watch, ...storage } = memoryStorage()
  const here = openManagement({ storage })
  const otherInstance = openManagement({ storage })
  assert.equal((await here.expect(200, 'GET', '/api/combos')).combos, [])
  const { id } = await otherInstance.expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
  assert.is((await here.expect(200, 'GET', `/api/combos/${id}`)).name, 'a')
  const other = await otherInstance.expect(201, 'POST', '/api/combos', { name: 'other', models: ['x'] })
  await here.expectError(400, 'Combo name already exists', ['POST', '/api/combos', { name: 'a', models: ['y'] }])
  await here.expectError(400, 'Combo name already exists', ['PUT', `/api/combos/${other.id}`, { name: 'a' }])
  await here.expect(200, 'PUT', `/api/combos/${id}`, { name: 'b' })
  assert.is((await otherInstance.expect(200, 'DELETE', `/api/combos/${id}`)).success, true)
})

test('a storage that still returns a removed record causes an error, not an endless loop', async () => {
  const storage = memoryStorage()
  const { expect } = openManagement({ storage })
  const { id } = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
  const frozen = await storage.list('combos/')
  const lagging = openManagement({ storage: { ...storage, list: async () => frozen } })
  await lagging.expect(200, 'DELETE', `/api/combos/${id}`) // a stale list doesn't make a deletion fail
  await lagging.expectError(500, 'Failed to update combo', ['PUT', `/api/combos/${id}`, { models: ['y'] }])
})
