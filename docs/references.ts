/*
 * Writes the tables of the reference pages that come from the code, between `<!-- generated: name -->` and `<!-- end -->` in any page of the site:
 * node docs/references.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryStorage } from '../adapters/storage/memory.ts'
import { listCommands } from '../src/cli/commands/commands.ts'
import { getFamilyName } from '../src/features/observe/exposition.ts'
import { labels, measures } from '../src/features/observe/measures.ts'
import { createGateway } from '../src/gateway.ts'
import { defaultCatalog } from '../src/protocols/providers/catalog.ts'
import { providerTable } from '../test/providers/page.ts'
import { PAGES, readSitePages } from './pages.mjs'

const REGION = /(<!-- generated: ([\w-]+) -->\n\n)[\s\S]*?(\n\n<!-- end -->)/g

/** The contents of each region by its name. */
export const references: Readonly<Record<string, () => Promise<string> | string>> = {
  providers: () => providerTable(defaultCatalog),
  metrics: () =>
    table(['Metric', 'In Prometheus', 'Type', 'Labels', 'Meaning'], Object.values(measures).map(describeMetric)),
  'metric-labels': () =>
    table(
      ['Label', 'Meaning'],
      Object.entries(labels).map(([name, meaning]) => [code(name), meaning]),
    ),
  commands: () => Object.keys(listCommands()).map(describeCommand).join('\n\n'),
  endpoints: async () => listPaths(await readPaths(), (path) => !path.startsWith('/api')),
  'management-operations': async () => listPaths(await readPaths(), (path) => path.startsWith('/api')),
}

const code = (text: string) => `\`${text}\``

function describeMetric(metric: (typeof measures)[keyof typeof measures]): string[] {
  const { name, kind, labels: names, help } = metric
  const prometheus = `${getFamilyName(metric)}${kind === 'counter' ? '_total' : ''}`
  return [code(name), code(prometheus), kind === 'upDown' ? 'gauge' : kind, names.map(code).join(', '), help]
}

function describeCommand(name: string): string {
  const { [name]: command } = listCommands()
  if (command === undefined) return ''
  const rows = Object.entries(command.actions).map(([action, { words = [], fields = {}, help }]) => [
    code([name, action, ...words].filter(Boolean).join(' ')),
    `${help}.`,
    Object.entries(fields)
      .filter(([, { label, isAlias }]) => label !== '' && !isAlias)
      .map(([option]) => code(`--${option}`))
      .join(' '),
  ])
  return `### ${name}\n\n${command.help}.\n\n${table(['Command', 'What it does', 'Options'], rows)}`
}

interface Operation {
  summary: string
}

async function readPaths(): Promise<[path: string, methods: Record<string, Operation>][]> {
  const gateway = createGateway({
    storage: memoryStorage(),
    logger: false,
    usage: true,
    management: { authorize: () => true },
  })
  const { paths } = await gateway.api.openapi()
  await gateway.close()
  return Object.entries(paths as unknown as Record<string, Record<string, Operation>>) // every operation has a summary
}

function listPaths(paths: Awaited<ReturnType<typeof readPaths>>, isListed: (path: string) => boolean): string {
  const rows = paths
    .filter(([path]) => isListed(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'options' && !(method === 'patch' && 'put' in methods)) // it does the same
        .map(([method, { summary }]) => [code(`${method.toUpperCase()} ${path}`), summary]),
    )
  return table(['Request', 'What it does'], rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** Returns a page with its regions as the code has them now. Throws if a region has an unknown name. */
export async function updateRegions(text: string): Promise<string> {
  const names = Array.from(text.matchAll(REGION), ([, , name = '']) => name)
  const contents = new Map<string, string>()
  for (const name of names) {
    const make = references[name]
    if (make === undefined) throw new Error(`"${name}" is not a generated table: ${Object.keys(references).join(', ')}`)
    contents.set(name, await make())
  }
  return text.replace(REGION, (_, start: string, name: string, end: string) => start + contents.get(name) + end)
}

if (import.meta.main)
  for (const { name } of readSitePages()) {
    const path = join(import.meta.dirname, '..', PAGES, name)
    const text = readFileSync(path, 'utf8')
    const updated = await updateRegions(text)
    if (updated !== text) writeFileSync(path, updated)
  }
