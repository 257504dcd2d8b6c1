import { defaults } from '../cli-options.ts'
import type { OptionShape } from '../command-line.ts'
import type { CliAction, CliCommand } from './command.ts'
import type { Field } from './input-options.ts'

/** The URL at which `signalbox` without options serves the gateway. */
export const DEFAULT_URL = `http://${defaults.host}:${defaults.port}`

/** An option with its help text. */
type DescribedOption = OptionShape & Pick<Field, 'help' | 'label' | 'isAlias' | 'variable'>

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
    acceptsDash: true,
    help: 'Admin token; use - to read it from stdin (default: SIGNALBOX_ADMIN_TOKEN)',
  },
  json: { type: 'boolean', help: 'Print the API response as JSON' },
  help: { type: 'boolean', short: 'h', help: 'Print this help' },
} as const satisfies Record<string, DescribedOption>

/** Returns the common options that a command supports. */
export function getCommonOptions({
  isLocal = false,
}: Pick<CliCommand, 'isLocal'>): Readonly<Record<string, DescribedOption>> {
  const { json, help } = commonOptions
  return isLocal ? { json: { ...json, help: 'Print the result as JSON' }, help } : commonOptions
}

/** Formats a command's help: its actions, or its only action's options. */
export function formatCommandHelp(name: string, command: CliCommand): string {
  const { help, actions, isLocal = false } = command
  const onlyAction = actions['']
  if (onlyAction) return formatHelp(name, command, { title: `${help}.`, action: onlyAction })
  const lines = Object.entries(actions).map(([words, action], index) =>
    formatLine(
      [words, ...(action.words ?? [])].join(' '),
      index === 0 && !isLocal ? `${action.help} (default)` : action.help,
    ),
  )
  return joinBlocks([
    `${help}.`,
    `Usage: signalbox ${name} ${isLocal ? '<action>' : '[action]'} [options]`,
    `Actions:\n${lines.join('\n')}`,
    `Common options:\n${formatOptions(getCommonOptions(command))}`,
    ...(command.notes ? [command.notes] : []),
    `Run "signalbox ${name} <action> --help" for the options of an action.\n${EXIT_CODES}`,
  ])
}

/** Formats the help for one of a command's actions. */
export function formatActionHelp(name: string, command: CliCommand, words: string): string {
  const action = command.actions[words]
  if (!action || words === '') return formatCommandHelp(name, command)
  return formatHelp(`${name} ${words}`, command, { title: `${action.help}.`, action })
}

function formatHelp(
  commandLine: string,
  command: CliCommand,
  { title, action }: { title: string; action: CliAction },
): string {
  const { words = [], fields = {}, help, description } = action
  const acceptsSecrets = Object.values(fields).some(({ isSecret }) => isSecret)
  return joinBlocks([
    title,
    ...(title === `${help}.` ? [] : [`${help}.`]),
    ...(description === undefined ? [] : [wrap(`${description}.`, 0)]),
    `Usage: signalbox ${[commandLine, ...words].join(' ')} [options]`,
    ...(Object.keys(fields).length > 0 ? [`Options:\n${formatOptions(fields)}`] : []),
    `Common options:\n${formatOptions(getCommonOptions(command))}`,
    ...(command.notes ? [command.notes] : []),
    ...(acceptsSecrets ? [SECRETS_TEXT] : []),
    EXIT_CODES,
  ])
}

const joinBlocks = (blocks: readonly string[]): string => `${blocks.join('\n\n')}\n`

const EXIT_CODES = 'Exit codes: 0 success, 1 error.'
const SECRETS_TEXT =
  'Other users can see command-line arguments, and shells keep them in history. Pass secrets in variables or on stdin.'

const formatOptions = (options: Readonly<Record<string, DescribedOption>>): string =>
  Object.entries(options)
    .filter(([, { label, isAlias }]) => label !== '' && !isAlias)
    .map(([name, { type, short, example, help, label, variable }]) =>
      formatLine(
        label ?? `${short ? `-${short}, ` : ''}--${name}${type === 'string' ? ` ${example}` : ''}`,
        `${help}${variable ? ` (default: ${variable})` : ''}`,
      ),
    )
    .join('\n')

const INDENT_WIDTH = 32
const LINE_WIDTH = 100

/** Formats one help line. A long option's explanation starts on the next line. */
const formatLine = (term: string, help: string): string => {
  const prefix =
    term.length < INDENT_WIDTH - 2 ? `  ${term}`.padEnd(INDENT_WIDTH) : `  ${term}\n${' '.repeat(INDENT_WIDTH)}`
  return prefix + wrap(help, INDENT_WIDTH)
}

/** Wraps text at spaces, to the help's width. */
export function wrap(text: string, indent: number): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && indent + last.length + 1 + word.length > LINE_WIDTH) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}
