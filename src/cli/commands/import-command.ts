import { defaults } from '../cli-options.ts'
import type { ImportResult, ImportSource } from '../import/run-import.ts'
import { toOneLine } from '../logger.ts'
import type { CliAction, CliCommand } from './command.ts'
import { createTextOption, type Field } from './input-options.ts'

const out = createTextOption('out', 'signalbox.yaml', 'Write the config file; existing files are never overwritten')
const model = createTextOption('model', 'gpt-5-mini', 'Model for targets that have none')

const provider: Field = {
  ...createTextOption('providers', 'house=openai', "Provider behind a name in Portkey's store; repeatable"),
  isList: true,
}

/** Creates the action for one program. Loads its code only when needed, because it includes a YAML parser. */
function createImportAction(
  source: ImportSource,
  { help, word, fields }: { help: string; word: string; fields: Readonly<Record<string, Field>> },
): CliAction {
  return {
    help,
    words: [word],
    fields,
    async run({ words: [path = ''], input }) {
      const { importFrom } = await import('../import/run-import.ts')
      const body = await importFrom(source, path, {
        ...(typeof input.out === 'string' && { out: input.out }),
        ...(typeof input.model === 'string' && { model: input.model }),
        ...(Array.isArray(input.providers) && { providers: input.providers.map(String) }),
      })
      const { mapped, unmapped, variables, out: outputPath } = body
      const parts = [
        mapped.length > 0 && `Imported:\n${formatFindings(mapped)}`,
        unmapped.length > 0 && `Not imported, or imported differently:\n${formatFindings(unmapped)}`,
        variables.length > 0 &&
          `Environment variables to set before you start (the file doesn't contain their values):\n${variables.map(({ name, holds }) => `  ${name}: ${toOneLine(holds)}\n`).join('')}`,
        outputPath === undefined
          ? 'Nothing was written. To write a config file, add --out signalbox.yaml.\n'
          : formatNextSteps(outputPath, body),
      ]
      return { body, text: parts.filter((part) => part !== false).join('\n') }
    },
  }
}

/** Formats the findings, one per line. Findings that differ only in their list index share one line, at the position of the first. */
function formatFindings(findings: ImportResult['mapped']): string {
  const groupedFindings = new Map<string, { from: string; to: string; more: number; names: Set<string> }>()
  for (const { from, to, name } of findings) {
    const kind = JSON.stringify([from.replace(/\[\d+\]/g, '[]'), to])
    const found = groupedFindings.get(kind)
    const finding = found ?? { from, to, more: 0, names: new Set<string>() }
    if (found) found.more++
    else groupedFindings.set(kind, finding)
    if (name !== undefined) finding.names.add(name)
  }
  return [...groupedFindings.values()]
    .map(({ from, to, more, names }) => {
      const location = more > 0 ? `${from} (and ${more} more like it)` : from
      return `  ${toOneLine(location)} -> ${toOneLine(to)}${formatNames([...names])}\n`
    })
    .join('')
}

/** Formats the model names that clients use, in parentheses. Returns an empty string if there are none. */
function formatNames(names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : ''
  return ` ${toOneLine(`(${names.length === 1 ? 'model' : 'models'} ${names.slice(0, MAX_NAMES).join(', ')}${more})`)}`
}

const MAX_NAMES = 10

function formatNextSteps(outputPath: string, { variables, hasKeys, sole }: ImportResult): string {
  const address = `http://${defaults.host}:${defaults.port}`
  const steps = [
    ...(variables.length > 0 ? ['Set the environment variables above.'] : []),
    `Start the gateway: npx signalbox --config ${outputPath}`,
    `Point your clients to ${address}/v1. ${sole === undefined ? 'Model names stay the same.' : `Use the model "${sole}".`}${hasKeys ? ' Clients need the new API keys: npx signalbox keys list --json --values all' : ''}`,
  ]
  return `Created ${outputPath}. Next steps:\n${steps.map((step, index) => `  ${index + 1}. ${step}\n`).join('')}`
}

export const importCommand = {
  help: 'Convert a LiteLLM, Portkey, or 9router configuration',
  isLocal: true,
  actions: {
    litellm: createImportAction('litellm', {
      help: "Import LiteLLM's config.yaml and the files it includes",
      word: '<file>',
      fields: { out },
    }),
    portkey: createImportAction('portkey', {
      help: 'Import a Portkey config (JSON), or the conf.json of its gateway, as a combo named "portkey"',
      word: '<file>',
      fields: { out, model, provider },
    }),
    '9router': createImportAction('9router', {
      help: "Import 9router's data directory (usually ~/.9router), database, or export",
      word: '<folder>',
      fields: { out },
    }),
  },
  notes:
    'API keys in the source file become environment variables; their values are never printed or written.\nWithout --out, the command only prints what it would import. It never changes the other gateway.',
} as const satisfies CliCommand
