import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileStorage } from '../../adapters/storage/file.ts'
import { isCi } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { inFolder } from './support/folder.ts'
import { getContents, getFailure, putFiles } from './support/folder-files.ts'
import { formerStore } from './support/former-store.ts'
import { inLanes } from './support/lanes.ts'
import { listeningLogger } from './support/logger.ts'
import { KEYS, plannedWrite } from './support/plan.ts'
import { release } from './support/release.ts'

/** The last release that stored all data in a single file with its own format. */
const FORMER = '4c660ae9'
const LANES = 4
/** Locally, only every third step is tested. */
const STRIDE = isCi ? 1 : 3
const STALE_MS = 250

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>(
  'importing file storage from an earlier release',
  {},
)

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test("an earlier release's folder is imported once, with its secret, and its store is kept as a backup", () =>
  inFolder(async (path) => {
    const clock = fakeClock()
    const former = (await release(FORMER)).fileStorage({ path, clock, logger: false })
    const secret = await former.ownSecret?.()
    const writes = Array.from({ length: KEYS }, (_, number) => plannedWrite(number))
    await Promise.all(writes.map(({ key, value = '' }) => former.set(key, value)))
    const version = await former.set('kept', 'é😀\uFF5E')
    await former.set('brief', 'value', { ttlMs: 1_000 })
    await former.increment?.('count', 41)
    const listed = await former.list('')
    await former.close?.()
    const bytes = await readFile(join(path, 'store'))

    const logger = listeningLogger()
    const storage = fileStorage({ path, clock, logger })
    assert.equal(await storage.list(''), listed)
    assert.is(await storage.ownSecret?.(), secret)
    assert.type(await storage.set('kept', 'new', { ifVersion: String(version) }), 'string')
    assert.is(await storage.increment?.('count', 1), 42)
    await clock.advance(1_000)
    assert.is(await storage.get('brief'), undefined)
    await storage.close?.()
    const [line, ...others] = logger.lines
    assert.equal(others, [])
    assert.match(line?.message ?? '', `Imported ${listed.length} records of an earlier release`)
    assert.ok((await readFile(String(line?.data?.keptAs))).equals(bytes))

    const later = fileStorage({ path, clock, logger })
    assert.is((await later.get('kept'))?.value, 'new')
    assert.equal(logger.lines.length, 1)
    await later.close?.()
  }))

test('a running earlier release loses no acknowledged write during the import, and is rejected afterward', async () => {
  const { fileStorage: formerStorage } = await release(FORMER)
  for (let round = 0; round < (isCi ? 20 : 5); round++)
    await inFolder(async (path) => {
      const random = createRandom()
      const former = [formerStorage({ path, logger: false }), formerStorage({ path, logger: false })]
      const acknowledged = new Map<string, string>()
      const codes: unknown[] = []
      await Promise.all(
        former
          .map(async (storage, writer) => {
            for (let number = 0; number < 1_000; number++) {
              const [key, value] = [`${writer}/${number % 20}`, String(number)]
              const error = await storage.set(key, value).then(
                () => acknowledged.set(key, value) && undefined,
                (reason: unknown) => reason,
              )
              if (error) return void codes.push(Reflect.get(Object(error), 'code'))
            }
          })
          .concat([
            (async () => {
              while (acknowledged.size < 10 + random.below(25)) await setImmediate()
              await fileStorage({ path, logger: false }).set('new', 'value')
            })(),
          ]),
      )
      const storage = fileStorage({ path, logger: false })
      assert.equal(codes, ['STORAGE_NEWER_VERSION', 'STORAGE_NEWER_VERSION'])
      assert.equal(
        Object.entries(await getContents(storage)).filter(([key]) => key !== 'new'),
        [...acknowledged].sort(([a], [b]) => (a < b ? -1 : 1)),
        `seed ${random.seed}`,
      )
      for (const old of [...former, formerStorage({ path, logger: false })]) {
        for (const work of [old.get('new'), old.list(''), old.set('late', '1'), old.ownSecret?.()])
          assert.is((await getFailure(work)).code, 'STORAGE_NEWER_VERSION')
      }
      assert.is(await storage.get('late'), undefined)
    })
})

test('an earlier release rejects a folder that the current one has created', () =>
  inFolder(async (path) => {
    await fileStorage({ path, logger: false }).set('key', 'value')
    const before = await readdir(path)
    const former = (await release(FORMER)).fileStorage({ path, logger: false })
    assert.is((await getFailure(former.set('key', 'late'))).code, 'STORAGE_NEWER_VERSION')
    assert.equal(await readdir(path), before)
  }))

test('file storage imports a store even if a previous import was killed, failed, or stopped at any step', async ({
  program,
}) => {
  const files = {
    store: formerStore(7, new Map([['count', { value: '41', version: 'v' }]]), { secretMark: 'mark' }),
    'store.previous': formerStore(6, new Map([['count', { value: '40', version: 'v' }]])),
  }
  const start = (path: string, ...args: string[]) => {
    const child = program?.start('step', path, ...args) as Child // set by `before`
    child.go()
    return child
  }
  const steps = await inFolder(async (path) => {
    await putFiles(path, files)
    return Number((await start(path, 'tell').output('steps ')).split(' ')[1])
  })
  assert.ok(steps > 15, `${steps}`)
  for (const fate of ['kill', 'fail', 'stop'])
    await inLanes(LANES, Math.ceil(steps / STRIDE), (index) =>
      inFolder(async (path) => {
        await putFiles(path, files)
        const child = start(path, fate, String(index * STRIDE + 1))
        const name = `${fate} ${index * STRIDE + 1}, ${await child.output('at ')}`
        const storage = fileStorage({ path, logger: false, lockStaleMs: STALE_MS })
        if (fate !== 'stop') await child.ended()
        assert.is((await storage.get('count'))?.value, '41', name)
        assert.is(await storage.increment?.('count', 1), 42, name)
        child.kill('SIGCONT')
        const lines = await child.ended()
        if (fate === 'stop')
          assert.ok(
            lines.some((line) => /^answered 4[12]$/.test(line)),
            `${name}: ${lines}`,
          )
        if (fate === 'fail')
          assert.ok(
            lines.some((line) => /^answered (?:41|STORAGE_UN(?:WRIT|READ)ABLE)$/.test(line)),
            `${name}: ${lines}`,
          )
        assert.is((await storage.get('count'))?.value, '42', name)
        await storage.close?.()
        const later = fileStorage({ path, logger: false })
        assert.is((await later.get('count'))?.value, '42', name)
        await later.close?.()
        const names = (await readdir(path)).filter((value) => !/^store\.imported-/.test(value))
        assert.equal(names.sort(), ['store', 'store.db'], name)
      }),
    )
})

test('file storage keeps a secret whose creation was killed at any step', async ({ program }) => {
  const start = (path: string, ...args: string[]) => {
    const child = program?.start('step', path, ...args) as Child
    child.go()
    return child
  }
  const steps = await inFolder(async (path) =>
    Number((await start(path, 'tell', '', 'secret').output('steps ')).split(' ')[1]),
  )
  assert.ok(steps > 8, `${steps}`)
  await inLanes(LANES, Math.ceil(steps / STRIDE), (index) =>
    inFolder(async (path) => {
      const child = start(path, 'kill', String(index * STRIDE + 1), 'secret')
      const name = `${index * STRIDE + 1}, ${await child.output('at ')}`
      await child.ended()
      const before = await readFile(join(path, 'secret'), 'utf8').catch(() => undefined)
      const storage = fileStorage({ path, logger: false })
      const secret = await storage.ownSecret?.()
      assert.ok(before === undefined || before === `${secret}\n`, name)
      await storage.close?.()
      assert.is(await fileStorage({ path, logger: false }).ownSecret?.(), secret, name)
    }),
  )
})

test("if a store is damaged or missing, file storage imports the store's previous version and logs that", async () => {
  const previous = formerStore(6, new Map([['a', { value: '1', version: 'v' }]]))
  const damaged = Buffer.from(formerStore(7, new Map([['a', { value: '2', version: 'w' }]])))
  damaged.writeUInt8(damaged.readUInt8(120) ^ 4, 120)
  for (const files of [{ store: damaged, 'store.previous': previous }, { 'store.previous': previous }])
    await inFolder(async (path) => {
      await putFiles(path, files)
      const logger = listeningLogger()
      const storage = fileStorage({ path, logger })
      assert.equal(await getContents(storage), { a: '1' })
      assert.equal(
        logger.lines.map(({ level }) => level),
        ['error', 'info'],
      )
      assert.match(logger.lines[0]?.message ?? '', 'the last commit is lost')
      await storage.close?.()
    })
})

test('if both versions of a store are damaged, file storage imports and changes nothing', () =>
  inFolder(async (path) => {
    await putFiles(path, { store: Buffer.from('nonsense'), 'store.previous': Buffer.from('') })
    const error = await getFailure(fileStorage({ path, logger: false }).get('a'))
    assert.is(error.code, 'STORAGE_CORRUPT')
    assert.match(error.message, /store\.previous cannot be read: it is empty/)
    assert.equal((await readdir(path)).sort(), ['store', 'store.previous'])
  }))

test("file storage rejects a folder with both a database and an earlier release's store", () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await storage.set('a', 'new')
    await storage.close?.()
    await writeFile(join(path, 'store'), formerStore(7, new Map([['a', { value: 'old', version: 'v' }]])))
    const error = await getFailure(fileStorage({ path, logger: false }).get('a'))
    assert.is(error.code, 'STORAGE_CORRUPT')
    assert.match(error.message, 'move the outdated one elsewhere')
  }))
