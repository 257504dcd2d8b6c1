/* The tables of the reference pages that come from the code, between `<!-- generated: name -->` and `<!-- end -->` in any page of the site. */
import { memoryStorage } from '../adapters/storage/memory.ts'
import { listCommands } from '../src/cli/commands/commands.ts'
import { getFamilyName } from '../src/features/observe/exposition.ts'
import { labels, measures } from '../src/features/observe/measures.ts'
import { createGateway } from '../src/gateway.ts'
import { defaultCatalog } from '../src/protocols/providers/catalog.ts'
import { providerTable } from '../test/providers/page.ts'
import { describeConfigFile } from './config-file-page.ts'
import { formatTable } from './format-table.ts'

const REGION = /(<!-- generated: ([\w-]+) -->\n\n)[\s\S]*?(\n\n<!-- end -->)/g

/** The contents of each region by its name. */
export const references: Readonly<Record<string, () => Promise<string> | string>> = {
  providers: () => providerTable(defaultCatalog),
  metrics: () =>
    formatTable(['Metric', 'In Prometheus', 'Type', 'Labels', 'Meaning'], Object.values(measures).map(describeMetric)),
  'metric-labels': () =>
    formatTable(
      ['Label', 'Meaning'],
      Object.entries(labels).map(([name, meaning]) => [code(name), meaning]),
    ),
  'config-file': describeConfigFile,
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
  return `### ${name}\n\n${command.help}.\n\n${formatTable(['Command', 'What it does', 'Options'], rows)}`
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
  return formatTable(['Request', 'What it does'], rows)
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
