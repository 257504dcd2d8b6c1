/*
 * Refreshes src/protocols/providers/catalog.data.ts from https://models.dev/api.json, or from a copy of it, and prints the changes:
 *
 *   node src/cli/catalog/refresh.ts [--from <path or URL>] [--as-of YYYY-MM-DD] [--source <text>] [--only <provider,…>] [--out <file>]
 *
 * If the source or the result is malformed, writes nothing and exits with 1. `--as-of` is the date of the data; default: today. `--source` is the
 * source to name in the file. `--only` leaves all other providers unchanged, including their dates.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { selections } from '../../features/catalog/selection.ts'
import { selectModels } from '../../features/catalog/source.ts'
import { validateCatalog } from '../../features/catalog/validate-catalog.ts'
import { isObject } from '../../lib/json.ts'
import { modelSources, models } from '../../protocols/providers/catalog.data.ts'
import { extraModels } from '../../protocols/providers/catalog.extra.ts'
import { mergeCatalog } from '../../protocols/providers/catalog.ts'
import { definitions } from '../../protocols/providers/definitions.ts'
import { type CatalogModels, diffModels, type ProviderModels, renderCatalog } from './catalog-file.ts'

interface RefreshResult {
  after: CatalogModels
  /** The problems found. The file is written only if there are none. */
  problems: string[]
}

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: 'https://models.dev/api.json' },
    'as-of': { type: 'string', default: new Date().toISOString().slice(0, 10) },
    source: { type: 'string', default: 'https://models.dev' },
    only: { type: 'string', default: Object.keys(selections).join() },
    out: { type: 'string', default: new URL('../../protocols/providers/catalog.data.ts', import.meta.url).pathname },
  },
})

const previousModels: CatalogModels = Object.fromEntries(
  Object.entries(models).map(([id, list]) => [id, { source: modelSources[id] ?? '', models: list }]),
)
const { after, problems } = await load(values.from).then(refresh, createReadError)
for (const problem of problems) console.error(`refused: ${problem}`)
if (problems.length > 0) {
  process.exitCode = 1
} else {
  await writeFile(values.out, renderCatalog(after))
  const lines = diffModels(previousModels, after)
  console.log(
    [...lines, ...findRedundant(after), lines.length === 0 ? 'nothing changed' : `${lines.length} changes`].join('\n'),
  )
}

function refresh(source: unknown): RefreshResult {
  const problems: string[] = []
  if (!isObject(source)) return { after: {}, problems: ['the source is not an object of providers'] }
  const asOf = values['as-of']
  if (!/^\d{4}-\d\d-\d\d$/.test(asOf)) return { after: {}, problems: [`--as-of ${asOf} is not a date like 2026-11-21`] }
  const requested = values.only.split(',')
  problems.push(
    ...requested.filter((id) => !Object.hasOwn(selections, id)).map((id) => `--only ${id} is not in selection.ts`),
  )
  const after: Record<string, ProviderModels> = {}
  for (const [id, selection] of Object.entries(selections)) {
    const old = previousModels[id]
    if (!requested.includes(id)) {
      if (old) after[id] = old
      continue
    }
    const kinds = definitions[id]?.serviceKinds ?? ['llm']
    after[id] = {
      source: `${values.source}, ${asOf}`,
      models: selectModels(source, selection, { kinds, asOf, problems }),
    }
  }
  const lists = Object.fromEntries(Object.entries(after).map(([id, entry]) => [id, entry.models]))
  problems.push(...validateCatalog(mergeCatalog(definitions, lists, { extra: extraModels })))
  return { after, problems }
}

/** Returns the manually maintained models that the source now lists. */
function findRedundant(after: CatalogModels): string[] {
  return Object.entries(extraModels).flatMap(([provider, list]) =>
    list
      .filter(({ id }) => after[provider]?.models.some((model) => model.id === id))
      .map(({ id }) => `! ${provider}/${id} is in the source now: take it out of catalog.extra.ts`),
  )
}

function createReadError(error: unknown): RefreshResult {
  return { after: {}, problems: [`${values.from} cannot be read: ${error instanceof Error ? error.message : error}`] }
}

async function load(from: string): Promise<unknown> {
  if (!/^https?:/.test(from)) return JSON.parse(await readFile(from, 'utf8'))
  const response = await fetch(from, { signal: AbortSignal.timeout(60_000) })
  if (!response.ok) throw new Error(`${from} answered ${response.status}`)
  return response.json()
}
