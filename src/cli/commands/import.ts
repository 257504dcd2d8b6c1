import type { Imported, ImportSource } from '../import/import.ts'
import { oneLine } from '../logger.ts'
import { defaults } from '../options.ts'
import type { CliAction, CliCommand } from './command.ts'
import { type Field, text, texts } from './fields.ts'

const out = text('out', 'signalbox.yaml', 'Writes the file of records; never over one that exists')
const model = text('model', 'gpt-5-mini', 'The model of targets that name none')

const provider = texts(
  'providers',
  'house=openai',
  "The provider of a name in Portkey's own store; several times for several",
)

/** The action for one program. The code is loaded when it is needed, since it contains a parser of YAML. */
function importing(
  source: ImportSource,
  { help, word, fields }: { help: string; word: string; fields: Readonly<Record<string, Field>> },
): CliAction {
  return {
    help,
    words: [word],
    fields,
    async run({ words: [path = ''], input }) {
      const { importFrom } = await import('../import/import.ts')
      const body = await importFrom(source, path, {
        ...(typeof input.out === 'string' && { out: input.out }),
        ...(typeof input.model === 'string' && { model: input.model }),
        ...(Array.isArray(input.providers) && { providers: input.providers.map(String) }),
      })
      const { mapped, unmapped, variables, out: written } = body
      const parts = [
        mapped.length > 0 && `What is taken over:\n${lines(mapped)}`,
        unmapped.length > 0 && `What is not taken over, or differs:\n${lines(unmapped)}`,
        variables.length > 0 &&
          `Variables to set before the start; none of their values is in the file:\n${variables.map(({ name, holds }) => `  ${name}: ${oneLine(holds)}\n`).join('')}`,
        written === undefined
          ? 'Nothing was written. Give --out signalbox.yaml to write a file of records.\n'
          : nextSteps(written, body),
      ]
      return { body, text: parts.filter((part) => part !== false).join('\n') }
    },
  }
}

/** A line for each finding; those of the same kind at several places of a list are one line, at the first place. */
function lines(findings: Imported['mapped']): string {
  const alike = new Map<string, { from: string; to: string; more: number }>()
  for (const { from, to } of findings) {
    const kind = JSON.stringify([from.replace(/\[\d+\]/g, '[]'), to])
    const known = alike.get(kind)
    if (known) known.more++
    else alike.set(kind, { from, to, more: 0 })
  }
  return [...alike.values()]
    .map(({ from, to, more }) => {
      const place = more > 0 ? `${from} (and ${more} more like it)` : from
      return `  ${oneLine(place)} -> ${oneLine(to)}\n`
    })
    .join('')
}

function nextSteps(written: string, { variables, hasKeys, sole }: Imported): string {
  const address = `http://${defaults.host}:${defaults.port}`
  const steps = [
    ...(variables.length > 0 ? ['Set the variables above.'] : []),
    `Start: npx signalbox --config ${written}`,
    `Point clients to ${address}/v1${hasKeys ? ', each with a key of this gateway: "npx signalbox keys list --json" shows them' : ''}; ${sole === undefined ? 'the names of the models stay' : `they ask for the model "${sole}"`}.`,
  ]
  return `${written} was written. What to do next:\n${steps.map((step, at) => `  ${at + 1}. ${step}\n`).join('')}`
}

export const imports = {
  help: 'Makes a file for --config from the configuration of another gateway; prints what is taken over and what is not, and does not change the other gateway',
  isLocal: true,
  actions: {
    litellm: importing('litellm', {
      help: 'From the config.yaml of LiteLLM, and the files that it includes',
      word: '<file>',
      fields: { out },
    }),
    portkey: importing('portkey', {
      help: 'From a config of Portkey, as JSON, or the conf.json of its gateway; the combo is called "portkey"',
      word: '<file>',
      fields: { out, model, provider },
    }),
    '9router': importing('9router', {
      help: 'From the data folder of 9router, usually ~/.9router, its database, or an export',
      word: '<folder>',
      fields: { out },
    }),
  },
  notes:
    'A key in the file of the other gateway becomes a variable, and is neither printed nor written.\nWithout --out nothing is written: the command only prints what it would take over.',
} as const satisfies CliCommand
