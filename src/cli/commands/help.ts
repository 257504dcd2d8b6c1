import { defaults } from '../cli-options.ts'
import type { OptionShape } from '../command-line.ts'
import type { CliAction, CliCommand } from './command.ts'

/** The gateway that `signalbox` without options serves. */
export const DEFAULT_URL = `http://${defaults.host}:${defaults.port}`

/** An option with its text in the help. */
type Explained = OptionShape & { help: string; variable?: string }

/** The options of every command. */
export const commonOptions = {
  url: {
    type: 'string',
    example: DEFAULT_URL,
    help: `URL of the gateway (default: SIGNALBOX_URL or ${DEFAULT_URL})`,
  },
  token: {
    type: 'string',
    example: '-',
    takesDash: true,
    help: 'Admin token; use - to read it from stdin (default: SIGNALBOX_ADMIN_TOKEN)',
  },
  json: { type: 'boolean', help: 'Print the API response as JSON' },
  help: { type: 'boolean', short: 'h', help: 'Print this help' },
} as const satisfies Record<string, Explained>

/** The common options that a command has. */
export function optionsOf({ isLocal = false }: Pick<CliCommand, 'isLocal'>): Readonly<Record<string, Explained>> {
  const { json, help } = commonOptions
  return isLocal ? { json: { ...json, help: 'Print the result as JSON' }, help } : commonOptions
}

/** The text of a command's `--help`. */
export function commandHelp(name: string, { help, notes, actions, isLocal = false }: CliCommand): string {
  const lines = Object.entries(actions).map(([words, { help: what, words: more = [] }], at) => {
    return line([words, ...more].join(' '), at === 0 && !isLocal ? `${what} (default)` : what)
  })
  const sole = actions['']
  const options = [...optionGroups(actions)].map(
    ([of, group]) => `Options${of && ` for ${of}`}:\n${optionLines(group)}`,
  )
  const takesSecrets = Object.values(actions).some(({ fields = {} }) =>
    Object.values(fields).some(({ isSecret }) => isSecret),
  )
  const blocks = [
    `${help}.`,
    `Usage: signalbox ${[name, ...(sole ? (sole.words ?? []) : [isLocal ? '<action>' : '[action]'])].join(' ')} [options]`,
    sole ? `${sole.help}.` : `Actions:\n${lines.join('\n')}`,
    ...options,
    `Common options:\n${optionLines(Object.entries(optionsOf({ isLocal })))}`,
    ...(notes ? [notes] : []),
    `${takesSecrets ? SECRETS : ''}Exit codes: 0 success, 1 error.`,
  ]
  return `${blocks.join('\n\n')}\n`
}

const SECRETS =
  'Other users can see command-line arguments, and shells keep them in history. Pass secrets in variables or on stdin.\n'

/** The options by the actions that take them. */
function optionGroups(actions: Readonly<Record<string, CliAction>>): Map<string, [name: string, Explained][]> {
  const takers = new Map<Explained, { name: string; words: string[] }>()
  for (const [words, { fields = {} }] of Object.entries(actions)) {
    for (const [name, field] of Object.entries(fields)) {
      const { words: others } = takers.get(field) ?? { words: [] }
      takers.set(field, { name, words: [...others, words] })
    }
  }
  const groups = new Map<string, [string, Explained][]>()
  for (const [field, { name, words }] of takers) {
    const of = new Intl.ListFormat('en-US').format(words)
    groups.set(of, [...(groups.get(of) ?? []), [name, field]])
  }
  return groups
}

const optionLines = (options: readonly (readonly [name: string, Explained])[]): string =>
  options
    .map(([name, { type, short, example, help, variable }]) =>
      line(
        `${short ? `-${short}, ` : ''}--${name}${type === 'string' ? ` ${example}` : ''}`,
        `${help}${variable ? ` (default: ${variable})` : ''}`,
      ),
    )
    .join('\n')

const WIDTH = 30

/** One line of the help; the explanation of a long option stands below it. */
const line = (what: string, help: string): string =>
  what.length < WIDTH ? `  ${what.padEnd(WIDTH)}${help}` : `  ${what}\n${' '.repeat(WIDTH + 2)}${help}`
