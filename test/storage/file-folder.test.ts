import fs, { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { createCheckpoints } from '../../adapters/storage/file/checkpoint.ts'
import { resolveFolder } from '../../adapters/storage/file/folder.ts'
import { takeLock } from '../../adapters/storage/file/lock.ts'
import { createToken } from '../../adapters/storage/file/owner.ts'
import { fileStorage } from '../../adapters/storage/file.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { inFolder } from './support/folder.ts'
import { listeningLogger } from './support/logger.ts'

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>("file storage's folder", {})

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test("other users of the machine can't read the files that file storage creates", () =>
  inFolder(async (parent) => {
    const path = join(parent, 'made')
    const storage = fileStorage({ path, logger: false })
    await storage.set('a', '1')
    await storage.set('a', '2')
    await storage.ownSecret?.()
    await storage.set('brief', '1', { ttlMs: 1_000 })
    assert.equal((await readdir(path)).sort(), ['secret', 'store', 'store.db', 'store.db-shm', 'store.db-wal'])
    assert.is((await stat(path)).mode & 0o777, 0o700)
    for (const name of await readdir(path)) assert.is((await stat(join(path, name))).mode & 0o777, 0o600, name)
  }))

test('file storage batches concurrent writes into few transactions', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => storage.set(`key/${index}`, 'value')))
    const commits = getCount(path, 'changes')
    assert.ok(commits <= 30, `${commits} commits`)
    assert.is((await fileStorage({ path, logger: false }).list('key/')).length, 1_000)
    await storage.close?.()
  }))

test('file storage removes expired rows when other rows are written', () =>
  inFolder(async (path) => {
    const clock = fakeClock()
    const storage = fileStorage({ path, clock, logger: false })
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => storage.set(`brief/${index}`, 'value', { ttlMs: 1_000 })),
    )
    await storage.set('long', 'value', { ttlMs: 10_000 })
    assert.is(getCount(path, 'entries'), 51)
    await clock.advance(1_000)
    for (let index = 0; index < 100; index++) await storage.set('kept', String(index), { durability: 'relaxed' })
    assert.is(getCount(path, 'entries'), 2)
    await storage.close?.()
  }))

test('file storage lists many rows without blocking other work', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    const value = 'value '.repeat(50)
    await Promise.all(Array.from({ length: 20_000 }, (_, index) => storage.set(`key/${index}`, value, { ttlMs: 1e6 })))
    let turns = 0
    let isDone = false
    const others = async () => {
      for (; !isDone; turns++) await setImmediate()
    }
    const counting = others()
    assert.is((await storage.list('key/')).length, 20_000)
    isDone = true
    await counting
    assert.ok(turns > 10, `${turns} turns`)
    await storage.close?.()
  }))

test("a file storage write resolves after the flush to disk, but a relaxed write doesn't wait for it", () =>
  inFolder(async (path) => {
    const any = await fs.open(path)
    const handle = Object.getPrototypeOf(any)
    await any.close()
    const { datasync } = handle
    const flushes: Array<() => void> = []
    handle.datasync = () => new Promise<void>((resolve) => void flushes.push(resolve))
    try {
      const storage = fileStorage({ path, logger: false })
      await storage.set('turn', '1', { durability: 'relaxed' })
      assert.is(flushes.length, 0)
      const done: string[] = []
      const writes = [
        storage.set('key', '1').then(() => done.push('set')),
        storage.increment?.('count', 1).then(() => done.push('increment')),
      ]
      while (flushes.length === 0) await setImmediate()
      writes.push(storage.delete('key').then(() => done.push('delete')))
      assert.is((await storage.get('key'))?.value, '1', 'the value can be read before the flush')
      await storage.set('turn', '2', { durability: 'relaxed' })
      await storage.delete('turn')
      await storage.set('entry', '1', { ttlMs: 1_000, durability: 'relaxed' })
      assert.equal(done, [])
      flushes.shift()?.()
      while (flushes.length === 0) await setImmediate()
      assert.equal(done, ['set', 'increment'])
      flushes.shift()?.()
      await Promise.all(writes)
      assert.equal(done, ['set', 'increment', 'delete'])
      assert.is(flushes.length, 0)
      await storage.close?.()
    } finally {
      handle.datasync = datasync
    }
  }))

test('file storage checkpoints a large log into the database while it is in use', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    const value = 'value '.repeat(1_000)
    let largest = 0
    let now = 0
    for (let index = 0; now >= largest; index++) {
      assert.ok(index < 100_000, `the log has ${now} bytes`)
      await storage.set(`key/${index % 500}`, value, { durability: 'relaxed' })
      if (index % 500 === 0) now = (await stat(join(path, 'store.db-wal'))).size
      largest = Math.max(largest, now)
    }
    assert.ok(largest > 8_000_000)
    assert.is((await storage.list('key/')).length, 500)
    await storage.close?.()
    assert.equal((await readdir(path)).sort(), ['store', 'store.db'])
  }))

test('file storage creates one secret, logs its location, and never its value', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    const opened = Array.from({ length: 4 }, () => fileStorage({ path, logger }))
    const secrets = await Promise.all(opened.map((storage) => storage.ownSecret?.()))
    assert.is(new Set(secrets).size, 1)
    const info = logger.lines.filter(({ message }) => message.startsWith('Created a secret'))
    assert.equal(
      info.map(({ level, data }) => ({ level, data })),
      [{ level: 'info', data: { path: join(path, 'secret') } }],
    )
    assert.not.ok(JSON.stringify(logger.lines).includes(String(secrets[0])))
    for (const name of ['store', 'store.db', 'store.db-wal'])
      assert.not.ok((await readFile(join(path, name), 'latin1')).includes(String(secrets[0])), name)
  }))

test('file storage never replaces a damaged or missing secret with a new one', () =>
  inFolder(async (path) => {
    const other = await inFolder(async (elsewhere) => fileStorage({ path: elsewhere, logger: false }).ownSecret?.())
    await fileStorage({ path, logger: false }).ownSecret?.()
    const file = join(path, 'secret')
    const own = await readFile(file, 'utf8')
    const cases: Array<[text: string | undefined, code: string]> = [
      ['', 'STORAGE_SECRET_INVALID'],
      [own.slice(0, 20), 'STORAGE_SECRET_INVALID'],
      [`${other}\n`, 'STORAGE_SECRET_INVALID'],
      [own.replace(own.charAt(5), own.charAt(5) === 'A' ? 'B' : 'A'), 'STORAGE_SECRET_INVALID'],
      [undefined, 'STORAGE_SECRET_MISSING'],
    ]
    for (const [text, code] of cases) {
      if (text === undefined) await rm(file)
      else await writeFile(file, text)
      assert.is(await getCode(fileStorage({ path, logger: false }).ownSecret?.()), code)
      const now = await readFile(file, 'utf8').catch(() => undefined)
      assert.is(now, text)
    }
    await writeFile(file, own, { mode: 0o644 })
    const logger = listeningLogger()
    assert.is(`${await fileStorage({ path, logger }).ownSecret?.()}\n`, own)
    assert.match(logger.lines[0]?.message ?? '', '0600')
  }))

test('file storage restores a deleted secret file from memory', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    const storage = fileStorage({ path, logger })
    const secret = await storage.ownSecret?.()
    const output = logger.lines.length
    await rm(join(path, 'secret'))
    await storage.set('sealed', 'after')
    const later = fileStorage({ path, logger: false })
    assert.is(await later.ownSecret?.(), secret)
    assert.is((await stat(join(path, 'secret'))).mode & 0o777, 0o600)
    assert.equal(
      logger.lines.slice(output).map(({ message }) => /secret \S+ was missing/.test(message)),
      [true],
    )
    for (const item of [storage, later]) await item.close?.()
  }))

test("file storage reports an error if it doesn't have permission to read or write", ({ program }) =>
  inFolder(async (parent) => {
    await chmod(parent, 0o755)
    const path = join(parent, 'store')
    const storage = fileStorage({ path, logger: false })
    await storage.ownSecret?.()
    await storage.set('key', 'value')
    await storage.close?.()
    const getRequestedModes = async (modes: { folder: number; store: number; database: number; secret: number }) => {
      await chmod(path, modes.folder)
      await chmod(join(path, 'store'), modes.store)
      await chmod(join(path, 'store.db'), modes.database)
      await chmod(join(path, 'secret'), modes.secret)
      const child = program?.start('denied', path) as Child // set by `before`
      child.go()
      return (await child.ended()).slice(1).map((line) => line.split(' ')[1])
    }
    const [all, unreadable, unwritable] = ['allowed', 'STORAGE_UNREADABLE', 'STORAGE_UNWRITABLE']
    const open = { folder: 0o777, store: 0o444, database: 0o666, secret: 0o444 }
    assert.equal(await getRequestedModes({ ...open, folder: 0o555 }), [unwritable, unwritable, unwritable])
    assert.equal(await getRequestedModes({ ...open, folder: 0o000 }), [unreadable, unreadable, unreadable])
    assert.equal(await getRequestedModes({ ...open, store: 0o000 }), [unreadable, unreadable, unreadable])
    assert.equal(await getRequestedModes({ ...open, database: 0o000 }), [unreadable, unreadable, unreadable])
    assert.equal(await getRequestedModes({ ...open, database: 0o444 }), [unwritable, unwritable, unwritable])
    assert.equal(await getRequestedModes({ ...open, secret: 0o000 }), [all, all, unreadable])
    await chmod(path, 0o700)
  }))

test('file storage reports an error if its path is a file', () =>
  inFolder(async (parent) => {
    await writeFile(join(parent, 'file'), '')
    for (const path of [join(parent, 'file'), join(parent, 'file', 'below')]) {
      assert.is(await getCode(fileStorage({ path, logger: false }).get('key')), 'STORAGE_UNWRITABLE')
    }
  }))

test("file storage removes only an ended process's files", () =>
  inFolder(async (path) => {
    const mine = createToken()
    const gone = mine.replace(/^\d+/, '999999999')
    const elsewhere = mine.replace(/\.[0-9a-f]{8}\./, '.00000000.')
    const abandoned = `${elsewhere}0`
    for (const token of [mine, gone, elsewhere, abandoned])
      await mkdir(join(path, `lock.${token}`, token), { recursive: true })
    await mkdir(join(path, 'lock', gone), { recursive: true })
    await writeFile(join(path, 'lock', gone, 'store'), 'half a sto')
    await utimes(join(path, `lock.${abandoned}`), new Date(), new Date(Date.now() - 2 * 3_600_000))
    const storage = fileStorage({ path, logger: false })
    assert.is(await storage.get('key'), undefined)
    await storage.close?.()
    assert.equal((await readdir(path)).sort(), [`lock.${mine}`, `lock.${elsewhere}`, 'store', 'store.db'].sort())
  }))

test("file storage takes over an ended process's lock immediately, and logs it", () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    const storage = fileStorage({ path, logger })
    await storage.set('key', 'value')
    const gone = createToken().replace(/^\d+/, '999999999')
    await mkdir(join(path, 'lock', gone), { recursive: true })
    const startedAt = performance.now()
    await storage.ownSecret?.()
    assert.ok(performance.now() - startedAt < 5_000)
    assert.match(logger.lines[0]?.message ?? '', 'process 999999999')
    await storage.close?.()
  }))

test("file storage waits for a running process's lock, and fails with STORAGE_LOCKED after the timeout", () =>
  inFolder(async (path) => {
    const lock = await takeLock(resolveFolder(path), { logger: listeningLogger(), staleMs: 100, timeoutMs: 1_000 })
    const storage = fileStorage({ path, logger: false, lockStaleMs: 100, lockTimeoutMs: 400 })
    assert.is(await getCode(storage.set('key', 'value')), 'STORAGE_LOCKED')
    assert.ok(await lock.isHeld())
    await lock.release()
    await storage.set('key', 'value')

    const other = new DatabaseSync(join(path, 'store.db'))
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const rejected = getCode(storage.set('key', 'other'))
    for (let isDone = false; !isDone; turns++) isDone = await Promise.race([rejected.then(() => true), sleep(5, false)])
    assert.is(await rejected, 'STORAGE_LOCKED')
    assert.ok(turns > 10, `${turns} turns`)
    assert.is((await storage.get('key'))?.value, 'value', 'reading needs no lock')
    other.exec('ROLLBACK')
    other.close()
    assert.type(await storage.set('key', 'other'), 'string')
    await storage.close?.()
    assert.equal((await readdir(path)).sort(), ['store', 'store.db'])
  }))

test('closing a file store stops a checkpoint thread that has just started', () =>
  inFolder(async (path) => {
    const workers: Worker[] = []
    const onWorker = (worker: Worker) => void workers.push(worker)
    process.on('worker', onWorker)
    const database = new DatabaseSync(join(path, 'store.db'))
    const checkpoints = createCheckpoints(database, join(path, 'store.db'))
    checkpoints.logHasGrown(8 * 1024 * 1024)
    await checkpoints.stop()
    database.close()
    await setImmediate()
    process.off('worker', onWorker)
    assert.equal(
      workers.map(({ threadId }) => threadId),
      [-1],
      'the thread has ended',
    )
  }))

test('file storage rejects every operation after it is closed', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await storage.set('key', 'value')
    await storage.close?.()
    for (const work of [
      storage.get('key'),
      storage.set('key', '1'),
      storage.delete('key'),
      storage.list(''),
      storage.ownSecret?.(),
    ]) {
      assert.is(await getCode(work), 'STORAGE_CLOSED')
    }
  }))

/** Returns the number of rows in a table. */
function getCount(path: string, table: string): number {
  const database = new DatabaseSync(join(path, 'store.db'), { readOnly: true })
  const count = Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count)
  database.close()
  return count
}

async function getCode(work: Promise<unknown> | undefined): Promise<unknown> {
  return work?.then(
    () => 'it worked',
    (error: unknown) => Reflect.get(Object(error), 'code'),
  )
}
