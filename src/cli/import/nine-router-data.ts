import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createProblem } from '../problem.ts'
import { readDocument } from './read-file.ts'

/** Reads the data in a 9router folder or in one of its files. */
export async function readNineRouter(path: string): Promise<unknown> {
  const found = await stat(path).catch(() => undefined)
  if (!found)
    throw createProblem(`${path} doesn't exist. 9router stores its data in ~/.9router, unless DATA_DIR is set.`)
  if (!found.isDirectory()) return /\.(?:sqlite|db)$/.test(path) ? readSqlite(path) : readDocument(path)
  const sqlite = join(path, 'db', 'data.sqlite')
  if (existsSync(sqlite)) return readSqlite(sqlite)
  const json = join(path, 'db.json')
  if (existsSync(json)) return readDocument(json)
  throw createProblem(`${path} has neither db/data.sqlite nor db.json, so it is not a 9router data directory.`)
}

/** Reads a copy of the database, because SQLite creates files next to a database even when only reading it. */
async function readSqlite(path: string): Promise<unknown> {
  const { DatabaseSync } = await loadSqlite()
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-import-'))
  try {
    const copy = join(folder, 'data.sqlite')
    await copyFile(path, copy)
    if (existsSync(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`)
    const database = new DatabaseSync(copy)
    try {
      return readTables(database)
    } finally {
      database.close()
    }
  } catch (cause) {
    throw createProblem(`Cannot read ${path} as 9router data. ${EXPORT_ADVICE}`, { cause })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const EXPORT_ADVICE = 'Use "Export" in the settings of the 9router dashboard, and import that file.'

/** Loads `node:sqlite`, which requires Node 22.13. */
async function loadSqlite(): Promise<Pick<typeof import('node:sqlite'), 'DatabaseSync'>> {
  const { emitWarning } = process
  try {
    process.emitWarning = () => {} // importing the module warns that SQLite is experimental
    return await import('node:sqlite')
  } catch {
    throw createProblem(
      `This runtime has no SQLite support to read 9router data. Use Node.js 22.13 or later. ${EXPORT_ADVICE}`,
    )
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Converts the tables to the format of 9router's export. */
function readTables(database: DatabaseSync): Record<string, unknown> {
  const names = new Set(
    database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  )
  if (!names.has('providerConnections')) throw new Error('it has no connections table')
  const readRows = (table: string) => (names.has(table) ? database.prepare(`SELECT * FROM ${table}`).all() : [])
  const parseJson = (text: unknown): unknown => (typeof text === 'string' && text !== '' ? JSON.parse(text) : undefined)
  const readWithData = (table: string) =>
    readRows(table).map(({ data, ...row }) => ({ ...Object(parseJson(data)), ...row }))
  const readScope = (scope: string) => readRows('kv').filter((row) => row.scope === scope)
  const readByKey = (scope: string) =>
    Object.fromEntries(readScope(scope).map(({ key, value }) => [String(key), parseJson(value)]))
  return {
    settings: parseJson(readRows('settings')[0]?.data) ?? {},
    providerConnections: readWithData('providerConnections'),
    providerNodes: readWithData('providerNodes'),
    proxyPools: readWithData('proxyPools'),
    apiKeys: readRows('apiKeys'),
    combos: readRows('combos').map((row) => ({ ...row, models: parseJson(row.models) })),
    modelAliases: readByKey('modelAliases'),
    customModels: readScope('customModels').map(({ value }) => parseJson(value)),
    pricing: readByKey('pricing'),
    mitmAlias: readByKey('mitmAlias'),
    keyGroups: readRows('keyGroups'),
    apiKeyLimits: readRows('apiKeyLimits'),
    disabledModels: readByKey('disabledModels'),
  }
}
