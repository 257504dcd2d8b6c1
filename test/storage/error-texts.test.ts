import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { unstorageStorage } from '../../adapters/storage/unstorage.ts'
import type { Storage } from '../../src/index.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('storage error messages')

const getError = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: { code?: string; message?: string }) => `${error.code}: ${error.message}`,
  )

/** Creates a Postgres store on table `t`, with a pool that always fails with this code. */
const postgres = (code: string): Storage => {
  const query = async () => Promise.reject(Object.assign(new Error('as the server says'), { code }))
  return postgresStorage({ query }, { table: 't', migrate: false })
}

const responses: Array<[sqlState: string, code: string, says: string]> = [
  ['22021', 'STORAGE_UNREADABLE', 'Use a UTF8 database.'],
  ['22P05', 'STORAGE_UNREADABLE', 'Use a UTF8 database.'],
  ['25006', 'STORAGE_UNREACHABLE', 'Use a writable server.'],
  ['28P01', 'STORAGE_UNREADABLE', "Check the pool's user and password."],
  ['3D000', 'STORAGE_UNREADABLE', 'Create the database.'],
  ['3F000', 'STORAGE_UNREADABLE', 'Create the schema.'],
  ['40001', 'STORAGE_UNREACHABLE', 'Try again, or read its log.'],
  ['42501', 'STORAGE_UNREADABLE', 'Check its permissions and columns.'],
  ['42703', 'STORAGE_UNREADABLE', 'Check its permissions and columns.'],
  ['42P01', 'STORAGE_UNREADABLE', 'It does not exist. Run postgresMigration(), or leave `migrate` on.'],
  ['53100', 'STORAGE_UNREACHABLE', 'Give the server more space or connections.'],
  ['53300', 'STORAGE_UNREACHABLE', 'Give the server more space or connections.'],
  ['55P03', 'STORAGE_UNREACHABLE', 'Try again, or read its log.'],
  ['57P01', 'STORAGE_UNREACHABLE', 'Try again, or read its log.'],
  ['XX001', 'STORAGE_UNREADABLE', 'Try again, or read its log.'],
]
for (const [sqlState, code, message] of responses)
  test(`a Postgres error ${sqlState} becomes ${code}: ${message}`, async () => {
    assert.is(
      await getError(postgres(sqlState).set('key', 'value')),
      `${code}: Postgres rejected the table t (${sqlState}). ${message}`,
    )
  })

for (const code of ['08006', 'ECONNREFUSED', 'EPIPE', ''])
  test(`a Postgres failure with the code "${code}" is reported as an unreachable server`, async () => {
    assert.is(
      await getError(postgres(code).get('key')),
      `STORAGE_UNREACHABLE: Postgres is unreachable for the table t${code && ` (${code})`}. Check the pool's address and the server.`,
    )
  })

test('an unreachable libSQL server is reported with the network error code', async () => {
  const away = Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  })
  const rejectWith = async () => Promise.reject(away)
  const client = {
    execute: rejectWith,
    batch: rejectWith,
    transaction: rejectWith,
    migrate: rejectWith,
    close: () => {},
  }
  const storage = sqliteStorage(client as unknown as Parameters<typeof sqliteStorage>[0], { table: 't' })
  assert.is(
    await getError(storage.get('key')),
    'STORAGE_UNREACHABLE: The database of the table t is unreachable (ECONNREFUSED). Check its URL and token.',
  )
})

test("the error for a string that Postgres can't store suggests escaping it", async () => {
  const storage = postgres('')
  for (const text of ['\ud800', '\u0000'])
    assert.is(
      await getError(storage.set('key', text)),
      'STORAGE_NOT_TEXT: The table t may not support NUL or unpaired surrogates. Escape them in "key".',
    )
  assert.is(
    await getError(storage.set('k'.repeat(1_025), '')),
    `STORAGE_TOO_LARGE: The table t limits a key to 1024 bytes: "${'k'.repeat(100)}".`,
  )
})

test('a failing unstorage driver is reported with its message and advice on what to check', async () => {
  const fail = async () => Promise.reject(new Error('ENOENT: no such folder'))
  const storage = unstorageStorage({ getItem: fail, setItem: fail, removeItem: fail, getKeys: fail })
  assert.is(
    await getError(storage.get('key')),
    "STORAGE_UNREACHABLE: The storage driver failed: ENOENT: no such folder. Check the driver's options and that its backend is reachable.",
  )
})
