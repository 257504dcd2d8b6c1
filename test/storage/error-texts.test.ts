import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { unstorageStorage } from '../../adapters/storage/unstorage.ts'
import type { Storage } from '../../src/index.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('what the errors of storages say')

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: { code?: string; message?: string }) => `${error.code}: ${error.message}`,
  )

/** A Postgres that answers so, at a pool whose table is called `t`. */
const postgres = (code: string): Storage => {
  const query = async () => Promise.reject(Object.assign(new Error('as the server says'), { code }))
  return postgresStorage({ query }, { table: 't', migrate: false })
}

const answers: Array<[sqlState: string, code: string, says: string]> = [
  ['22021', 'STORAGE_UNREADABLE', 'Use a database in UTF8.'],
  ['22P05', 'STORAGE_UNREADABLE', 'Use a database in UTF8.'],
  ['25006', 'STORAGE_UNREACHABLE', 'Give the pool a server that takes writes.'],
  ['28P01', 'STORAGE_UNREADABLE', "Check the pool's user and password."],
  ['3D000', 'STORAGE_UNREADABLE', 'Make its database.'],
  ['3F000', 'STORAGE_UNREADABLE', 'Make its schema.'],
  ['40001', 'STORAGE_UNREACHABLE', 'Try again, or read its log.'],
  ['42501', 'STORAGE_UNREADABLE', 'Check its rights and columns.'],
  ['42703', 'STORAGE_UNREADABLE', 'Check its rights and columns.'],
  ['42P01', 'STORAGE_UNREADABLE', 'It is missing: run postgresMigration(), or leave `migrate` on.'],
  ['53100', 'STORAGE_UNREACHABLE', 'Give the server more room or connections.'],
  ['53300', 'STORAGE_UNREACHABLE', 'Give the server more room or connections.'],
  ['55P03', 'STORAGE_UNREACHABLE', 'Try again, or read its log.'],
  ['57P01', 'STORAGE_UNREACHABLE', 'Try again, or read its log.'],
  ['XX001', 'STORAGE_UNREADABLE', 'Try again, or read its log.'],
]
for (const [sqlState, code, says] of answers)
  test(`Postgres that answers ${sqlState} is ${code}: ${says}`, async () => {
    assert.is(
      await errorOf(postgres(sqlState).set('key', 'value')),
      `${code}: Postgres refused the table t (${sqlState}). ${says}`,
    )
  })

for (const code of ['08006', 'ECONNREFUSED', 'EPIPE', ''])
  test(`Postgres that fails with "${code}" cannot be reached`, async () => {
    assert.is(
      await errorOf(postgres(code).get('key')),
      `STORAGE_UNREACHABLE: Postgres cannot be reached for the table t${code && ` (${code})`}. Check the pool's address and that the server runs.`,
    )
  })

test('a libSQL server that is away is named with the reason of the network', async () => {
  const away = Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  })
  const refuse = async () => Promise.reject(away)
  const client = { execute: refuse, batch: refuse, transaction: refuse, migrate: refuse, close: () => {} }
  const storage = sqliteStorage(client as unknown as Parameters<typeof sqliteStorage>[0], { table: 't' })
  assert.is(
    await errorOf(storage.get('key')),
    'STORAGE_UNREACHABLE: The database of the table t cannot be reached (ECONNREFUSED). Check its address and token.',
  )
})

test('a text that a storage cannot keep, or one too long, is named with the way out', async () => {
  const storage = postgres('')
  for (const text of ['\ud800', '\u0000'])
    assert.is(
      await errorOf(storage.set('key', text)),
      'STORAGE_NOT_TEXT: The table t need not keep NUL or half a surrogate pair: escape it in "key".',
    )
  assert.is(
    await errorOf(storage.set('k'.repeat(1_025), '')),
    `STORAGE_TOO_LARGE: The table t takes a key of 1024 bytes at most: "${'k'.repeat(100)}".`,
  )
})

test('a driver of unstorage that fails is said to have failed, with its own words and what to check', async () => {
  const fail = async () => Promise.reject(new Error('ENOENT: no such folder'))
  const storage = unstorageStorage({ getItem: fail, setItem: fail, removeItem: fail, getKeys: fail })
  assert.is(
    await errorOf(storage.get('key')),
    'STORAGE_UNREACHABLE: The driver of the storage failed: ENOENT: no such folder. Check the options that the driver was made with, and that what it keeps data in can be reached.',
  )
})
