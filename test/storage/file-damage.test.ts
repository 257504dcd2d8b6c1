import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeStore } from '../../adapters/storage/file/format.ts'
import { fileStorage } from '../../adapters/storage/file.ts'
import type { Storage } from '../../src/index.ts'
import { times } from '../support/ci.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { damage } from './support/damage.ts'
import { inFolder } from './support/folder.ts'
import { inLanes } from './support/lanes.ts'
import { listeningLogger } from './support/logger.ts'
import { KEYS, plannedWrite } from './support/plan.ts'
import { storeFile } from './support/store-file.ts'

const IN_MEMORY = times(10_000)
/** Every so many of them is damage to a large file. */
const LARGE_EVERY = 20
const ON_DISK = times(200)
const LANES = 4

const WAYS_IN: ReadonlyArray<(storage: Storage) => Promise<unknown> | undefined> = [
  (storage) => storage.get('a'),
  (storage) => storage.list(''),
  (storage) => storage.set('a', '2'),
  (storage) => storage.delete('a'),
  (storage) => storage.ownSecret?.(),
]

const test = suite('file storage, damaged')

test(`file storage distinguishes each of ${IN_MEMORY} damaged files from a good one`, async () => {
  const random = createRandom()
  const large = await fileWith(KEYS)
  const small = await fileWith(KEYS / LARGE_EVERY)
  assert.ok(large.length > 200_000)
  for (const bytes of [large, small]) assert.is(decodeStore(bytes).kind, 'good')
  const missed: string[] = []
  for (let count = 0; count < IN_MEMORY; count++) {
    const damaged = damage(count % LARGE_EVERY === 0 ? large : small, random)
    const { kind } = decodeStore(damaged.bytes)
    if (kind !== 'corrupt') missed.push(`${kind}: ${damaged.how}`)
  }
  assert.equal(missed, [], `seed ${random.seed}`)
})

test(`file storage starts from the previous version of a damaged file, with an error in the log, ${ON_DISK} times`, async () => {
  const random = createRandom()
  const good = await inFolder(twoVersions)
  const previous = good['store.previous'] ?? Buffer.from('')
  await inLanes(LANES, ON_DISK, () =>
    inFolder(async (path) => {
      const { bytes, how } = damage(good.store ?? previous, random)
      await restore(path, { store: bytes, 'store.previous': previous })
      const logger = listeningLogger()
      const text = `${how}, seed ${random.seed}`
      assert.equal(await contents(fileStorage({ path, logger })), { a: '1' }, text)
      assert.equal(
        logger.lines.map(({ level }) => level),
        ['error'],
        text,
      )
      const aside = (await readdir(path)).filter((name) => name.startsWith('store.corrupt-'))
      assert.is(aside.length, 1, text)
      assert.ok((await readFile(join(path, aside[0] ?? ''))).equals(bytes), text)
    }),
  )
})

test('file storage does not start, and says so, when both versions are damaged', async () => {
  const random = createRandom()
  const { store: good = Buffer.from('') } = await inFolder(twoVersions)
  await inLanes(LANES, 50, () =>
    inFolder(async (path) => {
      const files = { store: damage(good, random).bytes, 'store.previous': damage(good, random).bytes }
      await restore(path, files)
      for (const work of WAYS_IN) {
        const error = await failure(work(fileStorage({ path, logger: false })))
        assert.is(error.code, 'STORAGE_CORRUPT', `seed ${random.seed}`)
        assert.match(error.message, join(path, 'store.previous'))
      }
      assert.equal(await filesOf(path), files, `seed ${random.seed}`)
    }),
  )
})

test('file storage has no previous version to fall back to after the first write', () =>
  inFolder(async (path) => {
    await fileStorage({ path, logger: false }).set('a', '1')
    await writeFile(join(path, 'store'), '')
    const error = await failure(fileStorage({ path, logger: false }).get('a'))
    assert.is(error.code, 'STORAGE_CORRUPT')
    assert.match(error.message, 'is empty')
  }))

test('restores a store that is missing from its previous version', () =>
  inFolder(async (path) => {
    await twoVersions(path)
    await rm(join(path, 'store'))
    const logger = listeningLogger()
    assert.equal(await contents(fileStorage({ path, logger })), { a: '1' })
    assert.match(logger.lines[0]?.message ?? '', /is missing.*previous version.*last commit is lost/)
    assert.equal(await contents(fileStorage({ path, logger: false })), { a: '1' })
  }))

test('file storage starts empty in a new folder only, not where traces of a store are left', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    assert.equal(await contents(fileStorage({ path: join(path, 'new', 'folder'), logger })), {})
    assert.equal(logger.lines, [])
    for (const trace of ['secret', 'store.corrupt-2026-01-01T00-00-00-000Z']) {
      await rm(path, { recursive: true })
      await restore(path, { [trace]: Buffer.from(`${'A'.repeat(43)}\n`) })
      for (const work of WAYS_IN) {
        const error = await failure(work(fileStorage({ path, logger: false })))
        assert.is(error.code, 'STORAGE_MISSING', trace)
      }
      assert.equal(await readdir(path), [trace])
    }
  }))

test('file storage refuses the store of a newer version and leaves it as it is', () =>
  inFolder(async (path) => {
    await twoVersions(path)
    const newer = await storeFile(9, new Map(), 2)
    const previous = await readFile(join(path, 'store.previous'))
    for (const files of [
      { store: newer, 'store.previous': previous },
      { store: Buffer.from('damaged'), 'store.previous': newer },
      { 'store.previous': newer },
    ]) {
      await rm(path, { recursive: true })
      await restore(path, files)
      for (const work of WAYS_IN) {
        const error = await failure(work(fileStorage({ path, logger: false })))
        assert.is(error.code, 'STORAGE_NEWER_VERSION')
        assert.match(error.message, 'schema version 2')
      }
      assert.equal(await filesOf(path), files)
    }
  }))

test('file storage loses nothing when the files of a running store are damaged or deleted', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    const storage = fileStorage({ path, logger })
    let number = 0
    const harm: Array<() => Promise<unknown>> = [
      () => writeFile(join(path, 'store'), 'damaged'),
      () => rm(join(path, 'store')),
      () => Promise.all([rm(join(path, 'store')), rm(join(path, 'store.previous'), { force: true })]),
      () => copyFile(join(path, 'store.previous'), join(path, 'spare')).then(() => writeFile(join(path, 'store'), '')),
      () => rm(path, { recursive: true }),
    ]
    for (const doHarm of harm) {
      number++
      await storage.set('kept', 'always')
      await storage.set('number', String(number))
      const said = logger.lines.length
      await doHarm()
      assert.equal(await contents(storage), { kept: 'always', number: String(number) }, `harm ${number}`)
      assert.is(logger.lines.length, said + 1)
      assert.match(logger.lines.at(-1)?.message ?? '', 'held in memory')
      assert.equal(await contents(fileStorage({ path, logger: false })), { kept: 'always', number: String(number) })
    }
  }))

test('file storage does not replace later writes of other processes by what a process has in memory', () =>
  inFolder(async (path) => {
    const [one, other] = [fileStorage({ path, logger: false }), fileStorage({ path, logger: false })]
    await one.set('a', '1')
    await other.set('a', '2')
    assert.equal(await contents(one), { a: '2' })
    await other.set('a', '3')
    await other.set('a', '4')
    for (const name of ['store', 'store.previous']) await writeFile(join(path, name), 'damaged')
    assert.is((await failure(one.get('a'))).code, 'STORAGE_CORRUPT')
    assert.is((await failure(one.set('a', '5'))).code, 'STORAGE_CORRUPT')
  }))

test('never gives a version again that a restored backup does not know', () =>
  inFolder(async (path) => {
    const backup = await twoVersions(path)
    const storage = fileStorage({ path, logger: false })
    const lost = await storage.set('a', 'lost')
    for (const view of [storage, fileStorage({ path, logger: false })]) {
      await restore(path, backup)
      assert.equal(await contents(view), { a: '2' })
      assert.is.not(await view.set('a', 'new'), lost)
    }
  }))

test('never gives a version again that was lost with a commit', () =>
  inFolder(async (path) => {
    await twoVersions(path)
    const lost = await fileStorage({ path, logger: false }).set('a', 'lost')
    assert.ok(typeof lost === 'string')
    await writeFile(join(path, 'store'), 'damaged')
    const storage = fileStorage({ path, logger: false })
    for (let count = 0; count < 5; count++) {
      const version = await storage.set('a', 'new')
      assert.is.not(version, lost)
      assert.is(await storage.set('a', 'stale', { ifVersion: lost }), false)
    }
  }))

/** The file of a store of so many keys. */
function fileWith(keys: number): Promise<Buffer> {
  const rows = Array.from({ length: keys }, (_, number) => {
    const { key, value = '' } = plannedWrite(number)
    return [key, { value, version: String(number) }] as const
  })
  return storeFile(41, new Map(rows))
}

/** A store that holds a = 2, and a = 1 in its previous version. Answers its files. */
async function twoVersions(path: string): Promise<Record<string, Buffer>> {
  const storage = fileStorage({ path, logger: false })
  await storage.set('a', '1')
  await storage.set('a', '2')
  await storage.close?.()
  return filesOf(path)
}

async function restore(path: string, files: Record<string, Buffer>): Promise<void> {
  await fileStorage({ path, logger: false })
    .get('')
    .catch(() => {}) // makes the folder
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes)
}

async function filesOf(path: string): Promise<Record<string, Buffer>> {
  const names = (await readdir(path)).sort()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(path, name))] as const)),
  )
}

async function contents(storage: Storage): Promise<Record<string, string>> {
  return Object.fromEntries((await storage.list('')).map(({ key, value }) => [key, value]))
}

async function failure(work: Promise<unknown> | undefined): Promise<{ code: unknown; message: string }> {
  const error: unknown = await work?.then(
    () => new Error('it worked'),
    (reason: unknown) => reason,
  )
  return { code: Reflect.get(Object(error), 'code'), message: String(Reflect.get(Object(error), 'message')) }
}
