import { oneLine } from '../logger.ts'
import type { CliAction, CliCommand } from './command.ts'
import { type Field, text } from './fields.ts'

const out = text('out', 'signalbox.yaml', 'Writes the file of records; one that exists is left as it is')
const model = text('model', 'gpt-5-mini', 'The model of targets that take that of the request')

/** The action for one program. The code is loaded when it is needed, since it contains a parser of YAML. */
function importing(
  source: 'litellm' | 'portkey' | '9router',
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
      })
      const lines = (findings: readonly { from: string; to: string }[]) =>
        findings.map(({ from, to }) => `  ${oneLine(from)} -> ${oneLine(to)}\n`).join('')
      const { mapped, unmapped, variables, out: written } = body
      const parts = [
        mapped.length > 0 && `What is taken over:\n${lines(mapped)}`,
        unmapped.length > 0 && `What is not, or otherwise:\n${lines(unmapped)}`,
        variables.length > 0 &&
          `Variables to set before the start; none of their values is in the file:\n${variables.map(({ name, holds }) => `  ${name}: ${holds}\n`).join('')}`,
        written === undefined
          ? 'Nothing was written. With --out signalbox.yaml a file of records is.\n'
          : `${written} was written. Start with it: signalbox --config ${written}\n`,
      ]
      return { body, text: parts.filter((part) => part !== false).join('\n') }
    },
  }
}

export const imports = {
  help: 'Makes a file for --config from the configuration of another gateway; prints what is taken over and what is not, and changes nothing there',
  isLocal: true,
  actions: {
    litellm: importing('litellm', {
      help: 'From the config.yaml of LiteLLM',
      word: '<file>',
      fields: { out },
    }),
    portkey: importing('portkey', {
      help: 'From a config of Portkey, as JSON; the combo is called "portkey"',
      word: '<file>',
      fields: { out, model },
    }),
    '9router': importing('9router', {
      help: 'From the data folder of 9router, usually ~/.9router, or an export',
      word: '<folder>',
      fields: { out },
    }),
  },
  notes: 'A key that stands in their file becomes a variable in this one, and is neither printed nor written.',
} as const satisfies CliCommand
