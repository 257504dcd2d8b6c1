import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { parseDocument } from 'yaml'
import { usage } from '../arguments.ts'
import { problem } from '../problem.ts'
import { planLiteLlm } from './litellm.ts'
import { planNineRouter } from './nine-router.ts'
import { type ImportFinding, ImportPlan } from './plan.ts'
import { planPortkey } from './portkey.ts'

/** The programs whose configuration can be imported. */
export type ImportSource = 'litellm' | 'portkey' | '9router'

/** What an import has found, and the file that it makes; no part holds a secret. */
export interface Imported {
  mapped: readonly ImportFinding[]
  unmapped: readonly ImportFinding[]
  /** The variables that the file needs, each with what it holds. */
  variables: readonly { name: string; holds: string }[]
  /** The file of records, in YAML. */
  file: string
  /** Where it was written. */
  out?: string
}

/**
 * Reads the configuration of another program, and writes a file of records to `out` if that is given. Throws a problem when the configuration cannot be
 * read, and when there is something at `out`. `model`: for targets of Portkey that take the model of the request.
 */
export async function importFrom(
  source: ImportSource,
  path: string,
  { out, model }: { out?: string | undefined; model?: string | undefined } = {},
): Promise<Imported> {
  if (out !== undefined && !/\.ya?ml$/.test(out)) throw usage('--out takes a file that ends in .yaml or .yml.')
  if (out !== undefined && existsSync(out))
    throw problem(`${out} exists, and is left as it is: give --out another name.`)
  const plan = new ImportPlan()
  if (source === '9router') planNineRouter(await readNineRouter(path), plan)
  else if (source === 'portkey') planPortkey(await readText(path), plan, { model })
  else planLiteLlm(await readText(path), plan)
  const file = plan.file(`${source}: ${path.split(/[\\/]/).at(-1) ?? path}`)
  if (out !== undefined) await writeFile(out, file, { flag: 'wx' }) // another process may have made it since
  const variables = [...plan.variables]
    .filter(([name]) => file.includes(`\${${name}}`)) // what could not be taken over needs none
    .map(([name, holds]) => ({ name, holds }))
  return { mapped: plan.mapped, unmapped: plan.unmapped, variables, file, ...(out !== undefined && { out }) }
}

/** The content of a file of YAML or JSON, which is YAML as well. A problem names the place of a mistake, and quotes nothing: it may be a secret. */
async function readText(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const why = { ENOENT: 'there is no such file', EISDIR: 'it is a folder' }[code] ?? code
    throw problem(`${path} cannot be read: ${why}.`)
  })
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { uniqueKeys: false, logLevel: 'silent' })
  const [mistake] = document.errors
  if (mistake) {
    const [at] = mistake.linePos ?? []
    throw problem(`${path} is neither YAML nor JSON${at ? `: look at line ${at.line}, column ${at.col}` : ''}.`)
  }
  try {
    return document.toJS({ maxAliasCount: 1_000 })
  } catch {
    throw problem(`${path} refers to itself too often to be read.`)
  }
}

/** The data of a folder of 9router, or of one of its files. */
async function readNineRouter(path: string): Promise<unknown> {
  const found = await stat(path).catch(() => undefined)
  if (!found)
    throw problem(`There is no ${path}. 9router keeps its data in ~/.9router, unless DATA_DIR names another folder.`)
  if (!found.isDirectory()) return /\.(?:sqlite|db)$/.test(path) ? readSqlite(path) : readText(path)
  const sqlite = join(path, 'db', 'data.sqlite')
  if (existsSync(sqlite)) return readSqlite(sqlite)
  const json = join(path, 'db.json')
  if (existsSync(json)) return readText(json)
  throw problem(`${path} has neither db/data.sqlite nor db.json: it is no data folder of 9router.`)
}

/** Reads a copy: SQLite writes beside a file that it only reads. */
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
    throw problem(`${path} cannot be read as data of 9router. ${EXPORT}`, { cause })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const EXPORT = 'Export them instead, by "Export" in the settings of its dashboard, and import that file.'

/** Node has it from 22.13 on. */
async function loadSqlite(): Promise<Pick<typeof import('node:sqlite'), 'DatabaseSync'>> {
  const { emitWarning } = process
  try {
    process.emitWarning = () => {} // it says that it is experimental
    return await import('node:sqlite')
  } catch {
    throw problem(`This runtime has no SQLite to read the data of 9router: use Node 22.13 or later. ${EXPORT}`)
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
  if (!names.has('providerConnections')) throw new Error('it has no table of connections')
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
  }
}
