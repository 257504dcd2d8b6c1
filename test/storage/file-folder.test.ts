import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { folderAt } from '../../adapters/storage/file/folder.ts'
import { takeLock } from '../../adapters/storage/file/lock.ts'
import { newToken } from '../../adapters/storage/file/owner.ts'
import { fileStorage } from '../../adapters/storage/file.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { inFolder } from './support/folder.ts'
import { listeningLogger } from './support/logger.ts'
import { storeFile } from './support/store-file.ts'

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>('file storage, its folder', {})

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test('other users of the machine cannot read what file storage creates', () =>
  inFolder(async (parent) => {
    const path = join(parent, 'made')
    const storage = fileStorage({ path, logger: false })
    await storage.set('a', '1')
    await storage.set('a', '2')
    await storage.ownSecret?.()
    assert.equal((await readdir(path)).sort(), ['secret', 'store', 'store.previous'])
    assert.is((await stat(path)).mode & 0o777, 0o700)
    for (const name of await readdir(path)) assert.is((await stat(join(path, name))).mode & 0o777, 0o600, name)
  }))

test('file storage commits operations that arrive together at once', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => storage.set(`key/${index}`, 'value')))
    const [, , revision] = (await readFile(join(path, 'store'), 'utf8')).split(' ', 3)
    assert.ok(Number(revision) <= 3, `${revision} commits`)
    assert.is((await fileStorage({ path, logger: false }).list('key/')).length, 1_000)
  }))

test('file storage notices another version of the file with the same size, time and inode', () =>
  inFolder(async (path) => {
    const file = join(path, 'store')
    const time = new Date()
    const storage = fileStorage({ path, logger: false })
    await storage.set('key', 'one')
    for (const value of ['two', 'six', 'ten']) {
      const bytes = await storeFile(1, new Map([['key', { value, version: '1-000000000' }]]))
      await writeFile(file, bytes) // in place: the inode stays
      await utimes(file, time, time)
      assert.is((await storage.get('key'))?.value, value)
    }
  }))

test('file storage removes expired rows with the next commit', () =>
  inFolder(async (path) => {
    const clock = fakeClock()
    const storage = fileStorage({ path, clock, logger: false })
    await storage.set('brief', 'value', { ttlMs: 1_000 })
    await storage.set('kept', 'value')
    assert.match(await readFile(join(path, 'store'), 'utf8'), '"brief"')
    await clock.advance(1_000)
    await storage.set('kept', 'other')
    assert.not.match(await readFile(join(path, 'store'), 'utf8'), '"brief"')
  }))

test('file storage makes one secret, prints where, and never shows it', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    const opened = Array.from({ length: 4 }, () => fileStorage({ path, logger }))
    const secrets = await Promise.all(opened.map((storage) => storage.ownSecret?.()))
    assert.is(new Set(secrets).size, 1)
    const info = logger.lines.filter(({ message }) => message.startsWith('Made a secret'))
    assert.equal(
      info.map(({ level, data }) => ({ level, data })),
      [{ level: 'info', data: { path: join(path, 'secret') } }],
    )
    assert.not.ok(JSON.stringify(logger.lines).includes(String(secrets[0])))
    assert.not.ok((await readFile(join(path, 'store'), 'utf8')).includes(String(secrets[0])))
  }))

test('file storage never replaces an old secret by a new one', () =>
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
      assert.is(await codeOf(fileStorage({ path, logger: false }).ownSecret?.()), code)
      const now = await readFile(file, 'utf8').catch(() => undefined)
      assert.is(now, text)
    }
    await writeFile(file, own, { mode: 0o644 })
    const logger = listeningLogger()
    assert.is(`${await fileStorage({ path, logger }).ownSecret?.()}\n`, own)
    assert.match(logger.lines[0]?.message ?? '', '0600')
  }))

test('file storage puts back the secret that it holds before it writes anything that would need it', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    const storage = fileStorage({ path, logger })
    const secret = await storage.ownSecret?.()
    const said = logger.lines.length
    for (const lost of [join(path, 'secret'), path]) {
      await rm(lost, { recursive: true })
      await storage.set('sealed', `after ${lost}`)
      const later = fileStorage({ path, logger: false })
      assert.is(await later.ownSecret?.(), secret)
      assert.is((await later.get('sealed'))?.value, `after ${lost}`)
      assert.is((await stat(join(path, 'secret'))).mode & 0o777, 0o600)
    }
    assert.equal(
      logger.lines.slice(said).map(({ message }) => /(secret|store file) \S+ is missing/.exec(message)?.[1]),
      ['secret', 'store file', 'secret'],
    )
  }))

test('file storage names the error when it may not read or write', ({ program }) =>
  inFolder(async (parent) => {
    await chmod(parent, 0o755)
    const path = join(parent, 'store')
    const storage = fileStorage({ path, logger: false })
    await storage.ownSecret?.()
    await storage.set('key', 'value')
    const asked = async (modes: { folder: number; store: number; secret: number }) => {
      await chmod(path, modes.folder)
      await chmod(join(path, 'store'), modes.store)
      await chmod(join(path, 'secret'), modes.secret)
      const child = program?.start('denied', path) as Child // `before` made it
      child.go()
      return (await child.ended()).slice(1).map((line) => line.split(' ')[1])
    }
    const [all, unreadable, unwritable] = ['allowed', 'STORAGE_UNREADABLE', 'STORAGE_UNWRITABLE']
    assert.equal(await asked({ folder: 0o555, store: 0o444, secret: 0o444 }), [unwritable, unwritable, unwritable])
    assert.equal(await asked({ folder: 0o000, store: 0o444, secret: 0o444 }), [unreadable, unreadable, unreadable])
    assert.equal(await asked({ folder: 0o777, store: 0o000, secret: 0o444 }), [unreadable, unreadable, unreadable])
    assert.equal(await asked({ folder: 0o777, store: 0o444, secret: 0o000 }), [all, all, unreadable])
    await chmod(path, 0o700)
  }))

test('file storage names the error when its path is a file', () =>
  inFolder(async (parent) => {
    await writeFile(join(parent, 'file'), '')
    for (const path of [join(parent, 'file'), join(parent, 'file', 'below')]) {
      assert.is(await codeOf(fileStorage({ path, logger: false }).get('key')), 'STORAGE_UNWRITABLE')
    }
  }))

test('file storage removes the files of ended processes, and none of running ones', () =>
  inFolder(async (path) => {
    const mine = newToken()
    const gone = mine.replace(/^\d+/, '999999999')
    const elsewhere = mine.replace(/\.[0-9a-f]{8}\./, '.00000000.')
    const abandoned = `${elsewhere}0`
    for (const token of [mine, gone, elsewhere, abandoned])
      await mkdir(join(path, `lock.${token}`, token), { recursive: true })
    await mkdir(join(path, 'lock', gone), { recursive: true })
    await writeFile(join(path, 'lock', gone, 'store'), 'half a sto')
    await utimes(join(path, `lock.${abandoned}`), new Date(), new Date(Date.now() - 2 * 3_600_000))
    assert.is(await fileStorage({ path, logger: false }).get('key'), undefined)
    assert.equal((await readdir(path)).sort(), [`lock.${mine}`, `lock.${elsewhere}`].sort())
  }))

test('file storage takes the lock of an ended process at once, and says so', () =>
  inFolder(async (path) => {
    const logger = listeningLogger()
    const storage = fileStorage({ path, logger })
    await storage.set('key', 'value')
    const gone = newToken().replace(/^\d+/, '999999999')
    await mkdir(join(path, 'lock', gone), { recursive: true })
    const startedAt = performance.now()
    await storage.set('key', 'other')
    assert.ok(performance.now() - startedAt < 5_000)
    assert.match(logger.lines[0]?.message ?? '', 'process 999999999')
  }))

test('file storage does not take the lock of a running holder, and gives up with an error that has a code', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false, lockStaleMs: 100, lockTimeoutMs: 400 })
    await storage.set('key', 'value')
    const lock = await takeLock(folderAt(path), { logger: listeningLogger(), staleMs: 100, timeoutMs: 1_000 })
    assert.is(await codeOf(storage.set('key', 'other')), 'STORAGE_LOCKED')
    assert.ok(await lock.isHeld())
    assert.is((await storage.get('key'))?.value, 'value', 'reading needs no lock')
    assert.is(await storage.set('key', 'other', { ifVersion: null }), false, 'nor does losing a race')
    await lock.release()
    assert.type(await storage.set('key', 'other'), 'string')
    await storage.close?.()
    assert.equal((await readdir(path)).sort(), ['store', 'store.previous'])
  }))

test('file storage refuses every operation after it was closed', () =>
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
      assert.is(await codeOf(work), 'STORAGE_CLOSED')
    }
  }))

async function codeOf(work: Promise<unknown> | undefined): Promise<unknown> {
  return work?.then(
    () => 'it worked',
    (error: unknown) => Reflect.get(Object(error), 'code'),
  )
}
