import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { problem } from '../problem.ts'
import { readText } from './read-file.ts'

/** The data of a folder of 9router, or of one of its files. */
export async function readNineRouter(path: string): Promise<unknown> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw problem(`${path} doesn't exist. 9router stores its data in ~/.9router, unless DATA_DIR is set.`)
  if (!found.isDirectory()) return /\.(?:sqlite|db)$/.test(path) ? readSqlite(path) : readText(path)
  const sqlite = join(path, 'db', 'data.sqlite')
  if (existsSync(sqlite)) return readSqlite(sqlite)
  const json = join(path, 'db.json')
  if (existsSync(json)) return readText(json)
  throw problem(`${path} has neither db/data.sqlite nor db.json, so it is not a 9router data directory.`)
}

/** Reads a copy of the database, as SQLite creates files beside a database even when it only reads. */
async function readSqlite(path: string): Promise<unknown> {
  const { DatabaseSync } = await loadSqlite()
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-import-'))
  try {
    const copy = join(folder, 'data.sqlite')
    await copyFile(path, copy)
    if (existsSync(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`)
    const database = new DatabaseSync(copy)
    try {
      return tablesOf(database)
    } finally {
      database.close()
    }
  } catch (cause) {
    throw problem(`Cannot read ${path} as 9router data. ${EXPORT}`, { cause })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const EXPORT = 'Use "Export" in the settings of the 9router dashboard, and import that file.'

/** Loads `node:sqlite`, which Node has from 22.13 on. */
async function loadSqlite(): Promise<Pick<typeof import('node:sqlite'), 'DatabaseSync'>> {
  const { emitWarning } = process
  try {
    process.emitWarning = () => {} // the import warns that SQLite is experimental
    return await import('node:sqlite')
  } catch {
    throw problem(`This runtime has no SQLite support to read 9router data. Use Node.js 22.13 or later. ${EXPORT}`)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** The tables in the form of 9router's export. */
function tablesOf(database: DatabaseSync): Record<string, unknown> {
  const names = new Set(
    database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  )
  if (!names.has('providerConnections')) throw new Error('it has no connections table')
  const rows = (table: string) => (names.has(table) ? database.prepare(`SELECT * FROM ${table}`).all() : [])
  const json = (text: unknown): unknown => (typeof text === 'string' && text !== '' ? JSON.parse(text) : undefined)
  const whole = (table: string) => rows(table).map(({ data, ...row }) => ({ ...Object(json(data)), ...row }))
  const kept = (scope: string) => rows('kv').filter((row) => row.scope === scope)
  const byKey = (scope: string) => Object.fromEntries(kept(scope).map(({ key, value }) => [String(key), json(value)]))
  return {
    settings: json(rows('settings')[0]?.data) ?? {},
    providerConnections: whole('providerConnections'),
    providerNodes: whole('providerNodes'),
    proxyPools: whole('proxyPools'),
    apiKeys: rows('apiKeys'),
    combos: rows('combos').map((row) => ({ ...row, models: json(row.models) })),
    modelAliases: byKey('modelAliases'),
    customModels: kept('customModels').map(({ value }) => json(value)),
    pricing: byKey('pricing'),
    mitmAlias: byKey('mitmAlias'),
    keyGroups: rows('keyGroups'),
    apiKeyLimits: rows('apiKeyLimits'),
    disabledModels: byKey('disabledModels'),
  }
}
