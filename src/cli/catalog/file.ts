import type { CatalogModel } from '../../types.ts'

/** The models of one provider with their source: a URL and a date. */
export interface ProviderModels {
  source: string
  models: readonly CatalogModel[]
}

export type CatalogModels = Readonly<Record<string, ProviderModels>>

/** The text of catalog.data.ts: one model a line. */
export function renderCatalog(entries: CatalogModels): string {
  const sources = Object.entries(entries).map(([id, { source }]) => `  ${key(id)}: ${literal(source)},`)
  const lists = Object.entries(entries).map(([id, { models }]) =>
    [`  ${key(id)}: [`, ...models.map((model) => `    ${literal(model)},`), '  ],'].join('\n'),
  )
  return `${header}
export const modelSources: Readonly<Record<string, string>> = {
${sources.join('\n')}
}

/** Current models by provider id. */
export const models: Readonly<Record<string, readonly CatalogModel[]>> = {
${lists.join('\n')}
}
`
}

/** The differences between two states of the data, one line a change: `+` a model, `-` a model, `~` a field. */
export function changes(before: CatalogModels, after: CatalogModels): string[] {
  const providers = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return providers.flatMap((provider) => {
    const old = byId(before[provider])
    const current = byId(after[provider])
    return [
      ...[...current.keys()].filter((id) => !old.has(id)).map((id) => `+ ${provider}/${id}`),
      ...[...old.keys()].filter((id) => !current.has(id)).map((id) => `- ${provider}/${id}`),
      ...[...current].flatMap(([id, model]) => {
        const previous = old.get(id)
        return previous ? fieldChanges(previous, model).map((change) => `~ ${provider}/${id} ${change}`) : []
      }),
    ]
  })
}

const byId = (entry: ProviderModels | undefined) => new Map(entry?.models.map((model) => [model.id, model]))

function fieldChanges(before: CatalogModel, after: CatalogModel): string[] {
  const old = flatten(before)
  const current = flatten(after)
  return [...new Set([...Object.keys(old), ...Object.keys(current)])]
    .filter((field) => old[field] !== current[field])
    .map((field) => `${field} ${old[field] ?? 'unknown'} -> ${current[field] ?? 'unknown'}`)
}

function flatten({ price, ...rest }: CatalogModel): Record<string, string | number> {
  const prices = Object.entries(price ?? {}).map(([field, value]) => [`price.${field}`, value] as const)
  return Object.fromEntries([...Object.entries(rest), ...prices])
}

const key = (name: string) => (/^[a-z][a-z0-9]*$/i.test(name) ? name : literal(name))

function literal(value: object | string | number): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (typeof value === 'number') return String(value)
  const fields = Object.entries(value).map(([field, content]) => `${key(field)}: ${literal(content)}`)
  return `{ ${fields.join(', ')} }`
}

const header = `/*
 * Generated, not edited: \`node src/cli/catalog/refresh.ts\` fetches the facts and writes this file, and says what
 * changed. What is taken: src/cli/catalog/selection.ts. Models that the source lacks: catalog.extra.ts. Addresses and
 * formats: definitions.ts.
 *
 * Prices are US dollars per million tokens, of the lowest tier where a vendor charges more for long prompts. What is
 * absent is unknown. The facts are the vendors', collected by https://models.dev (MIT) and the sources below; they
 * change, so look at the dates.
 */
// biome-ignore-all format: one model a line

import type { CatalogModel } from '../types.ts'

/** The source of each provider's models, and the date of the look-up. */`
