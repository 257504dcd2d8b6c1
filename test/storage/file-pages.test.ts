import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { decodeStore, encodeStore } from '../../adapters/storage/file/format.ts'
import { changePages, encodePages } from '../../adapters/storage/file/pages.ts'
import { fileStorage } from '../../adapters/storage/file.ts'
import type { Row } from '../../adapters/storage/lib/row-operations.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { inFolder } from './support/folder.ts'

const test = suite('file storage, pages')
const LONG = 'value '.repeat(1_300)

test('file storage reads back the rows that were written, after any other changes', async () => {
  const random = createRandom()
  const model = new Map<string, Row>()
  let pages = encodePages(model) as ReturnType<typeof changePages>
  let most = 0
  for (let round = 0; round < 20; round++) {
    const isGrowing = round % 10 < 6
    const changes = new Map<string, Row | undefined>()
    for (let count = random.below(100); count >= 0; count--) {
      const key = `${random.below(9)}/ö${random.below(200)}`
      const value = 'line\n"ö",'.repeat(random.below(random.below(20) === 0 ? 30_000 : 300))
      const row = { value, version: `${round}`, ...(random.below(3) === 0 && { expiresAt: random.below(1_000) }) }
      changes.set(key, isGrowing || random.below(9) === 0 ? row : undefined)
    }
    if (!isGrowing) for (const key of [...model.keys()].slice(0, 100)) changes.set(key, undefined)
    pages = changePages(pages, changes, (key) => model.get(key))
    for (const [key, row] of changes) row ? model.set(key, row) : model.delete(key)
    const { kind, ...found } = await decoded(pages)
    assert.is(kind, 'good', `seed ${random.seed}`)
    assert.equal(found.rows, model, `seed ${random.seed}`)
    if (round % 4 === 0) pages = found.pages ?? pages
    most = Math.max(most, pages.length)
  }
  assert.ok(most > 10, `${most} pages`)
})

test('file storage encodes only the page again that a change belongs to', async () => {
  const rows = filled(20_000)
  const before = (await decoded(encodePages(rows))).pages ?? []
  assert.ok(before.length > 10, `${before.length} pages`)
  for (const key of ['', 'key/10000', 'key/10000+', 'key/99999']) {
    for (const row of [{ value: 'new', version: '2' }, undefined]) {
      const after = changePages(before, new Map([[key, row]]), (at) => rows.get(at))
      assert.is(before.filter((page) => !after.includes(page)).length, 1, key)
      assert.is(after.length, before.length)
      assert.is((await decoded(after)).kind, 'good')
    }
  }
})

test('file storage yields to other work between pages', async () => {
  const pages = encodePages(filled(20_000))
  let turns = 0
  let isDone = false
  const others = async () => {
    for (; !isDone; turns++) await setImmediate()
  }
  const counting = others()
  await encodeStore({ revision: 1, pages })
  isDone = true
  await counting
  assert.ok(turns >= pages.length && pages.length > 10, `${turns} turns, ${pages.length} pages`)
})

test('file storage keeps pages of a fair size, wherever rows come and go', () => {
  const random = createRandom()
  for (const next of [(index: number) => index, () => random.below(1_000_000), (index: number) => -index]) {
    const model = new Map<string, Row>()
    let pages = encodePages(model) as ReturnType<typeof changePages>
    for (let round = 0; round < 30; round++) {
      const changes = new Map<string, Row>()
      for (let index = 0; index < 10; index++) {
        changes.set(String(5_000_000 + next(round * 10 + index)), { value: LONG, version: '1' })
      }
      pages = changePages(pages, changes, (key) => model.get(key))
      for (const [key, row] of changes) model.set(key, row)
    }
    const sizes = pages.map(({ bytes }) => bytes.length)
    assert.ok(Math.min(...sizes) > 100_000 && Math.max(...sizes) < 600_000, `seed ${random.seed}: ${sizes}`)
  }
})

test('file storage reads a file with unsorted rows, and writes it sorted', () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await storage.get('')
    const row = { value: LONG.repeat(50), version: '1' } // a page each
    const pages = ['c', 'a', 'b'].flatMap((key) => encodePages(new Map([[key, row]])))
    const { parts } = await encodeStore({ revision: 1, pages })
    await fs.writeFile(join(path, 'store'), parts)
    assert.equal(await keysOf(storage), ['a', 'b', 'c'])
    await storage.set('aa', 'new')
    await storage.delete('c')
    await storage.close?.()
    assert.equal(await keysOf(fileStorage({ path, logger: false })), ['a', 'aa', 'b'])
  }))

test('file storage does not read the file that it is about to put into place itself', () =>
  inFolder(async (path) => {
    const { open, rename } = fs
    const storage = fileStorage({ path, logger: false })
    await storage.set('key', 'old')
    const opened: unknown[] = []
    let reading: Promise<unknown> | undefined
    Reflect.set(fs, 'open', (...args: Parameters<typeof open>) => {
      opened.push(args[0])
      return open(...args)
    })
    Reflect.set(fs, 'rename', async (...args: Parameters<typeof rename>) => {
      await rename(...args)
      if (args[1] !== join(path, 'store')) return
      reading = storage.get('key').then((stored) => stored?.value)
      for (let turn = 0; turn < 20; turn++) await setImmediate()
    })
    syncBuiltinESMExports()
    try {
      await storage.set('key', 'new')
      assert.is(await reading, 'new')
      assert.not.ok(opened.includes(join(path, 'store')), String(opened))
      await storage.close?.()
    } finally {
      Object.assign(fs, { open, rename })
      syncBuiltinESMExports()
    }
  }))

async function decoded(pages: ReturnType<typeof changePages>) {
  const { parts } = await encodeStore({ revision: 1, pages })
  const found = decodeStore(Buffer.concat(parts))
  return found.kind === 'good' ? found : { kind: found.kind, rows: undefined, pages: undefined }
}

function filled(count: number): Map<string, Row> {
  const rows = Array.from({ length: count }, (_, index): [string, Row] => [
    `key/${String(index).padStart(5, '0')}`,
    { value: 'value '.repeat(40), version: '1' },
  ])
  return new Map(rows)
}

async function keysOf(storage: ReturnType<typeof fileStorage>): Promise<string[]> {
  return (await storage.list('')).map(({ key }) => key)
}
