import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileStorage } from '../../adapters/storage/file.ts'
import type { Storage } from '../../src/index.ts'
import { times } from '../support/ci.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { damage } from './support/damage.ts'
import { inFolder } from './support/folder.ts'
import { getContents, getFailure, getFiles, putFiles } from './support/folder-files.ts'
import { formerStore } from './support/former-store.ts'
import { inLanes } from './support/lanes.ts'
import { listeningLogger } from './support/logger.ts'
import { plannedWrite } from './support/plan.ts'

const ON_DISK = times(1_000)
const LANES = 4
const RECORDS = 60

const WAYS_IN: ReadonlyArray<(storage: Storage) => Promise<unknown> | undefined> = [
  (storage) => storage.get('a'),
  (storage) => storage.list(''),
  (storage) => storage.set('a', '2'),
  (storage) => storage.delete('a'),
  (storage) => storage.ownSecret?.(),
]

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>('damaged file storage', {})

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test(`for ${ON_DISK} damaged databases, file storage either returns the written values or reports the damage`, async () => {
  const random = createRandom()
  const { files, contents } = await inFolder(filledStore)
  const good = files['store.db'] ?? Buffer.alloc(0)
  assert.ok(good.length > 50_000)
  const outcomes = { same: 0, refused: 0 }
  const wrong: string[] = []
  await inLanes(LANES, ON_DISK, () =>
    inFolder(async (path) => {
      const { bytes, how } = damage(good, random)
      await putFiles(path, { ...files, 'store.db': bytes })
      const storage = fileStorage({ path, logger: false })
      const found = await getContents(storage).catch((error: { code?: string }) => error.code)
      if (typeof found === 'object') {
        outcomes.same++
        if (JSON.stringify(found) !== JSON.stringify(contents)) wrong.push(how)
      } else if (found === 'STORAGE_CORRUPT' || found === 'STORAGE_NEWER_VERSION') outcomes.refused++
      else wrong.push(`${found}: ${how}`)
      await storage.close?.()
    }),
  )
  assert.equal(wrong, [], `seed ${random.seed}`)
  assert.ok(outcomes.refused > ON_DISK / 2, JSON.stringify(outcomes))
})

const harms: Array<[how: string, harm: (path: string) => Promise<unknown> | unknown]> = [
  ['is empty', (path) => writeFile(path, '')],
  ['is cut off', (path) => truncate(path, 20_000)],
  ['contains other data', (path) => writeFile(path, 'nonsense'.repeat(9_000))],
  ['belongs to another program', (path) => rm(path).then(() => changeDatabase(path, 'CREATE TABLE t (a)'))],
  ['is missing a record', (path) => changeDatabase(path, "DELETE FROM records WHERE key = 'key/7'")],
  [
    'has an extra record',
    (path) => changeDatabase(path, "INSERT INTO records SELECT 'b', version, sum, value FROM records LIMIT 1"),
  ],
  ['has a changed value', (path) => changeDatabase(path, "UPDATE records SET value = 'other' WHERE key = 'key/7'")],
  ['is missing a table', (path) => changeDatabase(path, 'DROP TABLE changes')],
]
for (const [mode, harm] of harms)
  test(`file storage doesn't start, and reports why, if its database ${mode}`, () =>
    inFolder(async (path) => {
      await filledStore(path)
      await harm(join(path, 'store.db'))
      const before = await findTexts(path)
      for (const action of WAYS_IN) {
        const storage = fileStorage({ path, logger: false })
        const error = await getFailure(action(storage))
        assert.is(error.code, 'STORAGE_CORRUPT')
        assert.match(error.message, join(path, 'store.db'))
        assert.match(error.message, 'Restore the folder from a backup')
        await storage.close?.()
      }
      assert.equal(await findTexts(path), before)
    }))

test('file storage reports an entry that is damaged while the store is open', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await storage.set('brief', 'value', { ttlMs: 1_000_000 })
    await storage.set('other', 'value', { ttlMs: 1_000_000 })
    changeDatabase(join(path, 'store.db'), "UPDATE entries SET value = 'intruder' WHERE key = 'brief'")
    const uses = [
      () => storage.get('brief'),
      () => storage.list(''),
      () => storage.set('brief', 'new', { ifVersion: null }),
    ]
    for (const action of uses) {
      const error = await getFailure(action())
      assert.is(error.code, 'STORAGE_CORRUPT')
      assert.match(error.message, '"brief"')
      assert.not.match(error.message, 'intruder')
    }
    assert.is((await storage.get('other'))?.value, 'value')
    await storage.set('brief', 'new')
    assert.is((await storage.get('brief'))?.value, 'new')
    await storage.close?.()
  }))

test('file storage starts empty in a new folder, but not in one with remains of a store', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    assert.equal(await getContents(fileStorage({ path: join(path, 'new', 'folder'), logger })), {})
    assert.equal(logger.lines, [])
    for (const trace of [
      'secret',
      'store.corrupt-2026-01-01T00-00-00-000Z',
      'store.imported-2026-11-28T00-00-00-000Z',
    ]) {
      await rm(path, { recursive: true })
      await putFiles(path, { [trace]: Buffer.from(`${'A'.repeat(43)}\n`) })
      for (const action of WAYS_IN) {
        const error = await getFailure(action(fileStorage({ path, logger: false })))
        assert.is(error.code, 'STORAGE_MISSING', trace)
      }
      assert.equal(await readdir(path), [trace])
    }
  }))

test("file storage doesn't start if its database is missing", () =>
  inFolder(async (path) => {
    await filledStore(path)
    await rm(join(path, 'store.db'))
    for (const action of WAYS_IN)
      assert.is((await getFailure(action(fileStorage({ path, logger: false })))).code, 'STORAGE_MISSING')
    assert.equal(await readdir(path), ['store'])
  }))

test('file storage opens a database that was restored without the other files', () =>
  inFolder(async (path) => {
    const { contents } = await filledStore(path)
    await rm(join(path, 'store'))
    assert.equal(await getContents(fileStorage({ path, logger: false })), contents)
    assert.ok((await readdir(path)).includes('store'))
  }))

test("file storage rejects a newer version's store and leaves it unchanged", () =>
  inFolder(async (path) => {
    const { files } = await filledStore(path)
    changeDatabase(join(path, 'store.db'), 'PRAGMA user_version = 3')
    const newer = await getFiles(path)
    const former = formerStore(9, new Map(), { schema: 2 })
    for (const [folder, version] of [
      [{ ...files, ...newer }, 3],
      [{ store: former }, 2],
      [{ store: Buffer.from('damaged'), 'store.previous': former }, 2],
      [{ 'store.previous': former }, 2],
    ] as const) {
      await rm(path, { recursive: true })
      await putFiles(path, folder)
      for (const action of WAYS_IN) {
        const storage = fileStorage({ path, logger: false })
        const error = await getFailure(action(storage))
        await storage.close?.()
        assert.is(error.code, 'STORAGE_NEWER_VERSION')
        assert.match(error.message, `schema version ${version}`)
      }
      assert.equal(await findTexts(path), getTexts(folder))
    }
  }))

const losses: Array<[how: string, harm: (path: string) => Promise<unknown>]> = [
  ['was removed', (path) => rm(path, { recursive: true })],
  ['was moved away', (path) => rename(path, `${path}-away`)],
  ['was replaced by an empty one', (path) => rename(path, `${path}-away`).then(() => mkdir(path))],
  ['lost its database', (path) => rm(join(path, 'store.db'))],
  ['lost its log', (path) => rm(join(path, 'store.db-wal'))],
  ['contains another database', (path) => putBack(path)],
]
for (const [mode, harm] of losses)
  test(`file storage neither acknowledges writes nor starts a new store after its folder ${mode}`, () =>
    inFolder(async (parent) => {
      const path = join(parent, 'data')
      const storage = fileStorage({ path, logger: false })
      await storage.set('a', '1')
      await harm(path)
      const before = await readdir(path).catch(() => undefined)
      const relaxed = await getFailure(storage.set('b', '1', { durability: 'relaxed' }))
      assert.is(relaxed.code, 'STORAGE_MISSING')
      assert.match(relaxed.message, /was (?:removed|replaced) while the store was open/)
      await sleep(20)
      for (const action of WAYS_IN.slice(0, 4)) assert.is((await getFailure(action(storage))).code, 'STORAGE_MISSING')
      assert.equal(await readdir(path).catch(() => undefined), before)
      await storage.close?.()
    }))

test('file storage works again after its folder is moved back unchanged', () =>
  inFolder(async (parent) => {
    const path = join(parent, 'data')
    const storage = fileStorage({ path, logger: false })
    await storage.set('a', '1')
    await rename(path, `${path}-away`)
    assert.is((await getFailure(storage.set('a', '2'))).code, 'STORAGE_MISSING')
    await rename(`${path}-away`, path)
    await storage.set('a', '3')
    assert.equal(await getContents(fileStorage({ path, logger: false })), { a: '3' })
    await storage.close?.()
  }))

test('file storage rejects writes while the disk is full, keeps acknowledged data, and accepts writes again afterward', ({
  program,
}) =>
  inFolder(async (path) => {
    await fileStorage({ path, logger: false }).set('first', 'value')
    const child = program?.start('fill', path) as Child // set by `before`
    child.go()
    const lines = await child.ended()
    assert.ok(lines.includes('refused STORAGE_UNWRITABLE'), String(lines))
    assert.ok(lines.includes('read value'), String(lines))
    const acknowledged = lines.filter((line) => line.startsWith('wrote ')).map((line) => line.slice(6))
    assert.ok(acknowledged.length > 3)
    const storage = fileStorage({ path, logger: false })
    for (const key of acknowledged) assert.ok(await storage.get(key), key)
    await storage.set('later', 'value')
    await storage.close?.()
  }))

test('after restoring a backup, file storage never reuses a version that was written after the backup', () =>
  inFolder(async (path) => {
    const { files } = await filledStore(path)
    const storage = fileStorage({ path, logger: false })
    const lost = await storage.set('a', 'lost')
    await storage.close?.()
    await rm(path, { recursive: true })
    await putFiles(path, files)
    const later = fileStorage({ path, logger: false })
    assert.is((await later.get('a'))?.value, '1')
    for (let count = 0; count < 5; count++) assert.is.not(await later.set('a', 'new'), lost)
    assert.is(await later.set('a', 'stale', { ifVersion: String(lost) }), false)
    await later.close?.()
  }))

/** Creates a closed store with records and entries. Resolves to its files and values. */
async function filledStore(path: string): Promise<{ files: Record<string, Buffer>; contents: Record<string, string> }> {
  const storage = fileStorage({ path, logger: false })
  const writes = Array.from({ length: RECORDS }, (_, number) => plannedWrite(number))
  await Promise.all([
    storage.set('a', '1'),
    ...writes.map(({ key, value = '' }) => storage.set(key, value)),
    storage.set('brief', 'value', { ttlMs: 10_000_000 }),
  ])
  const contents = await getContents(storage)
  await storage.close?.()
  return { files: await getFiles(path), contents }
}

const getTexts = (files: Record<string, Buffer>) =>
  Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  )

const findTexts = async (path: string) => getTexts(await getFiles(path))

/** Changes a database like another program would. */
function changeDatabase(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

/** Replaces the database with a copy. */
async function putBack(path: string): Promise<void> {
  await copyFile(join(path, 'store.db'), join(path, 'copy'))
  await rename(join(path, 'copy'), join(path, 'store.db'))
}
