import type { OptionShape } from '../arguments.ts'
import { defaults } from '../options.ts'
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
    help: 'The address of the gateway. Default: SIGNALBOX_URL, or this one',
  },
  token: {
    type: 'string',
    example: '-',
    takesDash: true,
    help: 'The admin token, by - from standard input. Default: SIGNALBOX_ADMIN_TOKEN',
  },
  json: { type: 'boolean', help: 'Prints what the management API answers, for programs' },
  help: { type: 'boolean', short: 'h', help: 'Prints this' },
} as const satisfies Record<string, Explained>

/** The common options that a command has. */
export function optionsOf({ isLocal = false }: Pick<CliCommand, 'isLocal'>): Readonly<Record<string, Explained>> {
  const { json, help } = commonOptions
  return isLocal ? { json: { ...json, help: 'Prints all of it as JSON, for programs' }, help } : commonOptions
}

/** The text of a command's `--help`. */
export function commandHelp(name: string, { help, notes, actions, isLocal = false }: CliCommand): string {
  const lines = Object.entries(actions).map(([words, { help: what, words: more = [] }], at) => {
    return line([words, ...more].join(' '), at === 0 && !isLocal ? `${what}; done when no action is given` : what)
  })
  const sole = actions['']
  const options = [...optionGroups(actions)].map(([of, group]) => `Options${of && ` of ${of}`}:\n${optionLines(group)}`)
  const takesSecrets = Object.values(actions).some(({ fields = {} }) =>
    Object.values(fields).some(({ isSecret }) => isSecret),
  )
  const blocks = [
    `${help}.`,
    `Usage: signalbox ${[name, ...(sole ? (sole.words ?? []) : [isLocal ? '<action>' : '[action]'])].join(' ')} [options]${isLocal ? '' : ', at a gateway that runs'}`,
    sole ? `${sole.help}.` : `Actions:\n${lines.join('\n')}`,
    ...options,
    `Options of all:\n${optionLines(Object.entries(optionsOf({ isLocal })))}`,
    ...(notes ? [notes] : []),
    `${takesSecrets ? SECRETS : ''}Exit codes: 0 done, 1 refused${isLocal ? '' : ', not reached'} or called wrongly.`,
  ]
  return `${blocks.join('\n\n')}\n`
}

const SECRETS = 'Others on the machine see the arguments of a command, and shells keep them: give secrets otherwise.\n'

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
    const of = words.join(' and ')
    groups.set(of, [...(groups.get(of) ?? []), [name, field]])
  }
  return groups
}

const optionLines = (options: readonly (readonly [name: string, Explained])[]): string =>
  options
    .map(([name, { type, short, example, help, variable }]) =>
      line(
        `${short ? `-${short}, ` : ''}--${name}${type === 'string' ? ` ${example}` : ''}`,
        `${help}${variable ? `. Default: ${variable}` : ''}`,
      ),
    )
    .join('\n')

const WIDTH = 30

/** One line of the help; the explanation of a long option stands below it. */
const line = (what: string, help: string): string =>
  what.length < WIDTH ? `  ${what.padEnd(WIDTH)}${help}` : `  ${what}\n${' '.repeat(WIDTH + 2)}${help}`
